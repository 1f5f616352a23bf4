"""Trajectories' contributions to the NEXT rows: the same arithmetic adds, updates and subtracts.

Given trajectories count in a pair's row of a device, those learned from a model in its own row.

A newer judge's measurements on a device replace older ones of the same step there: figures of two
judges are never pooled, nor are times by two metrics. Code that was right but timed too noisily is
no try. Nor is a step whose technique's preconditions rule out the code before it: a search asks
only about codes that they admit. Not covered: trajectories that only an older judge has measured
count beside those of a newer one, until they are measured again.

An example counts in the row of its latest measurement's device, so that `examples` adds up over
devices; every measurement and every failure is a try on its own device. A declined technique has a
count of its own and is no try. Unchanged code counts nowhere.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import EFFECT_SCALE, LEARNED_TRIES, UNMEASURED, Successor
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import standing

LEARNED = " learned from"
"""Between device and model in the id of what was learned."""

NO_FAILURES = (Outcome.PASSED, Outcome.DECLINED, Outcome.UNCHANGED)
FAILURES = tuple(f"failed_{outcome}" for outcome in Outcome if outcome not in NO_FAILURES)
NUMBERS = ("examples", "tried", "verified", "verified_first", "sum_log2_effect", "declined")
COUNTS = (*NUMBERS, *FAILURES)
"""The integer properties of a NEXT row."""


@dataclass(slots=True)
class RowCounts:
    """The numbers of one NEXT row, or of a share in one."""

    counts: Counter[str] = field(default_factory=Counter)
    best_effect: float | None = None
    best_problem: str | None = None
    """The problem of the best effect; of equals the first by name."""
    best_other: float | None = None
    """The best of all other problems."""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "RowCounts":
        """From the properties of a NEXT or a (:Share)."""
        counts = Counter({name: row[name] for name in COUNTS if row.get(name)})
        return cls(counts, row.get("best_effect"), row.get("best_problem"), row.get("best_other"))

    def add(self, other: "RowCounts", sign: int = 1) -> None:
        """Add, or with sign -1 subtract; a best effect cannot be subtracted."""
        for name, count in other.counts.items():
            self.counts[name] += sign * count
        if sign > 0 and other.best_effect is not None:
            first, second = sorted((self, other), key=_by_best)
            rivals = (
                (first.best_other, second.best_other)
                if first.best_problem == second.best_problem
                else (first.best_other, second.best_effect)
            )
            self.best_effect, self.best_problem = first.best_effect, first.best_problem
            self.best_other = best(*rivals)

    def take_best(self, other: "RowCounts") -> None:
        """Replace the best effects by the other's."""
        self.best_effect, self.best_problem = other.best_effect, other.best_problem
        self.best_other = other.best_other

    def less(self, share: "RowCounts") -> "RowCounts":
        """The counts without one problem's share; the problem of the best effect is lost."""
        remaining = RowCounts(self.counts.copy(), self.best_effect)
        remaining.add(share, -1)
        if share.best_effect is not None and share.best_effect == self.best_effect:
            remaining.best_effect = self.best_other
        return remaining

    def count(self, outcome: Outcome, repairs: int = 0, effect: float | None = None) -> None:
        """Count one trial; a declined technique or unchanged code is none."""
        if outcome is Outcome.UNCHANGED:
            return
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
            self.counts["sum_log2_effect"] += round(EFFECT_SCALE * math.log2(effect))
            self.best_effect = best(self.best_effect, effect)


def _by_best(tally: RowCounts) -> tuple[bool, float, str]:
    """Sorts the better first, of equals the problem that is first by name."""
    return (tally.best_effect is None, -(tally.best_effect or 0.0), tally.best_problem or "")


class RowKey(NamedTuple):
    """The origin of a NEXT row's numbers: a device, given or learned from one model."""

    device: str
    learner: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "RowKey":
        """The origin of the numbers of a NEXT or a (:Share)."""
        return cls(row["device"], row.get("learner"))

    def __str__(self) -> str:
        """The origin as text."""
        return self.device + ("" if self.learner is None else f"{LEARNED} {self.learner}")


Share = dict[tuple[Pair, RowKey], RowCounts]
"""Per NEXT row."""


def tallies(rows: Iterable[Mapping[str, Any]]) -> dict[RowKey, RowCounts]:
    """NEXT rows of one pair, or one problem's (:Share) rows of it, without half-made ones."""
    return {RowKey.of(row): RowCounts.read(row) for row in rows if "device" in row}


