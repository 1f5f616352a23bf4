"""The stage "model": a language model sorts names, into known techniques and into new ones.

It is asked which names of a batch mean the same technique, of the set of all names that the other
stages leave, batched by nearness; so that its answers depend on that set alone. Where there were
several batches, it is asked once more, which of their new groups are the same. Its answers are not
trusted (answers.py). Where two answers contradict each other, nothing is merged: two groups of one
batch stay two in the second round, and so does a group that is called equal to both.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from regraph_kg.ingest.relabel.answers import (
    NEW,
    Bundle,
    NameGroup,
    UnusableAnswer,
    again,
    prompt_hash,
    question,
    read,
)
from regraph_kg.ingest.relabel.grouping import blocks
from regraph_kg.ingest.relabel.verdict import (
    LabelVerdict,
    TechniqueCandidate,
    coined,
    joined,
    merged,
    new,
)
from regraph_kg.ingest.relabel.words import addresses, holds, stems
from regraph_kg.llm.embedder import Embedder
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.graph import RelabelStage
from regraph_kg.models.prompt import Reply
from regraph_kg.models.target import NAMES, Target
from regraph_kg.models.technique import Technique, Vocabulary, spelling, technique_id

MOST_NAMES = 40
"""Bundles of names in a prompt of the first round."""
MOST_GROUPS = 64
"""Groups in a prompt of the second."""
NEAREST = 10
"""Techniques that each name brings into its prompt."""
MOST_KNOWN = 72
"""Techniques in a prompt."""
SECOND = -1
"""Number of the second round's batches."""
BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class AskingCost:
    """The least cost of asking about names; a second round and repeated questions add to it.

    Tokens are those of the prompts, estimated.
    """

    names: int = 0
    prompts: int = 0
    tokens: int = 0

    def __add__(self, other: "AskingCost") -> "AskingCost":
        """Both together."""
        return AskingCost(
            self.names + other.names, self.prompts + other.prompts, self.tokens + other.tokens
        )


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Bundles that an answer calls one technique, and their batches."""

    bundles: tuple[Bundle, ...]
    answer: NameGroup
    batches: tuple[int, ...]
    source: tuple[str, str]
    """Model, and hash of the prompt."""
    pending: bool = False

    @property
    def lead(self) -> Bundle:
        """The most used bundle; the first of equals."""
        return min(self.bundles, key=lambda bundle: (-bundle.use.steps, bundle.labels))

    def signed(self, verdict: LabelVerdict) -> LabelVerdict:
        """A verdict, with who gave it."""
        model, prompt = self.source
        decided = replace(verdict.relabelled, model=model, prompt_hash=prompt)
        return replace(verdict, relabelled=decided)


class Sorter:
    """See the module; `vocabulary` says which names are taken."""

    def __init__(
        self, model: LanguageModel, vocabulary: Vocabulary, embedder: Embedder | None = None
    ) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._embedder = embedder

    def cost(self, target: Target, bundles: Sequence[Bundle]) -> AskingCost:
        """The cost of the first round."""
        prompts = [
            question(target, batch, _known(batch), code=True) for batch in self._batches(bundles)
        ]
        size = sum(
            len((prompt.system + prompt.user).encode("utf-8", "replace")) for prompt in prompts
        )
        names = sum(len(bundle.labels) for bundle in bundles)
        return AskingCost(names, len(prompts), size // BYTES_PER_TOKEN)

    def __call__(self, target: Target, bundles: Sequence[Bundle]) -> Iterator[LabelVerdict]:
        """A verdict on each label of `bundles`, in no order."""
        groups = [
            group
            for number, batch in enumerate(self._batches(bundles))
            for group in self._ask(target, batch, _known(batch), number)
        ]
        if not any(group.pending for group in groups):
            groups = self._join(target, groups)
        yield from self._verdicts(target, groups)

    def _batches(self, bundles: Iterable[Bundle]) -> list[list[Bundle]]:
        """Names that steer stand apart, where they can harm no others."""
        ordered = sorted(bundles, key=lambda bundle: bundle.labels)
        parts: list[list[Bundle]] = []
        for steering in (False, True):
            names = [bundle for bundle in ordered if addresses(bundle.labels[0]) == steering]
            parts += self._blocks(names, MOST_NAMES)
        return [part for part in parts if len(part) > 1 or _known(part)]

    def _blocks(self, bundles: Sequence[Bundle], most: int) -> list[list[Bundle]]:
        uses = [(bundle.labels[0], bundle.use) for bundle in bundles]
        return [[bundles[number] for number in part] for part in blocks(uses, most, self._embedder)]

    def _ask(
        self, target: Target, batch: Sequence[Bundle], known: Sequence[Technique], number: int
    ) -> list[_Sorted]:
        """The groups of a batch; each name alone where the answer is unusable."""
        prompt = question(target, batch, known, code=number != SECOND)
        reply = self._model.complete(prompt)
        answer = _said(reply, len(batch), known)
        if isinstance(answer, UnusableAnswer) and reply.finish == "stop":
            prompt = again(prompt, answer.reason)
            reply = self._model.complete(prompt)
            answer = _said(reply, len(batch), known)
        if isinstance(answer, UnusableAnswer):
            members = range(1, len(batch) + 1)
            answer = tuple(NameGroup(members=(member,), technique=NEW) for member in members)
        model, digest = reply.model or self._model.name, prompt_hash(prompt)
        return [
            _Sorted(
                tuple(batch[member - 1] for member in group.members),
                group,
                (number,),
                (model, digest),
                reply.finish == "pending",
            )
            for group in answer
        ]

    def _join(self, target: Target, groups: Sequence[_Sorted]) -> list[_Sorted]:
        """The second round: which new groups of several batches are the same."""
        plain = [group for group in groups if not addresses(group.lead.labels[0])]
        new_ones = [group for group in plain if group.answer.technique == NEW]
        if len({group.batches for group in new_ones}) < 2:  # noqa: PLR2004
            return list(groups)
        new_ones.sort(key=lambda group: group.lead.labels)
        by_label = {group.lead.labels[0]: group for group in new_ones}
        bundles = [_as_one(group) for group in new_ones]
        joined_: list[_Sorted] = [group for group in groups if group not in new_ones]
        for part in self._blocks(bundles, MOST_GROUPS):
            for group in self._ask(target, part, (), SECOND):
                members = [by_label[bundle.labels[0]] for bundle in group.bundles]
                joined_ += _joined(members, group)
        return joined_

    def _verdicts(self, target: Target, groups: Sequence[_Sorted]) -> Iterator[LabelVerdict]:
        """The verdict on each label; ids are given in the order of the groups' names."""
        homes = {
            technique_id(target, label): group
            for group in groups
            for bundle in group.bundles
            for label in bundle.labels
        }
        for group in sorted(groups, key=lambda group: group.lead.labels):
            if group.answer.technique == NEW:
                yield from self._new(group, homes)
                continue
            for bundle in group.bundles:
                for label in bundle.labels:
                    yield self._merged(label, bundle, group)

    def _merged(self, label: str, bundle: Bundle, group: _Sorted) -> LabelVerdict:
        shortlist = replace(bundle.shortlist, label=label)
        technique = self._vocabulary.known[group.answer.technique]
        steers = addresses(label) and not _plainly_named(technique, label)
        if steers or self._vocabulary.disowns(technique.id, label):
            return group.signed(new(shortlist))
        return group.signed(merged(shortlist, technique.id, "model"))

    def _new(self, group: _Sorted, homes: dict[str, _Sorted]) -> Iterator[LabelVerdict]:
        """One new technique under the model's name for it, or else the most used label."""
        lead = group.lead
        technique = coined(lead.shortlist.target, lead.labels[0], group.answer.definition)
        name = self._plain_name(group, homes)
        if name is not None:
            technique = coined(lead.shortlist.target, name, group.answer.definition)
            homes[technique.id] = group
        for bundle in group.bundles:
            for label in bundle.labels:
                stage: RelabelStage = "new" if label == lead.labels[0] else "model"
                yield group.signed(joined(bundle.shortlist, label, technique, stage))

    def _plain_name(self, group: _Sorted, homes: Mapping[str, _Sorted]) -> str | None:
        """The model's name for a group, if it is plain and free.

        One under review that has it is no other: an ingest that was killed finds what its own
        first half has made.
        """
        name, target = group.answer.name, group.lead.shortlist.target
        plain = re.search(r"[A-Za-z]{3}", name) and re.fullmatch(r"[ -~]+", name)
        if not plain or any(map(addresses, (name, group.lead.labels[0]))):
            return None
        key = technique_id(target, name)
        if homes.get(key, group) is not group:
            return None
        match = self._vocabulary.find(name, target)
        if match is None:
            free = self._vocabulary.current(key) == key
        else:
            free = match.technique == key and self._vocabulary.known[key].review
        return name[0].upper() + name[1:] if free else None


