"""Every error text says what to do, or `regraph docs troubleshooting` explains it.

Not covered: whether an explanation is right; what servers, compilers and the system say.
"""

import ast
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.error_texts import Module, error_texts, plain, texts_of

pytestmark = pytest.mark.xdist_group("error texts")  # collected once

PAGE = Path(__file__).parents[2] / "regraph_kg" / "cli" / "troubleshooting.txt"
ENTRY = re.compile(r"^- `(?P<text>.+)`$")
REMEDY = re.compile(
    r"; |\(see regraph |: (?:begin|change|end|finish|give|have|keep|look|make|measure|merge|name"
    r"|rename|run|say|set|shorten|start|take|use|write) "
)
"""Follows what is wrong, and says what to do."""


def same(text: str) -> str:
    """A text as it is compared: a page quotes messages between backquotes, so has none in them."""
    return plain(text.replace("`", "")).strip(" ")


def entries() -> list[str]:
    """The messages of the page, as they stand."""
    return [
        found["text"]
        for line in PAGE.read_text("utf-8").splitlines()
        if (found := ENTRY.match(line))
    ]


def test_every_error_text_says_what_to_do_or_has_an_entry() -> None:
    told = {same(text) for text in entries()}
    missing = [
        f"{where}\n- `{same(text)}`\n  WHY, AND WHAT TO DO."
        for text, where in error_texts().items()
        if not REMEDY.search(text) and same(text) not in told
    ]
    assert missing == [], (
        "let the text say what to do (what is wrong; what to do), or put it into the section of"
        f" {PAGE.name} that fits (… is what varies; messages that follow each other share the"
        " explanation below the last):\n\n" + "\n\n".join(missing)
    )


@pytest.mark.parametrize(
    ("text", "helps"),
    [
        ("…: not a number; give one from 1 on", True),
        ("no server answers at …: start it", True),
        ("… is broken (see regraph doctor)", True),
        ("…: not a number", False),
        ("…: …: it is started by somebody", False),
    ],
)
def test_a_text_that_only_says_what_is_wrong_needs_an_entry(text: str, helps: bool) -> None:
    assert bool(REMEDY.search(text)) == helps


def test_no_message_has_two_entries() -> None:
    assert [text for text, count in Counter(map(same, entries())).items() if count > 1] == []


def test_every_entry_is_explained() -> None:
    """Each run of messages is followed by sentences, and a message has none before its end."""
    lines = PAGE.read_text("utf-8").splitlines()
    after = [new for old, new in pairwise(lines) if ENTRY.match(old) and not ENTRY.match(new)]
    assert [line for line in after if not re.match(r"  \S", line)] == []
    assert [line for line in lines if line.startswith("- ") and not ENTRY.match(line)] == []


def source(text: str) -> set[str]:
    """The texts of a module's errors."""
    module = Module(PAGE, ast.parse(text))
    calls = module.calls["BadInput"]
    return {found for call in calls for found in texts_of(module, call.args)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('BadInput("give one")', {"give one"}),
        ('BadInput(f"{path}: give" f" one")', {"…: give one"}),
        ('BadInput("give " + name + " once")', {"give … once"}),
        ('BadInput("give one" if few else f"give {n}")', {"give one", "give …"}),
        ('HINT = "give one"\nBadInput(f"{path}; {HINT}")', {"…; give one"}),
        ("BadInput(f\"{path}{', which is too long' if n else ''}\")", {", which is too long"}),
        ('def _why(n):\n    return f"it is {n} long"\nBadInput(_why(3))', {"it is … long"}),
        ('def f(why):\n    raise BadInput(why)\nf("no such thing")', {"no such thing"}),
        (
            'def f(error):\n    why = str(error)\n    raise BadInput(f"{why}: mend it")',
            {"…: mend it"},
        ),
        (
            'WHY = {1: "it is too short"}\nBadInput(f"{p}: {WHY[n]}, mend")',
            {"it is too short", "…: …, mend"},
        ),
    ],
)
def test_texts_are_found_however_they_are_written(text: str, said: set[str]) -> None:
    assert source(text) == said


def test_texts_of_subclasses_and_of_other_modules_are_found() -> None:
    texts = error_texts()
    assert "judge: stopped" in texts  # JudgeLost, a subclass
    assert any("give a trace as this version's" in text for text in texts)  # an imported constant
    assert len(texts) > 400


def test_no_entry_is_of_a_text_that_is_no_more() -> None:
    known = {same(text) for text in error_texts()}
    gone = [text for text in entries() if same(text) not in known]
    assert gone == [], f"{PAGE.name}: no error says this; take it out"
