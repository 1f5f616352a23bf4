"""docs/methods.md says what the code does: limits and --fast.

Its list of methods is generated: test_generated.py.
"""

import re
from pathlib import Path

from regraph_kg.models.method import SearchLimits
from regraph_kg.runs.choice import BUDGET, FAST_LIMITS

TEXT = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")


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


def test_limits_are_told_with_their_defaults() -> None:
    told = {row[0]: (row[1], row[2]) for row in table(section("Limits"))}
    assert told["--budget"] == (str(BUDGET), str(FAST_LIMITS["verdicts"]))
    assert told["limit.calls"][0].startswith("none")
    assert told["limit.seconds"] == ("none", f"{FAST_LIMITS['seconds']:.0f}")
    assert told["limit.unreadable"] == (str(SearchLimits(verdicts=1).unreadable), "")
    limits = set(SearchLimits.model_fields) - {"verdicts"}
    assert set(told) == {"--budget", *(f"limit.{name}" for name in limits)}
