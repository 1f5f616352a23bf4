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
from regraph_kg.models.trajectory import is_claim, standing

COUNTS = ("examples", "tried", "verified", "sum_log2_effect", "declined")
"""The integer properties of a NEXT row: all add up, so that any order of writers gives the same."""
BY_KIND = ("tried", "verified", "sum_log2_effect")  # a row also has these for each kind of code
DOUBLINGS = {"openmp": 4.0, "cuda": 10.0}  # an effect counts as so many: no one makes a mean
CLAIMED = "claimed"  # device of what no judge measured: shown, mixed into nothing
SHORT = 8  # gains from here on have one decimal

Counts = Counter[str]  # the counts of one NEXT row, or a part of them


class RowKey(NamedTuple):
    """The place of a NEXT row among those of its pair: a device, a learner."""

    device: str
    learner: str | None = None  # the model that it was learned from; None: given

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
        key = RowKey(device or UNMEASURED, evidence.learner)
        return rows.setdefault((pair, key), Counter())

    for pair, measured in zip(evidence.pairs, evidence.measurements, strict=True):
        # Figures of two judges are never pooled, nor are times by two metrics.
        counted = standing(measured)
        claims = [one for one in measured if is_claim(one)]
        # In one row alone, so that `examples` adds up over devices.
        last = counted[-1].device if counted else CLAIMED if claims else None
        row(pair, last)["examples"] += 1
        for claim in claims:
            _count(row(pair, CLAIMED), claim.outcome, math.log2(claim.effect or 1.0))
        # A search asks only about codes that a technique's preconditions admit.
        if any(one.ruled_out for one in measured if one not in claims):
            continue
        for measurement in counted:
            most = DOUBLINGS[pair.target.partition("/")[0]]
            doubled = min(most, max(-most, math.log2(measurement.effect or 1.0)))
            _count(row(pair, measurement.device), measurement.outcome, doubled)
    for failure, pair in evidence.failed:
        if not failure.ruled_out:
            _count(row(pair, failure.device), failure.outcome)
    for counts in rows.values() if evidence.kind else ():
        counts.update({f"{name}_{evidence.kind}": counts[name] for name in BY_KIND})
    return {place: counts for place, counts in rows.items() if any(counts.values())}


def _count(counts: Counts, outcome: Outcome, doubled: float = 0.0) -> None:
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
    counts["sum_log2_effect"] += round(EFFECT_SCALE * doubled)


def add(into: NextRows, rows: NextRows, sign: int = 1) -> None:
    """Add rows to others, or with sign -1 subtract them."""
    for place, counts in rows.items():
        total = into.setdefault(place, Counter())
        for name, count in counts.items():
            total[name] += sign * count


def read_counts(properties: Mapping[str, Any]) -> Counts:
    """The counts of a NEXT with these properties."""
    return Counter({name: count for name, count in properties.items() if name.startswith(COUNTS)})


def row_properties(key: RowKey, counts: Counts) -> dict[str, Any]:
    """Properties of a NEXT; `tries` and `gain` are for people who look at the graph."""
    verified, gained = counts["verified"], counts["sum_log2_effect"]
    gain = 2.0 ** (gained / verified / EFFECT_SCALE) if verified else None
    return {
        **{name: count or None for name, count in counts.items()},
        **{name: counts[name] for name in COUNTS},
        "device": key.device,
        "learner": key.learner,
        "tries": f"{verified} of {counts['tried']}",
        "gain": gain and round(gain, 2 if gain < SHORT else 1),
    }


def trajectory_counts(evidence: Evidence) -> dict[str, list[Any]]:
    """A trajectory's contribution as lists on its node: a search sums its own problem's."""
    rows = contribution(evidence)
    numbers = {f"counted_{n}": [counts[n] for counts in rows.values()] for n in COUNTS}
    places = [f"{pair.id}\t{key.device}\t{evidence.kind}" for pair, key in rows]
    return {"counted": places, **numbers}


def together(rows: Mapping[RowKey, Counts], *, capped: bool = False) -> Counts:
    """The sum of some NEXT rows of one pair.

    `capped`: one model's learned tries, at its rates, weigh as `LEARNED_TRIES` or all others' do.
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
                for name in counts:
                    if name != "examples":
                        summed[name] -= counts[name] - round(counts[name] * most / tried)
    return summed


def successor(
    technique: Technique, rows: Mapping[RowKey, Counts], device: str, kind: str = ""
) -> Successor:
    """A pair's target as a successor, for `device`: its own rows, all others, those of `kind`."""
    judged = {key: counts for key, counts in rows.items() if key.device != CLAIMED}
    claimed = together({key: rows[key] for key in rows.keys() - judged.keys()})
    on_device, rest = (
        together({k: judged[k] for k in judged if (k.device == device) is here}, capped=True)
        for here in (True, False)
    )
    alike = together(judged, capped=True) if kind else Counts()
    by: Literal["device", "other-devices", "none"] = "device"
    chosen, elsewhere = on_device, rest
    if not on_device["tried"]:
        by = "other-devices" if rest["tried"] else "none"
        chosen, elsewhere = rest, Counts()
    declined = Counter[str | None]()
    for key, counts in judged.items():
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
        alike_tried=alike[f"tried_{kind}"],
        alike_verified=alike[f"verified_{kind}"],
        alike_sum_log2=alike[f"sum_log2_effect_{kind}"],
        claims=claimed["verified"],
        sum_log2_claimed=claimed["sum_log2_effect"],
    )


def precedence(rows: Mapping[RowKey, Counts]) -> tuple[bool, int, int]:
    """Sorts the pairs of a neighbourhood: most given examples first, then most learned ones.

    Pairs without an example that is more than a claim are last, as the first value tells.
    """
    of = {k: n for k, n in rows.items() if k.device != CLAIMED and n["examples"]} or rows
    # a run's leaves share the beginnings of their paths: learned examples tell of the search
    given = sum(counts["examples"] for key, counts in of.items() if key.learner is None)
    learned = sum(counts["examples"] for key, counts in of.items() if key.learner is not None)
    return of is rows, -given, -learned
