"""BoltStore: the GraphStore of Neo4j and of the embedded store."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from regraph_kg.backends import read, schema, vectors, write
from regraph_kg.backends.bolt import OnBolt, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.graph import SCHEMA_VERSION, Embed, Replan
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

MOST_ROWS = 1_000_000  # largest LIMIT sent: the embedded store allocates for it at once
PURGED = 500  # trajectories that one transaction of a purge deletes


class BoltStore(OnBolt):
    """A technique graph behind a Bolt connection; `graph.GraphStore` is the contract."""

    def apply_schema(self, *, rebuild: bool = False) -> None:
        schema.prepare(self._bolt, rebuild=rebuild)

    def add_techniques(self, techniques: Sequence[Technique]) -> int:

        def add(ask: Query) -> int:
            added = write.create_techniques(ask, techniques)
            write.extend_techniques(ask, techniques)
            return added

        return self._bolt.write(add)

    def merge(self, plans: Sequence[MergePlan]) -> MergeCounts:
        return self._bolt.write(partial(write.merge, plans=plans)) if plans else MergeCounts()

    def rebuild(self, techniques: Sequence[Technique], replan: Replan) -> Iterator[tuple[int, int]]:
        return write.rebuild(self._bolt, techniques, replan)

    def purge(self, origin: Provenance) -> Iterator[PurgeCounts]:
        # Ids first, then portions: what is ingested meanwhile stays, and locks are held shortly.
        total = PurgeCounts()
        rows = self._bolt.rows("trajectories_of", by=origin.by, value=origin.value)
        ids = [row["id"] for row in rows]
        for first in range(0, len(ids), PURGED):
            total += self._bolt.write(partial(write.delete, ids=ids[first : first + PURGED]))
            yield total
        # Last, as only then nothing of the origin uses them any more.
        yield total + PurgeCounts(techniques=self._bolt.write(write.delete_idle_techniques))

    def count_of(self, origin: Provenance) -> PurgeCounts:
        (row,) = self._bolt.rows("purge_count", by=origin.by, value=origin.value)
        return PurgeCounts(**row)

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        return self._bolt.read(lambda ask: read.techniques(ask, target))

    def neighbourhood(
        self, technique: str, *, device: str, limit: int = 32, exclude_problem: str | None = None
    ) -> Neighbourhood:
        return self._bolt.read(
            lambda ask: read.neighbourhood(ask, technique, device, limit, exclude_problem)
        )

    def pooled(
        self, target: Target, *, device: str, exclude_problem: str | None = None
    ) -> tuple[Successor, ...]:
        return self._bolt.read(lambda ask: read.pooled(ask, target, device, exclude_problem))

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
        choice = {
            "source": source,
            "target": target,
            "device": device or "",
            "limit": min(limit, MOST_ROWS),
            "exclude_problem": exclude_problem,
        }
        return self._bolt.read(lambda ask: vectors.of_pair(ask, near, **choice))

    def failures(
        self, source: str, target: str, *, exclude_problem: str | None = None, limit: int = 3
    ) -> tuple[KnownFailure, ...]:
        pair, most = Pair(source, target), min(limit, MOST_ROWS)
        return self._bolt.read(lambda ask: read.failures(ask, pair, exclude_problem, most))

    def nearest(
        self,
        vector: Vector,
        *,
        k: int,
        target: Target | None = None,
        exclude_problem: str | None = None,
    ) -> tuple[Example, ...]:
        most = min(k, MOST_ROWS)
        return self._bolt.read(
            lambda ask: vectors.nearest(ask, vector, target, most, exclude_problem)
        )

    def embedding_space(self) -> EmbeddingSpace | None:
        return self._bolt.read(vectors.space_of)

    def embed(
        self, space: EmbeddingSpace, embed: Embed, *, change: bool = False
    ) -> Iterator[EmbeddingProgress]:
        return vectors.embed_examples(self._bolt, space, embed, change=change)

    def transitions(self) -> tuple[TransitionStats, ...]:
        return self._bolt.read(read.transitions)

    def stats(self) -> GraphStats:
        rows = self._bolt.rows("count_trajectories")
        by_target: dict[Target, int] = {row["target"]: row["trajectories"] for row in rows}
        # A pair has a row for each device.
        pairs = Counter[Pair]()
        for statistics in self.transitions():
            pairs[Pair(statistics.source, statistics.target)] += statistics.examples
        return GraphStats(
            product=schema.PRODUCT,
            schema_version=SCHEMA_VERSION,
            techniques=len(self.techniques()),
            transitions=pairs.total(),
            pairs=sum(examples > 0 for examples in pairs.values()),
            trajectories=sum(by_target.values()),
            targets=by_target,
        )

    def export(self) -> Iterator[Trajectory]:
        return (stored.trajectory for stored in self.stored())

    def stored(self) -> Iterator[StoredTrajectory]:
        return read.stored(self._bolt)
