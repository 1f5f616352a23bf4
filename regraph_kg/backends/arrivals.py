"""A batch's trajectories, and their additions to trajectories that the graph knows.

A partly disclosed trajectory names its own content; a contradicting one is refused. A known
trajectory keeps its disclosure. Failures of another disclosure cannot be compared and are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regraph_kg.backends.evidence import Evidence, stored_disclosure
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Arrival:
    """One trajectory of a batch."""

    key: str
    """`Trajectory.id`."""
    plan: MergePlan
    evidence: Evidence

    @property
    def trajectory(self) -> Trajectory:
        """The planned trajectory."""
        return self.plan.trajectory


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


def rounds(plans: Sequence[MergePlan]) -> Iterator[list[Arrival]]:
    """The trajectories of a batch, sorted by id, no id and no ref twice in a round.

    So a copy, or other content under the same ref, finds the first one in the graph.
    """
    rest = list(plans)
    while rest:
        batch: dict[str, Arrival] = {}
        refs: set[str] = set()
        later: list[MergePlan] = []
        for plan in rest:
            key, ref = plan.trajectory.id, plan.trajectory.ref
            if key in batch or ref in refs:
                later.append(plan)
                continue
            batch[key] = Arrival(key, plan, Evidence.of(plan))
            refs |= {ref} if ref is not None else set()
        yield [batch[key] for key in sorted(batch)]
        rest = later


def recognize(batch: Mapping[str, Arrival], rows: Sequence[Mapping[str, Any]]) -> Recognized:
    """The batch's additions to the known trajectories `rows`."""
    recognized = Recognized()
    for row in rows:
        arrival, before = batch[row["id"]], Evidence.read(row)
        if not before.may_be_same(arrival.evidence):
            recognized.refused[arrival.key] = (
                f"its content names trajectory {arrival.key[:12]}, which has another problem,"
                " target or number of steps"
            )
            continue
        same = stored_disclosure(arrival.trajectory.disclosed) == row["disclosed"]
        after = before.plus(
            arrival.evidence.measurements, arrival.evidence.failures if same else ()
        )
        if after != before:
            recognized.additions.append(Addition(arrival, before, after))
        recognized.count += 1
        recognized.otherwise += not same
    return recognized
