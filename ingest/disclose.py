"""The statistics of a trajectory, where nothing else of it is to enter a graph.

What is left out here reaches no store: this is the only way from a trajectory to a merge. The
trajectory keeps its id, a hash of all its content. docs/curation.md lists what is told, and what
can be guessed from it.
"""

from collections.abc import Mapping

from regraph_kg.errors import BadInput
from regraph_kg.ingest.cascade import Labels
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import WITHHELD, FailedStep, Source, Step, Trajectory

SOURCE = {"model", "run", "created", "licence", "learned"}
"""Fields of the source that stay: enough to name its owner, and to leave out what is theirs."""


def statistics_of(
    trajectory: Trajectory, labels: Labels, known: Mapping[str, Technique]
) -> tuple[Trajectory, Labels]:
    """A trajectory and its labels without code, names, and what was said of the steps.

    Raises `BadInput` where a label would become a technique: it would be told by that.
    """
    for kind, relabelled in (("step", labels.steps), ("failure", labels.failures)):
        for number, label in enumerate(relabelled, 1):
            # A new technique is called as its label, and would tell it.
            if label.stage != "given" and label.technique not in known:
                raise BadInput(
                    f"{kind} {number}: its name is of no technique that is known, and only"
                    ' statistics are to be told: give its "technique", or a --vocabulary with it'
                )
    steps, failures = (
        tuple(Relabelled(WITHHELD, item.technique, "given") for item in relabelled)
        for relabelled in (labels.steps, labels.failures)
    )
    told = Trajectory(
        schema=1,
        target=trajectory.target,
        problem=trajectory.problem,
        disclosed="statistics",
        content=trajectory.id,
        source=Source.model_validate(trajectory.source.model_dump(include=SOURCE)),
        steps=tuple(
            Step(
                label=WITHHELD,
                technique=label.technique,
                measurements=tuple(
                    one.model_copy(update={"diagnosis": ""}) for one in step.measurements
                ),
            )
            for step, label in zip(trajectory.steps, labels.steps, strict=True)
        ),
        failures=tuple(
            FailedStep(
                after_step=failure.after_step,
                label=WITHHELD,
                technique=label.technique,
                outcome=failure.outcome,
                device=failure.device,
                ruled_out=failure.ruled_out,
                # A plain hash of a short code can be guessed by trying codes.
                code_hash=trajectory.mark(failure.key),
            )
            for failure, label in zip(trajectory.failures, labels.failures, strict=True)
        ),
    )
    return told, Labels(steps, failures)
