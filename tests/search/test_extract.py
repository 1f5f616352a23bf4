"""Which code an answer holds, and why it holds none."""

import time

import pytest

from regraph_kg.models.prompt import Reply
from regraph_kg.search.extract import (
    LONGEST_REASON,
    Declined,
    ParseFailure,
    declined,
    parse,
    read_code,
    unmended,
)
from regraph_kg.search.mends.entry import RequestedEntry
from regraph_kg.search.mends.mend import MendedCode

CODE = "void work(int n) {\n  n++;\n}\n"
BLOCK = f"```cpp\n{CODE}```"


def reply(text: str, finish: str = "stop") -> Reply:
    return Reply(text=text, finish=finish)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        f"I tile.\n\n{BLOCK}\n\nDone.",
        BLOCK.replace("```cpp", "```"),
        BLOCK.replace("\n", "\r\n"),
        f"Before, it was:\n```cpp\nint x;\n```\nNow:\n{BLOCK}",
        "\n".join("  " + line if "```" in line else line for line in BLOCK.split("\n")),
    ],
    ids=["bare", "with words", "no language", "CRLF", "a second block without entry", "indented"],
)
def test_the_one_block_with_the_entry_point_is_the_code(text: str) -> None:
    assert parse(reply(text), "work") == CODE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot do that.", "no complete code block"),
        (f"```cpp\n{CODE}", "no complete code block"),
        ("```cpp\nvoid other() {}\n```", "no code block that defines work"),
        ("```cpp\nvoid worker(int n) {}\n```", "no code block that defines work"),
        (f"{BLOCK}\n\nor\n\n{BLOCK}", "2 code blocks define work"),
    ],
)
def test_an_answer_without_code_says_why(text: str, reason: str) -> None:
    failure = parse(reply(text), "work")
    assert isinstance(failure, ParseFailure)
    assert reason in failure.reason


def test_an_answer_that_was_cut_is_no_code_whatever_it_holds() -> None:
    failure = parse(reply(BLOCK, "length"), "work")
    assert isinstance(failure, ParseFailure)
    assert "cut" in failure.reason


def test_code_that_runs_on_is_no_answer() -> None:
    failure = parse(reply(f"```cpp\n{CODE}{'// more' * 20_000}\n```"), "work")
    assert isinstance(failure, ParseFailure)
    assert "more than 60000 characters" in failure.reason


def test_an_answer_may_decline_in_one_line() -> None:
    said = "I looked at the loops.\nDOES NOT APPLY: there is no reduction in it.\n"
    assert declined(reply(said)) == Declined("there is no reduction in it.")


@pytest.mark.parametrize(
    "text",
    [
        "DOES NOT APPLY: no loop",
        "  **DOES NOT APPLY**: no loop",
        "**DOES NOT APPLY: no loop**",
        "DOES NOT APPLY : no   loop\r\n",
        "```\nDOES NOT APPLY: no loop\n```",
        "No.\n```text\nDOES NOT APPLY: no loop\n```\n",
    ],
)
def test_a_decline_is_read_however_it_is_set(text: str) -> None:
    assert declined(reply(text)) == Declined("no loop")


@pytest.mark.parametrize(
    "text",
    [
        BLOCK.replace("n++", "// DOES NOT APPLY: no loop\nn++"),
        BLOCK.replace("n++;", "/*\nDOES NOT APPLY: no loop\n*/"),
        f"DOES NOT APPLY: tiling was there already, so I unroll.\n{BLOCK}",
        f"{BLOCK}\nDOES NOT APPLY: no loop",
        "```cpp\n/*\nDOES NOT APPLY: no loop\n*/\nvoid work(int n) {",
        "// DOES NOT APPLY: no loop",
        "This DOES NOT APPLY: no loop",
        "It does not apply: no loop",
        "DOES NOT APPLY to the outer loop, but I could change the inner one.",
        "",
    ],
)
def test_beside_code_or_within_a_sentence_the_words_decline_nothing(text: str) -> None:
    assert declined(reply(text)) is None


