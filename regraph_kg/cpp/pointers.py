"""Heads of functions in which each pointer to data is `__restrict__`."""

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from regraph_kg.cpp.indices import Indices
from regraph_kg.cpp.occurrences import Occurrence
from regraph_kg.cpp.syntax import arguments, called, parameters, text
from regraph_kg.models.base import Frozen


class PointerHead(Frozen):
    """The head of a function with pointers that are not `restrict`."""

    function: str
    at: int  # bytes of the text before it
    restricted: str  # the head with its body's brace and with `__restrict__`


def pointer_heads(names: Indices) -> Iterator[PointerHead]:
    """The heads of defined functions that take such pointers, none of them twice from a caller."""
    for name, node in names.events.functions.items():
        body, pointers = node.child_by_field_name("body"), _pointers(node)
        places = [parameter.start_byte for _, parameter in pointers.values()]
        calls = [call for call in names.events.calls if called(call.node) == name]
        overlap = any(_overlap(names, call, pointers) for call in calls)
        if body is not None and body.type == "compound_statement" and places and not overlap:
            cuts = [node.start_byte, *places, body.start_byte + 1]
            source = node.text or b""
            parts = [
                source[first - node.start_byte : last - node.start_byte].decode()
                for first, last in pairwise(cuts)
            ]
            yield PointerHead(
                function=name, at=node.start_byte, restricted="__restrict__ ".join(parts)
            )


def _pointers(function: Node) -> dict[int, tuple[Node, Node]]:
    """Number of a parameter that is a plain pointer -> the parameter, and its name."""
    pointers = {}
    for number, parameter in enumerate(parameters(function)):
        pointer = parameter.child_by_field_name("declarator")
        if pointer is None or pointer.type != "pointer_declarator" or "restrict" in text(pointer):
            continue
        name = pointer.child_by_field_name("declarator")
        if name is not None and name.type == "identifier":
            pointers[number] = parameter, name
    return pointers


def _overlap(names: Indices, call: Occurrence, pointers: dict[int, tuple[Node, Node]]) -> bool:
    """Whether a call passes an array twice that the function may write to."""
    passed = [
        ((pointed[0], id(pointed[1])), "const" in text(pointers[number][0]).split())
        for number, argument in enumerate(arguments(call.node))
        if number in pointers and (pointed := names.pointer(argument, call.place.loop))
    ]
    arrays = [array for array, _ in passed]
    return any(arrays.count(array) > 1 for array, fixed in passed if not fixed)
