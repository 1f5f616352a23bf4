"""The story of relabelling: given id, exact name, alias, what a rule recognizes, else new.

A label's technique depends on the label, the vocabulary file, and the graph at the beginning of the
ingest; never on the file's other trajectories, their order or their batch. So a file ingested
twice, or again after a kill, lands on the same techniques (with a model, as far as the model
repeats its answers). A label is decided once. What a step's code shows comes last (`by_code`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from regraph_kg.ingest.relabel.aliases import Label, LabelVerdict, NameUse, new_technique, parts
from regraph_kg.ingest.relabel.embedding import Shortlist, Shortlists
from regraph_kg.ingest.relabel.lexical import LexicalRule, surely_one
from regraph_kg.ingest.relabel.model import Bundle, Sorter
from regraph_kg.models.graph import Relabelled, RelabelStage
from regraph_kg.models.run import Deed
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, Vocabulary, start_id, technique_id
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory

CodeReader = Callable[[Technique | None, str, str, Sequence[Technique]], Deed]
"""Reads a step's deed: from the technique asked for, the code before and after it, and the other
techniques that it may have applied."""


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
    ) -> None:
        """`shortlists` gives the rule, and `sorter`, their candidates."""
        self.vocabulary = vocabulary
        self._lexical = lexical
        self._shortlists = shortlists
        self._sorter = sorter
        self._verdicts: dict[Label, LabelVerdict] = {}
        self._joined: dict[Label, tuple[str, ...]] = {}

    def resolve(self, label: str, target: Target) -> LabelVerdict:
        """The verdict on `label`, decided at its first appearance."""
        key = (target, label)
        if key not in self._verdicts:
            joined = self._techniques_of(label, target)
            relabelled = self._named(label, target)
            if relabelled is None and joined:
                relabelled = Relabelled(label, joined[0], "compound")
            # The rule comes last: a name that is known as a whole is not taken apart or guessed at.
            relabelled = relabelled or self._by_rule(label, target)
            new = technique_id(target, label)
            self._verdicts[key] = LabelVerdict(
                relabelled or self._shortlist(label, target).taken_for(new, "new")
            )
        return self._verdicts[key]

    def to_ask(self, uses: Mapping[Label, NameUse]) -> tuple[int, int]:
        """Names that `settle` will ask a model about, and prompts for them at least."""
        bundles = self._bundles(uses) if self._sorter else {}
        batches = [self._sorter.batches(group) for group in bundles.values() if self._sorter]
        names = sum(len(one.labels) for group in bundles.values() for one in group)
        return names, sum(map(len, batches))

    def settle(self, uses: Mapping[Label, NameUse]) -> Iterator[LabelVerdict]:
        """Decide many labels at once, each of them once, and the new ones beside each other.

        Raises `AnswersPending` when all that can be asked is asked and answers are to come by file.
        """
        for target, bundles in self._bundles(uses).items():
            sorted_ = self._sorter(target, bundles) if self._sorter else _alone(bundles)
            for verdict in sorted_:
                self._verdicts[target, verdict.relabelled.label] = verdict
        # After all questions: those that are answered by file are then written in one go.
        if self._sorter is not None:
            self._sorter.finish()
        yield from (self._verdicts[key] for key in uses)

    def relabel(self, trajectory: Trajectory) -> Labels:
        """Resolve every label of a trajectory within its target."""
        steps = [self._of(step, trajectory.target) for step in trajectory.steps]
        failed = [self._of(failure, trajectory.target) for failure in trajectory.failures]
        return Labels(
            tuple(verdict.relabelled for verdict in steps),
            tuple(verdict.relabelled for verdict in failed),
            tuple(verdict.coined for verdict in (*steps, *failed) if verdict.coined is not None),
        )

    def _bundles(self, uses: Mapping[Label, NameUse]) -> dict[Target, list[Bundle]]:
        """Names that neither the vocabulary nor a rule recognizes, equal ones together."""
        if self._shortlists is not None:
            # Embedders are slow by the call, not by the name.
            self._shortlists.prepare(label for _, label in sorted(uses))
        new: defaultdict[Target, list[str]] = defaultdict(list)
        for target, label in sorted(uses):
            if self.resolve(label, target).relabelled.stage == "new":
                new[target].append(label)
        if self._shortlists is None:
            return {}
        bundles: defaultdict[Target, list[Bundle]] = defaultdict(list)
        for target, names in new.items():
            for group in surely_one(names):
                # The name that most steps use is the one that people will look for.
                labels = sorted(group, key=lambda label: (-uses[target, label].steps, label))
                use = reduce(add, (uses[target, label] for label in labels))
                shortlist = self._shortlist(labels[0], target)
                bundles[target].append(Bundle(tuple(labels), use, shortlist))
        return bundles

    def _of(self, step: Step | FailedStep, target: Target) -> LabelVerdict:
        if step.technique is None:
            verdict = self.resolve(step.label, target)
        else:
            given = self.vocabulary.current(step.technique)
            verdict = LabelVerdict(Relabelled(step.label, given, "given"))
        also = tuple(map(self.vocabulary.current, step.also)) if isinstance(step, Step) else ()
        if step.technique is None and not also:
            also = self._techniques_of(step.label, target)
        label = verdict.relabelled
        further = tuple(key for key in dict.fromkeys(also) if key != label.technique)
        return replace(verdict, relabelled=replace(label, also=further)) if further else verdict

    def _techniques_of(self, label: str, target: Target) -> tuple[str, ...]:
        """The techniques of a compound name, in its order; none where a part is no name.

        By names alone (no rule) a name is what it says as a whole.
        """
        if self._lexical is None:
            return ()
        key = (target, label)
        if key not in self._joined:
            found = [self._named(p, target) or self._by_rule(p, target) for p in parts(label)]
            known = [one.technique for one in found if one is not None]
            self._joined[key] = tuple(known) if len(known) == len(found) else ()
        return self._joined[key]

    def _named(self, label: str, target: Target) -> Relabelled | None:
        match = self.vocabulary.find(label, target)
        if match is None or match.technique == start_id(target):
            return None  # no step leads to the initial state
        return Relabelled(label, match.technique, match.stage)

    def _by_rule(self, label: str, target: Target) -> Relabelled | None:
        shortlist = self._shortlist(label, target)
        technique = self._lexical(shortlist) if self._lexical else None
        return shortlist.taken_for(technique, "lexical") if technique else None

    def _shortlist(self, label: str, target: Target) -> Shortlist:
        """The candidates of `label`."""
        if self._shortlists is None:
            return Shortlist(label, target)
        return self._shortlists.nearest(label, target)


def _alone(bundles: Sequence[Bundle]) -> Iterator[LabelVerdict]:
    """One new technique for names that are surely one, called as most steps call it."""
    for bundle in bundles:
        technique = new_technique(bundle.shortlist.target, bundle.labels[0])
        for label in bundle.labels:
            same = technique_id(technique.target, label) == technique.id
            stage: RelabelStage = "new" if same else "lexical"
            name = replace(bundle.shortlist, label=label)
            yield LabelVerdict(name.taken_for(technique.id, stage), technique)


def by_code(
    labels: Labels, trajectory: Trajectory, known: Mapping[str, Technique], read: CodeReader
) -> Labels:
    """The labels of a trajectory, as its code has them; a given id stands.

    A step whose code contradicts its name counts for the technique of its code and keeps the name
    as its label; so does a step with a new name whose code shows one known technique.
    """
    techniques = [entry for entry in known.values() if entry.target == trajectory.target]
    steps, findings = list(labels.steps), list[str]()
    codes = [trajectory.serial, *(step.code for step in trajectory.steps)]
    for place, label in enumerate(labels.steps):
        before, after = codes[place], codes[place + 1]
        if label.stage == "given" or not before or not after:  # not disclosed: nothing to read
            continue
        claimed = known.get(label.technique)
        deed = read(claimed, before, after, techniques)
        if deed.technique in label.also:  # the other half of a compound name
            continue
        if deed.technique is not None:
            steps[place] = Relabelled(label.label, deed.technique, "code", also=label.also)
        if claimed is not None and deed.applied == "nothing":
            findings.append(f"{label.label!r} changes nothing but names and comments")
        elif claimed is not None and deed.applied == "other":
            counted = f"; counted as {deed.technique}" if deed.technique else ""
            findings.append(
                f"the code of {label.label!r} shows no sign of {label.technique}{counted}"
            )
    return replace(labels, steps=tuple(steps), findings=tuple(findings))
