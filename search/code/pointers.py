"""Heads of functions in which each pointer to data is `__restrict__`."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from tree_sitter import Node

from regraph_kg.models.base import Frozen
from regraph_kg.search.code.syntax import text, walk

_RESTRICT = " __restrict__ "


class PointerHead(Frozen):
    """The head of a function with pointers that are not `restrict`."""

    function: str
    at: int
    """Bytes of the text before it."""
    restricted: str
    """The head up to its body's brace, with `__restrict__`."""


def pointer_heads(functions: Mapping[str, Node]) -> Iterator[PointerHead]:
    """The heads of defined functions that take such pointers."""
    for name, node in functions.items():
        body = node.child_by_field_name("body")
        places = list(_places(node))
        if body is not None and places:
            cuts = [node.start_byte, *places, body.start_byte]
            source = node.text or b""
            parts = [
                source[first - node.start_byte : last - node.start_byte].decode().rstrip()
                for first, last in pairwise(cuts)
            ]
            yield PointerHead(
                function=name, at=node.start_byte, restricted=f"{_RESTRICT.join(parts)} {{"
            )


def _places(function: Node) -> Iterator[int]:
    """Bytes before the names of parameters that are plain pointers."""
    listed = next((node for node in walk(function) if node.type == "parameter_list"), None)
    for parameter in listed.named_children if listed is not None else ():
        pointer = parameter.child_by_field_name("declarator")
        if pointer is None or pointer.type != "pointer_declarator" or "restrict" in text(pointer):
            continue
        name = pointer.child_by_field_name("declarator")
        if name is not None and name.type == "identifier":
            yield name.start_byte
