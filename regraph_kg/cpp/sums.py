"""Sums: products that are added up, additions to elements, and sums that elements get."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from regraph_kg.cpp.indices import ElementAccess
from regraph_kg.cpp.occurrences import Events
from regraph_kg.cpp.syntax import arguments, bare, called, operator, statements, text, walk
from regraph_kg.models.base import Frozen

_ATOMIC = frozenset({"int", "unsigned", "unsigned int", "unsigned long long", "float", "double"})
_FLOATING = frozenset({"float", "double"})
_WORD = re.compile(r"\w+")
_SUMMING = ["declaration", "for_statement", "expression_statement"]


class ProductSum(Frozen):
    """A statement `sum += a * b`."""

    at: int  # bytes of the text before it
    sum: str
    factors: tuple[str, str]


class ElementSum(Frozen):
    """A statement that adds to an element of an array: `hist[keys[i]] += 1`."""

    function: str
    loop: int  # number of the loop that it stands in
    element: str
    value: str  # the added value; empty for another update of the element
    sum: bool = False  # whether the value is a variable that starts at 0
    atomic: bool = False  # whether a GPU adds to the element's type atomically


class StoredSum(Frozen):
    """A loop that adds up in the loop in it, stores the sum, and does nothing else."""

    loop: int
    element: str  # the element that the sum is stored in
    value: str  # what is added to it


def product_sums(root: Node, events: Events) -> Iterator[ProductSum]:
    """Statements `sum += a * b` where the sum is declared as floating."""
    for node in walk(root):
        left, product = (bare(node.child_by_field_name(side)) for side in ("left", "right"))
        if operator(node) != "+=" or left is None or product is None or operator(product) != "*":
            continue
        base = left.child_by_field_name("argument") or left
        declared = events.find(text(base), base)
        is_statement = node.parent is not None and node.parent.type == "expression_statement"
        if is_statement and declared is not None and _FLOATING & set(declared.kind.split()):
            factors = [text(product.child_by_field_name(side)) for side in ("left", "right")]
            yield ProductSum(at=node.start_byte, sum=text(left), factors=(factors[0], factors[1]))


def element_sums(events: Events, elements: list[ElementAccess]) -> Iterator[ElementSum]:
    """Statements that update an element."""
    for element in elements:
        node = element.node.parent if element.mode == "update" else None
        if node is None:
            continue
        value = node.child_by_field_name("right") if operator(node) == "+=" else None
        added = "1" if operator(node) == "++" else text(value)
        declared = events.find(added, element.node)
        kind = element.declared.kind if element.declared is not None else ""
        yield ElementSum(
            function=element.place.function,
            loop=element.place.loop,
            element=text(element.node),
            value=added,
            sum=declared is not None and declared.zero,
            atomic=" ".join(word for word in kind.split() if not word.startswith("__")) in _ATOMIC,
        )


def stored_sums(events: Events, elements: list[ElementAccess]) -> Iterator[StoredSum]:
    """Loops of three statements: a sum of 0, the loop that adds to it, and its store."""
    for element in elements:
        node, loop = element.node.parent, element.place.loop
        if node is None or element.mode != "write" or loop < 0:
            continue
        stored = text(node.child_by_field_name("right"))
        value = events.find(stored, element.node)
        body = statements(events.loops[loop].node.child_by_field_name("body"))
        if value is None or not value.zero or [part.type for part in body] != _SUMMING:
            continue
        added = statements(body[1].child_by_field_name("body"))
        sum_ = added[0].named_children[0] if len(added) == 1 and added[0].named_children else None
        if sum_ is None or operator(sum_) != "+=":
            continue
        same = text(sum_.child_by_field_name("left")) == stored
        added_value = text(sum_.child_by_field_name("right"))
        kinds = element.declared.kind if element.declared is not None else ""
        alike = {*value.kind.split()} <= {*_WORD.findall(kinds)}
        alone = stored not in _WORD.findall(added_value)
        if same and alike and alone and text(body[0]).count("=") == 1 and node.parent == body[2]:
            yield StoredSum(loop=loop, element=text(element.node), value=added_value)


class CommonSum(Frozen):
    """A statement of a kernel in which each thread adds a variable to an element."""

    at: int  # bytes of the text before it
    value: str


def common_sum(body: Node | None) -> CommonSum | None:
    """The first such statement, if all threads reach it."""
    if any(node.type == "return_statement" for node in (walk(body) if body else ())):
        return None
    for part in statements(body):
        call = next(iter(part.named_children), part)
        given = arguments(call)[1:] if called(call) == "atomicAdd" else []
        if [value.type for value in given] == ["identifier"]:
            return CommonSum(at=part.start_byte, value=text(given[0]))
    return None
