"""What the domain asks of a graph, whatever stores it: GraphStore, Curator, Backup, Purge.

The docstrings are the contract; `tests/contract` runs the same tests against every backend.
Every method raises `StoreError` when the store is unreachable, foreign, of another version than
ours, or refuses us; nothing is half-written then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from regraph_kg.models.curation import Curation, LabelDecision, Note, Part, TechniqueUsage
from regraph_kg.models.graph import (
    EmbeddingProgress,
    EmbeddingSpace,
    Example,
    FreeChoice,
    FreeRun,
    Gain,
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
from regraph_kg.models.purge import Provenance, PurgeCounts
from regraph_kg.models.query import GraphTable
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

SCHEMA_VERSION = 1
"""Version of the graph's data model (cypher/schema.cypher)."""

Embed = Callable[[Sequence[str]], list[bytes]]
"""Texts -> unit vectors, packed little-endian float32."""


class GraphStore(Protocol):
    """A technique graph. One client, one thread; open one per process."""

    def apply_schema(self) -> None:
        """Make an empty database a graph of our version; idempotent.

        Raises `StoreError` for another version, and for a database that is not ours.
        """

    def add_techniques(self, techniques: Sequence[Technique]) -> int:
        """Add those whose id is unknown, extend the aliases of those known; count the new ones."""

    def merge(self, plans: Sequence[MergePlan]) -> MergeCounts:
        """Merge trajectories in one transaction: each wholly, at most once, whoever else writes.

        A known trajectory adds only measurements and failures whose key is new, and stays as it was
        disclosed. A `ref` already used for other content is refused in `MergeCounts.conflicts`, as
        is what claims to be a trajectory and cannot be; the rest of the batch goes on. A technique
        that neither the store nor the plans know fails the whole batch.
        """

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """All techniques but the initial states, ordered by id."""

    def neighbourhood(
        self, technique: str, *, device: str, limit: int = 32, exclude_problem: str | None = None
    ) -> Neighbourhood:
        """Successors of `technique` seen in an example; unknown technique = no successors.

        No model's learned share outweighs the rest (`Successor`).
        `exclude_problem` leaves out that problem's share of all of that, as if it had never been
        seen. Beside writers on Neo4j, the counts of a row may for an instant not add up (seen once
        in the tests, which allow what is right when read again).
        """

    def pooled(
        self, target: Target, *, device: str, exclude_problem: str | None = None
    ) -> tuple[Successor, ...]:
        """Every technique of `target` but the start, after whatever else it was seen; by id.

        As neighbourhoods tell, added up; all zero where none does. Grows with techniques and pairs.
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

        Order: similarity to `near` if given (exact; those without a vector last), with code before
        those whose code is not disclosed, verified on
        `device`, verified anywhere, given before learned, effect (there, else the latest), id:
        whether a step was verified is evidence, how much it gained hangs on its problem. `BadInput`
        for a vector of another space.
        """

    def failures(
        self, source: str, target: str, *, exclude_problem: str | None = None, limit: int = 3
    ) -> tuple[KnownFailure, ...]:
        """How one transition has failed, what teaches most first; one problem's equal ones once.

        Order: with a diagnosis, with code, the newest, id. Answers without code are left out: they
        say nothing of the transition.
        """

    def add_free_runs(self, runs: Sequence[FreeRun]) -> None:
        """What the free steps of searches came to; the same run and device again replaces it."""

    def free_choice(
        self, model: str, target: Target, *, device: str, exclude_problem: str | None = None
    ) -> FreeChoice:
        """The sums of a model's runs on `device`; without any there, of those on other devices."""

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
        """Which model's vectors the examples have; None before the first ones."""

    def embed(self, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
        """Give a vector to every example that has none; the first ones decide the graph's space.

        Of what is not disclosed there is none: no code's, or no text's either.

        New examples have none until then. Nothing is lost when it is not finished. `BadInput` for
        another space than the graph's.
        """

    def reembed(self, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
        """As `embed`, in whatever space: the old vectors serve until all new ones are there.

        May be stopped anywhere, and is finished by the next call with the same space.
        """

    def transitions(self) -> tuple[TransitionStats, ...]:
        """Every NEXT row that counts something, ordered by source, target, device."""

    def gains(self, *, limit: int) -> tuple[Gain, ...]:
        """What each technique brought on each device after whatever else; most tried first."""

    def strongest(self, *, limit: int) -> tuple[Gain, ...]:
        """What each pair brought on each device where it was verified; the most promising first.

        A mean of few measurements is drawn towards 1 in that order.
        """

    def stats(self) -> GraphStats:
        """Totals."""

    def check(self) -> tuple[GraphFinding, ...]:
        """Compare statistics, bookkeeping and examples with what the trajectories say.

        While somebody writes, it may find what is only not finished yet.
        """

    def repair(self, findings: Sequence[GraphFinding]) -> None:
        """Rebuild what `check` found, as far as it is derived, from the trajectories."""

    def bound(self) -> int:
        """How many examples of a pair stay TRANSITIONs; a quarter more until it is pruned."""

    def set_bound(self, bound: int) -> Iterator[tuple[int, int]]:
        """Another bound: examples move to the archive, or back, pair by pair.

        Yields pairs done and pairs in all. No example is lost when it is not finished; it is then
        simply done again.
        """

    def export(self) -> Iterator[Trajectory]:
        """Every trajectory with its resolved technique ids and measurements, ordered by id."""

    def close(self) -> None:
        """Release the connection; idempotent."""


class Curator(Protocol):
    """Changes that a person makes to the vocabulary of a graph.

    Each is one transaction, carries examples, failures and statistics exactly, is logged, and can
    be undone. `BadInput` says what makes no sense; nothing is written then. Steps and failures are
    told apart by the label that their author gave them, compared by `models.technique.spelling`.
    """

    def merge(self, keep: str, others: Sequence[str], note: Note) -> Curation:
        """`others` become `keep`: what led to them leads there, as do their ids and names."""

    def split(self, technique: str, labels: Sequence[str], part: Part, note: Note) -> Curation:
        """`labels`, and what was so called, go from `technique` to a new technique.

        One of `labels` may be several with commas between.
        """

    def move(self, technique: str, labels: Sequence[str], to: str, note: Note) -> Curation:
        """As `split`, to a technique that is there."""

    def rename(
        self, technique: str, name: str, note: Note, *, new_id: str | None = None
    ) -> Curation:
        """Another name, and if `new_id` another id; the old ones lead there still."""

    def describe(
        self,
        technique: str,
        note: Note,
        *,
        definition: str = "",
        applies: str = "",
        hurts: str = "",
    ) -> Curation:
        """What a technique is, when it applies and hurts; an empty one stays as it was."""

    def drop(self, technique: str, note: Note) -> Curation:
        """Take away a technique that no step or failure leads to."""

    def keep(
        self, techniques: Sequence[str], note: Note, *, labels: Sequence[str] = ()
    ) -> Curation:
        """Note that these are right as they are, apart from each other, with these aliases."""

    def undo(self, number: int | None, note: Note) -> Curation:
        """As if a curation had not been made (None: the last that holds, undoings aside).

        What came since under the names that it took over leads to where it would have led. An
        undone one, and one that a later curation builds upon, is refused.
        """

    def log(self) -> tuple[Curation, ...]:
        """All curations, oldest first."""

    def verdicts(self) -> tuple[LabelDecision, ...]:
        """How ingests resolved labels, where that was no matter of course."""

    def usage(self) -> tuple[TechniqueUsage, ...]:
        """What there is of every technique but the initial states, ordered by id."""

    def close(self) -> None:
        """Release the connection; idempotent."""


class Backup(Protocol):
    """A whole graph as lines of JSON (models/backup.py), and back into an empty database."""

    def lines(self) -> Iterator[bytes]:
        """The graph. What is merged meanwhile may or may not be in.

        Raises `StoreError` at the end when the vocabulary was curated meanwhile.
        """

    def restore(self, path: Path) -> Iterator[int]:
        """Fill the empty database with what `path` holds; yields bytes done.

        Raises `BadInput` for a file that is no whole backup, before anything is written, and for a
        database that holds something else.
        """

    def close(self) -> None:
        """Release the connection; idempotent."""


class ReadOnlyGraph(Protocol):
    """Queries that a person writes, in the store's own Cypher."""

    def query(
        self, statement: str, parameters: Mapping[str, JsonValue], *, limit: int, seconds: float
    ) -> GraphTable:
        """The first `limit` rows; nothing is changed.

        Raises `BadInput` for a statement that would change something or that the store does not
        understand, in the store's words, and `StoreError` where no answer comes in `seconds`.
        """

    def close(self) -> None:
        """Release the connection; idempotent."""


class Purge(Protocol):
    """Takes out of a graph what came from one origin, as if it had never been told."""

    def count(self, origin: Provenance) -> PurgeCounts:
        """What `run` would take out, techniques and names aside."""

    def unknown(self, origin: Provenance) -> list[str] | None:
        """Names of origins that are there, most alike first, where nothing is of this one.

        None where something is, be it what a purge that was interrupted left.
        """

    def run(self, origin: Provenance) -> Iterator[PurgeCounts]:
        """Take it out; yields what went so far, after each transaction."""

    def close(self) -> None:
        """Release the connection; idempotent."""
