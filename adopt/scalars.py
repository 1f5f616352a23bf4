"""Scalars that have one value in every call: which, and what of the function depends on them.

Not covered: what a scalar decides by way of an array's element, or in another function.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count, cycle

from tree_sitter import Node

from regraph_kg.adopt.types import Element
from regraph_kg.evaluation.cpp.syntax import CodeFile, Function, walk

_COMPARED = {"==", "!=", "<", ">", "<=", ">="}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LOW = {"lo", "low", "lower", "min", "minimum", "least", "begin", "start", "first", "from", "left"}
_HIGH = {"hi", "high", "upper", "max", "maximum", "most", "end", "stop", "last", "to", "right"}
_ELEMENTS = {"subscript_expression", "pointer_expression"}
_FLOAT, _FLOAT_STEP = 1.5, 0.375
_WHOLE, _APART = 3, 10
"""Least of integers, and how far apart those are that something is compared with."""


def deciding(function: Function, names: Collection[str]) -> list[str]:
    """Those of the names by which the body branches, themselves or by way of a local."""
    found, from_ = set[str](), _flows(function)
    for node in walk(function.body):
        sides = [node.child_by_field_name("condition")]
        if node.type == "binary_expression" and node.children[1].type in _COMPARED:
            sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        for side in filter(None, sides):
            found |= _reached(_identifiers(function.source, side), from_)
    return [name for name in names if name in found]


def usual_values(
    function: Function, scalars: Mapping[str, Element], said: Mapping[str, str]
) -> dict[str, float | int]:
    """What each scalar is in every call: what was said, its default argument, or a usual value.

    No two usual ones are alike but bools, or exchanging them would change nothing. Those that are
    compared lie where inputs do, one after the other, as of `lo` and `hi`.
    """
    given = {name: said.get(name) or function.default(name) for name in scalars}
    known = {name: number(one, given[name]) for name, one in scalars.items()}
    found = {name: value for name, value in known.items() if value is not None}
    compared = set(deciding(function, scalars))
    for kind in ("float", "bool", "whole"):
        alike = [name for name, one in scalars.items() if _kind(one) == kind]
        left = sorted((name for name in alike if name not in found), key=_rank)
        taken = {found[name] for name in alike if name in found and kind != "bool"}
        for is_compared in (True, False):
            names = [name for name in left if (name in compared) is is_compared]
            free = (v for v in _series(kind, len(names), compared=is_compared) if v not in taken)
            for name in names:
                found[name] = next(free)
                taken |= {found[name]} if kind != "bool" else set()
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


def _series(kind: str, length: int, *, compared: bool) -> Iterator[float | int]:
    """Values that ascend, without an end; floats to compare with lie within (0, 1) first."""
    if kind == "bool":
        yield from cycle((1, 0))
    elif kind == "whole":
        yield from count(_WHOLE, _APART if compared else 1)
    if compared:
        parts = 2 << (length - 1).bit_length()  # a power of two: sums of them do not round
        yield from (odd / parts for odd in range(1, parts, 2))
    yield from (_FLOAT + _FLOAT_STEP * place for place in count())


def _rank(name: str) -> int:
    """Before others, or after them, where a name says so."""
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(words & _HIGH) - bool(words & _LOW)


def _flows(function: Function) -> dict[str, set[str]]:
    """Of each local and parameter, the names that its values are computed of; no elements'."""
    found: dict[str, set[str]] = {}
    for name, value in _given(function):
        if not _is_loaded(value):
            found.setdefault(name, set()).update(_identifiers(function.source, value))
    return found


def _reached(names: Iterable[str], by: Mapping[str, set[str]]) -> set[str]:
    """The names, and all that their values are computed of."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(by.get(name, ()))
    return found


def _identifiers(source: CodeFile, node: Node) -> set[str]:
    """Every name in an expression."""
    return {source.text(one) for one in walk(node) if one.type == "identifier"}


def _given(function: Function) -> Iterable[tuple[str, Node]]:
    """Each name that is given a value, and that value."""
    for node in walk(function.body):
        sides = {
            "init_declarator": ("declarator", "value"),
            "assignment_expression": ("left", "right"),
        }.get(node.type, ("", ""))
        target, value = (node.child_by_field_name(side) for side in sides)
        if target is not None and value is not None and target.type == "identifier":
            yield function.source.text(target), value


def _is_loaded(node: Node) -> bool:
    """Whether it is computed of an array's element."""
    return any(one.type in _ELEMENTS for one in walk(node))
