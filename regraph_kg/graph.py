"""GraphStore: the questions the domain asks of a graph, whatever stores it.

The docstrings are the contract; `tests/contract` runs the same tests against every backend.
Every method raises `StoreError` when the store is unreachable, foreign, newer than we are, or
refuses us; nothing is half-written then.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from regraph_kg.models.base import Target
from regraph_kg.models.graph import (
    Example,
    GraphStats,
    MergeCounts,
    MergePlan,
    Neighbourhood,
    TransitionStats,
)
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

SCHEMA_VERSION = 1
"""Version of the graph's data model. History: 1 (2026-11) first version."""


class GraphStore(Protocol):
    """A technique graph. One client, one thread; open one per process."""

    def apply_schema(self) -> None:
        """Create constraints, indexes, initial states and the version stamp; idempotent.

        Raises `StoreError` for a newer schema version or a database that is not ours.
        """

    def add_techniques(self, techniques: Sequence[Technique]) -> int:
        """Add those whose id is unknown, extend the aliases of those known; count the new ones."""

    def merge(self, plans: Sequence[MergePlan]) -> MergeCounts:
        """Merge trajectories in one transaction: each wholly, at most once, whoever else writes.

        A known trajectory adds only measurements whose key is new. A `ref` already used for other
        content is refused in `MergeCounts.conflicts`, the rest of the batch goes on. A technique
        that neither the store nor the plans know fails the whole batch.
        """

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """All techniques but the initial states, ordered by id."""

    def neighbourhood(
        self, technique: str, *, device: str, limit: int = 32, exclude_problem: str | None = None
    ) -> Neighbourhood:
        """Successors of `technique` seen in an example; unknown technique = no successors.

        `exclude_problem` leaves out that problem's examples and its share of the statistics.
        """

    def examples(
        self,
        source: str,
        target: str,
        *,
        device: str | None = None,
        limit: int = 3,
        exclude_problem: str | None = None,
    ) -> tuple[Example, ...]:
        """Examples of one transition, best first.

        Order: verified on `device`, verified anywhere, effect, id.
        """

    def transitions(self) -> tuple[TransitionStats, ...]:
        """Every NEXT row that counts something, ordered by source, target, device."""

    def stats(self) -> GraphStats:
        """Totals."""

    def export(self) -> Iterator[Trajectory]:
        """Every trajectory with its resolved technique ids and measurements, ordered by id."""

    def close(self) -> None:
        """Release the connection; idempotent."""
