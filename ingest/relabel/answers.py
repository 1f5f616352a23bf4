"""The question to a model about names, and its answer: groups of numbers.

The answer is not trusted: it counts only as a whole, if it fits the schema, names known techniques
alone and puts no name in two groups. Names, notes and code are quoted as data; notes
that speak to the reader are left out. Not here: what groups become (sorting.py).
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from regraph_kg.ingest.relabel.usage import LONGEST_DIFF, LONGEST_NOTE, NameUse
from regraph_kg.ingest.relabel.verdict import Shortlist
from regraph_kg.ingest.relabel.words import addresses
from regraph_kg.models.base import Frozen
from regraph_kg.models.prompt import DecisionKey, Prompt
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique

NEW = "new"
KIND = "relabel"
LONGEST_LABEL = 200
LONGEST_COINED, LONGEST_DEFINITION = 80, 400
ANSWER_ROOM = 800
"""Characters of an answer for each name; more than the schema leaves room for."""
MOST_ALIASES = 6
"""Aliases of a candidate in the prompt."""
MOST_SHOWN = 4
"""Names of one bundle in the prompt."""

_FOLDER = Path(__file__).parents[1] / "prompts"
_Line = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")


@dataclass(frozen=True, slots=True)
class Bundle:
    """Names that are surely one technique, how they are used, and what they may mean."""

    labels: tuple[str, ...]
    use: NameUse
    shortlist: Shortlist
    """The first label's shortlist."""


class NameGroup(Frozen):
    """Numbers of names (from 1) that mean the same, and what."""

    members: tuple[int, ...] = Field(min_length=1)
    technique: str = Field(max_length=LONGEST_LABEL)
    name: Annotated[str, _Line] = Field(default="", max_length=LONGEST_COINED)
    definition: Annotated[str, _Line] = Field(default="", max_length=LONGEST_DEFINITION)


class SortingAnswer(Frozen):
    """The answer's schema."""

    groups: tuple[NameGroup, ...]


@dataclass(frozen=True, slots=True)
class UnusableAnswer:
    """An answer that cannot be used, and the reason."""

    reason: str


def question(
    target: Target, bundles: Sequence[Bundle], known: Sequence[Technique], *, code: bool
) -> Prompt:
    """Ask which of `bundles` mean the same, or one of `known`; with the change of the code."""
    labels = [bundle.labels[0] for bundle in bundles]
    described = [_used(number, bundle, code=code) for number, bundle in enumerate(bundles, 1)]
    return Prompt(
        key=DecisionKey(kind=KIND, subject=subject(target, labels)),
        system=_fill("system", target=TARGETS[target].language),
        user=_fill(
            "question",
            candidates="\n".join(map(_described, known)) or "(none yet)",
            names="\n".join(described),
        ),
        answer_schema=_schema([technique.id for technique in known], len(bundles)),
    )


def subject(target: Target, labels: Sequence[str]) -> str:
    """The subject of a question's key; `labels_asked` reads it."""
    return f"{target} {json.dumps(labels, ensure_ascii=False)}"


def labels_asked(key: DecisionKey) -> tuple[str, list[str]]:
    """The target and the labels of a question, by its key."""
    target, _, labels = key.subject.partition(" ")
    return target, json.loads(labels)


def again(prompt: Prompt, reason: str) -> Prompt:
    """The same question, after an answer that could not be used."""
    assert isinstance(prompt.key, DecisionKey)
    key = prompt.key.model_copy(update={"attempt": 1})
    user = f"{prompt.user}\n\n{_fill('again', reason=reason)}"
    return prompt.model_copy(update={"key": key, "user": user, "seed": prompt.seed + 1})


def read(
    text: str, size: int, known: Sequence[Technique]
) -> tuple[NameGroup, ...] | UnusableAnswer:
    """The groups of an answer about `size` names; one that is in none is alone, and new."""
    if len(text) > ANSWER_ROOM * (size + 1):
        return UnusableAnswer("it is too long")
    fenced = re.fullmatch(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", text, re.DOTALL)
    try:
        groups = SortingAnswer.model_validate_json(
            fenced[1] if fenced else text, strict=True
        ).groups
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return UnusableAnswer(f"{place}: {first['msg']}" if place else "it is not that JSON object")
    ids = {NEW, *(technique.id for technique in known)}
    stands = Counter(number for group in groups for number in group.members)
    wrong = [group.technique for group in groups if group.technique not in ids]
    if wrong:
        return UnusableAnswer("technique: none of the listed ids")
    if any(times > 1 or not 1 <= number <= size for number, times in stands.items()):
        return UnusableAnswer("members: a number is unknown, or stands twice")
    missing = [number for number in range(1, size + 1) if number not in stands]
    return (*groups, *(NameGroup(members=(number,), technique=NEW) for number in missing))


def prompt_hash(prompt: Prompt) -> str:
    """A digest that identifies the question."""
    digest = hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode()).hexdigest()
    return f"sha256:{digest[:16]}"


def _schema(ids: Sequence[str], size: int) -> dict[str, object]:
    number = {"type": "integer", "minimum": 1, "maximum": size}
    properties: Mapping[str, object] = {
        "members": {"type": "array", "items": number, "minItems": 1},
        "technique": {"type": "string", "enum": [*ids, NEW]},
        "name": {"type": "string", "maxLength": LONGEST_COINED},
        "definition": {"type": "string", "maxLength": LONGEST_DEFINITION},
    }
    return _object({"groups": {"type": "array", "items": _object(properties)}})


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _used(number: int, bundle: Bundle, *, code: bool) -> str:
    """A line of JSON: what is called so, why and how it was done; what is empty is left out."""
    use = bundle.use
    notes = {
        "why": _printable(use.reasoning, LONGEST_NOTE),
        "what": _printable(use.detail, LONGEST_NOTE),
        "change": use.diff[:LONGEST_DIFF] if code else "",
    }
    quoted = {key: text for key, text in notes.items() if text and not addresses(text)}
    names = [_printable(label) for label in bundle.labels[:MOST_SHOWN]]
    return json.dumps({"number": number, "names": names} | quoted, ensure_ascii=False)


def _described(technique: Technique) -> str:
    return _fill(
        "candidate",
        id=technique.id,
        review=" (under review)" if technique.review else "",
        name=_printable(technique.name),
        definition=_printable(technique.definition, LONGEST_DEFINITION),
        aliases=_printable(", ".join(technique.aliases[:MOST_ALIASES])) or "-",
    )


def _printable(label: str, longest: int = LONGEST_LABEL) -> str:
    """One line, without control, format and private characters, which hide what a label says."""
    visible = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in label)
    return " ".join(visible.split())[:longest]


def _fill(template: str, **values: str) -> str:
    return _template(template).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"relabel_{name}.txt").read_text(encoding="utf-8"))
