"""What the graph was worth to searches: steps whose technique was told, against withheld ones.

A share of requests, drawn by chance (`Prompting.withhold`, which `regraph bench` sets), does not
tell the model the technique. By how much more often a step made code faster where it was told is
the uplift, with Newcombe's 95 % interval (1998, method 10). Not covered: how well the technique was
chosen, for which the bench has controls; that edges are taken on different codes.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.run import StepRecord
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import start_id
from regraph_kg.search.run_record import RunRecord

FASTER = 1.05
"""Effect of a step above which it counts: the judge tells such from none (docs/evaluation.md)."""
_SIDE = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Tally:
    """Steps that were asked for, and what they came to."""

    asked: int = 0
    applied: int = 0
    """Right, and as the technique says."""
    passed: int = 0
    faster: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.asked + other.asked,
            self.applied + other.applied,
            self.passed + other.passed,
            self.faster + other.faster,
        )


@dataclass(frozen=True, slots=True)
class EdgeWorth:
    """An edge in searches, or all edges of a target: told, withheld, and the uplift."""

    target: Target
    source: str
    """"": all edges."""
    technique: str
    told: Tally
    withheld: Tally
    """Of all edges of the target: of one edge there are too few."""
    uplift: float | None
    """Share faster of those told, less that of those withheld; None where there are none."""
    low: float | None
    high: float | None


def worth(runs: Iterable[RunRecord]) -> list[EdgeWorth]:
    """All edges of a target, then each, those asked for most first."""
    told: dict[Target, dict[tuple[str, str], Tally]] = defaultdict(lambda: defaultdict(Tally))
    withheld: dict[Target, Tally] = defaultdict(Tally)
    for run in runs:
        target = run.header.target
        for edge, step, before in _steps(run):
            if step.withheld:
                withheld[target] += _tally(step, before)
            else:
                told[target][edge] += _tally(step, before)
    rows = []
    for target in TARGETS:
        edges, without = told[target], withheld[target]
        if edges or without.asked:
            rows.append(_edge(target, ("", ""), sum(edges.values(), Tally()), without))
        ranked = sorted(edges.items(), key=lambda entry: (-entry[1].asked, entry[0]))
        rows += [_edge(target, edge, tally, without) for edge, tally in ranked]
    return rows


def _steps(run: RunRecord) -> Iterator[tuple[tuple[str, str], StepRecord, float]]:
    """Tries of a technique: the edge, the step, and the speedup of the code before it."""
    steps = [step for record in run.records for step in record.steps]
    by_path = {step.path: step for step in steps}  # of (): the program that a search began with
    for step in steps:
        before = by_path.get(step.path[:-1])
        level = before.speedup if before else 1.0 if len(step.path) == 1 else None
        if step.technique is None or not step.tried or not level:
            continue
        if step.outcome is Outcome.UNSTABLE_TIMING:
            continue  # our machine's fault
        did = before and (before.did or before.technique)
        yield (did or start_id(run.header.target), step.technique), step, level


def _tally(step: StepRecord, before: float) -> Tally:
    passed = step.speedup is not None
    return Tally(
        asked=1,
        applied=int(passed and step.applied == "asked"),
        passed=int(passed),
        faster=int(step.speedup is not None and step.speedup > FASTER * before),
    )


def _edge(target: Target, edge: tuple[str, str], told: Tally, withheld: Tally) -> EdgeWorth:
    uplift: tuple[float, float, float] | tuple[None, None, None] = (None, None, None)
    if told.asked and withheld.asked:
        uplift = difference(told.faster, told.asked, withheld.faster, withheld.asked)
    return EdgeWorth(target, *edge, told, withheld, *uplift)


def difference(hits: int, n: int, other_hits: int, m: int) -> tuple[float, float, float]:
    """The difference of two shares, and its 95 % interval."""
    one, other = hits / n, other_hits / m
    (low, high), (other_low, other_high) = wilson(one, n), wilson(other, m)
    down = math.hypot(one - low, other_high - other)
    up = math.hypot(high - one, other - other_low)
    return one - other, one - other - down, one - other + up


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `n`."""
    z = _SIDE
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)
