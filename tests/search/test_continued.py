"""An answer that was begun for the model: what is meant is taken, and nothing that matters lost."""

import time
from dataclasses import replace

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.executor import result
from regraph_kg.search.prompts.beginning import FENCE, STOP, beginning, remainder
from regraph_kg.search.prompts.recipe import acts_at, filled
from regraph_kg.search.read_answer import CLOSED, MendedCode, read_code
from regraph_kg.search.world import ModelRequest
from tests.search.toy import Toy

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


def comes_to(code: str, answer: str, finish: str = "stop", recipe: str = KEEP) -> Reply:
    """What a search gets of `answer`, which goes on from the beginning that the recipe makes."""
    asked = Prompt(
        key=PromptKey(problem="toy", target="openmp", path=()),
        system="",
        user="",
        begun=beginning(code, (), recipe),
        rest=remainder(code, recipe),
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


def test_of_several_blocks_the_one_that_is_new_is_read() -> None:
    new = SUMS.replace("    for", f"{PARALLEL}    for")
    found = comes_to(SUMS, f"Here it was:\n{FENCE}{SUMS}```\nNow:\n{FENCE}{new}```")
    read = read_code(found, ("sums",), SUMS)
    assert isinstance(read, MendedCode)
    assert read.code == new


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
