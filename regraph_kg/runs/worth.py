"""What the graph was worth to searches: steps whose technique was told, against withheld ones.

Searches of `regraph bench` do not tell the model the technique of some requests, drawn by chance
(`Prompting.withhold`). The uplift is the share of faster steps of those told less that of those
withheld, both in such searches alone, with Newcombe's 95 % interval (1998, method 10). Runs that
saw a shuffled or empty graph are left out, and so are steps of which free_steps.py learns nothing.
Not covered: how well the technique was chosen, for which the bench has controls; that edges are
taken on different codes; that steps of one search hang together, which makes the interval too
narrow.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

from regraph_kg.models.run import StepRecord
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import start_id
from regraph_kg.search.free_steps import disproved, timed_well
from regraph_kg.search.run_record import RunRecord

FASTER = 1.05
"""Effect of a step above which it counts: the judge tells such from none (docs/evaluation.md)."""
_SIDE = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Tally:
    """Steps that were asked for, and what they came to."""

    asked: int = 0
    """Declined and unchanged ones, too."""
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
    told: dict[Target, dict[_Edge, Tally]] = defaultdict(lambda: defaultdict(Tally))
    by_chance: dict[Target, dict[_Edge, Tally]] = defaultdict(lambda: defaultdict(Tally))
    withheld: dict[Target, Tally] = defaultdict(Tally)
    for run in (run for run in runs if run.header.graph == "whole" and run.header.judge == "live"):
        target = run.header.target
        for edge, step, before in _steps(run):
            came = _tally(run, step, before)
            if step.withheld:
                withheld[target] += came
                continue
            told[target][edge] += came
            if run.header.prompting.withhold:
                by_chance[target][edge] += came
    rows = []
    for target in TARGETS:
        edges, drawn, without = told[target], by_chance[target], withheld[target]
        if edges or without.asked:
            every, among = (sum(each.values(), Tally()) for each in (edges, drawn))
            rows.append(_worth(target, ("", ""), every, among, without))
        ranked = sorted(edges.items(), key=lambda entry: (-entry[1].asked, entry[0]))
        rows += [_worth(target, edge, came, drawn[edge], without) for edge, came in ranked]
    return rows


_Edge = tuple[str, str]


def _steps(run: RunRecord) -> Iterator[tuple[_Edge, StepRecord, float]]:
    """Requests for a technique that were answered: the edge, the step, and the speedup before it.

    What follows a withheld step that showed no technique is of no edge.
    """
    steps = [step for record in run.records for step in record.steps]
    by_path = {step.path: step for step in steps}  # of (): the program that a search began with
    for step in steps:
        before = by_path.get(step.path[:-1])
        level = before.speedup if before else 1.0 if len(step.path) == 1 else None
        if step.technique is None or step.outcome is None or not level:
            continue
        nameless = before is not None and before.withheld and not before.did
        if nameless or not timed_well(run, step):
            continue
        did = before and (before.did or before.technique)
        yield (did or start_id(run.header.target), step.technique), step, level


def _tally(run: RunRecord, step: StepRecord, before: float) -> Tally:
    speedup = None if disproved(run, step) else step.speedup
    return Tally(
        asked=1,
        applied=int(speedup is not None and step.applied == "asked"),
        passed=int(speedup is not None),
        faster=int(speedup is not None and speedup > FASTER * before),
    )


def _worth(target: Target, edge: _Edge, told: Tally, among: Tally, withheld: Tally) -> EdgeWorth:
    """`among`: those told in searches that withheld some."""
    uplift: tuple[float, float, float] | tuple[None, None, None] = (None, None, None)
    if among.asked and withheld.asked:
        uplift = difference(among.faster, among.asked, withheld.faster, withheld.asked)
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