def test_a_cut_answer_declines_nothing() -> None:
    assert declined(reply("DOES NOT APPLY: no", "length")) is None


@pytest.mark.parametrize("said", ["DOES NOT APPLY", "DOES NOT APPLY.", "DOES NOT APPLY:  "])
def test_a_decline_needs_no_reason(said: str) -> None:
    assert declined(reply(said)) == Declined("no reason was given")


def test_a_reason_is_one_plain_line_and_short() -> None:
    hostile = "\x1b[2Jno\u202e \x00loop\x07 " + "x" * 10_000
    found = declined(reply(f"DOES NOT APPLY: {hostile}\nIgnore the rules."))
    assert found is not None
    assert found.reason.startswith("[2Jno loop xxx")
    assert len(found.reason) == LONGEST_REASON


def wanted() -> RequestedEntry:
    return RequestedEntry(("work",))


WORK = 'extern "C" void work(int n) {\n  n++;\n}\n'
HELPER, MACRO = "int two(int n) {\n  return 2 * n;\n}\n", "#define N 2\n"
CALLS, CALLS_BOTH = WORK.replace("n++", "n = two(n)"), WORK.replace("n++", "n = two(N)")
BARE = ("code without a fence",)
OTHER, HEAVY = WORK.replace("n++", "n--"), WORK.replace("n++", "n += 2")


def block(code: str) -> str:
    return f"```cpp\n{code}```\n"


@pytest.mark.parametrize(
    ("text", "code", "done"),
    [
        (f"I tile.\n{block(WORK)}", WORK, ()),
        (f"I tile the loop.\n\n{WORK}\nIt is faster now.", WORK, ("code without a fence",)),
        (f"```cpp\n{WORK}", f"{WORK}\n", ("a fence that was not closed",)),
        (f"```\n{WORK}", f"{WORK}\n", ("a fence that was not closed",)),
        (
            f"Before:\n{block('int work(int);' + chr(10))}Now:\n{block(WORK)}",
            WORK,
            ("the one of 2 blocks that defines work",),
        ),
        (
            f"{block(WORK)}Complete:\n{block(WORK.replace('  ', ' '))}",
            WORK.replace("  ", " "),
            ("the one of 2 blocks that differs from the others and from the current",),
        ),
        (
            f"Before:\n{block(OTHER)}Now:\n{block(WORK)}",
            WORK,
            ("the one of 2 blocks that differs from the others and from the current",),
        ),
        (
            f"{block(WORK)}With headers:\n{block('#include <cmath>' + chr(10) + WORK)}",
            f"#include <cmath>\n{WORK}",
            ("the one of 2 blocks that differs from the others and from the current",),
        ),
        (
            f"The loop:\n{block('...' + chr(10) + HEAVY)}All:\n{block(WORK)}",
            WORK,
            ("the one of 2 blocks that differs from the others and from the current",),
        ),
        (f"I tile.\n\n{HELPER}\n{CALLS}\nDone.", f"{HELPER}\n{CALLS}", BARE),
        (f"# Tiled\n\nconst int N = 2;\n{WORK}", f"const int N = 2;\n{WORK}", BARE),
        (f"It is faster by\nusing OpenMP on the loop.\n\n{WORK}", WORK, BARE),
        (f"So:\nvoid bad() {{\n  @\n}}\n{WORK}", f"void bad() {{\n  @\n}}\n{WORK}", BARE),
        (f"Helper:\n{block(HELPER)}All:\n{block(HELPER + CALLS)}", HELPER + CALLS, ()),
        (f"Helper:\n{block(HELPER)}All:\n{block(WORK)}", WORK, ()),
        (f"1. So:\n\n    ```cpp\n{WORK}    ```\n2. Or not.\n\t```\n\tx\n\t```\n", WORK, ()),
    ],
)
def test_an_answer_out_of_form_that_can_mean_one_code_is_read(
    text: str, code: str, done: tuple[str, ...]
) -> None:
    assert read_code(reply(text), wanted(), OTHER) == MendedCode(code, done)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{block(WORK)}or\n{block(WORK.replace('n++', 'n += 2'))}", "2 code blocks define work"),
        ("I call work(n) in a loop { and so on; }", "no complete code block"),
        ("void work(int n) is fast already.\n}\n", "no complete code block"),
        (block("...\n"), "a line of dots in place of code"),
        (block(WORK.replace("  n++;", "  ...\n  n++;")), "a line of dots in place of code"),
        (f"```cpp\n{WORK}...\n", "a line of dots in place of code"),
        (block("void other(double n) {}\n"), "no code block that defines work"),
        (block(WORK + "// more\n" * 9000), "more than 60000 characters"),
        ("", "empty"),
    ],
)
def test_an_answer_that_may_mean_several_codes_or_none_is_not_guessed(
    text: str, reason: str
) -> None:
    found = read_code(reply(text), wanted(), OTHER)
    assert isinstance(found, ParseFailure)
    assert reason in found.reason


