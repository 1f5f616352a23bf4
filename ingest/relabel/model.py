"""The stage "model": a language model sorts names, into known techniques and into new ones.

It is asked which names of a batch mean the same technique, of the set of all names that the other
stages leave, batched by nearness; so that its answers depend on that set alone. New names of two
batches stay apart (a second round over these changed nothing that was measured).

Its answers are not trusted: one counts only as a whole, if it fits the schema, names known
techniques alone and puts no name in two groups. Names, notes and code are quoted as data; notes
that speak to the reader are left out.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from regraph_kg.ingest.relabel.aliases import LONGEST_NOTE, LabelVerdict, NameUse, new_technique
from regraph_kg.ingest.relabel.embedding import Shortlists, TechniqueCandidate, alike_parts
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import Relabelled, RelabelStage
from regraph_kg.models.prompt import DecisionKey, Prompt, Reply
from regraph_kg.models.target import NAMES, TARGETS, Target
from regraph_kg.models.technique import Technique, Vocabulary, spelling, technique_id

NEW = "new"
LONGEST_LABEL, LONGEST_COINED, LONGEST_DEFINITION = 200, 80, 400
ANSWER_ROOM = 800  # characters of an answer for each name; more than the schema leaves room for
MOST_ALIASES = 6  # of a candidate, in the prompt
MOST_NAMES = 40  # names in a prompt
MOST_KNOWN = 72  # techniques that a prompt shows
_FOLDER = Path(__file__).parents[1] / "prompts"
_ORDERS = re.compile(
    r"\b(ignor\w*|disregard|forget|answer\w*|antwort\w*|reply|respond|candidates?|vocabulary|json"
    r"|confidence|prompt|regeln|you are|(all|above|previous|prior|the) (rule|instruction)s?)\b"
    r"|\b(system|assistant|user)\s*:|\bpick (the )?(candidate|first|second|id)\b|忽略|指令"
)
_ID = re.compile(rf"\b({NAMES})/[a-z0-9]")
_Line = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name that the other stages leave, how it is used, and its candidates."""

    label: str
    target: Target
    use: NameUse
    candidates: tuple[TechniqueCandidate, ...]


class NameGroup(Frozen):
    """Numbers of names (from 1) that mean the same, and what."""

    members: tuple[int, ...] = Field(min_length=1)
    technique: str = Field(max_length=LONGEST_LABEL)
    name: Annotated[str, _Line] = Field(default="", max_length=LONGEST_COINED)
    definition: Annotated[str, _Line] = Field(default="", max_length=LONGEST_DEFINITION)


