"""The code in a model's answer, the reason why it holds none, or a decline of the technique.

`read_code` is forgiving: it mends an answer's form where that can mean one thing only, and lists
the mends. `parse` takes an answer as it stands. Not here: mends of the code itself (mends/), and
whether the code, or the reason of a decline, is right.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from regraph_kg.models.prompt import Reply
from regraph_kg.models.text import plain
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.entry import RequestedEntry, defines
from regraph_kg.search.mends.includes import included
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.mends.source import ParsedCode
from regraph_kg.search.prompts.by_rule import BY_RULE
from regraph_kg.search.prompts.fences import blocks, fence

LONGEST_CODE = 60_000
"""Characters; what is longer is no answer but a model that runs on."""
LONGEST_REASON = 200
MOST_BLOCKS = 20
"""Blocks of an answer that are looked at as code, the last ones."""
MOST_BEGINS = 40
"""Lines of an answer without a fence that are tried as the first one of its code."""
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_DECLINED = re.compile(
    r"^[ \t]{0,3}(?:\*\*)?DOES NOT APPLY(?:\*\*)?[ \t]*(?::(?P<reason>.*)|\.?[ \t]*)$", re.MULTILINE
)
_BEGINS = re.compile(
    r"^(?:#[ \t]*(?:include|pragma|define|if)|extern[ \t]|__global__|__device__|static[ \t]|"
    r"template[ \t]*<|using[ \t]|typedef[ \t]|struct[ \t]|constexpr[ \t]|inline[ \t]|void[ \t])",
    re.MULTILINE,
)
"""A line with which code begins."""
_MAY_BEGIN = re.compile(r"^[ \t]*(?:[^\s#]|#[ \t]*(?:include|pragma|define|if))", re.MULTILINE)
"""A line with which code may begin: no heading."""
_ENDS = re.compile(r"^[ \t]*}[ \t};]*(?://[^\n]*)?$", re.MULTILINE)
_DOTS = re.compile(r"^[ \t]*(?:\.\.\.|…)[ \t]*$", re.MULTILINE)
_SAID = re.compile(
    r"""^[ \t]*(?://|/\*)[ \t]*[(\[]?(?:
        (?:\.\.\.|…)[^\n]*
      | (?:(?:the|your)[ ])?(?:rest[ ]of(?:[ ](?:the|your))?|existing|remaining|original|previous
        |other|same)[ ](?:\w+[ ]){0,2}(?:code|function|kernel|file|implementation|body|logic)
        (?:[ ](?:\w+[ ]){0,2}(?:here|same|unchanged|before|is))?[^\w\n]*
      | (?:\w+[ ]){0,7}(?:unchanged|(?:remains?|stays?|is)[ ]the[ ]same|as[ ]before)[^\w\n]*
    )$""",
    re.MULTILINE | re.VERBOSE | re.IGNORECASE,
)
"""A comment that says that code is left out. In whole code it may say something else."""
_IN_LIST = re.compile(r"[,(<&]\s*\Z")
"""The text before dots of C++: a list goes on."""


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
    """An answer's reason not to apply a technique; None where it gives none.

    It stands alone: beside a code block, whole or torn, the words are a part of what is said of the
    code. A block that holds nothing but the sentence is none of code.
    """
    text = reply.text.replace("\r\n", "\n")
    fenced = blocks(text)
    if len(fenced) == 1 and _DECLINED.fullmatch(fenced[0].strip()):
        text = fenced[0]
    match = None if reply.finish == "length" or _FENCE.search(text) else _DECLINED.search(text)
    if match is None:
        return None
    reason = " ".join(plain(match["reason"] or "").replace("**", "").split())
    return Declined(reason[:LONGEST_REASON] or "no reason was given")


def parse(reply: Reply, *entries: str) -> str | ParseFailure:
    """The code of the one fenced block that calls or defines one of `entries`."""
    text = _whole(reply)
    return text if isinstance(text, ParseFailure) else _only(blocks(text), entries)


def read_code(reply: Reply, entry: RequestedEntry, current: str = "") -> MendedCode | ParseFailure:
    """The code of an answer that defines what is wanted, mended, and what was mended.

    `current` is the code that the prompt showed: what only repeats it is not the answer, where
    another block is. Never raises, and takes bounded time.
    """
    if BY_RULE in reply.mended:
        return MendedCode(reply.code, reply.mended)
    # code that only repeats the current one is no answer: the change stands in the text
    supplied = normalized(reply.code) not in ("", normalized(current))
    text = reply.code if supplied else _whole(reply)
    if isinstance(text, ParseFailure):
        return text
    candidates, mends = ([text], reply.mended) if supplied else _blocks(text, entry)
    chosen = _chosen(candidates[-MOST_BLOCKS:], entry, current)
    code = _only(candidates, entry.entries) if chosen is None else _bounded(chosen[0])
    if isinstance(code, ParseFailure):
        return _left_out() if any(_has_dots(block, current) for block in candidates) else code
    if _has_dots(code, current):
        return _left_out()
    ready, *headers = included(code, on_gpu=entry.on_gpu) or (code,)
    return MendedCode(ready, (*mends, *(chosen[1] if chosen else ()), *headers))


def unmended(reply: Reply, entry: RequestedEntry) -> MendedCode | ParseFailure:
    """The code of an answer, where nothing is to be mended."""
    code = parse(reply, *entry.entries)
    return code if isinstance(code, ParseFailure) else MendedCode(code)


def _whole(reply: Reply) -> str | ParseFailure:
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    text = reply.text.replace("\r\n", "\n")
    return text if text.strip() else ParseFailure("the answer is empty")


def _only(candidates: Sequence[str], entries: Sequence[str]) -> str | ParseFailure:
    """The one block that calls or defines what is asked for."""
    entry, named_here = entries[0], "|".join(map(re.escape, entries))
    named = [block for block in candidates if re.search(rf"\b(?:{named_here})\s*\(", block)]
    if len(named) == 1:
        return _bounded(named[0])
    if named:
        return ParseFailure(f"{len(named)} code blocks define {entry}; give exactly one")
    what = (
        f"code block that defines {entry}"
        if candidates
        else "complete code block between two lines of ```"
    )
    return ParseFailure(f"the answer has no {what}")


def _blocks(text: str, entry: RequestedEntry) -> tuple[list[str], tuple[str, ...]]:
    """The blocks of an answer that ended by itself, and what was mended to find them."""
    fenced = blocks(text)
    if not _FENCE.search(text):
        bare = _bare(text, entry)
        return ([bare], ("code without a fence",)) if bare else (fenced, ())
    closed = blocks(f"{text}\n{fence(text)}")
    if len(closed) > len(fenced) and closed[-1].strip():
        return closed, ("a fence that was not closed",)
    return fenced, ()


def _bare(text: str, entry: RequestedEntry) -> str:
    """The code in a text without fences, up to its last brace; "" for none.

    From the first line from which all of it is sound, or else from the first that looks like code.
    """
    ends, looks = list(_ENDS.finditer(text)), _BEGINS.search(text)
    text = text[: ends[-1].end()] + "\n" if ends else ""
    last = next((end.start() for end in ends if looks and end.start() > looks.start()), len(text))
    begins = [match.start() for match in islice(_MAY_BEGIN.finditer(text, 0, last), MOST_BEGINS)]
    tried = (ParsedCode(text[begin:]) for begin in begins if len(text) - begin <= LONGEST_CODE)
    sound = (part.code for part in tried if not part.root.has_error and defines(part, entry))
    like_code = text[looks.start() :] if looks else ""
    usable = len(like_code) <= LONGEST_CODE and defines(ParsedCode(like_code), entry)
    return next(sound, like_code if usable else "")


def _chosen(
    candidates: Sequence[str], entry: RequestedEntry, current: str
) -> tuple[str, list[str]] | None:
    """The one block that can be meant, and why not another; None where none or several can."""
    bounded = [block for block in candidates if len(block) <= LONGEST_CODE]
    defining = [block for block in bounded if defines(ParsedCode(block), entry)]
    why = f"the one of {len(candidates)} blocks that defines {entry.entries[0]}"
    if len(defining) > 1:
        whole = [block for block in defining if not _has_dots(block, current)]
        distinct = {normalized(block): block for block in whole or defining}
        if len(distinct) > 1:
            distinct.pop(normalized(current), None)
        parts = {key for key in distinct if any(_within(key, other) for other in distinct)}
        defining = [block for key, block in distinct.items() if key not in parts]
        count = len(candidates)
        why = f"the one of {count} blocks that differs from the others and from the current"
    if len(defining) != 1:
        return None
    return defining[0], [why] if len(_naming(candidates, entry)) > 1 else []


def _within(part: str, whole: str) -> bool:
    """Whether a normalized code is a part of another one."""
    return part != whole and part in whole


def _naming(candidates: Sequence[str], entry: RequestedEntry) -> list[str]:
    """The blocks that mention what is asked for: one of them is no choice."""
    return [block for block in candidates if any(name in block for name in entry.entries)]


def _has_dots(code: str, current: str) -> bool:
    """Whether a line of dots, or in a shorter code than the current a comment, stands for code."""
    less = len(normalized(code).split()) < len(normalized(current).split())
    return any(True for _ in _gaps(_DOTS, code)) or (less and any(True for _ in _gaps(_SAID, code)))


def _gaps(kind: re.Pattern[str], code: str) -> Iterator[re.Match[str]]:
    for gap in kind.finditer(code):
        before = code[max(0, gap.start() - 200) : gap.start()]
        if not _IN_LIST.search(before) and before.count("/*") <= before.count("*/"):
            yield gap


def _left_out() -> ParseFailure:
    why = "the code has a comment or a line of dots in place of code; write all of it"
    return ParseFailure(why)


def _bounded(code: str) -> str | ParseFailure:
    if len(code) <= LONGEST_CODE:
        return code
    return ParseFailure(f"the code has more than {LONGEST_CODE} characters; answer shorter")
