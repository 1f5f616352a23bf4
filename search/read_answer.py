"""The code in a model's answer, or the reason why it holds none.

An answer holds one fenced block that defines what is asked for. What is in doubt is not guessed.
Not here: whether the code is right.
"""

import re
from dataclasses import dataclass

from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.prompt import Reply
from regraph_kg.search.prompts.fences import blocks, loosened

LONGEST_CODE = 60_000  # characters; what is longer is no answer but a model that runs on
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_BEHIND_CODE = re.compile(r"^(.*[^\s`])(`{3,})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that holds no code we could evaluate, and why: fed back to the model."""

    reason: str


def parse(reply: Reply, *entries: str, current: str = "") -> str | ParseFailure:
    """The code of the one fenced block that calls or defines one of `entries`.

    A block that repeats `current`, the code that the prompt showed, does not count beside others.
    Of several that mention an entry the one that defines it counts.
    """
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    if not reply.text.strip():
        return ParseFailure("the answer is empty")
    entry, names = entries[0], "|".join(map(re.escape, entries))
    calls = re.compile(rf"\b(?:{names})\s*\(")
    candidates = _closed_blocks(reply.text)
    named = [block for block in candidates if calls.search(block)]
    for text in () if named else loosened(reply.text):
        named = named or [block for block in _closed_blocks(text) if calls.search(block)]
    distinct = {normalized(block): block for block in named}
    if len(distinct) > 1:
        # models like to say what they start from
        distinct.pop(normalized(current), None)
    chosen = list(distinct.values())
    if len(chosen) > 1:
        defines = re.compile(rf"\b(?:{names})\s*\([^;{{}}]*\)\s*{{")
        chosen = [block for block in chosen if defines.search(block)] or chosen
    if len(chosen) > 1:
        return ParseFailure(f"{len(chosen)} code blocks define {entry}; give exactly one")
    if not chosen:
        whole = "complete code block between two lines of ```"
        what = f"code block that defines {entry}" if candidates else whole
        return ParseFailure(f"the answer has no {what}")
    if len(chosen[0]) > LONGEST_CODE:
        return ParseFailure(f"the code has more than {LONGEST_CODE} characters; answer shorter")
    return chosen[0]


def _closed_blocks(text: str) -> list[str]:
    """The blocks of an answer; one that its end leaves open is one all the same."""
    # small models often end without the last fence
    if len(_FENCE.findall(text)) % 2:
        text = _BEHIND_CODE.sub(r"\1\n\2", text)
    marks = _FENCE.findall(text)
    end = marks[-1][0] * max(map(len, marks)) if len(marks) % 2 else ""
    return blocks(f"{text}\n{end}")
