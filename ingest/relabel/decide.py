"""The stage "model": a language model picks one of the candidates, or says that the name is new.

What it says is not trusted. Only a whole answer counts, one that fits the schema and names a
candidate; a bad one is asked for once more, and then the label is new and waits for review. The
label is quoted as data; where it speaks to the model, only a technique that its plain words name
can be chosen.
"""

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from regraph_kg.ingest.relabel.verdict import (
    LabelVerdict,
    Shortlist,
    TechniqueCandidate,
    merged,
    new,
)
from regraph_kg.ingest.relabel.words import addresses, holds, stems
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.base import Frozen
from regraph_kg.models.prompt import DecisionKey, Prompt, Reply
from regraph_kg.models.target import NAMES, TARGETS, Target
from regraph_kg.models.technique import (
    Technique,
    Vocabulary,
    spelling,
    technique_id,
)

NEW = "new"
LONGEST_ANSWER = 4000
"""Characters; three times what the schema leaves room for."""
LONGEST_LABEL = 200
LONGEST_COINED, LONGEST_DEFINITION = 80, 400
MOST_ALIASES = 6
"""Of a candidate, in the prompt."""

_FOLDER = Path(__file__).parents[1] / "prompts"
_Line = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")


class _Answer(Frozen):
    """What the model must say."""

    choice: str = Field(max_length=LONGEST_LABEL)
    name: Annotated[str, _Line] = Field(default="", max_length=LONGEST_COINED)
    definition: Annotated[str, _Line] = Field(default="", max_length=LONGEST_DEFINITION)


@dataclass(frozen=True, slots=True)
class _Unusable:
    """An answer that says nothing, and why."""

    reason: str


class ModelStage:
    """See the module; `vocabulary` says which names are taken."""

    def __init__(self, model: LanguageModel, vocabulary: Vocabulary) -> None:
        self._model = model
        self._vocabulary = vocabulary

    def __call__(self, asked: Shortlist) -> LabelVerdict | None:
        """See `Stage`. Always decides, unless there is no candidate."""
        if not asked.candidates:
            return None
        prompt = _prompt(asked)
        reply = self._model.complete(prompt)
        answer = _read(reply, asked)
        if isinstance(answer, _Unusable) and reply.finish == "stop":
            prompt = _again(prompt, answer.reason)
            reply = self._model.complete(prompt)
            answer = _read(reply, asked)
        verdict = self._verdict(asked, answer)
        decided = replace(
            verdict.relabelled,
            model=reply.model or self._model.name,
            prompt_hash=_prompt_hash(prompt),
        )
        return replace(verdict, relabelled=decided, pending=reply.finish == "pending")

    def _verdict(
        self, asked: Shortlist, answer: TechniqueCandidate | _Answer | _Unusable
    ) -> LabelVerdict:
        if isinstance(answer, _Unusable):
            return new(asked)
        if isinstance(answer, TechniqueCandidate):
            return merged(asked, answer, "model", "score")
        return self._coined(asked, answer)

    def _coined(self, asked: Shortlist, answer: _Answer) -> LabelVerdict:
        """A new technique under the model's name for it, if that is a plain name and nobody's."""
        key = technique_id(asked.target, answer.name)
        plain = re.search(r"[A-Za-z]{3}", answer.name) and re.fullmatch(r"[ -~]+", answer.name)
        if (
            not plain
            or addresses(answer.name)
            or addresses(asked.label)
            or self._taken(answer, key, asked.target)
        ):
            return new(asked)
        technique = Technique(
            id=key,
            name=answer.name[0].upper() + answer.name[1:],
            target=asked.target,
            definition=answer.definition,
            aliases=(asked.label,),
            review=True,
        )
        return LabelVerdict(replace(new(asked).relabelled, technique=key), technique)

    def _taken(self, answer: _Answer, key: str, target: Target) -> bool:
        """Whether the coined name is another technique's; one that was coined before is no other.

        (An ingest that was killed finds there what its own first half has made.)
        """
        match = self._vocabulary.find(answer.name, target)
        if match is None:
            return self._vocabulary.current(key) != key
        return match.technique != key or not self._vocabulary.known[key].review


def key_of(label: str, target: Target) -> DecisionKey:
    """Identity of the prompt that asks for `label`."""
    return DecisionKey(kind="relabel", subject=f"{target} {label}")


def _prompt(asked: Shortlist) -> Prompt:
    choices = [one.technique.id for one in asked.candidates]
    user = _fill(
        "question",
        candidates="\n".join(_described(one.technique) for one in asked.candidates),
        label=json.dumps(_printable(asked.label), ensure_ascii=False),
        choices=json.dumps(choices),
    )
    return Prompt(
        key=key_of(asked.label, asked.target),
        system=_fill("system", target=TARGETS[asked.target].language),
        user=user,
        answer_schema=_schema(choices),
    )


def _again(prompt: Prompt, reason: str) -> Prompt:
    key = prompt.key.model_copy(update={"attempt": 1})
    user = f"{prompt.user}\n\n{_fill('again', reason=reason)}"
    return prompt.model_copy(update={"key": key, "user": user, "seed": prompt.seed + 1})


def _schema(choices: list[str]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            "choice": {"type": "string", "enum": [*choices, NEW]},
            "name": {"type": "string", "maxLength": LONGEST_COINED},
            "definition": {"type": "string", "maxLength": LONGEST_DEFINITION},
        },
        "required": ["choice", "name", "definition"],
        "additionalProperties": False,
    }


def _read(reply: Reply, asked: Shortlist) -> TechniqueCandidate | _Answer | _Unusable:
    """The candidate that was chosen, or an answer that says "new", or neither."""
    if reply.finish != "stop":
        return _Unusable(f"it ended {reply.finish!r}")
    if len(reply.text) > LONGEST_ANSWER:
        return _Unusable("it is too long")
    fenced = re.fullmatch(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", reply.text, re.DOTALL)
    try:
        answer = _Answer.model_validate_json(fenced[1] if fenced else reply.text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return _Unusable(f"{place}: {first['msg']}" if place else "it is not that JSON object")
    return answer if answer.choice == NEW else _chosen(answer.choice, asked)


def _chosen(choice: str, asked: Shortlist) -> TechniqueCandidate | _Unusable:
    found = next((one for one in asked.candidates if one.technique.id == choice), None)
    if found is None:
        return _Unusable("choice: none of the listed ids")
    if addresses(asked.label) and not _plainly_named(found.technique, asked.label):
        return _Unusable("the name only asks for that choice")
    return found


def _plainly_named(technique: Technique, label: str) -> bool:
    """Whether the words of `label`, ids aside, hold a name of `technique`."""
    asked = stems(spelling(re.sub(rf"\b({NAMES})/\S*", " ", label.casefold())))
    names = (technique.name, *technique.aliases)
    return any(holds(asked, stems(spelling(name))) for name in names)


def _described(technique: Technique) -> str:
    return _fill(
        "candidate",
        id=technique.id,
        name=_printable(technique.name),
        definition=_printable(technique.definition, LONGEST_DEFINITION),
        aliases=_printable(", ".join(technique.aliases[:MOST_ALIASES])) or "-",
    )


def _printable(label: str, longest: int = LONGEST_LABEL) -> str:
    """One line, without control, format and private characters, which hide what a label says."""
    kept = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in label)
    return " ".join(kept.split())[:longest]


def _prompt_hash(prompt: Prompt) -> str:
    digest = hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode()).hexdigest()
    return f"sha256:{digest[:16]}"


def _fill(template: str, **values: str) -> str:
    return _template(template).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"relabel_{name}.txt").read_text(encoding="utf-8"))
