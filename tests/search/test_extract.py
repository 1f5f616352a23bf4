"""Which code an answer holds, and why it holds none."""

import time

import pytest

from regraph_kg.models.prompt import Reply
from regraph_kg.search.read_answer import (
    ParseFailure,
    parse,
)

CODE = "void work(int n) {\n  n++;\n}\n"
BLOCK = f"```cpp\n{CODE}```"
CUT = f"{BLOCK}\nAnd"  # where its tokens ended


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
        BLOCK.replace("```", "````"),
    ],
    ids=["bare", "words", "no language", "CRLF", "a block without entry", "indented", "long fence"],
)
def test_the_one_block_with_the_entry_point_is_the_code(text: str) -> None:
    assert parse(reply(text), "work") == CODE


FORMS = {
    "tildes": f"~~~cpp\n{CODE}~~~",
    "tildes, not closed": f"~~~\n{CODE}",
    "backticks within tildes": f"~~~cpp\n{CODE}// ```\n~~~",
    "words before the fence": f"Sure! {BLOCK}",
    "code behind the fence": f"Sure! ```cpp {CODE}```",
    "code on a line": f"Use ```C++ {CODE.strip()}``` here.",
    "the end behind code": BLOCK.replace("}\n```", "}```"),
    "words behind the end": BLOCK.replace("}\n```", "}```") + "\nIt is fast.",
    "no-break spaces": BLOCK.replace("  n", "\u00a0\u00a0n"),
    "wide blanks": BLOCK.replace("  n", "\u3000\u2003n"),
    "no width": f"\ufeff\u200b{BLOCK}".replace("int", "in\u200dt"),
    "a quotation": "\n".join(f"> {line}" for line in BLOCK.split("\n")),
    "numbers": "```\n" + "  1 | void work(int n) {\n  2 |   n++;\n  3 | }\n```",
    "numbers with colons": "```\n10: void work(int n) {\n11:   n++;\n12: }\n```",
    "an added file": "```diff\n--- /dev/null\n+++ b/a.cpp\n@@ -0,0 +1,3 @@\n+void work(int n) {\n"
    "+  n++;\n+}\n```",
    "a difference": "```diff\n void work(int n) {\n-  n--;\n+  n++;\n }\n```",
    "escapes": "```cpp\nvoid work(int n) {\n  n++; &amp;&amp;&lt;\n}\n```",
    "JSON": '{"code": "void work(int n) {\\n  n++;\\n}\\n", "why": "it is fast"}',
    "JSON in a block": '```json\n{"why": "x", "code": "void work(int n) {\\n  n++;\\n}"}\n```',
    "a block in JSON": '{"answer": "```cpp\\nvoid work(int n) {\\n  n++;\\n}\\n```"}',
}


@pytest.mark.parametrize("form", FORMS)
def test_code_is_found_in_whatever_form_a_model_gives_it(form: str) -> None:
    found = parse(reply(FORMS[form]), "work")
    assert isinstance(found, str), found
    plain = found.replace(" &&<", "").replace("// ```\n", "")
    assert plain.strip() == CODE.strip()


@pytest.mark.parametrize(
    "code",
    [
        "void work(int n) {\n  int lt = 1, a = n < 2 &lt;\n}\n",
        "  int work(int n) {\n  return 1\n  + n;\n  }\n",
        "1 void work(int n)\n3 {\n}\n",
    ],
)
def test_code_that_only_looks_wrapped_stays_as_it_is(code: str) -> None:
    assert parse(reply(f"```\n{code}```"), "work") == code


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot do that.", "no complete code block"),
        ("```cpp\nvoid other() {}\n```", "no code block that defines work"),
        ("```cpp\nvoid worker(int n) {}\n```", "no code block that defines work"),
        (f"{BLOCK}\n\nor\n\n{BLOCK}".replace("n++", "n--", 1), "2 code blocks define work"),
        (f"```cpp\n{CODE}{'// more' * 20_000}\n```", "more than 60000 characters"),
        (CUT, "cut"),
    ],
)
def test_an_answer_without_code_says_why(text: str, reason: str) -> None:
    failure = parse(reply(text, "length" if text == CUT else "stop"), "work")
    assert isinstance(failure, ParseFailure)
    assert reason in failure.reason


WORK = 'extern "C" void work(int n) {\n  n++;\n}\n'
HELPER = "int two(int n) {\n  return 2 * n;\n}\n"
OTHER = WORK.replace("n++", "n--")


def block(code: str) -> str:
    return f"```cpp\n{code}```\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"I tile.\n{block(WORK)}", WORK),
        (f"```cpp\n{WORK}", WORK),
        (f"Before:\n{block(OTHER)}Now:\n{block(WORK)}", WORK),
        (f"{block(WORK)}Complete:\n{block(WORK.replace('  ', ' '))}", WORK.replace("  ", " ")),
        (f"Before:\n{block('int work(int);' + chr(10))}Now:\n{block(WORK)}", WORK),
        (f"Helper:\n{block(HELPER)}All:\n{block(WORK)}", WORK),
        (block(OTHER), OTHER),
    ],
    ids=[
        *("in form", "not closed", "the code before, too", "twice the same", "a declaration, too"),
        *("a helper, too", "the code before alone"),
    ],
)
def test_an_answer_to_a_prompt_is_its_new_code(text: str, code: str) -> None:
    found = parse(reply(text), "work", current=OTHER)
    assert isinstance(found, str)
    assert found.rstrip() == code.rstrip()


@pytest.mark.parametrize("size", [6_000, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", ["```\n" * 15_000, block(WORK) * 700, "}\n" * 30_000])
def test_an_answer_of_nothing_but_form_is_read_in_bounded_time(text: str, size: int | None) -> None:
    begin = time.process_time()
    parse(reply(text[:size]), "work")
    assert time.process_time() - begin < 20
