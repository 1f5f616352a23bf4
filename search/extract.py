"""The code in a model's answer, why it holds none, or that the technique asked for does not apply.

Not here: whether the code is right, and whether the reason not to give any is.
"""

import re
from dataclasses import dataclass

from regraph_kg.models.prompt import Reply
from regraph_kg.models.text import plain
from regraph_kg.search.prompts.fences import blocks

LONGEST_CODE = 60_000
"""Characters; what is longer is no answer but a model that runs on."""
LONGEST_REASON = 200
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_DECLINED = re.compile(
    r"^[ \t]{0,3}(?:\*\*)?DOES NOT APPLY(?:\*\*)?[ \t]*(?::(?P<reason>.*)|\.?[ \t]*)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that holds no code we could evaluate, and why: fed back to the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Declined:
    """An answer that says that the technique asked for does not apply to the code, and why."""

    reason: str
    """One plain line."""


def declined(reply: Reply) -> Declined | None:
    """What an answer gives as its reason not to apply a technique; None where it gives none.

    It stands alone: beside a code block, whole or torn, the words are a part of what is said of the
    code. A block that holds nothing but the sentence is none of code.
    """
    text = reply.text.replace("\r\n", "\n")
    found = blocks(text)
    if len(found) == 1 and _DECLINED.fullmatch(found[0].strip()):
        text = found[0]
    said = None if reply.finish == "length" or _FENCE.search(text) else _DECLINED.search(text)
    if said is None:
        return None
    reason = " ".join(plain(said["reason"] or "").replace("**", "").split())
    return Declined(reason[:LONGEST_REASON] or "no reason was given")


def parse(reply: Reply, *entries: str) -> str | ParseFailure:
    """The code of the one fenced block that calls or defines one of `entries`."""
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    text = reply.text.replace("\r\n", "\n")
    if not text.strip():
        return ParseFailure("the answer is empty")
    found = blocks(text)
    entry, named_here = entries[0], "|".join(map(re.escape, entries))
    named = [block for block in found if re.search(rf"\b(?:{named_here})\s*\(", block)]
    if len(named) == 1:
        return _bounded(named[0])
    if named:
        return ParseFailure(f"{len(named)} code blocks define {entry}; give exactly one")
    what = (
        f"code block that defines {entry}"
        if found
        else "complete code block between two lines of ```"
    )
    return ParseFailure(f"the answer has no {what}")


def _bounded(code: str) -> str | ParseFailure:
    if len(code) <= LONGEST_CODE:
        return code
    return ParseFailure(f"the code has more than {LONGEST_CODE} characters; answer shorter")
