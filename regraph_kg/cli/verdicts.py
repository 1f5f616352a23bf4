"""Verdicts of relabelling as a table or JSON: what each name is taken for, and how surely."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import typer
from rich.table import Table

from regraph_kg.cli.tables import PlainConsole, print_table
from regraph_kg.ingest.relabel.verdict import LabelVerdict
from regraph_kg.models.target import Target

NARROWEST = 120
"""Columns where the output is no terminal."""


def print_verdicts(
    verdicts: Sequence[LabelVerdict], steps: Mapping[tuple[Target, str], int], *, as_json: bool
) -> None:
    """Print a verdict for each key of `steps` (target, label), which counts its steps."""
    rows = [
        {"target": target, "steps": steps[target, label]} | decision(verdict)
        for (target, label), verdict in zip(steps, verdicts, strict=True)
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return

    table = Table("name", "technique", "stage", "score", "runner-up", "steps", box=None)
    for row in sorted(rows, key=lambda row: (row["stage"], row["technique"], row["label"])):
        table.add_row(
            legible(str(row["label"])),
            str(row["technique"]),
            str(row["stage"]),
            _score(row["score"]),
            f"{row['runner_up']} {_score(row['runner_up_score'])}" if row["runner_up"] else "-",
            str(row["steps"]),
        )
    console = PlainConsole()
    if not console.is_terminal:
        console.width = max(console.width, NARROWEST)  # ids are there to be copied
    print_table(table, (3, 5), console)


def decision(verdict: LabelVerdict) -> dict[str, object]:
    """A verdict as JSON's object; the coined name and definition only where there are any."""
    row: dict[str, object] = asdict(verdict.relabelled)
    if verdict.coined is not None:
        row |= {"name": verdict.coined.name, "definition": verdict.coined.definition}
    return row


def legible(text: str) -> str:
    """`text` without characters that steer a terminal or hide what it says."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def _score(score: object) -> str:
    return f"{score:.2f}" if isinstance(score, float) else "-"
