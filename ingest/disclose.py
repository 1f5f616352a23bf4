"""The part of a trajectory that a graph gets: all of it, its diffs, or statistics alone.

A part left out here reaches no store: this is the only way from a trajectory to a merge. The
trajectory keeps its id, a hash of all its content. docs/curation.md lists what each disclosure
holds and what can be guessed from it.
"""

import difflib
from collections.abc import Iterator, Mapping

from regraph_kg.errors import BadInput
from regraph_kg.ingest.cascade import Labels
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

ORDER: tuple[Disclosure, ...] = ("code", "diff", "statistics")  # the most first
SOURCE = {"model", "run", "created", "licence", "learned"}
"""Fields of the source that stay: enough to name its owner, and to leave out what is theirs."""


def disclosed(
    trajectory: Trajectory,
    labels: Labels,
    disclosure: Disclosure,
    known: Mapping[str, Technique],
) -> tuple[Trajectory, Labels]:
    """The disclosed part of a trajectory and its labels, never more than its own disclosure.

    Raises `BadInput` where only statistics are told and a label would become a technique: it would
    be told by that.
    """
    # The sender's own decision is never widened here.
    disclosure = max(disclosure, trajectory.disclosed, key=ORDER.index)
    if disclosure == "code":
        return trajectory, labels
    if disclosure == "statistics":
        labels = _nameless(labels, known)
    shared = Trajectory(
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
    return shared, labels


def _nameless(labels: Labels, known: Mapping[str, Technique]) -> Labels:
    """The labels with each technique given by its id."""
    for kind, relabelled in (("step", labels.steps), ("failure", labels.failures)):
        for number, label in enumerate(relabelled, 1):
            # A new technique is called as its label, and would tell it.
            if label.stage != "given" and label.technique not in known:
                raise BadInput(
                    f"{kind} {number}: its name is of no technique that is known, and only"
                    ' statistics are to be told: give its "technique", or a --vocabulary with it'
                )
    steps, failures = (
        tuple(Relabelled(WITHHELD, item.technique, "given", also=item.also) for item in relabelled)
        for relabelled in (labels.steps, labels.failures)
    )
    return Labels(steps, failures)


def _steps(trajectory: Trajectory, labels: Labels, disclosure: Disclosure) -> Iterator[Step]:
    before = trajectory.serial
    for step, label in zip(trajectory.steps, labels.steps, strict=True):
        # Fields of the sender's own may hold anything, code among it.
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
    """The failures without code and diagnosis: compilers quote the code they refuse."""
    nameless, whole = disclosure == "statistics", trajectory.disclosed == "code"
    for failure, label in zip(trajectory.failures, labels.failures, strict=True):
        yield FailedStep(
            after_step=failure.after_step,
            label=WITHHELD if nameless else failure.label,
            technique=label.technique if nameless else failure.technique,
            outcome=failure.outcome,
            device=failure.device,
            # A plain hash of a short code can be guessed by trying codes.
            code_hash=trajectory.mark(failure.key) if whole else failure.code_hash,
        )


def _plain(measurement: Measurement) -> Measurement:
    """A measurement without the sender's own fields."""
    return Measurement.model_validate(measurement.model_dump(include=set(Measurement.model_fields)))


def diff(before: str, after: str) -> str:
    """The lines that a step took away and added, with none around them."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(list(lines)[2:])
