"""Counts what a trajectory contributes to the NEXT rows; merges add it.

Given trajectories count in a pair's row of a device, those learned from a model in its own row.
Every measurement and every failure is a try on its own device. Not covered: trajectories that only
an older judge has measured count beside those of a newer one, until they are measured again.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.models import graph
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import is_claim, standing
from regraph_kg.models.transform import Replay

COUNTS = ("examples", "tried", "verified", "sum_log2_effect")
"""The integer properties of a NEXT row: all add up, so that any order of writers gives the same."""
BY_KIND = ("tried", "verified", "sum_log2_effect")  # a row also has these for each kind of code
DOUBLINGS = {"openmp": 4.0, "cuda": 10.0}  # an effect counts as so many: no one makes a mean
CLAIMED = "claimed"  # device of what no judge measured: shown, mixed into nothing
SHORT = 8  # gains from here on have one decimal

Counts = Counter[str]  # the counts of one NEXT row, or a part of them


class RowKey(NamedTuple):
    """The place of a NEXT row among those of its pair: a device, a learner."""

    device: str
    learner: str | None = None
    """The model that it was learned from, or `TRANSFORMS`; None: given."""

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

    def row(pair: Pair, device: str | None, transform: str) -> Counts:
        # a rule's step says nothing of the model whose search it stands in
        key = RowKey(
            device or graph.UNMEASURED, graph.TRANSFORMS if transform else evidence.learner
        )
        return rows.setdefault((pair, key), Counter())

    for at, (pair, measured) in enumerate(zip(evidence.pairs, evidence.measurements, strict=True)):
        made = evidence.made_by(at)
        # Figures of two judges are never pooled, nor are times by two metrics.
        counted = standing(measured)
        claims = [one for one in measured if is_claim(one)]
        # In one row alone, so that `examples` adds up over devices.
        last = counted[-1].device if counted else CLAIMED if claims else None
        row(pair, last, made)["examples"] += 1
        for claim in claims:
            _count(row(pair, CLAIMED, made), claim.outcome, math.log2(claim.effect or 1.0))
        # A search asks only about codes that a technique's preconditions admit.
        if any(one.ruled_out for one in measured if one not in claims):
            continue
        for measurement in counted:
            doubled = _doublings(pair.target, measurement.effect)
            _count(row(pair, measurement.device, made), measurement.outcome, doubled)
    for failure, pair in evidence.failed:
        if not failure.ruled_out:
            _count(row(pair, failure.device, failure.transform), failure.outcome)
    for counts in rows.values() if evidence.kind else ():
        counts.update({f"{name}_{evidence.kind}": counts[name] for name in BY_KIND})
    return {place: counts for place, counts in rows.items() if any(counts.values())}


def replayed(technique: str, replays: Iterable[Replay]) -> Counts:
    """What replays of a technique's transforms count, as a NEXT row of the transforms would."""
    total = Counts()
    for replay in replays:
        counts = Counts()
        _count(counts, replay.outcome, _doublings(technique, replay.gain))
        total.update(counts)
        total.update({f"{name}_{replay.kind}": counts[name] for name in BY_KIND if replay.kind})
    return total


def _doublings(technique: str, effect: float | None) -> float:
    """The doublings that an effect counts as."""
    most = DOUBLINGS[technique.partition("/")[0]]
    return min(most, max(-most, math.log2(effect or 1.0)))


def _count(counts: Counts, outcome: Outcome, doubled: float = 0.0) -> None:
    """Count one trial; a declined technique, unchanged code and a noisy time are none."""
    # Code that was right but timed too noisily says neither that it helps nor that it fails.
    if outcome in (Outcome.UNCHANGED, Outcome.DECLINED, Outcome.UNSTABLE_TIMING):
        return
    counts["tried"] += 1
    if outcome is not Outcome.PASSED:
        return
    counts["verified"] += 1
    counts["sum_log2_effect"] += round(graph.EFFECT_SCALE * doubled)


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
    gain = 2.0 ** (gained / verified / graph.EFFECT_SCALE) if verified else None
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
    # only where it is not the trajectory's, a row's learner stands behind it
    places = [
        f"{pair.id}\t{key.device}\t{evidence.kind}"
        + (f"\t{key.learner}" if key.learner != evidence.learner else "")
        for pair, key in rows
    ]
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
            most = max(graph.LEARNED_TRIES, total - tried)
            if tried > most:
                for name in counts:
                    if name != "examples":
                        summed[name] -= counts[name] - round(counts[name] * most / tried)
    return summed


def successor(
    technique: Technique,
    rows: Mapping[RowKey, Counts],
    device: str,
    kind: str = "",
    model: str = "",
    replays: Counts | None = None,
) -> graph.Successor:
    """A pair's target as a successor, for `device`: its own rows, all others, those of `kind`.

    `model` is who is asked for steps; `replays` are those of the technique's transforms.
    """
    real = {key: counts for key, counts in rows.items() if key.device != CLAIMED}
    claimed = together({key: rows[key] for key in rows.keys() - real.keys()})
    judged = {key: counts for key, counts in real.items() if key.learner != graph.TRANSFORMS}
    ruled = together({key: real[key] for key in real.keys() - judged.keys()})
    ruled.update(replays or {})
    own = together({key: counts for key, counts in judged.items() if key.learner == model})
    here, elsewhere = (
        _tries(
            together({k: judged[k] for k in judged if (k.device == device) is there}, capped=True)
        )
        for there in (True, False)
    )
    alike = f"_{kind}"  # nothing counts where no kind is asked
    by: Literal["device", "other-devices", "none"] = "device"
    if not here.tried:
        by = "other-devices" if elsewhere.tried else "none"
        here, elsewhere = elsewhere, graph.Tries()
    return graph.Successor(
        technique=technique,
        examples=sum(counts["examples"] for counts in rows.values()),
        here=here,
        statistics=by,
        elsewhere=elsewhere,
        alike=_tries(together(judged, capped=True), alike),
        claimed=_tries(claimed),
        ruled=_tries(ruled),
        ruled_alike=_tries(ruled, alike),
        own=_tries(own),
    )


def _tries(counts: Counts, suffix: str = "") -> graph.Tries:
    return graph.Tries(*(counts[f"{name}{suffix}"] for name in BY_KIND))


def precedence(rows: Mapping[RowKey, Counts]) -> tuple[bool, int, int]:
    """Sorts the pairs of a neighbourhood: most given examples first, then most learned ones.

    Pairs without an example that is more than a claim are last, as the first value tells.
    """
    of = {k: n for k, n in rows.items() if k.device != CLAIMED and n["examples"]} or rows
    # a run's leaves share the beginnings of their paths: learned examples tell of the search
    given = sum(counts["examples"] for key, counts in of.items() if key.learner is None)
    learned = sum(counts["examples"] for key, counts in of.items() if key.learner is not None)
    return of is rows, -given, -learned
