"""A batch's trajectories, each once, and their additions to trajectories that the graph knows.

A partly disclosed trajectory names its own content; a contradicting one is refused. A known
trajectory keeps its disclosure. Failures of another disclosure cannot be compared and are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from regraph_kg.backends.evidence import Evidence, stored_disclosure
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.trajectory import Trajectory

_OTHER = "its content names trajectory {}, which has another problem, target or number of steps"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One trajectory of a batch, its doubles in the batch folded in."""

    key: str
    """`Trajectory.id`."""
    plan: MergePlan
    evidence: Evidence
    doubles: int = 0
    otherwise: int = 0
    """Doubles of another disclosure."""
    contradicted: bool = False
    """Another trajectory of the batch claims the same content and cannot have it."""

    @property
    def trajectory(self) -> Trajectory:
        """The planned trajectory."""
        return self.plan.trajectory

    def with_double(self, trajectory: Trajectory, evidence: Evidence) -> "Arrival":
        """The arrival with another copy folded in."""
        if not self.evidence.may_be_same(evidence):
            return replace(self, contradicted=True)
        same = self.trajectory.disclosed == trajectory.disclosed
        return replace(
            self,
            evidence=self.evidence.plus(evidence.measurements, evidence.failures if same else ()),
            doubles=self.doubles + 1,
            otherwise=self.otherwise + (not same),
        )


@dataclass(frozen=True, slots=True)
class Addition:
    """New measurements and failures of a known trajectory."""

    arrival: Arrival
    before: Evidence
    after: Evidence


@dataclass(slots=True)
class Recognized:
    """A batch's trajectories that the graph knows."""

    additions: list[Addition] = field(default_factory=list)
    count: int = 0
    otherwise: int = 0
    """The ones that the graph holds under another disclosure."""
    refused: dict[str, str] = field(default_factory=dict)
    """Ids, with the reason."""


def arrivals(plans: Sequence[MergePlan]) -> dict[str, Arrival]:
    """The trajectories of a batch by id, sorted by it."""
    batch: dict[str, Arrival] = {}
    for plan in plans:
        key, evidence = plan.trajectory.id, Evidence.of(plan)
        if key in batch:
            batch[key] = batch[key].with_double(plan.trajectory, evidence)
        else:
            batch[key] = Arrival(key, plan, evidence)
    return dict(sorted(batch.items()))


def contradictions(batch: Mapping[str, Arrival]) -> dict[str, str]:
    """Ids to refuse, with the reason: their copies contradict each other."""
    return {key: _OTHER.format(key[:12]) for key, arrival in batch.items() if arrival.contradicted}


def recognize(batch: Mapping[str, Arrival], rows: Sequence[Mapping[str, Any]]) -> Recognized:
    """The batch's additions to the known trajectories `rows`."""
    recognized = Recognized()
    for row in rows:
        arrival, before = batch[row["id"]], Evidence.read(row)
        if not before.may_be_same(arrival.evidence):
            recognized.refused[arrival.key] = _OTHER.format(arrival.key[:12])
            continue
        same = stored_disclosure(arrival.trajectory.disclosed) == row["disclosed"]
        after = before.plus(
            arrival.evidence.measurements, arrival.evidence.failures if same else ()
        )
        if after != before:
            recognized.additions.append(Addition(arrival, before, after))
        recognized.count += 1
        recognized.otherwise += not same
    for arrival in batch.values():
        if arrival.key not in recognized.refused:
            recognized.count += arrival.doubles
            recognized.otherwise += arrival.otherwise
    return recognized
