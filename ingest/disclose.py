"""What of a trajectory is told to a graph: all of it, its diffs, or statistics alone.

What is left out here reaches no store: this is the one way from a trajectory to what is merged. It
keeps its id, a hash of all that it was. What each disclosure tells, and what can be guessed from
it, is in docs/curation.md. Not here: restoring a backup, which holds what its graph was told.
"""

import difflib
from collections.abc import Iterator, Mapping

from regraph_kg.errors import BadInput
from regraph_kg.ingest.relabel.cascade import Labels
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import (
    WITHHELD,
    Disclosure,
    FailedStep,
    Measurement,
    Source,
    Step,
    Trajectory,
)

ORDER: tuple[Disclosure, ...] = ("code", "diff", "statistics")
"""The most first."""
SOURCE = {"model", "run", "created", "licence", "learned"}
"""What stays of where it comes from: enough to purge it, and to say whose it is."""


def disclosed(
    trajectory: Trajectory,
    labels: Labels,
    disclosure: Disclosure,
    known: Mapping[str, Technique],
) -> tuple[Trajectory, Labels]:
    """What is told of a trajectory and of its labels, and never more than it tells itself.

    Raises `BadInput` where only statistics are told and a label would become a technique: it would
    be told by that.
    """
    disclosure = max(disclosure, trajectory.disclosed, key=ORDER.index)
    if disclosure == "code":
        return trajectory, labels
    if disclosure == "statistics":
        labels = _nameless(labels, known)
    told = Trajectory(
        schema=1,
        ref=trajectory.ref if disclosure == "diff" else None,
        target=trajectory.target,
        problem=trajectory.problem,
        disclosed=disclosure,
        content=trajectory.id,
        source=Source.model_validate(trajectory.source.model_dump(include=SOURCE)),
        steps=tuple(_steps(trajectory, labels, disclosure)),
        failures=tuple(_failures(trajectory, labels, disclosure)),
    )
    return told, labels


def _nameless(labels: Labels, known: Mapping[str, Technique]) -> Labels:
    """As if each technique had been given by its id."""
    for kind, some in (("step", labels.steps), ("failure", labels.failures)):
        for number, one in enumerate(some, 1):
            if one.stage != "given" and one.technique not in known:
                raise BadInput(
                    f"{kind} {number}: its name is of no technique that is known, and only"
                    ' statistics are to be told: give its "technique", or a --vocabulary with it'
                )
    steps, failures = (
        tuple(Relabelled(WITHHELD, one.technique, "given", also=one.also) for one in some)
        for some in (labels.steps, labels.failures)
    )
    return Labels(steps, failures)


def _steps(trajectory: Trajectory, labels: Labels, disclosure: Disclosure) -> Iterator[Step]:
    before = trajectory.serial
    for step, label in zip(trajectory.steps, labels.steps, strict=True):
        measurements = tuple(map(_plain, step.measurements))
        if disclosure == "statistics":
            yield Step(
                label=WITHHELD,
                technique=label.technique,
                also=label.also,
                measurements=measurements,
            )
        else:
            yield Step(
                label=step.label,
                technique=step.technique,
                also=step.also,
                reasoning=step.reasoning,
                detail=step.detail,
                diff=step.diff or diff(before, step.code),
                measurements=measurements,
            )
        before = step.code


def _failures(
    trajectory: Trajectory, labels: Labels, disclosure: Disclosure
) -> Iterator[FailedStep]:
    """Without code, and without diagnosis: compilers quote what they refuse."""
    nameless = disclosure == "statistics"
    for one, label in zip(trajectory.failures, labels.failures, strict=True):
        yield FailedStep(
            after_step=one.after_step,
            label=WITHHELD if nameless else one.label,
            technique=label.technique if nameless else one.technique,
            outcome=one.outcome,
            device=one.device,
            code_hash=(
                trajectory.mark(one.key) if trajectory.disclosed == "code" else one.code_hash
            ),
        )


def _plain(measurement: Measurement) -> Measurement:
    """Without the sender's own fields."""
    return Measurement.model_validate(measurement.model_dump(include=set(Measurement.model_fields)))


def diff(before: str, after: str) -> str:
    """The lines that a step took away and added, with none around them."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(list(lines)[2:])
