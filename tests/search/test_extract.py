"""Which code an answer holds, and why it holds none."""

import pytest

from regraph_kg.models.prompt import Reply
from regraph_kg.search.extract import ParseFailure, parse

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
