"""The code in a model's answer, why it holds none, or that the technique asked for does not apply.

What is read is forgiving (`read_code`): an answer's form is mended where it can mean one thing, and
what was mended is said. `parse` takes an answer as it stands. Not here: how code itself is mended
(mends/), whether it is right, and whether the reason not to give any is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regraph_kg.models.prompt import Reply
from regraph_kg.models.text import plain
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.entry import RequestedEntry, defines, entry_renamed
from regraph_kg.search.mends.mend import MendedCode, mended
from regraph_kg.search.mends.source import ParsedCode
from regraph_kg.search.prompts.fences import blocks, fence

LONGEST_CODE = 60_000
"""Characters; what is longer is no answer but a model that runs on."""
LONGEST_REASON = 200
MOST_BLOCKS = 20
"""Blocks of an answer that are looked at as code, the last ones."""
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_DECLINED = re.compile(
    r"^[ \t]{0,3}(?:\*\*)?DOES NOT APPLY(?:\*\*)?[ \t]*(?::(?P<reason>.*)|\.?[ \t]*)$", re.MULTILINE
)
_BEGINS = re.compile(
    r"^(?:#[ \t]*(?:include|pragma|define|if)|extern[ \t]|__global__|__device__|static[ \t]|"
    r"template[ \t]*<|using[ \t]|typedef[ \t]|struct[ \t]|constexpr[ \t]|inline[ \t]|void[ \t])",
    re.MULTILINE,
)
"""A line with which code begins."""
_ENDS = re.compile(r"^[ \t]*}[ \t};]*(?://[^\n]*)?$", re.MULTILINE)
_DOTS = re.compile(r"^[ \t]*(?:\.\.\.|…)[ \t]*$", re.MULTILINE)
_IN_LIST = re.compile(r"[,(<&]\s*\Z")
"""What stands before dots that are C++: a list goes on."""


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
    text = _whole(reply)
    return text if isinstance(text, ParseFailure) else _only(blocks(text), entries)


def read_code(reply: Reply, wanted: RequestedEntry, current: str = "") -> MendedCode | ParseFailure:
    """The code of an answer that defines what is wanted, mended, and what was mended.

    `current` is the code that the prompt showed: what only repeats it is not the answer, where
    another block is. Never raises, and takes bounded time.
    """
    text = reply.code or _whole(reply)
    if isinstance(text, ParseFailure):
        return text
    found, done = ([text], reply.mended) if reply.code else _blocks(text, wanted)
    chosen = _chosen(found[-MOST_BLOCKS:], wanted, current)
    code = _only(found, wanted.entries) if chosen is None else _bounded(chosen[0])
    if isinstance(code, ParseFailure):
        return _left_out() if any(map(_has_dots, found)) else code
    if _has_dots(code):
        return _left_out()
    ready = mended(code, wanted)
    return MendedCode(ready.code, (*done, *(chosen[1:] if chosen else ()), *ready.done))


def unmended(reply: Reply, wanted: RequestedEntry) -> MendedCode | ParseFailure:
    """The code of an answer, where nothing is to be mended."""
    code = parse(reply, *wanted.entries)
    return code if isinstance(code, ParseFailure) else MendedCode(code)


def _whole(reply: Reply) -> str | ParseFailure:
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    text = reply.text.replace("\r\n", "\n")
    return text if text.strip() else ParseFailure("the answer is empty")


def _only(found: Sequence[str], entries: Sequence[str]) -> str | ParseFailure:
    """The one block that calls or defines what is asked for."""
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


def _blocks(text: str, wanted: RequestedEntry) -> tuple[list[str], tuple[str, ...]]:
    """The blocks of an answer that ended by itself, and what was mended to find them."""
    found = blocks(text)
    if not _FENCE.search(text):
        bare = _bare(text)
        usable = len(bare) <= LONGEST_CODE and defines(ParsedCode(bare), wanted)
        return ([bare], ("code without a fence",)) if usable else (found, ())
    closed = blocks(f"{text}\n{fence(text)}")
    if len(closed) > len(found) and closed[-1].strip():
        return closed, ("a fence that was not closed",)
    return found, ()


def _bare(text: str) -> str:
    """What may be code in a text without fences: from its first such line to its last brace."""
    begins, ends = _BEGINS.search(text), list(_ENDS.finditer(text))
    if begins is None or not ends or ends[-1].end() < begins.start():
        return ""
    return text[begins.start() : ends[-1].end()] + "\n"


def _chosen(
    found: Sequence[str], wanted: RequestedEntry, current: str
) -> tuple[str, *tuple[str, ...]] | None:
    """The one block that can be meant, and why not another; None where none or several can."""
    ours = [one for one in found if len(one) <= LONGEST_CODE]
    defining = [one for one in ours if defines(ParsedCode(one), wanted)]
    why = f"the one of {len(found)} blocks that defines {wanted.entries[0]}"
    if not defining:
        defining = [one for one in ours if entry_renamed(ParsedCode(one), wanted)]
    if len(defining) > 1:
        whole = [one for one in defining if not _has_dots(one)]
        distinct = {normalized(one): one for one in whole or defining}
        if len(distinct) > 1:
            distinct.pop(normalized(current), None)
        defining = [
            one for said, one in distinct.items() if not any(_within(said, it) for it in distinct)
        ]
        why = f"the one of {len(found)} blocks that differs from the others and from the current"
    if len(defining) != 1:
        return None
    return (defining[0], why) if len(_naming(found, wanted)) > 1 else (defining[0],)


def _within(part: str, whole: str) -> bool:
    """Whether a normalized code is a part of another one."""
    return part != whole and part in whole


def _naming(found: Sequence[str], wanted: RequestedEntry) -> list[str]:
    """The blocks that mention what is asked for: one of them is no choice."""
    return [one for one in found if any(name in one for name in wanted.entries)]


def _has_dots(code: str) -> bool:
    """Whether dots stand in a line of their own where code should."""
    return any(True for _ in _dots(code))


def _dots(code: str) -> Iterator[re.Match[str]]:
    for dots in _DOTS.finditer(code):
        before = code[max(0, dots.start() - 200) : dots.start()]
        if not _IN_LIST.search(before) and before.count("/*") <= before.count("*/"):
            yield dots


def _left_out() -> ParseFailure:
    return ParseFailure("the code has a line of dots in place of code; write all of it")


def _bounded(code: str) -> str | ParseFailure:
    if len(code) <= LONGEST_CODE:
        return code
    return ParseFailure(f"the code has more than {LONGEST_CODE} characters; answer shorter")
