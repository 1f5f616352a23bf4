"""Corrects labels by code, where a step did something else than its name says.

A step whose code contradicts its name counts for the technique of its code and keeps the name as
its label; so does a step with a new name whose code shows one known technique. Not here: the
reader.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from regraph_kg.ingest.relabel.cascade import Labels
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.run import Deed
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

CodeReader = Callable[[Technique | None, str, str, Sequence[Technique]], Deed]
"""Reads a step's deed: from the technique asked for, the code before and after it, and the other
techniques that it may have applied."""


def by_code(
    labels: Labels, trajectory: Trajectory, known: Mapping[str, Technique], read: CodeReader
) -> Labels:
    """The labels of a trajectory, as its code has them; a given id stands."""
    techniques = [entry for entry in known.values() if entry.target == trajectory.target]
    steps, findings = list(labels.steps), list[str]()
    before = trajectory.serial
    for place, (label, step) in enumerate(zip(labels.steps, trajectory.steps, strict=True)):
        if label.stage != "given" and before and step.code:
            claimed = known.get(label.technique)
            deed = read(claimed, before, step.code, techniques)
            if deed.technique is not None and deed.technique not in label.also:
                steps[place] = Relabelled(label.label, deed.technique, "code", also=label.also)
            if claimed is not None and deed.technique not in label.also:
                findings += _findings(label, deed)
        before = step.code
    return replace(labels, steps=tuple(steps), findings=tuple(findings))


def _findings(label: Relabelled, deed: Deed) -> Iterator[str]:
    if deed.applied == "nothing":
        yield f"{label.label!r} changes nothing but names and comments"
    elif deed.applied == "other":
        counted = f"; counted as {deed.technique}" if deed.technique else ""
        yield f"the code of {label.label!r} shows no sign of {label.technique}{counted}"
