"""Turns a trajectory and its resolved labels into what the store is asked to merge."""

from collections.abc import Mapping, Sequence

from regraph_kg.models.base import Target
from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.technique import LONGEST_NAME, Technique, spelling, technique_id
from regraph_kg.models.trajectory import Trajectory


def plan(
    trajectory: Trajectory,
    labels: Sequence[Relabelled],
    failed_labels: Sequence[Relabelled],
    known: Mapping[str, Technique],
    created: str,
) -> MergePlan:
    """One trajectory ready to be merged, with the techniques and aliases that it teaches.

    `known` are techniques by id; one that is missing there is made, and dated `created` (UTC, ISO
    8601). A label that the labeller recognized becomes an alias, which is how its verdict is
    remembered; a given id teaches no alias, because the sender's reason for it is not ours.
    """
    taught: dict[str, Technique] = {}
    for label in (*labels, *failed_labels):
        technique = taught.get(label.technique) or known.get(label.technique)
        if technique is None:
            technique = _new(label, trajectory.target, created)
        elif label.stage in ("given", "exact", "alias"):
            continue
        elif label.label not in technique.aliases:
            aliases = (*technique.aliases, label.label)
            technique = technique.model_copy(update={"aliases": aliases})
        taught[technique.id] = technique
    new = tuple(taught[key] for key in sorted(taught))
    return MergePlan(trajectory, tuple(labels), tuple(failed_labels), new)


def _new(label: Relabelled, target: Target, created: str) -> Technique:
    """A technique that nobody has described yet; its name follows from its id where it can."""
    own = technique_id(target, label.label) == label.technique
    words = spelling(label.label) if own else label.technique.partition("/")[2].replace("-", " ")
    return Technique(
        id=label.technique,
        name=words.capitalize()[:LONGEST_NAME] or label.label,
        target=target,
        aliases=(label.label,) if own else (),
        created=created,
    )
