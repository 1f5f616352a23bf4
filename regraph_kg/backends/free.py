"""Results of models' free choices: a (:FreeRun) node for each run and device, summed when read.

Nothing is derived from such a node. Not here: which steps of a run count (search/free_steps.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.models.graph import FreeChoice, FreeRun, FreeSteps


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
    counts = {f"{which}_{name}": count for which, steps in free_run.choice for name, count in steps}
    return {
        "id": f"{free_run.run} {free_run.device}",
        **free_run.model_dump(exclude={"choice"}),
        **counts,
    }


def _choice(row: Mapping[str, Any]) -> FreeChoice:
    return FreeChoice.model_validate(
        {
            which: {name: row[f"{which}_{name}"] for name in FreeSteps.model_fields}
            for which in FreeChoice.model_fields
        }
    )
