"""Fences around code and other quoted text in a prompt, and around code in an answer.

Quoted text is data (a model's code, a compiler's words, a stranger's example): a fence is longer
than any run of backticks inside, so that quoted text cannot end it. Not covered: a model that obeys
quoted text.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

_RUN = re.compile(r"`+")
_BEGINS = re.compile(r"[ \t]*(`{3,})[^\n`]*\n")
_ENDS = re.compile(r"[ \t]*(`{3,})[ \t]*$")


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
    return ["".join(lines[first + 1 : last]) for first, last in _fenced(lines)]


def without_blocks(text: str) -> str:
    """An answer without its fenced blocks."""
    lines = _lines(text)
    for first, last in reversed(_fenced(lines)):
        lines[first : last + 1] = [" " + "\n" * lines[last].endswith("\n")]
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends a line."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _fenced(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last line of each block, in linear time for any answer.

    The next fence that is at least as long, and alone on its line, closes a fence. An unclosed
    fence begins no block. Fences may be indented, as in a list.
    """
    ends = [len(alone[1]) if (alone := _ENDS.match(line)) else 0 for line in lines]
    longest = [*accumulate(reversed(ends), max)][::-1]  # longest closing fence from each line on
    spans: list[tuple[int, int]] = []
    first = 0
    while first < len(lines) - 1:
        begins = _BEGINS.match(lines[first])
        if begins and len(begins[1]) <= longest[first + 1]:
            last = next(n for n in range(first + 1, len(lines)) if ends[n] >= len(begins[1]))
            spans.append((first, last))
            first = last
        first += 1
    return spans
