"""Results of models' free choices: a (:FreeRun) node for each run and device, summed when read.

Nothing is derived from such a node. Not here: which steps of a run count (search/free_steps.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.models.graph import FreeChoice, FreeRun, FreeSteps

WHICH = ("first", "later")


def add(ask: Query, runs: Sequence[FreeRun]) -> None:
    """Write runs; a known run is replaced."""
    rows = {row["id"]: row for row in map(_node, runs)}
    ask("add_free_runs", rows=[rows[key] for key in sorted(rows)])


def seen_from(rows: Sequence[GraphRow], device: str) -> FreeChoice:
    """The sum of the tries on `device`, or on all others where there are none."""
    here, elsewhere = FreeChoice(), FreeChoice()
    for row in rows:
        if row["device"] == device:
            here += _choice(row)
        else:
            elsewhere += _choice(row)
    return here if here.first.tried + here.later.tried else elsewhere


def read(node: Mapping[str, Any]) -> FreeRun:
    """The run of a node."""
    fields = {name: node[name] for name in FreeRun.model_fields if name != "choice"}
    return FreeRun(**fields, choice=_choice(node))


def _node(free_run: FreeRun) -> dict[str, Any]:
    return {
        "id": f"{free_run.run} {free_run.device}",
        **free_run.model_dump(exclude={"choice"}),
        **dict(_counts(free_run.choice)),
    }


def _counts(choice: FreeChoice) -> Iterator[tuple[str, int]]:
    for which in WHICH:
        for name, count in getattr(choice, which):
            yield f"{which}_{name}", count


def _choice(row: Mapping[str, Any]) -> FreeChoice:
    first, later = (
        FreeSteps(**{name: row[f"{which}_{name}"] for name in FreeSteps.model_fields})
        for which in WHICH
    )
    return FreeChoice(first=first, later=later)
