"""BoltStore: the GraphStore of Neo4j and of the embedded store."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from regraph_kg.backends import (
    embeddings,
    export,
    free,
    merge,
    nearby,
    recount,
    schema,
    shares,
    vectors,
)
from regraph_kg.backends import techniques as vocabulary
from regraph_kg.backends.bolt import GraphRow, OnBolt, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.statistics import FAILURES, NUMBERS, RowCounts, tallies, together
from regraph_kg.graph import SCHEMA_VERSION, Embed
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import (
    EmbeddingProgress,
    EmbeddingSpace,
    Example,
    FreeChoice,
    FreeRun,
    GraphFinding,
    GraphStats,
    KnownFailure,
    MergeCounts,
    MergePlan,
    Neighbourhood,
    Successor,
    TransitionStats,
    Vector,
)
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

PAIRS_AT_ONCE = 50
"""Pairs rebuilt in one transaction."""
MOST_ROWS = 1_000_000
"""Largest LIMIT sent: the embedded store allocates for it at once."""


class BoltStore(OnBolt):
    """A technique graph behind a Bolt connection; `graph.GraphStore` is the contract."""

    def apply_schema(self) -> None:
        """See `GraphStore`."""
        schema.prepare(self._bolt)

    def add_techniques(self, techniques: Sequence[Technique]) -> int:
        """See `GraphStore`."""
        return self._bolt.write(lambda ask: vocabulary.add(ask, techniques))

    def merge(self, plans: Sequence[MergePlan]) -> MergeCounts:
        """See `GraphStore`."""
        return self._bolt.write(partial(merge.merge, plans=plans)) if plans else MergeCounts()

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """See `GraphStore`."""
        return self._bolt.read(lambda ask: vocabulary.known(ask, target))

    def neighbourhood(
        self, technique: str, *, device: str, limit: int = 32, exclude_problem: str | None = None
    ) -> Neighbourhood:
        """See `GraphStore`."""
        return self._bolt.read(
            lambda ask: nearby.neighbourhood(
                ask, technique, device, min(limit, MOST_ROWS), exclude_problem
            )
        )

    def pooled(
        self, target: Target, *, device: str, exclude_problem: str | None = None
    ) -> tuple[Successor, ...]:
        """See `GraphStore`."""
        return self._bolt.read(lambda ask: nearby.pooled(ask, target, device, exclude_problem))

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
        """See `GraphStore`."""
        choice = {
            "source": source,
            "target": target,
            "device": device or "",
            "limit": min(limit, MOST_ROWS),
            "exclude_problem": exclude_problem,
        }
        return self._bolt.read(
            lambda ask: _with_current_ids(ask, vectors.of_pair(ask, near, **choice))
        )

    def failures(
        self, source: str, target: str, *, exclude_problem: str | None = None, limit: int = 3
    ) -> tuple[KnownFailure, ...]:
        """See `GraphStore`."""
        pair = Pair(source, target)
        return self._bolt.read(lambda ask: _failures(ask, pair, exclude_problem, limit))

    def add_free_runs(self, runs: Sequence[FreeRun]) -> None:
        """See `GraphStore`."""
        if runs:
            self._bolt.write(partial(free.add, runs=runs))

    def free_choice(
        self, model: str, target: Target, *, device: str, exclude_problem: str | None = None
    ) -> FreeChoice:
        """See `GraphStore`."""
        rows = self._bolt.rows(
            "free_choice", model=model, target=target, exclude_problem=exclude_problem
        )
        return free.seen_from(rows, device)

    def nearest(
        self,
        vector: Vector,
        *,
        k: int,
        target: Target | None = None,
        exclude_problem: str | None = None,
    ) -> tuple[Example, ...]:
        """See `GraphStore`."""
        most = min(k, MOST_ROWS)
        return self._bolt.read(
            lambda ask: _with_current_ids(
                ask, vectors.nearest(ask, vector, target, most, exclude_problem)
            )
        )

    def embedding_space(self) -> EmbeddingSpace | None:
        """See `GraphStore`."""
        return self._bolt.read(vectors.vector_state).space

    def embed(self, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
        """See `GraphStore`."""
        return embeddings.fill_missing(self._bolt, space, embed)

    def reembed(self, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
        """See `GraphStore`."""
        return embeddings.change(self._bolt, space, embed)

    def transitions(self) -> tuple[TransitionStats, ...]:
        """See `GraphStore`."""
        rows = self._bolt.rows("transitions")
        return tuple(
            _transition_stats(pair, device, together(tallies(row["statistics"] for row in group)))
            for (pair, device), group in groupby(rows, _place)
        )

    def stats(self) -> GraphStats:
        """See `GraphStore`."""
        rows = self._bolt.rows("count_trajectories")
        by_target: dict[Target, int] = {row["target"]: row["trajectories"] for row in rows}
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

    def check(self) -> tuple[GraphFinding, ...]:
        """See `GraphStore`."""
        return self._bolt.read(lambda ask: tuple(recount.findings(ask)))

    def repair(self, findings: Sequence[GraphFinding]) -> None:
        """See `GraphStore`."""
        list(self._recount(sorted({Pair(finding.source, finding.target) for finding in findings})))
        self._bolt.write(shares.sweep)

    def bound(self) -> int:
        """See `GraphStore`."""
        return self._bolt.read(merge.read_context).bound

    def set_bound(self, bound: int) -> Iterator[tuple[int, int]]:
        """See `GraphStore`."""
        self._bolt.write(lambda ask: ask("set_meta", state={"bound": bound}))
        pairs = [Pair(*row["id"].split(" ")) for row in self._bolt.rows("count_edges")]
        for done in self._recount(pairs):
            yield done, len(pairs)

    def _recount(self, pairs: Sequence[Pair]) -> Iterator[int]:
        """Rebuild the derived rows of these pairs, some at a time; yields how many are done."""
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            chunk = pairs[first : first + PAIRS_AT_ONCE]
            self._bolt.write(partial(recount.recount, pairs=chunk))
            yield first + len(chunk)

    def export(self) -> Iterator[Trajectory]:
        """See `GraphStore`."""
        return export.export(self._bolt)


def _with_current_ids(ask: Query, stored: Iterable[Example]) -> tuple[Example, ...]:
    """The examples with current ids in `also`; the stored ids stay as they were merged.

    The graph is read only if an example has some.
    """
    examples = tuple(stored)
    if not any(example.also for example in examples):
        return examples
    replaced = merge.read_context(ask).replaced
    return tuple(
        replace(example, also=merge.current_also(example.also, example.target, replaced))
        for example in examples
    )


def _failures(
    ask: Query, pair: Pair, exclude_problem: str | None, limit: int
) -> tuple[KnownFailure, ...]:
    rows = ask(
        "failures",
        pair=pair.id,
        exclude_problem=exclude_problem,
        limit=min(limit, MOST_ROWS),
    )
    return tuple(
        KnownFailure(**row | {"outcome": Outcome(row["outcome"])}) for row in rows if row["before"]
    )  # else the code is not disclosed, nor what failed there


def _place(row: GraphRow) -> tuple[Pair, str]:
    return Pair.of(row), row["statistics"]["device"]


def _transition_stats(pair: Pair, device: str, tally: RowCounts) -> TransitionStats:
    counts = tally.counts
    return TransitionStats(
        source=pair.source,
        target=pair.target,
        device=device,
        **{name: counts[name] for name in NUMBERS},
        failed={name.removeprefix("failed_"): counts[name] for name in FAILURES if counts[name]},
        best_effect=tally.best_effect,
    )
