"""The story of relabelling: given id, exact name, alias, what a rule recognizes, else new.

A label's technique depends on the label, the vocabulary file, the curators' changes, and the graph
at the beginning of the ingest; never on the file's other trajectories, their order or their batch.
So a file ingested twice, or again after a kill, lands on the same techniques (with a model, as far
as the model repeats its answers). A label is decided once.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from regraph_kg.ingest.relabel.answers import Bundle
from regraph_kg.ingest.relabel.candidates import Shortlists
from regraph_kg.ingest.relabel.grouping import groups
from regraph_kg.ingest.relabel.lexical import LexicalRule
from regraph_kg.ingest.relabel.names import parts
from regraph_kg.ingest.relabel.sorting import AskingCost, Sorter
from regraph_kg.ingest.relabel.usage import Label, NameUse
from regraph_kg.ingest.relabel.verdict import LabelVerdict, Shortlist, coined, joined, new
from regraph_kg.models.graph import Relabelled, RelabelStage
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, Vocabulary, start_id, technique_id
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory


@dataclass(frozen=True, slots=True)
class Labels:
    """A trajectory's labels, resolved, one per step and one per failure, in its order.

    `coined` are the new techniques among them, as they are to be called; `findings` tell of steps
    that are not what they are called.
    """

    steps: tuple[Relabelled, ...]
    failures: tuple[Relabelled, ...]
    coined: tuple[Technique, ...] = ()
    findings: tuple[str, ...] = ()


class Cascade:
    """Resolves labels: first by name, then by the lexical rule; what neither recognizes is new.

    New ones are put together with each other where all of them are known (`settle`).
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        lexical: LexicalRule | None = None,
        shortlists: Shortlists | None = None,
        sorter: Sorter | None = None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """`shortlists` gives the rule, and `sorter`, their candidates.

        `finish` raises `AnswersPending` where `sorter` waits for answers by file.
        """
        self.vocabulary = vocabulary
        self._lexical = lexical
        self._shortlists = shortlists
        self._sorter = sorter
        self._finish = finish
        self._verdicts: dict[Label, LabelVerdict] = {}
        self._joined: dict[Label, tuple[str, ...]] = {}

    def named(self, label: str, target: Target) -> bool:
        """Whether `label` is a name, or an alias, of a technique."""
        return self._named(label, target) is not None

    def resolve(self, label: str, target: Target) -> LabelVerdict:
        """The verdict on `label`, decided at its first appearance."""
        key = (target, label)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._decide(label, target)
        return verdict

    def cost(self, uses: Mapping[Label, NameUse]) -> AskingCost:
        """The least cost of `settle` for these names."""
        if self._sorter is None:
            return AskingCost()
        costs = (self._sorter.cost(*item) for item in self._bundles(uses).items())
        return reduce(add, costs, AskingCost())

    def settle(self, uses: Mapping[Label, NameUse]) -> Iterator[LabelVerdict]:
        """Decide many labels at once, each of them once, and the new ones beside each other.

        Raises `AnswersPending` when all that can be asked is asked and answers are to come by file.
        """
        bundles = self._bundles(uses)
        for target, group in bundles.items():
            verdicts = (
                (verdict for bundle in group for verdict in _alone(bundle))
                if self._sorter is None
                else self._sorter(target, group)
            )
            for verdict in verdicts:
                self._verdicts[target, verdict.relabelled.label] = verdict
        self._finish()
        yield from (self._verdicts[key] for key in uses)

    def _bundles(self, uses: Mapping[Label, NameUse]) -> dict[Target, list[Bundle]]:
        """Names that neither the vocabulary nor a rule recognizes, equal ones together."""
        undecided = [use for use in sorted(uses) if use not in self._verdicts]
        if self._shortlists is not None:
            self._shortlists.prepare(label for _, label in undecided)
        new_labels: defaultdict[Target, list[str]] = defaultdict(list)
        for target, label in sorted(uses):
            if self.resolve(label, target).relabelled.stage == "new":
                new_labels[target].append(label)
        if self._shortlists is None:
            return {}
        return {
            target: [self._bundle(target, group, uses) for group in groups(labels)]
            for target, labels in sorted(new_labels.items())
        }

    def _bundle(
        self, target: Target, group: Sequence[str], uses: Mapping[Label, NameUse]
    ) -> Bundle:
        labels = sorted(group, key=lambda label: (-uses[target, label].steps, label))
        use = reduce(add, (uses[target, label] for label in labels))
        return Bundle(tuple(labels), use, self._shortlist(labels[0], target))

    def relabel(self, trajectory: Trajectory) -> Labels:
        """Resolve every label of a trajectory within its target."""
        verdicts = [self._of(step, trajectory.target) for step in trajectory.steps]
        failed = [self._of(failure, trajectory.target) for failure in trajectory.failures]
        return Labels(
            tuple(verdict.relabelled for verdict in verdicts),
            tuple(verdict.relabelled for verdict in failed),
            tuple(verdict.coined for verdict in (*verdicts, *failed) if verdict.coined is not None),
        )

    def _of(self, step: Step | FailedStep, target: Target) -> LabelVerdict:
        verdict = self._given_or_resolved(step, target)
        also = tuple(map(self.vocabulary.current, step.also)) if isinstance(step, Step) else ()
        if step.technique is None and not also:
            also = self._techniques_of(step.label, target)
        label = verdict.relabelled
        further = tuple(key for key in dict.fromkeys(also) if key != label.technique)
        return replace(verdict, relabelled=replace(label, also=further)) if further else verdict

    def _given_or_resolved(self, step: Step | FailedStep, target: Target) -> LabelVerdict:
        if step.technique is None:
            return self.resolve(step.label, target)
        technique = self.vocabulary.current(step.technique)
        return LabelVerdict(Relabelled(step.label, technique, "given"))

    def _techniques_of(self, label: str, target: Target) -> tuple[str, ...]:
        """The techniques of a compound name, in its order; none where a part is no name.

        By names alone (no rule) a name is what it says as a whole.
        """
        key = (target, label)
        if self._lexical is None:
            return ()
        if key not in self._joined:
            verdicts = [self._recognized(part, target) for part in parts(label)]
            ids = tuple(verdict.relabelled.technique for verdict in verdicts if verdict)
            self._joined[key] = ids if len(ids) == len(verdicts) else ()
        return self._joined[key]

    def _decide(self, label: str, target: Target) -> LabelVerdict:
        named = self._named(label, target) or self._compound(label, target)
        if named is not None:
            return named
        return self._recognized(label, target) or new(self._shortlist(label, target))

    def _recognized(self, label: str, target: Target) -> LabelVerdict | None:
        """The verdict by name, or else by the rule."""
        named = self._named(label, target)
        if named is not None or self._lexical is None:
            return named
        return self._lexical(self._shortlist(label, target))

    def _compound(self, label: str, target: Target) -> LabelVerdict | None:
        """The first technique of a compound name."""
        techniques = self._techniques_of(label, target)
        if not techniques or self.vocabulary.disowns(techniques[0], label):
            return None
        return LabelVerdict(Relabelled(label, techniques[0], "compound"))

    def _shortlist(self, label: str, target: Target) -> Shortlist:
        """The candidates of `label`, without those that a curator ruled out."""
        if self._shortlists is None:
            return Shortlist(label, target, ())
        shortlist = self._shortlists.of(label, target)
        allowed = tuple(
            candidate
            for candidate in shortlist.candidates
            if not self.vocabulary.disowns(candidate.technique.id, label)
        )
        return replace(shortlist, candidates=allowed)

    def _named(self, label: str, target: Target) -> LabelVerdict | None:
        match = self.vocabulary.find(label, target)
        if match is None or match.technique == start_id(target):
            return None  # no step leads to the initial state
        return LabelVerdict(Relabelled(label, match.technique, match.stage))


def _alone(bundle: Bundle) -> Iterator[LabelVerdict]:
    """One new technique for names that are surely one, called as most steps call it."""
    lead = bundle.labels[0]
    technique = coined(bundle.shortlist.target, lead)
    for label in bundle.labels:
        same = technique_id(technique.target, label) == technique.id
        stage: RelabelStage = "new" if same else "lexical"
        yield joined(bundle.shortlist, label, technique, stage)
