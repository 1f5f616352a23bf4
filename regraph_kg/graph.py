"""The domain's contract with a graph, whatever stores it: GraphStore.

The docstrings are the contract; `tests/contract` runs the same tests against every backend.
Every method raises `StoreError` when the store is unreachable, foreign, of another version than
ours, or refuses us; nothing is half-written then.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from regraph_kg.models.graph import (
    EmbeddingProgress,
    EmbeddingSpace,
    Example,
    GraphStats,
    KnownFailure,
    MergeCounts,
    MergePlan,
    Neighbourhood,
    Provenance,
    PurgeCounts,
    StoredTrajectory,
    Successor,
    TransitionStats,
    Vector,
)
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

SCHEMA_VERSION = 3  # version of the graph's data model (cypher/schema.cypher)

Embed = Callable[[Sequence[str]], list[bytes]]  # texts -> packed little-endian float32 unit vectors

Replan = Callable[[Sequence[StoredTrajectory]], Sequence[MergePlan]]
"""Stored trajectories -> plans with today's names, one each."""


class GraphStore(Protocol):
    """A technique graph. One client, one thread; open one per process."""

    def apply_schema(self, *, rebuild: bool = False) -> None:
        """Make an empty database a graph of our version; idempotent.

        Raises `StoreError` for a graph of another version or in the midst of a rebuild, unless
        `rebuild` is what comes next, and for a database that is not ours.
        """

    def add_techniques(self, techniques: Sequence[Technique]) -> int:
        """Add those whose id is unknown, extend the aliases of those known; count the new ones."""

    def merge(self, plans: Sequence[MergePlan]) -> MergeCounts:
        """Merge trajectories in one transaction: each wholly, at most once, whoever else writes.

        A known trajectory adds only measurements and failures whose key is new, and keeps its
        disclosure. `MergeCounts.conflicts` refuses a `ref` of other content and a trajectory that
        cannot have the content that it claims; the rest of the batch goes on. A technique that
        neither the store nor the plans know fails the whole batch.
        """

    def rebuild(self, techniques: Sequence[Technique], replan: Replan) -> Iterator[tuple[int, int]]:
        """Write the graph anew from its trajectories, under the names that `replan` finds.

        `techniques` are set as they are; those that nobody uses then go. Yields trajectories done
        and all. Until it ends, every other command refuses the graph; a call that was stopped
        loses nothing and is made again.
        """

    def purge(self, origin: Provenance) -> Iterator[PurgeCounts]:
        """Delete everything that came from one origin, as if the graph had never known it.

        Yields the counts so far, after each transaction; a stopped call is made again.
        """

    def count_of(self, origin: Provenance) -> PurgeCounts:
        """The counts that `purge` would delete, techniques and names aside."""

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """All techniques but the initial states, ordered by id."""

    def neighbourhood(
        self, technique: str, *, device: str, limit: int = 32, exclude_problem: str | None = None
    ) -> Neighbourhood:
        """Successors of `technique` seen in an example; none for an unknown technique.

        No model's learned tries outweigh the rest (`Successor`). `exclude_problem` leaves out
        what that problem's trajectories contribute. Beside writers on Neo4j, a count may for an
        instant be one trajectory off.
        """

    def pooled(
        self, target: Target, *, device: str, exclude_problem: str | None = None
    ) -> tuple[Successor, ...]:
        """Every technique of `target` but the start, after any other technique; by id.

        The figures of all neighbourhoods, added up. The cost grows with techniques and pairs.
        """

    def examples(
        self,
        source: str,
        target: str,
        *,
        device: str | None = None,
        limit: int = 3,
        exclude_problem: str | None = None,
        near: Vector | None = None,
    ) -> tuple[Example, ...]:
        """Examples of one transition, best first.

        Order: similarity to `near` if given (exact; those without a vector last), disclosed code,
        verified on `device`, verified anywhere, given before learned, effect (there, else the
        latest), id. `BadInput` for a vector of another space.
        """

    def failures(
        self, source: str, target: str, *, exclude_problem: str | None = None, limit: int = 3
    ) -> tuple[KnownFailure, ...]:
        """Failures of one transition, the most instructive first; one problem's equal ones once.

        Order: with a diagnosis, with code, the newest, id. Answers without code say nothing of the
        transition and are left out.
        """

    def nearest(
        self,
        vector: Vector,
        *,
        k: int,
        target: Target | None = None,
        exclude_problem: str | None = None,
    ) -> tuple[Example, ...]:
        """The `k` examples nearest to `vector`, whatever their transition; `BadInput` as above.

        Exact in a small graph; in a large one a few of many may be missed (docs/embeddings.md).
        """

    def embedding_space(self) -> EmbeddingSpace | None:
        """The space of the examples' vectors; None before the first ones."""

    def embed(
        self, space: EmbeddingSpace, embed: Embed, *, change: bool = False
    ) -> Iterator[EmbeddingProgress]:
        """Give a vector to every example that has none; the first ones decide the graph's space.

        Code or text that is not disclosed gets none. New examples have none before this call. An
        unfinished call loses nothing and is made again. `BadInput` for another space than the
        graph's, unless `change`: its vectors are cleared first, and meanwhile only what has a new
        vector is found by one.
        """

    def transitions(self) -> tuple[TransitionStats, ...]:
        """Every NEXT row that counts something, ordered by source, target, device."""

    def stats(self) -> GraphStats:
        """Totals."""

    def export(self) -> Iterator[Trajectory]:
        """Every trajectory with its resolved technique ids and measurements, ordered by id."""

    def stored(self) -> Iterator[StoredTrajectory]:
        """The same, and how each step's technique was found."""

    def close(self) -> None:
        """Release the connection; idempotent."""
