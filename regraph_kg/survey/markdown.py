"""Parts of a report as Markdown: names, cells and tables."""

from collections.abc import Iterable, Sequence

from regraph_kg.models.target import Target
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.survey.facts import SeenStep


def step_names(steps: Sequence[SeenStep]) -> str:
    return ", ".join(cell(step_name(step)) for step in steps)


def cell(text: str) -> str:
    """Others' words as Markdown shows them: one line, no tag, no link, no new column."""
    said = " ".join(plain(text).split())
    return said.replace("|", "&#124;").replace("<", "&lt;").replace("](", "]&#40;")


def step_name(step: SeenStep) -> str:
    return f"{reference(step.trajectory)} step {step.number}, {step.step.label}"


def reference(trajectory: Trajectory) -> str:
    return trajectory.ref or trajectory.id[:12]


def short(technique: str, target: Target) -> str:
    return technique.removeprefix(f"{target}/")


def table(head: str, rows: Iterable[Sequence[str]], most: int | None = None) -> str:
    """A Markdown table of all rows or at most so many; "None." where there are none."""
    every = list(rows)
    if not every:
        return "None.\n"
    columns = head.split("|")
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in every[:most]]
    if most is not None and len(every) > most:
        lines += ["", f"{len(every) - most} more rows are left out."]
    return "\n".join(lines) + "\n"
