"""The story of an ingest: read, relabel, plan, merge, batch by batch.

Each batch is one transaction, and a trajectory's id is a hash of its content: a killed ingest is
simply run again, and two ingests of one file at once do no harm.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import compress
from typing import TYPE_CHECKING

from regraph_kg.errors import BadInput
from regraph_kg.ingest.cascade import Cascade, CodeReader, by_code
from regraph_kg.ingest.read import Accepted, Brought, Line, Rejected
from regraph_kg.models.graph import MergeCounts, MergePlan, Relabelled
from regraph_kg.models.target import Target
from regraph_kg.models.technique import LONGEST_NAME, Technique, Vocabulary, spelling, technique_id
from regraph_kg.models.trajectory import Trajectory, is_claim
from regraph_kg.models.transform import SHIPPED

if TYPE_CHECKING:  # only wiring knows a store
    from regraph_kg.backends.store import GraphStore

FactReader = Callable[[str, str, str], tuple[str, ...]]
"""The transforms of a technique that make of a code exactly another one."""
BATCH_LINES = 200
BATCH_BYTES = 8 * 2**20  # a batch ends with the line that reaches either


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of merged lines: counts, and the rejected lines."""

    counts: MergeCounts
    rejected: tuple[Rejected, ...]
    transforms: int = 0
    nameless_failures: int = 0  # failures that the graph did not get: no technique has their name


@dataclass(frozen=True, slots=True)
class Portion:
    """Some lines, and what the good ones ask of a store: one transaction."""

    lines: tuple[Line, ...]
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
        brought = [one.transform for one in self.lines if isinstance(one, Brought)]
        # what ships comes with the program, in its own version
        refused = store.bring_transforms([one for one in brought if one.source.run != SHIPPED])
        rejected = []
        # In the file's order: bad lines, and those that the store refused.
        for line in self.lines:
            if isinstance(line, Rejected):
                rejected.append(line)
            elif isinstance(line, Brought):
                if reason := refused.get(line.transform.id):
                    rejected.append(Rejected(line.line, reason))
            elif counts.conflicts and (reason := counts.conflicts.get(line.trajectory.id)):
                rejected.append(Rejected(line.line, reason))
        good = len(brought) - len(refused)
        return Batch(counts, tuple(rejected), good, self.nameless_failures)


def open_vocabulary(store: "GraphStore", curated: Sequence[Technique]) -> Vocabulary:
    """Add to the graph what it lacks of `curated`; what curators took away stays away."""
    vocabulary = Vocabulary(curated, store.techniques())
    store.add_techniques(vocabulary.curated)
    return vocabulary


def portions(
    lines: Iterable[Line],
    cascade: Cascade,
    *,
    read: CodeReader | None = None,
    made_by: FactReader | None = None,
    given: bool = False,
    batch_lines: int = BATCH_LINES,
) -> Iterator[Portion]:
    """The plans of `lines`, batch by batch; `read` holds names, and `given` ids, against code.

    `made_by` says which steps transforms make. That takes 15 ms a step. None for what this
    installation wrote or shipped: what a step says of itself is believed.
    """
    # Once: the same new technique in two lines must not differ by its date.
    created = datetime.now(UTC).isoformat(timespec="seconds")
    for batch in _batches(lines, batch_lines):
        plans: list[MergePlan] = []
        nameless = 0
        for place, line in enumerate(batch):
            if not isinstance(line, Accepted):
                continue
            # One bad line stops no other.
            try:
                found = planned(line.trajectory, cascade, read, created, given=given)
            except BadInput as error:
                batch[place] = Rejected(line.line, str(error))
                continue
            plans.append(found if made_by is None else with_facts(found, made_by))
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


