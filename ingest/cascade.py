"""The story of relabelling: given id, exact name, alias, what a model says, else new.

A label's technique depends on the label, the vocabulary file, and the graph at the beginning of the
ingest; never on the file's other trajectories, their order or their batch. So a file ingested
twice, or again after a kill, lands on the same techniques (with a model, as far as the model
repeats its answers). A label is decided once. What a step's code shows comes last (`by_code`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from regraph_kg.ingest.relabel.aliases import Label, LabelVerdict, NameUse
from regraph_kg.ingest.relabel.model import Sorter
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.run import Deed
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, Vocabulary, start_id, technique_id
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory

CodeReader = Callable[[Technique | None, str, str, Sequence[Technique]], Deed]
"""Reads a step's deed: from the technique asked for, the code before and after it, and the other
techniques that it may have applied."""


@dataclass(frozen=True, slots=True)
class Labels:
    """A trajectory's labels, resolved, in its order; `coined` are the new techniques among them."""

    steps: tuple[Relabelled, ...]
    failures: tuple[Relabelled, ...]
    coined: tuple[Technique, ...] = ()


class Cascade:
    """Resolves labels by name; one that nobody has is new.

    A model sorts the new ones, where all of them are known (`settle`).
    """

    def __init__(self, vocabulary: Vocabulary, sorter: Sorter | None = None) -> None:
        self.vocabulary = vocabulary
        self._sorter = sorter
        self._verdicts: dict[Label, LabelVerdict] = {}

    def resolve(self, label: str, target: Target) -> LabelVerdict:
        """The verdict on `label`, decided at its first appearance."""
        key = (target, label)
        if key not in self._verdicts:
            new = Relabelled(label, technique_id(target, label), "new")
            self._verdicts[key] = LabelVerdict(self._named(label, target) or new)
        return self._verdicts[key]

    def settle(self, uses: Mapping[Label, NameUse]) -> Iterator[LabelVerdict]:
        """Decide labels, a model those beside each other; `AnswersPending` once all are asked."""
        if self._sorter is not None:
            for target, names in self._unknown(uses).items():
                for verdict in self._sorter(target, names):
                    self._verdicts[target, verdict.relabelled.label] = verdict
            # After all questions: those that are answered by file are then written in one go.
            self._sorter.finish()
        yield from (self.resolve(label, target) for target, label in uses)

    def relabel(self, trajectory: Trajectory) -> Labels:
        steps = [self._of(step, trajectory.target) for step in trajectory.steps]
        failed = [self._of(failure, trajectory.target) for failure in trajectory.failures]
        return Labels(
            tuple(verdict.relabelled for verdict in steps),
            tuple(verdict.relabelled for verdict in failed),
            tuple(verdict.coined for verdict in (*steps, *failed) if verdict.coined is not None),
        )

    def _unknown(self, uses: Mapping[Label, NameUse]) -> dict[Target, dict[str, NameUse]]:
        """Names that the vocabulary does not have."""
        unknown: defaultdict[Target, dict[str, NameUse]] = defaultdict(dict)
        for target, label in sorted(uses):
            if self.resolve(label, target).relabelled.stage == "new":
                unknown[target][label] = uses[target, label]
        return unknown

    def _of(self, step: Step | FailedStep, target: Target) -> LabelVerdict:
        if step.technique is None:
            return self.resolve(step.label, target)
        given = self.vocabulary.current(step.technique)
        return LabelVerdict(Relabelled(step.label, given, "given"))

    def _named(self, label: str, target: Target) -> Relabelled | None:
        match = self.vocabulary.find(label, target)
        if match is None or match.technique == start_id(target):
            return None  # no step leads to the initial state
        return Relabelled(label, match.technique, match.stage)


def by_code(
    labels: Labels,
    trajectory: Trajectory,
    known: Mapping[str, Technique],
    read: CodeReader,
    *,
    given: bool,
) -> Labels:
    """The labels of a trajectory, as its code has them; a `given` id is read like any other name.

    A step whose code contradicts its name counts for the technique of its code and keeps the name
    as its label; so does a step with a new name whose code shows one known technique.
    """
    techniques = [entry for entry in known.values() if entry.target == trajectory.target]
    steps = list(labels.steps)
    codes = [trajectory.serial, *(step.code for step in trajectory.steps)]
    for place, label in enumerate(labels.steps):
        if label.stage == "given" and not given:
            continue
        before, after = codes[place], codes[place + 1]
        deed = read(known.get(label.technique), before, after, techniques)
        if deed.technique is not None:
            steps[place] = Relabelled(label.label, deed.technique, "code")
    return replace(labels, steps=tuple(steps))
