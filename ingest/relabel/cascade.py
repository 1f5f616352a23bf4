"""The story of relabelling: given id, exact name, alias, what the stages recognize, else new.

What a label resolves to depends on the label, the vocabulary file, what curators did, and what the
graph knew when the ingest began; never on the other trajectories of the file, their order or their
batch. So a file ingested twice, or again after a kill, lands on the same techniques (with a model,
as far as the model says the same again). A label is decided once, however often it appears.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from regraph_kg.ingest.relabel.candidates import Shortlists
from regraph_kg.ingest.relabel.verdict import LabelVerdict, Shortlist, Stage, new
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, Vocabulary, start_id
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory

Label = tuple[Target, str]


@dataclass(frozen=True, slots=True)
class Labels:
    """A trajectory's labels, resolved, one per step and one per failure, in its order.

    `coined` are the new techniques among them that a model described.
    """

    steps: tuple[Relabelled, ...]
    failures: tuple[Relabelled, ...]
    coined: tuple[Technique, ...] = ()


class Cascade:
    """Resolves labels: first by name, then by the stages in turn; what none recognizes is new."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        stages: Sequence[Stage] = (),
        shortlists: Shortlists | None = None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """`shortlists` gives the stages their candidates.

        `finish` raises `AnswersPending` where a stage waits for answers by file.
        """
        self.vocabulary = vocabulary
        self._stages = tuple(stages)
        self._shortlists = shortlists
        self._finish = finish
        self._verdicts: dict[Label, LabelVerdict] = {}

    def resolve(self, label: str, target: Target) -> LabelVerdict:
        """What `label` means; decided at its first appearance."""
        key = (target, label)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._decide(label, target)
        return verdict

    def settle(self, labels: Iterable[Label]) -> Iterator[LabelVerdict]:
        """Decide many labels at once, each of them once.

        Raises `AnswersPending` when all that can be asked is asked and answers are to come by file.
        """
        wanted = tuple(dict.fromkeys(labels))
        if self._shortlists is not None:
            self._shortlists.prepare(one for one in wanted if not self._named(one[1], one[0]))
        for target, label in wanted:
            yield self.resolve(label, target)
        self._finish()

    def relabel(self, trajectory: Trajectory) -> Labels:
        """Resolve every label of a trajectory within its target."""
        verdicts = [self._of(step, trajectory.target) for step in trajectory.steps]
        failed = [self._of(failure, trajectory.target) for failure in trajectory.failures]
        return Labels(
            tuple(one.relabelled for one in verdicts),
            tuple(one.relabelled for one in failed),
            tuple(one.coined for one in (*verdicts, *failed) if one.coined is not None),
        )

    def _of(self, step: Step | FailedStep, target: Target) -> LabelVerdict:
        if step.technique is None:
            return self.resolve(step.label, target)
        return LabelVerdict(
            Relabelled(step.label, self.vocabulary.current(step.technique), "given")
        )

    def _decide(self, label: str, target: Target) -> LabelVerdict:
        named = self._named(label, target)
        if named is not None:
            return named
        if self._shortlists is None:
            return new(Shortlist(label, target, ()))
        asked = self._shortlists.of(label, target)
        allowed = tuple(
            one for one in asked.candidates if not self.vocabulary.disowns(one.technique.id, label)
        )
        asked = replace(asked, candidates=allowed)
        verdicts = (stage(asked) for stage in self._stages)
        return next((one for one in verdicts if one is not None), new(asked))

    def _named(self, label: str, target: Target) -> LabelVerdict | None:
        match = self.vocabulary.find(label, target)
        if match is None or match.technique == start_id(target):
            return None  # no step leads to the initial state
        return LabelVerdict(Relabelled(label, match.technique, match.stage))


def labels_of(trajectories: Iterable[Trajectory]) -> Iterable[Label]:
    """The labels that need resolving; those of steps whose technique is given do not."""
    for one in trajectories:
        steps: tuple[Step | FailedStep, ...] = (*one.steps, *one.failures)
        yield from ((one.target, step.label) for step in steps if step.technique is None)
