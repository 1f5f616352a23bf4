"""What trajectories contribute to the NEXT rows: the same arithmetic adds, updates and subtracts.

What was given counts in a pair's row of a device, what was learned from a model in one of its own.

What a newer judge measured on a device stands for what older ones had measured of the same step
there: their figures are not pooled, nor are times by two metrics. Code that was right but timed too
noisily neither passed nor failed: it is no try. Not covered: trajectories that only an older judge
has measured still count beside those of a newer one, until they are measured again.

An example counts in one row, that of its latest measurement's device, so that `examples` adds up
over devices; every measurement and every failure counts as tried on its own device. Where a
technique was declined, nothing was tried: that has a count of its own.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from regraph_kg.backends.evidence import Evidence, Measurements
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import EFFECT_SCALE, LEARNED_TRIES, Successor
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Measurement

UNMEASURED = "unmeasured"
"""Device of what was never measured, or failed on a device nobody noted."""

NO_FAILURES = (Outcome.PASSED, Outcome.DECLINED)
FAILURES = tuple(f"failed_{outcome}" for outcome in Outcome if outcome not in NO_FAILURES)
PASSES = (
    "examples",
    "tried",
    "verified",
    "verified_first",
    "sum_log2_effect",
    "sum_sq_log2_effect",
)
RARE = (*FAILURES, "declined")
"""What most rows count none of: absent as long as all are zero."""
COUNTS = (*PASSES, *RARE)
"""The integer properties of a NEXT row."""


class Pair(NamedTuple):
    """A transition."""

    source: str
    target: str


@dataclass(slots=True)
class RowCounts:
    """The numbers of one NEXT row, or of a share in one."""

    counts: Counter[str] = field(default_factory=Counter)
    best_effect: float | None = None

    def add(self, other: "RowCounts", sign: int = 1) -> None:
        """Add, or with sign -1 subtract; a best effect cannot be subtracted."""
        for name, count in other.counts.items():
            self.counts[name] += sign * count
        if sign > 0:
            self.best_effect = best(self.best_effect, other.best_effect)

    def count(self, outcome: Outcome, repairs: int = 0, effect: float | None = None) -> None:
        """Count one trial; where the technique was declined there was none."""
        if outcome is Outcome.DECLINED:
            self.counts["declined"] += 1
            return
        self.counts["tried"] += 1
        if outcome is not Outcome.PASSED:
            self.counts[f"failed_{outcome}"] += 1
            return
        self.counts["verified"] += 1
        self.counts["verified_first"] += repairs == 0
        if effect is not None:
            log2 = math.log2(effect)
            self.counts["sum_log2_effect"] += round(EFFECT_SCALE * log2)
            self.counts["sum_sq_log2_effect"] += round(EFFECT_SCALE * log2**2)
            self.best_effect = best(self.best_effect, effect)


class RowKey(NamedTuple):
    """Whose numbers a NEXT row holds: a device's, as given or as learned from one model."""

    device: str
    learner: str | None = None

    def __str__(self) -> str:
        """For a reader."""
        return self.device + ("" if self.learner is None else f" learned from {self.learner}")


Share = dict[tuple[Pair, RowKey], RowCounts]
"""Per NEXT row."""


def share(evidence: Evidence) -> Share:
    """The NEXT rows of a graph that holds this trajectory alone."""
    rows: Share = {}
    for step, measured in enumerate(evidence.measurements):
        pair = Pair(evidence.path[step], evidence.path[step + 1])
        home = RowKey(measured[-1].device if measured else UNMEASURED, evidence.learner)
        rows.setdefault((pair, home), RowCounts()).counts["examples"] += 1
        for one in _counted(measured):
            row = rows.setdefault((pair, RowKey(one.device, evidence.learner)), RowCounts())
            row.count(one.outcome, one.repairs, one.effect)
    for failure in evidence.failures:
        if failure.technique is not None and failure.outcome is not Outcome.UNSTABLE_TIMING:
            pair = Pair(evidence.path[failure.after_step], failure.technique)
            origin = RowKey(failure.device or UNMEASURED, evidence.learner)
            rows.setdefault((pair, origin), RowCounts()).count(failure.outcome)
    return rows


def _counted(measured: Measurements) -> list[Measurement]:
    """Those measurements of a step that are tries: of each device its newest judge's, but noise.

    By one metric a device: transfers hide what a kernel gains, so its times on the device count
    where it has any (decisions/0023).
    """
    newest: dict[str, int] = {}
    for one in measured:
        newest[one.device] = max(newest.get(one.device, 0), _version(one.evaluator))
    kept = [
        one
        for one in measured
        if one.outcome is not Outcome.UNSTABLE_TIMING
        and _version(one.evaluator) == newest[one.device]
    ]
    passed = {
        one.device for one in kept if one.metric == "device" and one.outcome is Outcome.PASSED
    }
    called = {one.device for one in kept if one.metric == "call"}
    return [one for one in kept if (one.metric == "call") is (one.device in called - passed)]


