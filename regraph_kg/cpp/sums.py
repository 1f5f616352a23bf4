"""Sums of a kernel that each thread adds to one element."""

from tree_sitter import Node

from regraph_kg.cpp.syntax import arguments, called, statements, text, walk
from regraph_kg.models.base import Frozen


class CommonSum(Frozen):
    """A statement of a kernel in which each thread adds a variable to an element."""

    value: str


def common_sum(body: Node | None) -> CommonSum | None:
    """The first such statement, if all threads reach it."""
    if any(node.type == "return_statement" for node in (walk(body) if body else ())):
        return None
    for part in statements(body):
        call = next(iter(part.named_children), part)
        given = arguments(call)[1:] if called(call) == "atomicAdd" else []
        if [value.type for value in given] == ["identifier"]:
            return CommonSum(value=text(given[0]))
    return None
