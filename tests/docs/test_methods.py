"""docs/methods.md says what the code does: settings, defaults, --fast, needs."""

import re
from pathlib import Path

import pytest

from regraph_kg.cli.dry_run import THINKING
from regraph_kg.models.method import SETTINGS, WALKS, MethodName, Prompting, SearchLimits
from regraph_kg.runs.choice import BUDGET, FAST_LIMITS, FAST_PROMPTING, FAST_SETTINGS
from regraph_kg.search.run import METHODS

TEXT = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
NEAREST = {"rag", "mcts-rag"}
"""Methods that look for the examples nearest to a code."""


def table(section: str) -> list[list[str]]:
    """The cells of the rows of a section's first table, backticks dropped, without its head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return cells[2:]


def section(title: str) -> str:
    """What stands under a heading, up to the next one."""
    found = re.search(rf"^##+ {title}.*?\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, title
    return found.group(1)


def test_every_method_has_its_section_and_needs() -> None:
    assert set(re.findall(r"^### `([a-z-]+)`", TEXT, re.MULTILINE)) == set(METHODS)
    needs = {row[0]: (row[1], row[2]) for row in table(section("The methods"))}
    assert set(needs) == set(METHODS)
    for method, (need, thoughts) in needs.items():
        assert thoughts == ("yes" if method in THINKING else "no"), method
        if method in WALKS:
            assert need == "a graph", method
        else:
            assert need == ("a graph with embeddings" if method in NEAREST else "nothing"), method


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_is_told_with_its_default_and_what_fast_makes_of_it(
    method: MethodName,
) -> None:
    told = {row[0]: (row[1], row[2]) for row in table(section(f"`{method}`"))}
    defaults = SETTINGS[method]().model_dump(exclude={"method"})
    assert told == {
        name: ("none" if value is None else str(value), str(FAST_SETTINGS.get(name, "")))
        for name, value in defaults.items()
    }


def test_limits_are_told_with_their_defaults() -> None:
    told = {row[0]: (row[1], row[2]) for row in table(section("SearchLimits"))}
    assert told["--budget"] == (str(BUDGET), str(FAST_LIMITS["calls"]))
    assert told["--seconds"] == ("none", f"{FAST_LIMITS['seconds']:.0f}")
    assert told["--unreadable"] == (str(SearchLimits(calls=1).unreadable), "")
    assert set(told) == {"--budget", "--seconds", "--evaluations", "--tokens", "--unreadable"}
    usual = Prompting()
    said = f"{FAST_PROMPTING['example_tokens']} tokens instead of {usual.example_tokens}"
    assert said in section("SearchLimits")
    assert (FAST_PROMPTING["examples"], usual.examples) == (1, 2)  # "one instead of two"
