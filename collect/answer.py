"""A large model's answer to "which step now?": a technique, why, what changed, and the whole code.

Not here: whether the code is right (build.py).
"""

import re
from dataclasses import dataclass

from regraph_kg.collect.steps import label_of
from regraph_kg.models.prompt import Reply
from regraph_kg.models.text import plain
from regraph_kg.search.prompts.fences import without_blocks
from regraph_kg.search.read_answer import ParseFailure, parse

_FIELD = re.compile(
    r"^[ \t#>*_-]*(?P<name>TECHNIQUE|REASONING|DETAIL)[*_]*[ \t]*:[*_]*(?P<text>.*?)"
    r"(?=^[ \t#>*_-]*(?:TECHNIQUE|REASONING|DETAIL)[*_]*[ \t]*:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FINISHED = re.compile(r"^[ \t*_]*NO FURTHER STEP[*_]*[ \t]*[:.]?[*_]*(?P<why>.*)$", re.MULTILINE)
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnsweredStep:
    """A step as a model reports it."""

    label: str
    reasoning: str
    detail: str
    code: str


@dataclass(frozen=True, slots=True)
class NoFurtherStep:
    """A model's statement that no step makes the code faster, and its reason."""

    why: str


def read_answer(reply: Reply, entry: str) -> AnsweredStep | NoFurtherStep | ParseFailure:
    """The content of an answer, without marked thoughts before it."""
    reply = reply.model_copy(update={"text": _THOUGHTS.sub("", reply.text)})
    prose = without_blocks(reply.text.replace("\r\n", "\n"))
    code = parse(reply, entry)
    if isinstance(code, ParseFailure):
        finished = _FINISHED.search(prose) if reply.finish == "stop" else None
        return NoFurtherStep(label_of(finished["why"])) if finished else code
    if "\0" in code:
        return ParseFailure("the code holds a null character; answer in plain text")
    fields = {match["name"]: match["text"] for match in reversed(list(_FIELD.finditer(prose)))}
    label = label_of(fields.get("TECHNIQUE", "").strip().partition("\n")[0].strip(" *_`\"'."))
    if not label:
        return ParseFailure("the answer names no technique; begin it with TECHNIQUE: and its name")
    return AnsweredStep(
        label, _text(fields.get("REASONING", "")), _text(fields.get("DETAIL", "")), code
    )


def _text(text: str) -> str:
    return plain(text).strip(" \n\t*_")