def _version(evaluator: str) -> int:
    """Judges are numbered; what is no number is older than all that are."""
    return int(evaluator) if evaluator.isdecimal() else 0


def total(added: Iterable[Share], removed: Iterable[Share] = ()) -> Share:
    """The sum of `added` minus `removed`, sorted by pair, device and learner."""
    rows: Share = {}
    for sign, shares in ((1, added), (-1, removed)):
        for one in shares:
            for key, tally in one.items():
                rows.setdefault(key, RowCounts()).add(tally, sign)
    return dict(sorted(rows.items(), key=lambda row: (row[0][0], _order(row[0][1]))))


def together(rows: Mapping[RowKey, RowCounts], *, capped: bool = False) -> RowCounts:
    """The sum of some NEXT rows of one pair.

    `capped`: what was learned from one model counts as `LEARNED_TRIES` tries at most, or as many as
    all the others, given or learned, where those are more: at its own rates, so that the cap takes
    weight from it and not truth.
    """
    summed, learned = RowCounts(), dict[str | None, RowCounts]()
    for origin, tally in rows.items():
        summed.add(tally)
        learned.setdefault(origin.learner, RowCounts()).add(tally)
    learned.pop(None, None)
    if capped:
        total = summed.counts["tried"]
        for tally in learned.values():
            tried = tally.counts["tried"]
            most = max(LEARNED_TRIES, total - tried)
            if tried > most:
                summed.add(_beyond(tally, most), sign=-1)
    return summed


class PairView(NamedTuple):
    """What is known of a pair where a search runs, and on whose word (`Successor.statistics`)."""

    tally: RowCounts
    by: Literal["device", "other-devices", "none"]
    elsewhere: RowCounts
    """Of the other devices, beside the asked device's own."""


def seen_from(rows: Mapping[RowKey, RowCounts], device: str) -> PairView:
    """One pair's rows as a search on `device` is told of them: its own, and all others; capped."""
    own, others = (
        together(
            {origin: rows[origin] for origin in rows if (origin.device == device) is here},
            capped=True,
        )
        for here in (True, False)
    )
    if own.counts["tried"]:
        return PairView(own, "device", others)
    return PairView(others, "other-devices" if others.counts["tried"] else "none", RowCounts())


def successor(technique: Technique, rows: Mapping[RowKey, RowCounts], device: str) -> Successor:
    """A pair's target as a search on `device` is told of it."""
    chosen, by, elsewhere = seen_from(rows, device)
    return Successor(
        technique=technique,
        examples=sum(tally.counts["examples"] for tally in rows.values()),
        tried=chosen.counts["tried"],
        verified=chosen.counts["verified"],
        sum_log2_effect=chosen.counts["sum_log2_effect"],
        best_effect=chosen.best_effect,
        statistics=by,
        tried_elsewhere=elsewhere.counts["tried"],
        verified_elsewhere=elsewhere.counts["verified"],
        sum_log2_elsewhere=elsewhere.counts["sum_log2_effect"],
        declined=_declined(rows),
    )


def _declined(rows: Mapping[RowKey, RowCounts]) -> int:
    """How often a pair's technique was declined, by one learner `LEARNED_TRIES` times at most."""
    said = Counter[str | None]()
    for origin, tally in rows.items():
        said[origin.learner] += tally.counts["declined"]
    return sum(n if who is None else min(n, LEARNED_TRIES) for who, n in said.items())


def precedence(rows: Mapping[RowKey, RowCounts]) -> tuple[int, int]:
    """Sorts the pairs of a neighbourhood: most given examples first, then most learned ones.

    A run's leaves share the beginnings of their paths, and each leaf is an example of every step on
    its way: how many were learned says more of the search than of the step.
    """
    given, learned = 0, 0
    for origin, tally in rows.items():
        if origin.learner is None:
            given += tally.counts["examples"]
        else:
            learned += tally.counts["examples"]
    return -given, -learned


def _beyond(tally: RowCounts, most: int) -> RowCounts:
    """What a tally holds beyond `most` of its tries, each count in proportion."""
    tried = tally.counts["tried"]
    kept = {name: tally.counts[name] for name in COUNTS if name != "examples"}
    return RowCounts(Counter({name: n - round(n * most / tried) for name, n in kept.items()}))


def _order(origin: RowKey) -> tuple[str, bool, str]:
    return (origin.device, origin.learner is not None, origin.learner or "")


def best(*effects: float | None) -> float | None:
    """The largest known effect."""
    return max((effect for effect in effects if effect is not None), default=None)