def with_facts(plan: MergePlan, made_by: FactReader) -> MergePlan:
    """A plan that says of each step which transforms make it.

    A transform that a step names and that does not make it is forgotten. A failure that names such
    a one is left out: nobody knows whose it was.
    """
    whole = plan.trajectory
    codes = [whole.serial, *(step.code for step in whole.steps)]
    names = [label.technique for label in plan.labels]
    facts = tuple(map(made_by, names, codes, codes[1:]))
    steps = tuple(
        step if step.transform in made else step.model_copy(update={"transform": ""})
        for step, made in zip(whole.steps, facts, strict=True)
    )
    kept = [
        not one.transform
        or one.transform in made_by(label.technique, codes[one.after_step], one.code)
        for one, label in zip(whole.failures, plan.failed_labels, strict=True)
    ]
    failures, labels = compress(whole.failures, kept), compress(plan.failed_labels, kept)
    known = whole.model_copy(update={"steps": steps, "failures": tuple(failures)})
    return replace(plan, trajectory=known, failed_labels=tuple(labels), facts=facts)


def _batches(lines: Iterable[Line], most: int) -> Iterator[list[Line]]:
    batch: list[Line] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += line.line.size
        if len(batch) >= most or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def plan(
    trajectory: Trajectory,
    labels: Sequence[Relabelled],
    failed_labels: Sequence[Relabelled],
    known: Mapping[str, Technique],
    created: str,
    coined: Sequence[Technique] = (),
) -> MergePlan:
    """One trajectory ready to be merged, with the techniques and aliases that it teaches.

    `known` are techniques by id; one that is missing there is made, dated `created` (UTC, ISO 8601)
    and to be reviewed, as `coined` describes it where it is there. A label that a stage recognized
    becomes an alias, which is how its verdict is remembered; a given id teaches no alias, because
    the sender's reason for it is not ours, nor does what the code of one step showed. Of a known
    technique only the new aliases are sent: what else has become of it meanwhile stands. A failure
    makes no technique: nobody has shown that there is one. It is left out until its name is known.
    """
    described = {technique.id: technique for technique in coined}
    taught: dict[str, Technique] = {}
    # A right step of this trajectory shows that its technique exists.
    tried = {label.technique for label in labels}.union(known)
    failed = [
        (failure, label)
        for failure, label in zip(trajectory.failures, failed_labels, strict=True)
        if label.technique in tried
    ]
    for label in (*labels, *(label for _, label in failed)):
        technique = taught.get(label.technique)
        if technique is None and label.technique in known:
            if not _teaches(label, known[label.technique]):
                continue
            technique = known[label.technique].model_copy(update={"aliases": ()})
        technique = technique or _new(label, trajectory.target, described, created)
        if _teaches(label, technique):
            aliases = (*technique.aliases, label.label)
            technique = technique.model_copy(update={"aliases": aliases})
        taught[technique.id] = technique
    new = tuple(taught[key] for key in sorted(taught))
    # The id stays: it is a hash of the steps alone.
    failures = tuple(failure for failure, _ in failed)
    return MergePlan(
        trajectory.model_copy(update={"failures": failures}),
        tuple(labels),
        tuple(label for _, label in failed),
        new,
        created=created,
    )


def _teaches(label: Relabelled, technique: Technique) -> bool:
    """Whether the label is a name of the technique that it does not have yet, and of no other."""
    recognized = label.stage in ("given", "exact", "alias", "code")
    return not recognized and label.label not in technique.aliases


def _new(
    label: Relabelled, target: Target, described: Mapping[str, Technique], created: str
) -> Technique:
    """An unreviewed technique; its name follows from its id where it can."""
    if label.technique in described:
        return described[label.technique].model_copy(update={"aliases": (), "created": created})
    # An id that a sender chose may have nothing to do with the label.
    named = technique_id(target, label.label) == label.technique
    words = spelling(label.label) if named else label.technique.partition("/")[2].replace("-", " ")
    return Technique(
        id=label.technique,
        name=words.capitalize()[:LONGEST_NAME] or label.label,
        target=target,
        review=True,
        created=created,
    )
