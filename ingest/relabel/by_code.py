"""What steps did by their code, where that is not what they are called.

A step whose code contradicts its name is counted for what it did, and keeps the name as its label;
so does one whose name is new, and whose code shows one known technique. Not here: how code is read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from regraph_kg.ingest.relabel.cascade import Labels
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.run import Deed
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

CodeReader = Callable[[Technique | None, str, str, Sequence[Technique]], Deed]
"""What a step did that was to apply a technique: by the code before and after it, and all others
that it may have applied."""


def by_code(
    labels: Labels, trajectory: Trajectory, known: Mapping[str, Technique], read: CodeReader
) -> Labels:
    """The labels of a trajectory, as its code has them; a given id stands."""
    others = [one for one in known.values() if one.target == trajectory.target]
    steps, findings = list(labels.steps), list[str]()
    before = trajectory.serial
    for place, (told, step) in enumerate(zip(labels.steps, trajectory.steps, strict=True)):
        if told.stage != "given" and before and step.code:
            claimed = known.get(told.technique)
            done = read(claimed, before, step.code, others)
            if done.technique is not None and done.technique not in told.also:
                steps[place] = Relabelled(told.label, done.technique, "code", also=told.also)
            if claimed is not None and done.technique not in told.also:
                findings += _findings(told, done)
        before = step.code
    return replace(labels, steps=tuple(steps), findings=tuple(findings))


def _findings(told: Relabelled, done: Deed) -> Iterator[str]:
    if done.applied == "nothing":
        yield f"{told.label!r} changes nothing but names and comments"
    elif done.applied == "other":
        counted = f"; counted as {done.technique}" if done.technique else ""
        yield f"the code of {told.label!r} shows no sign of {told.technique}{counted}"
