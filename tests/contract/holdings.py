"""All that a store holds, for comparison with another one."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.models.trajectory import Trajectory
from tests.contract.overlap import VOCABULARY, Pair
from tests.ingest.trajectories import lexical


def ingest_in_turn(store: GraphStore, files: Iterable[Path]) -> None:
    """Ingest file after file."""
    cascade = lexical(pipeline.open_vocabulary(store, VOCABULARY))
    for path in files:
        with path.open("rb") as file:
            for batch in pipeline.ingest(read(split(file)), store, cascade):
                assert not batch.rejected, batch.rejected


def holdings(store: GraphStore) -> dict[str, Any]:
    """What is the same in two stores that were told the same in another order.

    An example counts in the row of its latest measurement's device: so examples are per pair.
    """
    rows = store.transitions()
    examples: Counter[Pair] = Counter()
    for row in rows:
        examples[row.source, row.target] += row.examples
    return {
        "trials": [asdict(row) | {"examples": None} for row in rows if row.tried],
        "examples": examples,
        "trajectories": [_in_order(one) for one in store.export()],
        "techniques": [
            technique.model_copy(update={"created": ""}) for technique in store.techniques()
        ],
        "stats": store.stats(),
    }


def contents(store: GraphStore) -> dict[str, Any]:
    """All that a store holds, but for the hour at which it was told."""
    techniques = [
        technique.model_dump(exclude={"created"}) | {"aliases": sorted(technique.aliases)}
        for technique in store.techniques()
    ]
    return {
        "export": [trajectory.model_dump(mode="json") for trajectory in store.export()],
        "transitions": [asdict(row) for row in store.transitions()],
        "stats": asdict(store.stats()),
        "techniques": techniques,
    }


def _in_order(trajectory: Trajectory) -> dict[str, Any]:
    told = trajectory.model_dump(mode="json")
    for step in told["steps"]:
        step["measurements"].sort(key=lambda one: (one["device"], one["run"]))
    told["failures"].sort(key=json.dumps)
    return told