class SortingAnswer(Frozen):
    groups: tuple[NameGroup, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Names that an answer calls one technique."""

    names: tuple[UnknownName, ...]
    answer: NameGroup

    @property
    def lead(self) -> str:
        """The most used name; the first of equals."""
        return min(self.names, key=lambda name: (-name.use.steps, name.label)).label


class Sorter:
    """See the module; `vocabulary` says which names are taken."""

    def __init__(self, model: LanguageModel, vocabulary: Vocabulary) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._shortlists = Shortlists(vocabulary.candidates)

    def batches(self, names: Iterable[UnknownName]) -> list[list[UnknownName]]:
        """The names of each prompt; those that steer stand apart, where they harm no others."""
        ordered = sorted(names, key=lambda name: name.label)
        parts: list[list[UnknownName]] = []
        for steering in (False, True):
            alike = [name for name in ordered if addresses(name.label) == steering]
            # Alike names in one prompt: only names that are seen together can be put together.
            uses = [(name.label, name.use) for name in alike]
            texts = [f"{label}. {use.reasoning} {use.detail} {use.diff}" for label, use in uses]
            near = alike_parts(texts, MOST_NAMES)
            parts += [[alike[number] for number in part] for part in near]
        # One name and nothing that it could mean: there is nothing to ask.
        return [part for part in parts if len(part) > 1 or _known(part)]

    def __call__(self, target: Target, uses: Mapping[str, NameUse]) -> Iterator[LabelVerdict]:
        """A verdict on each name, in no order."""
        near = self._shortlists.nearest
        names = [UnknownName(one, target, use, near(one, target)) for one, use in uses.items()]
        groups = []
        for batch in self.batches(names):
            known = _known(batch)
            reply = self._model.complete(question(target, batch, known))
            for answer in read_answer(reply, len(batch), known):
                groups.append(_Group(tuple(batch[one - 1] for one in answer.members), answer))
        # Ids are given in the order of the groups' names.
        groups.sort(key=lambda group: group.lead)
        homes = {technique_id(target, one.label): group for group in groups for one in group.names}
        for group in groups:
            coined = self._coined(target, group, homes) if group.answer.technique == NEW else None
            for one in group.names:
                yield self._verdict(one, group, coined)

    def finish(self) -> None:
        """Raise `AnswersPending` where answers are to come by file."""
        self._model.finish()

    def _verdict(self, name: UnknownName, group: _Group, coined: Technique | None) -> LabelVerdict:
        if coined is not None:
            stage: RelabelStage = "new" if name.label == group.lead else "model"
            return LabelVerdict(Relabelled(name.label, coined.id, stage), coined)
        technique = self._vocabulary.known[group.answer.technique]
        # A name that gives orders may have been obeyed: its words must name the technique, too.
        if addresses(name.label) and not _plainly_named(technique, name.label):
            own = technique_id(name.target, name.label)
            return LabelVerdict(Relabelled(name.label, own, "new"))
        return LabelVerdict(Relabelled(name.label, technique.id, "model"))

    def _coined(self, target: Target, group: _Group, homes: dict[str, _Group]) -> Technique:
        """A group's new technique: under the model's name, if plain and free, or its first label.

        One under review that has the name is no other: an ingest that was killed finds what its
        own first half has made.
        """
        name, lead = group.answer.name, group.lead
        key = technique_id(target, name)
        plain = re.search(r"[A-Za-z]{3}", name) and re.fullmatch(r"[ -~]+", name)
        taken = self._vocabulary.find(name, target)
        known = self._vocabulary.known.get(key)
        if taken is None:
            free = self._vocabulary.current(key) == key
        else:
            free = taken.technique == key and known is not None and known.review
        if not plain or not free or addresses(name) or addresses(lead):
            return new_technique(target, lead, group.answer.definition)
        if homes.setdefault(key, group) is not group:
            return new_technique(target, lead, group.answer.definition)
        return new_technique(target, name[0].upper() + name[1:], group.answer.definition)


def addresses(label: str) -> bool:
    """Whether `label` speaks to its reader, or holds ids: it is data, and may want to steer."""
    plain = label.casefold()
    return _ORDERS.search(plain) is not None or _ID.search(plain) is not None


def question(target: Target, names: Sequence[UnknownName], known: Sequence[Technique]) -> Prompt:
    """Ask which of `names` mean the same, or one of `known`."""
    labels = json.dumps([name.label for name in names], ensure_ascii=False)
    described = [_used(number, name) for number, name in enumerate(names, 1)]
    number = {"type": "integer", "minimum": 1, "maximum": len(names)}
    group = {
        "members": {"type": "array", "items": number, "minItems": 1},
        "technique": {"type": "string", "enum": [*(technique.id for technique in known), NEW]},
        "name": {"type": "string", "maxLength": LONGEST_COINED},
        "definition": {"type": "string", "maxLength": LONGEST_DEFINITION},
    }
    return Prompt(
        key=DecisionKey(kind="relabel", subject=f"{target} {labels}"),
        system=_fill("system", target=TARGETS[target].language),
        user=_fill(
            "question",
            candidates="\n".join(map(_described, known)) or "(none yet)",
            names="\n".join(described),
        ),
        answer_schema=_object({"groups": {"type": "array", "items": _object(group)}}),
    )


def read_answer(reply: Reply, size: int, known: Sequence[Technique]) -> list[NameGroup]:
    """The groups of an answer about `size` names; one that is in none is alone, and new.

    An answer that cannot be used has none: its names stay apart, which harms nothing.
    """
    groups: tuple[NameGroup, ...] = ()
    # A model that runs on has lost the question.
    if reply.finish == "stop" and len(reply.text) <= ANSWER_ROOM * (size + 1):
        fenced = re.fullmatch(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", reply.text, re.DOTALL)
        with suppress(ValidationError):
            text = fenced[1] if fenced else reply.text
            groups = SortingAnswer.model_validate_json(text, strict=True).groups
    stands = Counter(number for group in groups for number in group.members)
    strange = {group.technique for group in groups} - {NEW, *(one.id for one in known)}
    if strange or any(times > 1 or not 1 <= number <= size for number, times in stands.items()):
        groups, stands = (), Counter()
    missing = [number for number in range(1, size + 1) if number not in stands]
    return [*groups, *(NameGroup(members=(number,), technique=NEW) for number in missing)]


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _used(number: int, name: UnknownName) -> str:
    """A line of JSON: what is called so, why and how it was done; what is empty is left out."""
    use = name.use
    notes = {
        "why": _printable(use.reasoning, LONGEST_NOTE),
        "what": _printable(use.detail, LONGEST_NOTE),
        "change": use.diff,
    }
    # Notes are optional: one that speaks to the reader is worth less than the risk.
    quoted = {key: text for key, text in notes.items() if text and not addresses(text)}
    called = {"number": number, "names": [_printable(name.label)]}
    return json.dumps(called | quoted, ensure_ascii=False)


def _described(technique: Technique) -> str:
    review = " (under review)" if technique.review else ""
    definition = _printable(technique.definition, LONGEST_DEFINITION)
    aliases = _printable(", ".join(technique.aliases[:MOST_ALIASES])) or "-"
    name = f"{technique.id}{review}: {_printable(technique.name)}"
    return f"- {name}. {definition} Also called: {aliases}"


def _printable(label: str, longest: int = LONGEST_LABEL) -> str:
    """One line, without control, format and private characters, which hide what a label says."""
    visible = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in label)
    return " ".join(visible.split())[:longest]


def _known(batch: Iterable[UnknownName]) -> tuple[Technique, ...]:
    """The techniques nearest to the names, by id."""
    near = [one for name in batch for one in name.candidates]
    near.sort(key=lambda one: (-one.score, one.technique.id))
    best = {one.technique.id: one.technique for one in reversed(near)}
    ids = list(dict.fromkeys(one.technique.id for one in near))[:MOST_KNOWN]
    return tuple(best[key] for key in sorted(ids))


def _plainly_named(technique: Technique, label: str) -> bool:
    """Whether the words of `label`, ids aside, hold a name of `technique`, side by side."""
    words = spelling(re.sub(rf"\b({NAMES})/\S*", " ", label.casefold()))
    names = map(spelling, (technique.name, *technique.aliases))
    return any(name and f" {name} " in f" {words} " for name in names)


def _fill(template: str, **values: str) -> str:
    text = (_FOLDER / f"relabel_{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(values).strip()
