"""An answer that was begun for the model: what is meant is taken, and nothing that matters lost."""

import time
from dataclasses import replace

import pytest

from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.continued import ANEW, BEHIND, CLOSED, LEFT_OUT, ONE_LOOP, TWICE
from regraph_kg.search.effects import ModelRequest
from regraph_kg.search.executor import result
from regraph_kg.search.extract import read_code
from regraph_kg.search.mends.entry import RequestedEntry
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.prompts.beginning import FENCE, STOP, beginning, is_closed, remainder
from regraph_kg.search.prompts.recipe import acts_at, filled
from tests.search.toy import Toy

REDUCE = "Write it before $reducing.\nLeave everything else as it is."
HISTOGRAM = """void histogram(const unsigned char* keys, int* hist, int n) {
    for (int b = 0; b < 256; ++b) hist[b] = 0;
    for (int i = 0; i < n; ++i) hist[keys[i]] += 1;
}
"""
KEEP = "Write it before $parallel.\nLeave everything else as it is."
SUMS = """void sums(const float* a, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i];
    out[0] = sum;
}
"""
ROWS = """void rows(const float* a, float* c, int n) {
    for (int i = 0; i < n; ++i) {
        c[i] = a[i];
    }
}
"""
TWO = ROWS.replace(
    "    }\n}", "    }\n    for (int i = 1; i < n; ++i) {\n        c[i] += 1;\n    }\n}"
)


def comes_to(code: str, answer: str, finish: str = "stop", recipe: str = KEEP) -> Reply:
    """What a search gets of `answer`, which goes on from the beginning that the recipe makes."""
    asked = Prompt(
        key=PromptKey(problem="toy", target="openmp", path=()),
        system="",
        user="",
        begun=beginning(code, (), recipe),
        rest=remainder(code, recipe),
        closed=is_closed(recipe),
    )
    text = answer if answer.startswith("Here") else asked.begun + answer
    said = Reply.model_validate({"text": text, "finish": finish})
    world = replace(Toy({}, lambda _: None).world, complete=lambda _: said)
    found = result(world, ModelRequest(asked))
    assert isinstance(found, Reply)
    return found


def head(code: str) -> str:
    return code[: code.index("    for")]


PARALLEL = "    #pragma omp parallel for\n"
OWN_SUM = (
    "    double own = 0;\n    for (int i = 0; i < n; ++i) own += a[i];\n    out[0] = own;\n}\n"
)
CLEARED = (
    "    for (int i = 0; i < n; ++i) c[i] = 0;\n    for (int i = 0; i < n; ++i) c[i] += a[i];\n"
)
FEW = "    if (n < 9) {\n        for (int i = 0; i < n; ++i) c[i] = a[i];\n        return;\n    }\n"
BY_ROW = "    auto row = [&](int i) { for (int k = 0; k < 1; ++k) c[i] = a[i]; };\n"
PAIRS = """    for (int i = 0; i + 1 < n; i += 2) {
        c[i] = a[i];
        c[i + 1] = a[i + 1];
    }
"""
HELPED = "    for (int i = 0; i < n; ++i) row(a, c, i);\n}\n"
HELPER = "void row(const float* a, float* c, int i) { c[i] = a[i]; }\n"


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        (SUMS, OWN_SUM),
        (ROWS, CLEARED + "}\n"),
        (ROWS, FEW + PARALLEL + "    for (int i = 0; i < n; ++i) c[i] = a[i];\n}\n"),
        (ROWS, BY_ROW + PARALLEL + "    for (int i = 0; i < n; ++i) row(i);\n}\n"),
        (ROWS, HELPED + HELPER),
        (ROWS, PAIRS + "    if (n % 2) c[n - 1] = a[n - 1];\n}\n"),
        (TWO, "    for (int i = 0; i < n; ++i) c[i] = a[i] + (i > 0);\n}\n"),
        (SUMS, "    for (int i = 0; i < n; ++i) sum += a[i];\n    out[0] = sum * 1;\n}\n"),
        (ROWS, TWO.removeprefix(ROWS[: ROWS.index("    for")])),
    ],
    ids=[
        *("own sum", "cleared first", "few of them", "in a lambda", "helper behind"),
        *("the last one", "two in one", "stored otherwise", "one loop more"),
    ],
)
def test_what_belongs_together_is_taken_as_it_stands(code: str, answer: str) -> None:
    assert comes_to(code, answer + "```").code == ""


def test_words_behind_the_function_cost_none_of_its_loops() -> None:
    found = comes_to(ROWS, CLEARED + "}\nThis clears it first.\n")
    read = read_code(found, RequestedEntry(("rows",), {}), ROWS)
    assert isinstance(read, MendedCode)
    assert read.code.strip() == (head(ROWS) + CLEARED + "}")
    assert found.mended == (BEHIND,)


COUNTED = """#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        hist[keys[i]] += 1;
    }"""


