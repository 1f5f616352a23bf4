"""Verdicts of relabelling as a table or JSON, with their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from regraph_kg.cli.answers import answered
from regraph_kg.cli.tables import legible, print_rows, wide_console
from regraph_kg.ingest.relabel.verdict import LabelVerdict
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.target import Target


@dataclass(frozen=True, slots=True)
class NameVerdict(Relabelled):
    """The technique of a name; for a new technique its name and definition."""

    name: str | None = None
    definition: str | None = None
    target: Target | None = None
    steps: int = 0
    """Steps that use the name."""


def print_verdicts(
    verdicts: Sequence[LabelVerdict], steps: Mapping[tuple[Target, str], int], *, as_json: bool
) -> None:
    """Print a verdict for each key of `steps` (target, label), which counts its steps."""
    rows = [
        replace(decision(verdict), target=target, steps=steps[target, label])
        for (target, label), verdict in zip(steps, verdicts, strict=True)
    ]
    if answered(Sequence[NameVerdict], rows, as_json):
        return
    headings = ("name", "technique", "stage", "score", "runner-up", "steps")
    cells = (
        (
            legible(row.label),
            row.technique,
            row.stage,
            _score(row.score),
            f"{row.runner_up} {_score(row.runner_up_score)}" if row.runner_up else "-",
            str(row.steps),
        )
        for row in sorted(rows, key=lambda row: (row.stage, row.technique, row.label))
    )
    print_rows(headings, cells, (3, 5), wide_console())


def decision(verdict: LabelVerdict) -> NameVerdict:
    coined = verdict.coined
    return NameVerdict(
        **asdict(verdict.relabelled),
        name=coined.name if coined else None,
        definition=coined.definition if coined else None,
    )


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"
