"""What a condition says of the values that it compares, where it holds and where it does not.

Not covered: conditions of which one of several parts holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.adopt.extent import Extent
from regraph_kg.evaluation.cpp.syntax import CodeFile, Function, walk

_WRAPPED = {"condition_clause", "parenthesized_expression"}
_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_ENDS = {"return_statement", "continue_statement", "break_statement", "throw_statement"}
_ONE = Extent.of(1)


@dataclass(frozen=True, slots=True)
class Inequality:
    """`left sign right`, of integers."""

    left: Node
    sign: str
    right: Node

    @property
    def is_upper(self) -> bool:
        """Whether what is on the left is at most what is on the right."""
        return self.sign in ("<", "<=", "!=")

    def end(self, value: Extent) -> Extent:
        """The last value on the left, where the right side is `value`."""
        moved = {"<": value - _ONE, "!=": value - _ONE, ">": value + _ONE}
        return moved.get(self.sign, value)


def comparisons(source: CodeFile, node: Node | None, *, holds: bool) -> Iterator[Inequality]:
    """All that must be so where a condition holds, or does not; both ways round."""
    while node is not None and node.type in _WRAPPED:
        node = node.named_children[-1] if node.named_children else None
    if node is None:
        return
    if node.type == "unary_expression" and source.text(node).startswith("!"):
        yield from comparisons(source, node.child_by_field_name("argument"), holds=not holds)
    left, right, sign = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
    if node.type != "binary_expression" or left is None or right is None or sign is None:
        return
    said = source.text(sign)
    if said == ("&&" if holds else "||"):
        yield from comparisons(source, left, holds=holds)
        yield from comparisons(source, right, holds=holds)
    said = said if holds else _NEGATED.get(said, "")
    if said in _SWAPPED:
        yield Inequality(left, said, right)
        yield Inequality(right, _SWAPPED[said], left)


def clamped(source: CodeFile, node: Node) -> str:
    """The variable that `if (k >= m) k = m - 1;` keeps within an end; "" for any other."""
    body = node.child_by_field_name("consequence")
    if node.type != "if_statement" or body is None or node.child_by_field_name("alternative"):
        return ""
    held = body.named_children if body.type == "compound_statement" else [body]
    step = held[0].named_children[0] if len(held) == 1 and held[0].named_children else None
    left = step.child_by_field_name("left") if step is not None else None
    if step is None or left is None or step.type != "assignment_expression":
        return ""
    name, condition = source.text(left), node.child_by_field_name("condition")
    asked = {
        source.text(comparison.left) for comparison in comparisons(source, condition, holds=True)
    }
    sign = step.child_by_field_name("operator")
    return name if name in asked and sign is not None and source.text(sign) == "=" else ""


def ends(body: Node | None) -> bool:
    """Whether nothing after a branch is reached from it."""
    if body is None or body.type in _ENDS:
        return body is not None
    return body.type == "compound_statement" and any(ends(child) for child in body.named_children)


def changed(function: Function) -> set[str]:
    """Names that the body assigns to or steps, a for loop's own update and clamps aside."""
    found: set[str] = set()
    updates = {
        n.id
        for loop in walk(function.body)
        if loop.type == "for_statement" and (n := loop.child_by_field_name("update"))
    }
    kept = {node.id for node in walk(function.body) if clamped(function.source, node)}
    waiting = [function.body]
    while waiting:
        node = waiting.pop()
        if node.id in updates or node.id in kept:
            continue
        side = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
        target = node.child_by_field_name(side) if side else None
        if target is not None and target.type == "identifier":
            found.add(function.source.text(target))
        waiting.extend(node.named_children)
    return found
