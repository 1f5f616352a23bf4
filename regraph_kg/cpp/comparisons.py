"""A loop's comparison of a sum, as OpenMP takes it: `i < n - 1` where the code has `i + 1 < n`."""

import re

from tree_sitter import Node

from regraph_kg.cpp.guards import sides
from regraph_kg.cpp.indices import Indices
from regraph_kg.cpp.occurrences import LONGEST, Loop
from regraph_kg.cpp.polynomial import number
from regraph_kg.cpp.syntax import bare, called, operator, text

_SIGNED = re.compile(r"(?:(?:const|int|long|short|(?:std::)?(?:ptrdiff_t|int(?:16|32|64)_t)) ?)+")
_UNSIGNED = re.compile(
    r"(?:const )?(?:unsigned(?: int| long)*|(?:std::)?(?:size_t|uint(?:32|64)_t)) "
)
_TIGHT = frozenset({"identifier", "number_literal", "call_expression", "field_expression"})
_SUMS = frozenset({"binary_expression", "parenthesized_expression"})
_BOUND = re.compile(r"[\w\s.+*/()-]+")
_WHOLE = re.compile(r"[1-9]\d*")


def comparison(names: Indices, loop: Loop) -> str:
    """The comparison with the variable alone on one side; "" where there is none, or it is so.

    It ends where the other one ends: a number that may be unsigned never falls below 0. Sums of
    signed numbers do not overflow, but for an end near the least number of its type.
    """
    header = names.headers[loop.number]
    long = header.end is not None and len(text(header.end)) > LONGEST
    if not header.single or header.plain or header.end is None or long:
        return ""
    first, second = map(bare, sides(header.end))
    if first is not None and header.variable not in {text(term) for _, term in _terms(first)}:
        first, second = second, first
    terms = _terms(first) if first is not None else []
    own = [sign for sign, term in terms if text(term) == header.variable]
    rest = [(sign, term) for sign, term in terms if text(term) != header.variable]
    if own != [1] or second is None or not _BOUND.fullmatch(text(second)):
        return ""
    end = text(second) if second.type in _TIGHT else f"({text(second)})"
    if _signs(names, header.end) <= {"signed", "number"}:
        moved = "".join(f" {'-' if sign > 0 else '+'} {_enclosed(term)}" for sign, term in rest)
        bound = text(second) if operator(second) in ("+", "-", "*") else end
        return f"{header.variable} {header.compare} {bound}{moved}"
    unclear = len(rest) != 1 or rest[0][0] < 0 or "?" in _signs(names, second)
    if unclear or header.compare not in ("<", "<="):
        return ""
    start, more = names.known_start(loop.number), rest[0][1]
    at = number(start) if start is not None else None
    # a number in the code is small; the sum of another one wraps around unless it begins at 0
    fixed = _WHOLE.fullmatch(text(more)) and (at or 0) > 0
    if at is None or not (fixed or (at == 0 and _signs(names, more) <= {"unsigned", "number"})):
        return ""
    sign, one = (">", "") if header.compare == "<" else (">=", " + 1")
    return f"{header.variable} < ({end} {sign} {text(more)} ? {end} - {text(more)}{one} : 0)"


def _terms(node: Node) -> list[tuple[int, Node]]:
    """The terms of a sum, each with its sign."""
    terms, waiting = [], [(1, node)]
    while waiting:
        sign, outer = waiting.pop()
        inner = bare(outer) or outer
        first, second = sides(inner)
        if operator(inner) in ("+", "-") and first is not None and second is not None:
            waiting += [(sign if operator(inner) == "+" else -sign, second), (sign, first)]
        else:
            terms.append((sign, inner))
    return terms


def _enclosed(node: Node) -> str:
    return text(node) if node.type in _TIGHT or operator(node) == "*" else f"({text(node)})"


def _signs(names: Indices, node: Node, depth: int = 8) -> frozenset[str]:
    """Whether the numbers in an expression are whole ones, with a sign or without; "?": unknown."""
    inner = names.events.find(text(node), node)
    kinds = names.events.fields.get(text(node.child_by_field_name("field")), {"?"})
    if node.type == "number_literal" and (text(node).isdigit() or _WHOLE.fullmatch(text(node))):
        return frozenset({"number"})
    if called(node) == ".size":
        return frozenset({"unsigned"})
    if inner is not None and inner.kind == "auto" and inner.value is not None and depth:
        return _signs(names, inner.value, depth - 1)
    if depth and (operator(node) in ("+", "-", "*", "/") or node.type in _SUMS):
        parts = (_signs(names, part, depth - 1) for part in node.named_children)
        return frozenset[str]().union(*parts)
    if inner is not None:
        kinds = {"?" if inner.pointer or inner.array else inner.kind}
    signed, without = (all(k.fullmatch(f"{one} ") for one in kinds) for k in (_SIGNED, _UNSIGNED))
    return frozenset({"signed" if signed else "unsigned" if without else "?"})
