"""Counts what a trajectory contributes to the NEXT rows; merges add it.

Given trajectories count in a pair's row of a device, those learned from a model in its own row.
Every measurement and every failure is a try on its own device. Not covered: trajectories that only
an older judge has measured count beside those of a newer one, until they are measured again.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import EFFECT_SCALE, LEARNED_TRIES, UNMEASURED, Successor
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import standing

COUNTS = ("examples", "tried", "verified", "sum_log2_effect", "declined")
"""The integer properties of a NEXT row: all add up, so that any order of writers gives the same."""
SHORT = 8  # gains from here on have one decimal

Counts = Counter[str]  # the counts of one NEXT row, or a part of them


class RowKey(NamedTuple):
    """The place of a NEXT row among those of its pair: a device, given or learned from a model."""

    device: str
    learner: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "RowKey":
        """The place of a NEXT with these properties."""
        return cls(row["device"], row.get("learner"))


NextRows = dict[tuple[Pair, RowKey], Counts]  # counts per NEXT row


def row_id(pair: Pair, key: RowKey) -> str:
    """Id of a NEXT relationship; no two rows share one, as no name of a device has a tab."""
    return f"{pair.id} {key.device}" + ("" if key.learner is None else f"\t{key.learner}")


def contribution(evidence: Evidence) -> NextRows:
    """The NEXT rows of a graph that holds this trajectory alone."""
    rows: NextRows = {}

    def row(pair: Pair, device: str | None) -> Counts:
        return rows.setdefault((pair, RowKey(device or UNMEASURED, evidence.learner)), Counter())

    for pair, measured in zip(evidence.pairs, evidence.measurements, strict=True):
        # Figures of two judges are never pooled, nor are times by two metrics.
        counted = standing(measured)
        # In one row alone, so that `examples` adds up over devices.
        row(pair, counted[-1].device if counted else None)["examples"] += 1
        # A search asks only about codes that a technique's preconditions admit.
        if any(measurement.ruled_out for measurement in measured):
            continue
        for measurement in counted:
            _count(row(pair, measurement.device), measurement.outcome, measurement.effect)
    for failure, pair in evidence.failed:
        if not failure.ruled_out:
            _count(row(pair, failure.device), failure.outcome)
    return {place: counts for place, counts in rows.items() if any(counts.values())}


def _count(counts: Counts, outcome: Outcome, effect: float | None = None) -> None:
    """Count one trial; a declined technique, unchanged code and a noisy time are none."""
    # Code that was right but timed too noisily says neither that it helps nor that it fails.
    if outcome in (Outcome.UNCHANGED, Outcome.UNSTABLE_TIMING):
        return
    if outcome is Outcome.DECLINED:
        counts["declined"] += 1
        return
    counts["tried"] += 1
    if outcome is not Outcome.PASSED:
        return
    counts["verified"] += 1
    if effect is not None:
        counts["sum_log2_effect"] += round(EFFECT_SCALE * math.log2(effect))


def add(into: NextRows, rows: NextRows, sign: int = 1) -> None:
    """Add rows to others, or with sign -1 subtract them."""
    for place, counts in rows.items():
        total = into.setdefault(place, Counter())
        for name, count in counts.items():
            total[name] += sign * count


def read_counts(properties: Mapping[str, Any]) -> Counts:
    """The counts of a NEXT with these properties."""
    return Counter({name: properties[name] for name in COUNTS if properties.get(name)})


def row_properties(key: RowKey, counts: Counts) -> dict[str, Any]:
    """Properties of a NEXT; `tries` and `gain` are for people who look at the graph."""
    verified, gained = counts["verified"], counts["sum_log2_effect"]
    gain = 2.0 ** (gained / verified / EFFECT_SCALE) if verified else None
    return {
        **{name: counts[name] for name in COUNTS},
        "device": key.device,
        "learner": key.learner,
        "tries": f"{verified} of {counts['tried']}",
        "gain": gain and round(gain, 2 if gain < SHORT else 1),
    }


def trajectory_counts(evidence: Evidence) -> dict[str, list[Any]]:
    """A trajectory's contribution as parallel lists on its node: a search sums its own problem's.

    Sums over these at read cost what the problem has; a row a problem would cost every write.
    """
    rows = contribution(evidence)
    numbers = {f"counted_{n}": [counts[n] for counts in rows.values()] for n in COUNTS}
    return {"counted": [f"{pair.id}\t{key.device}" for pair, key in rows], **numbers}


def together(rows: Mapping[RowKey, Counts], *, capped: bool = False) -> Counts:
    """The sum of some NEXT rows of one pair.

    `capped`: one model's learned tries count as `LEARNED_TRIES` at most, or as many as all other
    tries where those are more. The cap keeps the model's rates and lowers its weight only.
    """
    summed, learned = Counts(), dict[str | None, Counts]()
    for key, counts in rows.items():
        summed.update(counts)
        learned.setdefault(key.learner, Counts()).update(counts)
    learned.pop(None, None)
    if capped:
        total = summed["tried"]
        for counts in learned.values():
            tried = counts["tried"]
            most = max(LEARNED_TRIES, total - tried)
            if tried > most:
                for name in COUNTS:
                    if name != "examples":
                        summed[name] -= counts[name] - round(counts[name] * most / tried)
    return summed


def successor(technique: Technique, rows: Mapping[RowKey, Counts], device: str) -> Successor:
    """A pair's target as a successor, for a search on `device`: its own rows, and all others."""
    on_device, rest = (
        together({key: rows[key] for key in rows if (key.device == device) is here}, capped=True)
        for here in (True, False)
    )
    by: Literal["device", "other-devices", "none"] = "device"
    chosen, elsewhere = on_device, rest
    if not on_device["tried"]:
        by = "other-devices" if rest["tried"] else "none"
        chosen, elsewhere = rest, Counts()
    declined = Counter[str | None]()
    for key, counts in rows.items():
        declined[key.learner] += counts["declined"]
    return Successor(
        technique=technique,
        examples=sum(counts["examples"] for counts in rows.values()),
        tried=chosen["tried"],
        verified=chosen["verified"],
        sum_log2_effect=chosen["sum_log2_effect"],
        statistics=by,
        tried_elsewhere=elsewhere["tried"],
        verified_elsewhere=elsewhere["verified"],
        sum_log2_elsewhere=elsewhere["sum_log2_effect"],
        declined=sum(n if who is None else min(n, LEARNED_TRIES) for who, n in declined.items()),
    )


def precedence(rows: Mapping[RowKey, Counts]) -> tuple[int, int]:
    """Sorts the pairs of a neighbourhood: most given examples first, then most learned ones.

    A run's leaves share the beginnings of their paths, and each leaf is an example of every step on
    its path: the number of learned examples depends on the search more than on the step.
    """
    given = sum(counts["examples"] for key, counts in rows.items() if key.learner is None)
    learned = sum(counts["examples"] for key, counts in rows.items() if key.learner is not None)
    return -given, -learned
