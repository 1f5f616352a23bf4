"""The code in a model's answer, or why it holds none. Not here: whether the code is right."""

import re
from dataclasses import dataclass

from regraph_kg.models.prompt import Reply
from regraph_kg.search.prompts.fences import blocks

LONGEST_CODE = 60_000
"""Characters; what is longer is no answer but a model that runs on."""


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that holds no code we could evaluate, and why: fed back to the model."""

    reason: str


def parse(reply: Reply, entry: str) -> str | ParseFailure:
    """The code of the one fenced block that calls or defines `entry`."""
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    text = reply.text.replace("\r\n", "\n")
    if not text.strip():
        return ParseFailure("the answer is empty")
    found = blocks(text)
    named = [block for block in found if re.search(rf"\b{re.escape(entry)}\s*\(", block)]
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
