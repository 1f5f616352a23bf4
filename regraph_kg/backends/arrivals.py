"""What a batch brings: its trajectories, each once, and what they add to those that are known.

Who discloses a trajectory in part says himself which one it is: what cannot be that one is refused.
What is known stays as it was disclosed; failures of another disclosure cannot be compared with its
own, and are left out.
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
    """Doubles that disclose more of it, or less."""
    contradicted: bool = False
    """Another one says that it is this one, and cannot be."""

    @property
    def trajectory(self) -> Trajectory:
        """What the plan is for."""
        return self.plan.trajectory

    def with_double(self, trajectory: Trajectory, evidence: Evidence) -> "Arrival":
        """It came again."""
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
    """Those of a batch that the graph knows."""

    additions: list[Addition] = field(default_factory=list)
    count: int = 0
    otherwise: int = 0
    """Those of them that the graph holds with more of their code, or less."""
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
    """Ids to refuse, with the reason: two that cannot be the same say that they are."""
    return {key: _OTHER.format(key[:12]) for key, arrival in batch.items() if arrival.contradicted}


def recognize(batch: Mapping[str, Arrival], rows: Sequence[Mapping[str, Any]]) -> Recognized:
    """What the batch adds to the known trajectories `rows`."""
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
