"""What a batch brings: its trajectories, each once, and what they add to those that are known.

Who discloses a trajectory in part says himself which one it is: what cannot be that one is refused.
What is known stays as it was disclosed; failures of another disclosure cannot be compared with its
own, and are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from regraph_kg.backends.evidence import Evidence, stored
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
    torn: bool = False
    """Another one says that it is this one, and cannot be."""

    @property
    def trajectory(self) -> Trajectory:
        """What the plan is for."""
        return self.plan.trajectory

    def with_double(self, trajectory: Trajectory, evidence: Evidence) -> "Arrival":
        """It came again."""
        if not self.evidence.of_same(evidence):
            return replace(self, torn=True)
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
    found: dict[str, Arrival] = {}
    for plan in plans:
        key, evidence = plan.trajectory.id, Evidence.of(plan)
        if key in found:
            found[key] = found[key].with_double(plan.trajectory, evidence)
        else:
            found[key] = Arrival(key, plan, evidence)
    return dict(sorted(found.items()))


def torn(batch: Mapping[str, Arrival]) -> dict[str, str]:
    """Ids to refuse, with the reason: two that cannot be the same say that they are."""
    return {key: _OTHER.format(key[:12]) for key, one in batch.items() if one.torn}


def recognize(batch: Mapping[str, Arrival], rows: Sequence[Mapping[str, Any]]) -> Recognized:
    """What the batch adds to the known trajectories `rows`."""
    found = Recognized()
    for row in rows:
        arrival, before = batch[row["id"]], Evidence.read(row)
        if not before.of_same(arrival.evidence):
            found.refused[arrival.key] = _OTHER.format(arrival.key[:12])
            continue
        same = stored(arrival.trajectory.disclosed) == row["disclosed"]
        after = before.plus(
            arrival.evidence.measurements, arrival.evidence.failures if same else ()
        )
        if after != before:
            found.additions.append(Addition(arrival, before, after))
        found.count += 1
        found.otherwise += not same
    for one in batch.values():
        if one.key not in found.refused:
            found.count += one.doubles
            found.otherwise += one.otherwise
    return found
