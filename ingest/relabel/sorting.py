"""The stage "model": a language model sorts names, into known techniques and into new ones.

It is asked which names of a batch mean the same technique, of the set of all names that the other
stages leave, batched by nearness; so that its answers depend on that set alone. Where there were
several batches, it is asked once more, which of their new groups are the same. What it says is not
trusted (answers.py). Where two answers contradict each other, nothing is merged: two groups of one
batch stay two, whatever the second round says, and so does what is said to be both of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    """What asking about names takes, at least: a second round, and what is asked again, add to it.

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
    """Bundles that were said to be one technique, in which batches, and by which answer."""

    bundles: tuple[Bundle, ...]
    said: NameGroup
    batches: tuple[int, ...]
    source: tuple[str, str]
    """Model, and hash of the prompt."""
    pending: bool = False

    @property
    def lead(self) -> Bundle:
        """What is most used; of equals the first."""
        return min(self.bundles, key=lambda bundle: (-bundle.use.steps, bundle.labels))

    def signed(self, verdict: LabelVerdict) -> LabelVerdict:
        """A verdict, with who gave it."""
        model, asked = self.source
        decided = replace(verdict.relabelled, model=model, prompt_hash=asked)
        return replace(verdict, relabelled=decided, pending=self.pending)


class Sorter:
    """See the module; `vocabulary` says which names are taken."""

    def __init__(
        self, model: LanguageModel, vocabulary: Vocabulary, embedder: Embedder | None = None
    ) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._embedder = embedder

    def cost(self, target: Target, bundles: Sequence[Bundle]) -> AskingCost:
        """What the first round takes."""
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
        found = [
            group
            for number, batch in enumerate(self._batches(bundles))
            for group in self._ask(target, batch, _known(batch), number)
        ]
        if not any(one.pending for one in found):
            found = self._join(target, found)
        yield from self._verdicts(target, found)

    def _batches(self, bundles: Iterable[Bundle]) -> list[list[Bundle]]:
        """Names that steer stand apart, where they can harm no others."""
        ordered = sorted(bundles, key=lambda bundle: bundle.labels)
        parts: list[list[Bundle]] = []
        for steering in (False, True):
            these = [one for one in ordered if addresses(one.labels[0]) == steering]
            found = blocks([(one.labels[0], one.use) for one in these], MOST_NAMES, self._embedder)
            parts += [[these[number] for number in part] for part in found]
        return [part for part in parts if len(part) > 1 or _known(part)]

    def _ask(
        self, target: Target, batch: Sequence[Bundle], known: Sequence[Technique], number: int
    ) -> list[_Sorted]:
        """The groups of a batch; each name alone where nothing usable was said."""
        prompt = question(target, batch, known, code=number != SECOND)
        reply = self._model.complete(prompt)
        said = _said(reply, len(batch), known)
        if isinstance(said, UnusableAnswer) and reply.finish == "stop":
            prompt = again(prompt, said.reason)
            reply = self._model.complete(prompt)
            said = _said(reply, len(batch), known)
        if isinstance(said, UnusableAnswer):
            said = tuple(NameGroup(members=(one + 1,), technique=NEW) for one in range(len(batch)))
        model, asked = reply.model or self._model.name, prompt_hash(prompt)
        return [
            _Sorted(
                tuple(batch[member - 1] for member in group.members),
                group,
                (number,),
                (model, asked),
                reply.finish == "pending",
            )
            for group in said
        ]

    def _join(self, target: Target, found: Sequence[_Sorted]) -> list[_Sorted]:
        """The second round: which new groups of several batches are the same."""
        steers = {one for one in found if addresses(one.lead.labels[0])}
        new_ones = [one for one in found if one.said.technique == NEW and one not in steers]
        if len({one.batches for one in new_ones}) < 2:  # noqa: PLR2004
            return list(found)
        new_ones.sort(key=lambda one: one.lead.labels)
        by_label = {one.lead.labels[0]: one for one in new_ones}
        whole = [_as_one(one) for one in new_ones]
        joined_: list[_Sorted] = [one for one in found if one not in new_ones]
        parts = blocks([(one.labels[0], one.use) for one in whole], MOST_GROUPS, self._embedder)
        for part in parts:
            for group in self._ask(target, [whole[number] for number in part], (), SECOND):
                members = [by_label[bundle.labels[0]] for bundle in group.bundles]
                joined_ += _joined(members, group)
        return joined_

    def _verdicts(self, target: Target, found: Sequence[_Sorted]) -> Iterator[LabelVerdict]:
        """Of each label; ids are given in the order of the groups' names."""
        homes = {
            technique_id(target, label): group
            for group in found
            for bundle in group.bundles
            for label in bundle.labels
        }
        for group in sorted(found, key=lambda one: one.lead.labels):
            if group.said.technique == NEW:
                yield from self._new(group, homes)
                continue
            for one in group.bundles:
                for label in one.labels:
                    yield self._merged(label, one, group)

    def _merged(self, label: str, bundle: Bundle, group: _Sorted) -> LabelVerdict:
        asked = replace(bundle.asked, label=label)
        technique = self._vocabulary.known[group.said.technique]
        steers = addresses(label) and not _plainly_named(technique, label)
        if steers or self._vocabulary.disowns(technique.id, label):
            return group.signed(new(asked))
        return group.signed(merged(asked, technique.id, "model"))

    def _new(self, group: _Sorted, homes: dict[str, _Sorted]) -> Iterator[LabelVerdict]:
        """One new technique under the model's name for it, or else the most used label."""
        lead = group.lead
        technique = coined(lead.asked.target, lead.labels[0], group.said.definition)
        name = self._plain_name(group, homes)
        if name is not None:
            technique = coined(lead.asked.target, name, group.said.definition)
            homes[technique.id] = group
        for bundle in group.bundles:
            for label in bundle.labels:
                stage: RelabelStage = "new" if label == lead.labels[0] else "model"
                yield group.signed(joined(bundle.asked, label, technique, stage))

    def _plain_name(self, group: _Sorted, homes: Mapping[str, _Sorted]) -> str | None:
        """The name that a model gave a group, if that is a plain name and nobody else's.

        One under review that has it is no other: an ingest that was killed finds what its own
        first half has made.
        """
        name, target = group.said.name, group.lead.asked.target
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
    """What is nearest to each of the names; all by id."""
    best: dict[str, TechniqueCandidate] = {}
    for bundle in batch:
        for candidate in bundle.asked.candidates[:NEAREST]:
            best[candidate.technique.id] = max(
                candidate, best.get(candidate.technique.id, candidate), key=_score
            )
    kept = sorted(best.values(), key=lambda one: (-one.score, one.technique.id))[:MOST_KNOWN]
    return tuple(sorted((one.technique for one in kept), key=lambda one: one.id))


