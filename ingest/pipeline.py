"""The story of an ingest: read, relabel, plan, merge, batch by batch.

Each batch is one transaction, and a trajectory's id is a hash of its content: a killed ingest is
simply run again, and two ingests of one file at once do no harm.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from regraph_kg.errors import BadInput
from regraph_kg.ingest.cascade import Cascade, CodeReader, by_code
from regraph_kg.ingest.plan import plan
from regraph_kg.ingest.read import Accepted, Rejected
from regraph_kg.models.graph import MergeCounts, MergePlan
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import Trajectory, is_claim

if TYPE_CHECKING:  # only wiring knows a store
    from regraph_kg.backends.store import GraphStore

BATCH_LINES = 200
BATCH_BYTES = 8 * 2**20  # a batch ends with the line that reaches either


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of merged lines: counts, and the rejected lines."""

    counts: MergeCounts
    rejected: tuple[Rejected, ...]
    nameless_failures: int = 0  # failures that the graph did not get: no technique has their name


@dataclass(frozen=True, slots=True)
class Portion:
    """Some lines, and what the good ones ask of a store: one transaction."""

    lines: tuple[Accepted | Rejected, ...]
    plans: tuple[MergePlan, ...]
    nameless_failures: int = 0

    @property
    def claims(self) -> int:
        """Figures that no judge measured."""
        steps = (step for plan in self.plans for step in plan.trajectory.steps)
        return sum(is_claim(one) for step in steps for one in step.measurements)

    def merged(self, store: "GraphStore") -> Batch:
        """Merge the plans into `store`, which must know the cascade's vocabulary."""
        counts = store.merge(self.plans)
        rejected = []
        # In the file's order: bad lines, and those that the store refused.
        for line in self.lines:
            if isinstance(line, Rejected):
                rejected.append(line)
            elif counts.conflicts and (reason := counts.conflicts.get(line.trajectory.id)):
                rejected.append(Rejected(line.line, reason))
        return Batch(counts, tuple(rejected), self.nameless_failures)


def read_vocabulary(store: "GraphStore", curated: Sequence[Technique]) -> Vocabulary:
    """The vocabulary file's techniques and the graph's."""
    Vocabulary(curated)  # checked before the graph is asked
    return Vocabulary(curated, store.techniques())


def open_vocabulary(store: "GraphStore", curated: Sequence[Technique]) -> Vocabulary:
    """`read_vocabulary`, and add to the graph what it lacks; what curators took away stays away."""
    vocabulary = read_vocabulary(store, curated)
    store.add_techniques(vocabulary.curated)
    return vocabulary


def portions(
    lines: Iterable[Accepted | Rejected],
    cascade: Cascade,
    *,
    read: CodeReader | None = None,
    given: bool = False,
    batch_lines: int = BATCH_LINES,
) -> Iterator[Portion]:
    """The plans of `lines`, batch by batch; `read` holds names, and `given` ids, against code.

    That takes 15 ms a step: ids that this installation wrote or shipped are believed.
    """
    # Once: the same new technique in two lines must not differ by its date.
    created = datetime.now(UTC).isoformat(timespec="seconds")
    for batch in _batches(lines, batch_lines):
        plans: list[MergePlan] = []
        nameless = 0
        for place, line in enumerate(batch):
            if isinstance(line, Rejected):
                continue
            # One bad line stops no other.
            try:
                found = planned(line.trajectory, cascade, read, created, given=given)
            except BadInput as error:
                batch[place] = Rejected(line.line, str(error))
                continue
            plans.append(found)
            nameless += len(line.trajectory.failures) - len(found.trajectory.failures)
        yield Portion(tuple(batch), tuple(plans), nameless)


def planned(
    trajectory: Trajectory,
    cascade: Cascade,
    read: CodeReader | None,
    created: str,
    *,
    given: bool = False,
) -> MergePlan:
    """The plan of a trajectory. Raises `BadInput` where its names do not fit the vocabulary."""
    known = cascade.vocabulary.known
    labels = cascade.relabel(trajectory)
    # Names first: code decides only between what they leave open, or contradicts them.
    if read is not None:
        labels = by_code(labels, trajectory, known, read, given=given)
    return plan(trajectory, labels.steps, labels.failures, known, created, labels.coined)


def _batches(
    lines: Iterable[Accepted | Rejected], most: int
) -> Iterator[list[Accepted | Rejected]]:
    batch: list[Accepted | Rejected] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += line.line.size
        if len(batch) >= most or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
