"""Trajectory files that overlap, and what a store holds, for comparison with another one."""

import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regraph_kg.backends.store import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory
from tests.ingest.trajectories import by_name
from tests.recount import transitions

NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")
NEW = "Zigzag"  # in no vocabulary: whoever ingests it first makes the technique
VOCABULARY = tuple(Technique(id=f"cuda/{name.lower()}", name=name, target="cuda") for name in NAMES)
DEVICES = ("GPU A", "GPU B", "GPU C")

Line = dict[str, Any]


def write_files(folder: Path, count: int, *, trajectories: int, seed: int = 1) -> list[Path]:
    """`count` files; most trajectories are in several, each time with other evidence, shuffled."""
    rng = random.Random(seed)
    lines: list[list[Line]] = [[] for _ in range(count)]
    for number in range(trajectories):
        for holder in rng.sample(range(count), min(count, rng.choice((1, 2, 3, 4)))):
            lines[holder].append(_line(number, holder, rng))
    paths = []
    for holder, some in enumerate(lines):
        rng.shuffle(some)
        paths.append(folder / f"{holder}.jsonl")
        paths[-1].write_text("".join(json.dumps(line) + "\n" for line in some), encoding="utf-8")
    return paths


def _line(number: int, holder: int, rng: random.Random) -> Line:
    """Trajectory `number` as the sender `holder` has it: the same steps, evidence of its own."""
    steps = random.Random(number)
    labels = steps.choices((*NAMES, NEW), weights=(9, 5, 3, 2, 1, 1), k=steps.randrange(1, 5))
    line: Line = {
        "schema": 1,
        "ref": f"ref {number}",
        "target": "cuda",
        "problem": f"problem {number % 5}",
        "serial": f"int x{number};",
        "steps": [
            {
                "label": label,
                "reasoning": f"why {label}",
                "code": f"int x{number}; // {at} {label}",
                "measurements": [_measured("everybody", steps)]
                + [_measured(f"{holder} {run}", rng) for run in range(rng.randrange(3))],
            }
            for at, label in enumerate(labels)
        ],
    }
    line["failures"] = [
        {
            "after_step": rng.randrange(len(labels) + 1),
            "label": rng.choice(NAMES),
            "outcome": rng.choice(("crashed", "wrong_answer")),
            "diagnosis": f"seen by {holder}, {at}",
            "code": "int bad;",
            "device": rng.choice(DEVICES),
        }
        for at in range(rng.randrange(3))
    ]
    return line


def _measured(run: str, rng: random.Random) -> Line:
    passed = rng.random() < 0.8
    return {
        "device": rng.choice(DEVICES),
        "toolchain": "nvcc",
        "evaluator": "1",
        "run": run,
        "outcome": "passed" if passed else "timed_out",
        "seconds": rng.uniform(0.2, 2.0),
        "before_seconds": 1.0,
        "serial_seconds": 3.0,
    }


def ingest_in_turn(store: GraphStore, files: Iterable[Path]) -> None:
    """Ingest file after file."""
    cascade = by_name(pipeline.open_vocabulary(store, VOCABULARY))
    for path in files:
        with path.open("rb") as file:
            for batch in (
                one.merged(store) for one in pipeline.portions(read(split(file)), cascade)
            ):
                assert not batch.rejected, batch.rejected


def holdings(store: GraphStore) -> dict[str, Any]:
    """What is the same in two stores that were told the same in another order.

    An example counts in the row of its latest measurement's device: so examples are per pair.
    """
    rows = transitions(store)
    examples: Counter[tuple[str, str]] = Counter()
    for row in rows:
        examples[row.source, row.target] += row.examples
    return {
        "trials": [asdict(row) | {"examples": None} for row in rows if row.tried],
        "examples": examples,
        "trajectories": [_in_order(one) for one in store.export()],
        "techniques": [
            one.model_copy(update={"created": "", "aliases": tuple(sorted(one.aliases))})
            for one in store.techniques()
        ],
        "stats": store.stats(),
    }


def _in_order(trajectory: Trajectory) -> dict[str, Any]:
    told = trajectory.model_dump(mode="json")
    for step in told["steps"]:
        step["measurements"].sort(key=lambda one: (one["device"], one["run"]))
    told["failures"].sort(key=json.dumps)
    return told