def share(evidence: Evidence) -> Share:
    """The NEXT rows of a graph that holds this trajectory alone."""
    rows: Share = {}
    for pair, measured in zip(evidence.pairs, evidence.measurements, strict=True):
        counted = standing(measured)
        home = RowKey(counted[-1].device if counted else UNMEASURED, evidence.learner)
        rows.setdefault((pair, home), RowCounts()).counts["examples"] += 1
        ruled_out = any(measurement.ruled_out for measurement in measured)
        for measurement in () if ruled_out else counted:
            if measurement.outcome is Outcome.UNSTABLE_TIMING:
                continue
            row = rows.setdefault((pair, RowKey(measurement.device, evidence.learner)), RowCounts())
            row.count(measurement.outcome, measurement.repairs, measurement.effect)
    for failure, pair in evidence.failed:
        if failure.outcome is not Outcome.UNSTABLE_TIMING and not failure.ruled_out:
            origin = RowKey(failure.device or UNMEASURED, evidence.learner)
            rows.setdefault((pair, origin), RowCounts()).count(failure.outcome)
    for tally in rows.values():
        if tally.best_effect is not None:
            tally.best_problem = evidence.problem
    return rows


def total(added: Iterable[Share]) -> Share:
    """The sum, sorted by pair, device and learner."""
    rows: Share = {}
    for share in added:
        for key, tally in share.items():
            rows.setdefault(key, RowCounts()).add(tally)
    return dict(sorted(rows.items(), key=lambda row: (row[0][0], _order(row[0][1]))))


def together(rows: Mapping[RowKey, RowCounts], *, capped: bool = False) -> RowCounts:
    """The sum of some NEXT rows of one pair.

    `capped`: one model's learned tries count as `LEARNED_TRIES` at most, or as many as all other
    tries where those are more. The cap keeps the model's rates and lowers its weight only.
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
                summed.add(_excess(tally, most), sign=-1)
    return summed


def successor(technique: Technique, rows: Mapping[RowKey, RowCounts], device: str) -> Successor:
    """A pair's target as a successor, for a search on `device`: its own rows, and all others."""
    on_device, rest = (
        together({key: rows[key] for key in rows if (key.device == device) is here}, capped=True)
        for here in (True, False)
    )
    by: Literal["device", "other-devices", "none"] = "device"
    chosen, elsewhere = on_device, rest
    if not on_device.counts["tried"]:
        by = "other-devices" if rest.counts["tried"] else "none"
        chosen, elsewhere = rest, RowCounts()
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
    counts = Counter[str | None]()
    for origin, tally in rows.items():
        counts[origin.learner] += tally.counts["declined"]
    return sum(n if who is None else min(n, LEARNED_TRIES) for who, n in counts.items())


def precedence(rows: Mapping[RowKey, RowCounts]) -> tuple[int, int]:
    """Sorts the pairs of a neighbourhood: most given examples first, then most learned ones.

    A run's leaves share the beginnings of their paths, and each leaf is an example of every step on
    its path: the number of learned examples depends on the search more than on the step.
    """
    given, learned = 0, 0
    for origin, tally in rows.items():
        if origin.learner is None:
            given += tally.counts["examples"]
        else:
            learned += tally.counts["examples"]
    return -given, -learned


def _excess(tally: RowCounts, most: int) -> RowCounts:
    """The part of a tally beyond `most` of its tries, each count in proportion."""
    tried = tally.counts["tried"]
    numbers = {name: tally.counts[name] for name in COUNTS if name != "examples"}
    return RowCounts(Counter({name: n - round(n * most / tried) for name, n in numbers.items()}))


def _order(origin: RowKey) -> tuple[str, bool, str]:
    return (origin.device, origin.learner is not None, origin.learner or "")


def row_id(pair: Pair, origin: RowKey) -> str:
    """Id of a NEXT relationship; no two origins share one, whatever a device is called."""
    device = origin.device.replace(LEARNED, f"\x1f{LEARNED}")  # no name of a device has a \x1f
    return f"{pair.source} {pair.target} {origin._replace(device=device)}"


def differences(expected: RowCounts, actual: RowCounts) -> Iterator[tuple[str, str, str]]:
    """The properties of a row that are not as expected: name, expected, actual."""
    for name in COUNTS:
        if expected.counts[name] != actual.counts[name]:
            yield name, str(expected.counts[name]), str(actual.counts[name])
    for name in ("best_effect", "best_problem", "best_other"):
        if getattr(expected, name) != getattr(actual, name):
            yield name, str(getattr(expected, name)), str(getattr(actual, name))


def best(*effects: float | None) -> float | None:
    """The largest known effect."""
    return max((effect for effect in effects if effect is not None), default=None)
