"""What inputs are: distributions, ranges of integers that are indices, values of scalars.

Not covered: graphs with a property, such as no cycles.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count, cycle
from typing import Any

from regraph_kg.adopt.types import Element
from regraph_kg.cpp.functions import Function
from regraph_kg.evaluation.problem.types import Type, is_inexact

IndexRange = tuple[int | str, int | str]  # both ends included; text is an expression over sizes
POSITIVE = (0.01, 1.0)  # for functions that give no number for others: logarithms, roots, powers
_PRINTABLE = (32, 126)
_RANGES: Mapping[Type, tuple[int, int]] = {
    "int8": (-100, 100),
    "uint8": (0, 100),
    "char": _PRINTABLE,
}
_SIGNED, _UNSIGNED = (-1000, 1000), (0, 1000)
_WIDE = ("int32", "int64")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LOW = {"lo", "low", "lower", "min", "minimum", "least", "begin", "start", "first", "from", "left"}
_HIGH = {"hi", "high", "upper", "max", "maximum", "most", "end", "stop", "last", "to", "right"}
_WHOLE, _APART = 3, 10  # the least usual value of an integer, and how far apart two of them are


def drawn(
    element: Element,
    name: str,
    ranges: Mapping[str, IndexRange],
    *,
    looked: str,
    positive: bool,
    narrow: bool,
) -> dict[str, Any]:
    """`values` and `range` of an input array where the format's usual ones do not do.

    `looked`: its elements, where the function may stop early, else "". What it looks for is then
    there once or not at all in most inputs, and hardly ever in those that are timed.
    `narrow`: the function does not do with all integers of the type.
    """
    if element.record:
        fields = element.record.fields
        own = {f: list(ranges[f"{name}.{f}"]) for f in fields if f"{name}.{f}" in ranges}
        told: dict[str, Any] = {"values": ["uniform", "normal", "small-int"]} if own else {}
        if positive:
            told = {"values": ["uniform"], "range": list(POSITIVE)}
        for field, kind in fields.items():
            if field not in own and narrow and not is_inexact(kind) and kind != "bool":
                own[field] = list(_usual(kind))
        return told | ({"ranges": own} if own else {})
    if element.is_float and name not in ranges:
        return {"values": ["uniform"], "range": list(POSITIVE)} if positive else {}
    if name in ranges:
        kinds = ["uniform"] if element.is_float else ["uniform", "normal", "small-int"]
        return {"values": kinds, "range": [*ranges[name]]}
    guessed: dict[str, Any] = {"limits_guessed": True}
    if looked and element.type in _WIDE:
        values = ["sparse", "uniform", "small-int"]
        return {"values": values, "range": [f"-({looked})", looked], **guessed}
    # text is seldom made for other bytes than those that can be printed
    if element.type == "char" or (narrow and element.type != "bool"):
        return {"range": list(_usual(element.type)), **guessed}
    return {}


def _usual(kind: Type) -> tuple[int, int]:
    return _RANGES.get(kind, _UNSIGNED if kind.startswith(("u", "size_t")) else _SIGNED)


def usual_values(
    function: Function, scalars: Mapping[str, Element], said: Mapping[str, str]
) -> dict[str, float | int]:
    """What each scalar is in every call: what was said, its default argument, or a usual value.

    No two usual ones are alike but bools, or exchanging them would change nothing. They lie where
    inputs do, which may be compared with them, one after the other, as of `lo` and `hi`.
    """
    given = {name: said.get(name) or function.default(name) for name in scalars}
    known = {name: number(one, given[name]) for name, one in scalars.items()}
    found = {name: value for name, value in known.items() if value is not None}
    for kind in ("float", "bool", "whole"):
        alike = [name for name, one in scalars.items() if _kind(one) == kind]
        left = sorted((name for name in alike if name not in found), key=_rank)
        taken = {found[name] for name in alike if name in found and kind != "bool"}
        free = (value for value in _series(kind, len(alike)) if value not in taken)
        found |= dict(zip(left, free, strict=False))
    return found


def number(element: Element, text: str) -> float | int | None:
    """A literal as a value of that type; None where it is none."""
    text = {"true": "1", "false": "0"}.get(text, text.rstrip("fFlLuU"))
    try:
        return float(text) if element.is_float else int(text)
    except ValueError:
        return None


def _kind(element: Element) -> str:
    return "float" if element.is_float else "bool" if element.type == "bool" else "whole"


def _series(kind: str, length: int) -> Iterator[float | int]:
    """Values that ascend; floats lie within (0, 1), but not in its middle."""
    if kind == "bool":
        return cycle((1, 0))
    if kind == "whole":
        return count(_WHOLE, _APART)
    parts = 2 << max(length - 1, 1).bit_length()  # a power of two: sums of them do not round
    return (odd / parts for odd in range(1, parts, 2))


def _rank(name: str) -> int:
    """Before others, or after them, where a name says so."""
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(words & _HIGH) - bool(words & _LOW)