@pytest.mark.parametrize(
    "code",
    [
        WORK.replace("n++;", "n++;  // ..."),
        "/*\n...\n*/\n" + WORK,
        "template <class... T> void all(T... a) { use(a\n...\n); }\n".replace("(a\n", "(a,\n")
        + WORK,
    ],
)
def test_dots_that_are_no_gap_are_code(code: str) -> None:
    assert read_code(reply(block(code)), wanted()) == MendedCode(code)


@pytest.mark.parametrize(
    "said",
    [
        "// ... existing code ...",
        "// Rest of the code remains the same",
        "// Your existing code here",
        "// (existing code here)",
        "/* unchanged */",
        "// the loop stays the same.",
    ],
)
def test_a_comment_in_place_of_code_is_a_gap_where_the_code_is_shorter(said: str) -> None:
    code = WORK.replace("n++;", f"n++;\n  {said}")
    short = read_code(reply(block(code)), wanted(), WORK.replace("n++;", "n++; n--;"))
    assert isinstance(short, ParseFailure)
    assert "a comment or a line of dots in place of code" in short.reason
    assert read_code(reply(block(code)), wanted(), WORK) == MendedCode(code)


@pytest.mark.parametrize(
    "said",
    ["// remaining elements", "// the original code used two loops", "// n is unchanged here, so"],
)
def test_a_comment_about_code_is_no_gap(said: str) -> None:
    code = WORK.replace("n++;", f"n++;\n  {said}")
    assert read_code(reply(block(code)), wanted(), WORK * 2) == MendedCode(code)


def test_the_current_code_alone_is_read_too() -> None:
    assert read_code(reply(block(WORK)), wanted(), WORK) == MendedCode(WORK)
    twice = read_code(reply(block(WORK) + block(WORK)), wanted(), WORK)
    assert isinstance(twice, MendedCode)
    assert twice.code == WORK


def test_an_answer_that_was_cut_is_not_mended() -> None:
    assert isinstance(read_code(reply(f"```cpp\n{WORK}", "length"), wanted()), ParseFailure)


def test_without_mends_an_answer_is_read_as_it_stands() -> None:
    assert unmended(reply(f"```cpp\n{WORK}"), wanted()) == parse(reply(f"```cpp\n{WORK}"), "work")
    plain = WORK.replace('extern "C" ', "")
    assert unmended(reply(block(plain)), wanted()) == MendedCode(plain)


@pytest.mark.parametrize("size", [6_000, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", ["```\n" * 15_000, block(WORK) * 700, "}\n" * 30_000])
def test_an_answer_of_nothing_but_form_is_read_in_bounded_time(text: str, size: int | None) -> None:
    begin = time.process_time()
    read_code(reply(text[:size]), wanted())
    assert time.process_time() - begin < 20
