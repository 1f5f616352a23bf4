"""Trajectory files that overlap, and what they add up to, reckoned apart from the product."""

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from regraph_kg.models.technique import Technique

NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon")
NEW = "Zigzag"
"""In no vocabulary: whoever ingests it first makes the technique."""
VOCABULARY = tuple(Technique(id=f"cuda/{name.lower()}", name=name, target="cuda") for name in NAMES)
DEVICES = ("GPU A", "GPU B", "GPU C")
START = "cuda/start"

Line = dict[str, Any]
Pair = tuple[str, str]


@dataclass
class Sums:
    """What a pair's trials on one device add up to."""

    tried: int = 0
    verified: int = 0
    verified_first: int = 0
    sum_log2_effect: int = 0
    best_effect: float | None = None
    failed: Counter[str] = field(default_factory=Counter)


@dataclass
class Reckoning:
    """What a graph must say once it holds some lines."""

    trajectories: int
    examples: Counter[Pair]
    trials: dict[tuple[Pair, str], Sums]


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
        "repairs": rng.randrange(2),
    }


def reckon(files: Iterable[Path]) -> Reckoning:
    """What every line of all these files, each trial counted once, adds up to."""
    known: dict[str, list[str]] = {}
    trials: dict[str, tuple[Pair, Line]] = {}
    for path in files:
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            name = line["ref"]
            known[name] = path_of(line)
            trials.update(_trials(name, known[name], line))
    sums: defaultdict[tuple[Pair, str], Sums] = defaultdict(Sums)
    for pair, trial in trials.values():
        _count(sums[pair, trial["device"]], trial)
    examples = Counter(pair for steps in known.values() for pair in pairwise(steps))
    return Reckoning(len(known), examples, dict(sums))


def path_of(line: Mapping[str, Any]) -> list[str]:
    """Technique ids from the start on."""
    return [START, *(f"cuda/{step['label'].lower()}" for step in line["steps"])]


def _trials(name: str, path: Sequence[str], line: Line) -> dict[str, tuple[Pair, Line]]:
    """Measurements and failures by what makes them one and the same."""
    found = {
        f"{name} {at} {one['device']} {one['run']}": ((path[at], path[at + 1]), one)
        for at, step in enumerate(line["steps"])
        for one in step["measurements"]
    }
    for one in line["failures"]:
        pair = (path[one["after_step"]], f"cuda/{one['label'].lower()}")
        found[f"{name} {sorted(one.items())}"] = (pair, one)
    return found


def _count(sums: Sums, trial: Line) -> None:
    sums.tried += 1
    if trial["outcome"] != "passed":
        sums.failed[trial["outcome"]] += 1
        return
    effect = trial["before_seconds"] / trial["seconds"]
    sums.verified += 1
    sums.verified_first += trial["repairs"] == 0
    sums.sum_log2_effect += round(2**20 * math.log2(effect))
    sums.best_effect = max(effect, sums.best_effect or effect)
