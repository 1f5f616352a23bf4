"""Turns a trajectory and its resolved labels into what the store is asked to merge."""

from collections.abc import Mapping, Sequence

from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.target import Target
from regraph_kg.models.technique import LONGEST_NAME, Technique, spelling, technique_id
from regraph_kg.models.trajectory import Trajectory


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
    recognized = label.stage in ("given", "exact", "alias", "compound", "code")
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
