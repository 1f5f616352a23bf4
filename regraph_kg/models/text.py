"""Figures in words, and foreign text (of a candidate, a compiler, a model) made safe to show.

Not covered: letters that look like others; false statements.
"""

import re
from typing import Annotated

from pydantic import AfterValidator

_UNITS = ((60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_DIGITS = 3
_QUOTED, _REASON = 200, 300  # characters
_TAG = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad)>"
_THOUGHT_ENDS = re.compile(
    rf"\A.*(?:</{_TAG}|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final[^\n]*?<\|message\|>)",
    re.DOTALL | re.IGNORECASE,
)
_THOUGHT_BEGINS = re.compile(
    rf"\s*(?:<{_TAG}|\[THINK\]|◁think▷|<\|begin_of_thought\|>|(?:<\|start\|>\w+)?<\|channel\|>)",
    re.IGNORECASE,
)
_END_MARKS = re.compile(r"(?:\s*(?:<\|[a-z_]+\|>|</s>|<end_of_turn>))+\s*\Z")
_ORDINARY = (
    dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad"), "")  # of no width
    | dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")
)


def digits(number: float) -> str:
    """Three significant digits, never an exponent, never a digit of the integer part lost."""
    # "g" alone turns 1234 into 1.23e+03
    whole = len(f"{abs(number):.0f}")
    return f"{number:.0f}" if whole >= _DIGITS else f"{number:.{_DIGITS}g}"


def times(speedup: float) -> str:
    """A ratio of times: "0.87x", "3.21x", "12.3x", "1234x"."""
    return f"{digits(speedup)}x"


def seconds(duration: float) -> str:
    """A duration in the unit that fits: "3.21 ms", "1.5 min"."""
    for size, unit in _UNITS:
        if duration >= size:
            return f"{digits(duration / size)} {unit}"
    return f"{digits(duration)} s"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: "1 example", "2 examples"."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def plain(text: str) -> str:
    """`text` without characters that cannot be printed, except newline and tab."""
    # a terminal acts upon control characters and escapes; directions of writing hide parts
    return "".join(c for c in text if c.isprintable() or c in "\n\t")


def one_line(reason: str) -> str:
    """A reason that names what a stranger says, however long or hostile that is."""
    text = " ".join(plain(reason).split())
    # The end names what is wrong, the beginning where.
    half = _REASON // 2
    return text if len(text) <= _REASON else f"{text[:half]} .. {text[-half:]}"


def ordinary(text: str) -> str:
    """`text` with the blanks and line ends of code, and whole: no half of a surrogate pair."""
    # compilers know neither no-break spaces nor characters of no width
    lines = text.replace("\r\n", "\n").translate(_ORDINARY)
    return lines.encode("utf-8", "replace").decode()


def without_thought(text: str) -> str:
    """An answer without the thought before it, which some servers leave in the text."""
    # By the marks of reasoning models and of gpt-oss (harmony); "" where it never ends.
    rest = _THOUGHT_ENDS.sub("", text, count=1)
    return "" if _THOUGHT_BEGINS.match(rest) else _END_MARKS.sub("", rest)


def quoted(text: str) -> str:
    """`text` as data: plain, on one line, in quotes, at most 200 characters of it."""
    line = " ".join(plain(text).split())[:_QUOTED]
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


PlainText = Annotated[str, AfterValidator(plain)]  # a field that may hold foreign text