def _score(one: TechniqueCandidate) -> float:
    return one.score


def _said(
    reply: Reply, size: int, known: Sequence[Technique]
) -> tuple[NameGroup, ...] | UnusableAnswer:
    return read(reply.text, size, known) if reply.finish == "stop" else UnusableAnswer(reply.finish)


def _as_one(group: _Sorted) -> Bundle:
    """A group as the second round shows it: its names, and its most used one's step."""
    others = [bundle.labels[0] for bundle in group.bundles if bundle is not group.lead]
    return replace(group.lead, labels=(group.lead.labels[0], *sorted(others)))


def _joined(members: Sequence[_Sorted], said: _Sorted) -> list[_Sorted]:
    """Groups that the second round calls one; as they were where two are of one batch."""
    batches = [number for member in members for number in member.batches]
    if len(members) == 1 or len(set(batches)) < len(batches):
        return list(members)
    bundles = tuple(bundle for member in members for bundle in member.bundles)
    return [replace(said, bundles=bundles, batches=tuple(batches))]


def _plainly_named(technique: Technique, label: str) -> bool:
    """Whether the words of `label`, ids aside, hold a name of `technique`."""
    asked = stems(spelling(re.sub(rf"\b({NAMES})/\S*", " ", label.casefold())))
    names = (technique.name, *technique.aliases)
    return any(holds(asked, stems(spelling(name))) for name in names)
