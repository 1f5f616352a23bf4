"""Fences: how code and other quoted text stands in a prompt, and how code is found in an answer.

What is quoted is data (a model's code, a compiler's words, a stranger's example): a fence is longer
than any run of backticks inside, so that nothing quoted ends it. Not covered: a model that obeys
what it was told is data.
"""

import re

_RUN = re.compile(r"`+")
_BLOCK = re.compile(
    r"^ {0,3}(?P<fence>`{3,})[^\n`]*\n(?P<code>.*?)^ {0,3}(?P=fence)`*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


def fence(*texts: str) -> str:
    """A fence that nothing in `texts` closes: at least three backticks."""
    longest = max((len(run) for text in texts for run in _RUN.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def quoted(text: str) -> str:
    """`text` between two fences; "" for none."""
    text = text.strip()
    marks = fence(text)
    return f"{marks}text\n{text}\n{marks}" if text else ""


def blocks(text: str) -> list[str]:
    """The fenced blocks of an answer, whatever their language; each as long as its fence says."""
    return [found["code"] for found in _BLOCK.finditer(text)]


def beside(text: str) -> str:
    """An answer without its fenced blocks."""
    return _BLOCK.sub(" ", text)