@pytest.mark.parametrize(
    "after",
    ["\n}\nvoid more() {}\n```", "\n\nDone.", "", "\n}}\n```"],
)
def test_all_but_the_loop_that_was_asked_for_stays(after: str) -> None:
    before, _, _ = HISTOGRAM.partition("    for (int i")
    found = comes_to(HISTOGRAM, f"    {COUNTED}{after}", recipe=REDUCE)
    assert found.code == f"{before}    {COUNTED}\n}}\n"


def test_what_is_written_around_the_loop_belongs_to_it() -> None:
    region = (
        "    {\n        int k = 0;\n        for (int i = 0; i < n; ++i) hist[keys[i]] += 1;\n    }"
    )
    found = comes_to(HISTOGRAM, f"{region}\n}}}}\n```", recipe=REDUCE)
    assert found.code.endswith(f"{region}\n}}\n")


CUT = "    for (int i = 0; i < n; ++i) {\n        hist[keys[i"


@pytest.mark.parametrize("answer", [f"    {COUNTED}\n}}\n```", "    hist[0] = n;\n}\n```", "", CUT])
def test_an_answer_without_changes_elsewhere_or_without_a_whole_loop_is_as_it_is(
    answer: str,
) -> None:
    assert comes_to(HISTOGRAM, answer, recipe=REDUCE).code == ""


def test_what_is_written_before_the_old_code_goes_on_is_kept() -> None:
    loops = "    for (int i = 0; i < n - 1; ++i) sum += a[i];\n    sum += a[n - 1];\n"
    found = comes_to(SUMS, f"{loops}    out[0] = sum;\n}}\nint main() {{}}\n```")
    assert found.code == f"{head(SUMS)}{loops.rstrip()}\n    out[0] = sum;\n}}\n"
    assert found.mended == (ONE_LOOP, LEFT_OUT)


def test_a_change_behind_the_loop_is_left_out_and_told() -> None:
    loop = PARALLEL + "    for (int i = 0; i < n; ++i) {\n        c[i] = a[i];\n    }"
    again = TWO[TWO.index("    for (int i = 1") :]
    found = comes_to(TWO, f"{loop}\n{PARALLEL}{again}```")
    assert found.code == f"{head(TWO)}{loop}\n{again}"
    assert found.mended == (ONE_LOOP, LEFT_OUT)


@pytest.mark.parametrize("fence", ["", FENCE])
def test_an_answer_that_begins_anew_is_read_from_there(fence: str) -> None:
    whole = SUMS.replace("    for", f"{PARALLEL}    for")
    found = comes_to(f"int k;\n{SUMS}", f"{fence}{whole}```\nDone.")
    assert (found.code, found.mended) == (f"int k;\n{whole}", (ANEW,))


def test_a_time_loop_that_was_closed_too_early_is_put_right() -> None:
    steps = TWO.replace("    for", "    for (int s = 0; s < n; ++s) {\n    for", 1).replace(
        "\n}\n", "\n    }\n}\n"
    )
    recipe = KEEP.replace("$parallel", "$inner")
    place = steps.index("    for (int i = 0")
    early = steps[place:].replace("    }\n    for (int i = 1", "    }\n    }\n    for (int i = 1")
    early = early.replace("    }\n    }\n}\n", "    }\n}\n")
    assert early != steps[place:]
    assert comes_to(steps, f"{PARALLEL}{early}```", recipe=recipe).code == (
        f"{steps[:place]}{PARALLEL}{steps[place:]}"
    )


def test_what_the_model_says_once_more_behind_its_answer_is_no_new_start() -> None:
    loop = f"{PARALLEL}    for (int i = 0; i < n; ++i) sum += a[i];\n    out[0] = sum;\n}}\n"
    assert comes_to(SUMS, f"{loop}\n// Alternative\n{SUMS}```").mended != (ANEW,)


def test_what_a_new_start_defines_again_is_there_once() -> None:
    code = f"struct Pair {{ int a; }};\n#define WIDE 4\n{SUMS}"
    found = comes_to(code, f"{code}```")
    assert (found.code, found.mended) == (code, (ANEW,))


def test_the_rest_of_a_line_that_goes_on_otherwise_stays() -> None:
    code = SUMS.replace("    for", "    // Add them up\n    for")
    answer = f"    // Add them up in parallel\n{SUMS[len(head(SUMS)) :]}```"
    assert comes_to(code, answer).code == ""


def test_the_loop_may_stand_behind_a_condition_or_the_begun_directive() -> None:
    recipe = "Write $begin`#pragma unroll 4` before $parallel.\nLeave everything else as it is."
    loop = "    for (int i = 0; i < n; ++i) {\n        c[i] = a[i];\n    }"
    found = comes_to(ROWS, loop, "length", recipe)
    assert found.code == f"{head(ROWS)}    #pragma unroll 4\n{loop}\n}}\n"
    under = ROWS.replace("    for", "    if (n > 0)\n    for").replace(
        "    }\n}", "    }\n    c[0] = 1;\n}"
    )
    whole = "    {\n    for (int i = 0; i < n; ++i) c[i] = a[i];\n    c[0] = 1;\n    }\n}\n"
    assert comes_to(under, f"{whole}```").code == ""


