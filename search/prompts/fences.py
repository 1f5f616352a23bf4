"""Fences around code and other quoted text in a prompt, and around code in an answer.

Quoted text is data (a model's code, a compiler's words, a stranger's example): a fence is longer
than any run of backticks inside, so that quoted text cannot end it. Not covered: a model that obeys
quoted text.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import unescape
from itertools import accumulate

_RUN = re.compile(r"`+")
_BEGINS = re.compile(r"[ \t]*(`{3,}|~{3,})[^\n`]*\n")
_ENDS = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_INLINE = re.compile(
    r"[ \t]*(`{3,}|~{3,})[ \t]*((?:cpp|c\+\+|cuda|cxx|cc|cu|c)(?![\w+]))?[ \t]*\n?", re.IGNORECASE
)
_NUMBERED = re.compile(r"[ \t]*(\d+)(?:[ \t]*[|:.)]|(?=[ \t\n]|$))[ \t]?")
_CHANGE = re.compile(r"[-+ @\\]|diff |index ")
_OLD = re.compile(r"-|\+\+\+ |[@\\]|diff |index ")
_ESCAPED = re.compile(r"&(?:lt|gt|amp);")


def fence(*texts: str) -> str:
    """A fence that nothing in `texts` closes: at least three backticks."""
    longest = max((len(run) for text in texts for run in _RUN.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def quoted(text: str) -> str:
    """`text` between two fences; "" for no text."""
    text = text.strip()
    marks = fence(text)
    return f"{marks}text\n{text}\n{marks}" if text else ""


def blocks(text: str) -> list[str]:
    """The contents of the fenced blocks of an answer, whatever their language."""
    lines = _lines(text)
    return [unwrapped("".join(lines[first + 1 : last])) for first, last in _fenced(lines)]


def without_blocks(text: str) -> str:
    """An answer without its fenced blocks."""
    lines = _lines(text)
    for first, last in reversed(_fenced(lines)):
        lines[first : last + 1] = [" " + "\n" * lines[last].endswith("\n")]
    return "".join(lines)


def loosened(text: str) -> Iterator[str]:
    """An answer in the other forms that models wrap their code in, each as fences would have it."""
    yield re.sub(r"^[ \t]*> ?", "", text, flags=re.MULTILINE)  # a quotation
    if text.lstrip().startswith("{"):  # JSON
        yield f"~~~~\n{text}\n~~~~"
    yield _INLINE.sub(r"\n\1\2\n", text)  # fences amid their lines


def unwrapped(code: str) -> str:
    """A block without what some models put around each of its lines or characters."""
    with suppress(ValueError, RecursionError):
        if isinstance(fields := json.loads(code, strict=False), dict):
            text = max(
                (one for one in fields.values() if isinstance(one, str)), key=len, default=""
            )
            return next(iter(blocks(text)), text)
    lines = _lines(code)
    said = [line for line in lines if line.strip()]
    numbers = [int(found[1]) if (found := _NUMBERED.match(line)) else -1 for line in said]
    if len(said) > 1 and numbers == list(range(numbers[0], numbers[0] + len(said))):
        return "".join(_NUMBERED.sub("", line) for line in lines)
    # the new side of a difference
    if all(_CHANGE.match(line) for line in said) and any(line[0] == "+" for line in said):
        return "".join(line[1:] or line for line in lines if not _OLD.match(line))
    return unescape(code) if _ESCAPED.search(code) and "<" not in code else code


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends a line."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _fenced(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last line of each block, in linear time for any answer.

    The next fence of the same characters that is at least as long, and alone on its line, closes a
    fence. An unclosed fence begins no block. Fences may be indented, as in a list.
    """
    ends = [alone[1] if (alone := _ENDS.match(line)) else "" for line in lines]
    # longest closing fence from each line on
    longest = {
        mark: [*accumulate((len(end) * (mark in end) for end in reversed(ends)), max)][::-1]
        for mark in "`~"
    }
    spans: list[tuple[int, int]] = []
    first = 0
    while first < len(lines) - 1:
        begins = _BEGINS.match(lines[first])
        if begins and len(begins[1]) <= longest[begins[1][0]][first + 1]:
            last = next(n for n in range(first + 1, len(lines)) if ends[n].startswith(begins[1]))
            spans.append((first, last))
            first = last
        first += 1
    return spans
