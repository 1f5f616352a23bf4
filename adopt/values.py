"""What inputs are drawn from: distributions, and ranges of integers that are indices.

Not covered: graphs with a property, such as no cycles.
"""

from collections.abc import Mapping
from typing import Any

from tree_sitter import Node

from regraph_kg.adopt.types import Element
from regraph_kg.evaluation.cpp.syntax import Function, walk
from regraph_kg.evaluation.problem.types import Type, is_inexact

IndexRange = tuple[int | str, int | str]
"""Both ends included; text is an expression over sizes."""
POSITIVE = (0.01, 1.0)
"""For functions that give no number for others: logarithms, roots, powers."""
_RANGES: Mapping[Type, tuple[int, int]] = {
    "int8": (-100, 100),
    "uint8": (0, 100),
    "char": (32, 126),
}
_SIGNED, _UNSIGNED = (-1000, 1000), (0, 1000)
_SEARCHES = {"find", "find_if", "find_if_not", "any_of", "all_of", "none_of", "adjacent_find"}
_LOOPS = {"for_statement", "while_statement", "do_statement", "for_range_loop"}
_WIDE = ("int32", "int64")


def drawn(
    element: Element, name: str, ranges: Mapping[str, IndexRange], *, looked: str, positive: bool
) -> dict[str, Any]:
    """`values` and `range` of an input array where the format's usual ones do not do.

    `looked`: its elements, where the function may stop early, else "". What it looks for is then
    there once or not at all in most inputs, and hardly ever in those that are timed.
    """
    if element.record:
        return _of_record(element.record.fields, name, ranges, positive=positive)
    if element.is_float:
        return {"values": ["uniform"], "range": list(POSITIVE)} if positive else {}
    if name in ranges:
        low, high = ranges[name]
        low = 0 if element.type.startswith("u") and isinstance(low, int) else low
        return {"values": ["uniform", "normal", "small-int"], "range": [low, high]}
    if element.type == "bool":
        return {}
    if looked and element.type in _WIDE:
        return {"values": ["sparse", "uniform", "small-int"], "range": [f"-({looked})", looked]}
    return {"range": list(_usual(element.type))}


def _of_record(
    fields: Mapping[str, Type], name: str, ranges: Mapping[str, IndexRange], *, positive: bool
) -> dict[str, Any]:
    own = {
        field: list(ranges.get(f"{name}.{field}", _usual(kind)))
        for field, kind in fields.items()
        if not is_inexact(kind) and kind != "bool"
    }
    told: dict[str, Any] = {"ranges": own} if own else {}
    gathers = any(f"{name}.{field}" in ranges for field in fields)
    if positive:
        return {"values": ["uniform"], "range": list(POSITIVE), **told}
    return {"values": ["uniform", "normal", "small-int"], **told} if gathers else told


def _usual(kind: Type) -> tuple[int, int]:
    return _RANGES.get(kind, _UNSIGNED if kind.startswith(("u", "size_t")) else _SIGNED)


def stops_early(function: Function) -> bool:
    """Whether a loop of the body may end before its last step, or a search does."""
    for node in walk(function.body):
        if node.type in ("return_statement", "break_statement") and _in_loop(node):
            return True
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        if called is not None:
            name = function.source.text(called).rpartition("::")[2].partition("<")[0]
            if name in _SEARCHES:
                return True
    return False


def _in_loop(node: Node) -> bool:
    """Within a loop, and of the function, not of a lambda or a switch in it."""
    above = node.parent
    while above is not None and above.type not in ("function_definition", "lambda_expression"):
        if above.type == "switch_statement" and node.type == "break_statement":
            return False
        if above.type in _LOOPS:
            return True
        above = above.parent
    return False