def test_a_line_that_is_said_twice_counts_once() -> None:
    recipe = "Write $begin`#pragma unroll 4` before $parallel."
    found = comes_to(ROWS, f"    #pragma unroll 4\n{ROWS[len(head(ROWS)) :]}```", recipe=recipe)
    assert found.code == f"{head(ROWS)}    #pragma unroll 4\n{ROWS[len(head(ROWS)) :]}"
    assert found.mended == (TWICE,)


@pytest.mark.parametrize("cut", ["\n    out[0", "\n    out[0] = sum;\n}\n\n// This adds"])
def test_of_a_cut_answer_the_whole_loop_is_taken(cut: str) -> None:
    found = comes_to(SUMS, f"{PARALLEL}    for (int i = 0; i < n; ++i) sum += a[i];{cut}", "length")
    assert found.code == SUMS.replace("    for", f"{PARALLEL}    for")


def test_of_several_blocks_the_one_that_is_new_is_read() -> None:
    new = SUMS.replace("    for", f"{PARALLEL}    for")
    found = comes_to(SUMS, f"Here it was:\n{FENCE}{SUMS}```\nNow:\n{FENCE}{new}```")
    read = read_code(found, RequestedEntry(("sums",), {}), SUMS)
    assert isinstance(read, MendedCode)
    assert read.code == new


def test_a_change_elsewhere_alone_is_taken_as_it_stands() -> None:
    changed = TWO.replace("    for (int i = 1", f"{PARALLEL}    for (int i = 1")
    found = comes_to(TWO, f"{changed.removeprefix(head(TWO))}```")
    assert found.code == TWO
    read = read_code(found, RequestedEntry(("rows",), {}), TWO)
    assert read == MendedCode(changed)


def test_what_was_done_is_told_with_what_was_mended() -> None:
    found = comes_to(ROWS, f"{PARALLEL}    for (int i = 0; i < n; ++i) c[i] = sqrt(a[i]);\n}}}}")
    read = read_code(found, RequestedEntry(("rows",), {}))
    assert isinstance(read, MendedCode)
    assert read.done == (ONE_LOOP, "included <math.h>")


def test_deep_answers_take_little_time() -> None:
    began = time.process_time()
    comes_to(ROWS, f"{'{' * 20_000} for (;;) ; {'}' * 20_000}```")
    assert time.process_time() - began < 10  # as a walk from the root to each parent takes minutes


@pytest.mark.parametrize(
    ("before", "kept"),
    [
        ("    #pragma omp taskwait\n    #pragma omp parallel for\n", "    #pragma omp taskwait\n"),
        ("    #pragma omp parallel for \\\n        schedule(static)\n", ""),
        ("    const int m = n; ", "    const int m = n;\n"),
    ],
    ids=["a directive that stands alone", "one of two lines", "a statement in the loop's line"],
)
def test_an_answer_is_begun_with_whole_lines_without_the_loops_directives(
    before: str, kept: str
) -> None:
    code = ROWS.replace("    for", f"{before}    for", 1)
    first = ROWS.splitlines(keepends=True)[0]
    assert beginning(code, (), "Before $inner.") == FENCE + first + kept


def test_a_recipe_names_loops_of_one_nest() -> None:
    nest = "    for (int i = 0; i < n; ++i)\n        for (int j = 0; j < n; ++j)\n            "
    body = f"{nest}c[i * n + j] = a[i * n + j];\n{nest}c[j * n + i] += a[j * n + i];\n"
    facts = facts_of(f"void both(const float* a, float* c, int n) {{\n{body}}}\n")
    asked = filled("In $nest swap $contiguous and $inner", facts)
    assert "swap the loop over `i` (0 to n) and the loop over `j`" in asked
    assert acts_at("In $nest swap $contiguous and $inner", facts) == facts.loops[2].at


def test_stops_are_no_part_of_the_code() -> None:
    loop = f"{PARALLEL}    for (int i = 0; i < n; ++i) c[i] = a[i];\n"
    assert STOP[0].strip() not in comes_to(ROWS, f"{loop}    c[0] = 0;\n}}{STOP[0]}").code


CHAINS = "Write $begin`$chains` for the head of $adding.\nIn it: $spread. Behind it $end`$joined`."
ADDED = """void added(const float* a, float* out, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) {
        s += a[i];
    }
    out[0] = s;
}
"""
FOUR = " {\n        s += a[i]; s1 += a[i + 1]; s2 += a[i + 2]; s3 += a[i + 3];\n    }\n"


@pytest.mark.parametrize(
    "behind", ["    out[0] = s;\n}\n", "    out[0] = s + s1 + s2 + s3;\n}\n", ""]
)
def test_the_end_of_a_step_stands_whatever_an_answer_says_there(behind: str) -> None:
    reply = comes_to(ADDED, FOUR + behind, "stop", CHAINS)
    assert reply.mended == (CLOSED,)
    code = reply.code or ""
    assert code.endswith("    s += s1 + s2 + s3;\n    out[0] = s;\n}\n")
    assert code.count("for (int i") == 2
    assert code.count("s += a[i];") == 2