def _known(batch: Iterable[Bundle]) -> tuple[Technique, ...]:
    """The techniques nearest to the names, by id."""
    best: dict[str, TechniqueCandidate] = {}
    for bundle in batch:
        for candidate in bundle.shortlist.candidates[:NEAREST]:
            rival = best.get(candidate.technique.id, candidate)
            best[candidate.technique.id] = max(candidate, rival, key=attrgetter("score"))
    nearest = sorted(best.values(), key=lambda item: (-item.score, item.technique.id))
    techniques = (candidate.technique for candidate in nearest[:MOST_KNOWN])
    return tuple(sorted(techniques, key=lambda technique: technique.id))


def _said(
    reply: Reply, size: int, known: Sequence[Technique]
) -> tuple[NameGroup, ...] | UnusableAnswer:
    return read(reply.text, size, known) if reply.finish == "stop" else UnusableAnswer(reply.finish)


def _as_one(group: _Sorted) -> Bundle:
    """A group as the second round shows it: its names, and its most used one's step."""
    labels = [bundle.labels[0] for bundle in group.bundles if bundle is not group.lead]
    return replace(group.lead, labels=(group.lead.labels[0], *sorted(labels)))


def _joined(members: Sequence[_Sorted], group: _Sorted) -> list[_Sorted]:
    """Groups that the second round calls one; as they were where two are of one batch."""
    batches = [number for member in members for number in member.batches]
    if len(members) == 1 or len(set(batches)) < len(batches):
        return list(members)
    bundles = tuple(bundle for member in members for bundle in member.bundles)
    return [replace(group, bundles=bundles, batches=tuple(batches))]


def _plainly_named(technique: Technique, label: str) -> bool:
    """Whether the words of `label`, ids aside, hold a name of `technique`."""
    words = stems(spelling(re.sub(rf"\b({NAMES})/\S*", " ", label.casefold())))
    names = (technique.name, *technique.aliases)
    return any(holds(words, stems(spelling(name))) for name in names)
