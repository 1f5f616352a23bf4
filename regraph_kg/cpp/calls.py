"""Changes by a call that other iterations of a loop may see, as far as the text shows them."""

import re
from collections.abc import Callable
from functools import partial
from typing import Literal

from tree_sitter import Node

from regraph_kg.cpp import library
from regraph_kg.cpp.indices import Indices
from regraph_kg.cpp.occurrences import CodePlace, Declared, Occurrence
from regraph_kg.cpp.syntax import (
    arguments,
    bare,
    called,
    declared_name,
    parameters,
    root_name,
    text,
    walk,
)

Carries = Literal["yes", "no", "unknown"]  # whether iterations of a loop need each other
_THROUGH = library.ALGORITHMS | library.SORTS | library.COPIES | {"memset", "iota"}
"""Functions that change only what their arguments point to."""
_SPECIFIERS = {"const", "static", "constexpr"}
_NUMBERS = {"int", "long", "short", "char", "float", "double", "bool", "size_t"}
_NUMBERS |= {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_DEEPEST = 4


class Calls:
    """Calls in one loop; `local` says whether each iteration has its own storage for a name."""

    def __init__(self, names: Indices, local: Callable[[Declared | None], bool]) -> None:
        self.names, self.events, self.local = names, names.events, local

    def carries(self, call: Occurrence) -> Carries:
        """Whether iterations need each other for a call."""
        name = called(call.node)
        if call.mode != "read":  # `A(i, j) = ..`: a macro, or a method that gives a reference
            return "unknown"
        if name.startswith("."):
            return self._method(name, call.node, call.place)
        if name in library.UNORDERED:
            return "yes"
        if name == "swap":
            kept = ("identifier", "field_expression")
            named = [a for a in arguments(call.node) if (node := bare(a)) and node.type in kept]
            return (
                "no" if all(self.local(self._declared(argument)) for argument in named) else "yes"
            )
        through = name in _THROUGH or self._changes_arguments_alone(call.node, 0)
        makes = name in self.events.classes and name not in self.events.functions  # `P()`
        if not (through or makes) and (not _harmless(name) or name in self.events.functions):
            return "unknown"
        held = self.events.find(name, call.node)
        meant = [value] if held and (value := bare(held.value)) else self._meant(call.node)
        read = [kept_elements(function) for function in meant]
        passed = [
            argument
            for number, argument in enumerate(arguments(call.node))
            if text(bare(argument))[-1:] != "]"
            or not read
            or not all(number in kept for kept in read)
        ]
        passed = [it for it in passed if not self._is_made(it, call.node, meant)]
        may_write = partial(self._may_be_written, loop=call.place.loop)
        bound = any(self._is_bound(function, call.node) for function in meant)
        written = bound or (through and any(map(may_write, passed)))
        return "unknown" if written else "no"

    def _is_bound(self, function: Node, call: Node) -> bool:
        """Whether a function takes a variable of all iterations by a reference that may change."""
        given = map(bare, arguments(call))
        return any(
            "&" in text(taken)
            and "const" not in text(taken).split()
            and variable is not None
            and variable.type == "identifier"
            and not self.local(self._declared(variable))
            for taken, variable in zip(parameters(function), given, strict=False)
        )

    def _is_made(self, argument: Node, call: Node, meant: list[Node]) -> bool:
        """Whether an argument is an object that a call makes for itself, without pointers."""
        at = [it.id for it in arguments(call)].index(argument.id)
        taken = [it[at] for it in map(parameters, meant) if at < len(it)]
        kinds = {text(it.child_by_field_name("type")) for it in taken if "*" not in text(it)}
        made = rf"\b(?:{'|'.join(kinds)})\s*\([^)]*&"  # a constructor that takes a reference
        plain = kinds <= self.events.classes - self.events.holders and bool(kinds)
        listed = argument.type == "initializer_list" and len(taken) == len(meant)
        return listed and plain and not re.search(made.encode(), self.events.text)

    def _method(self, name: str, call: Node, place: CodePlace) -> Carries:
        function = call.child_by_field_name("function")
        inner = function.child_by_field_name("argument") if function else None
        declared = self.events.find(text(inner), inner) if inner is not None else None
        if name in library.ASKING or self.local(declared):
            return "no"
        grows = name in library.GROWING and inner is not None and inner.type == "identifier"
        around = self.events.loops[place.loop].place.branches
        each = name in (".push_back", ".emplace_back") and place.branches == around
        # what each iteration adds has a place that its number tells
        return "yes" if (grows and not each) or name == ".swap" else "unknown"

    def _declared(self, node: Node) -> Declared | None:
        base = root_name(node)
        return self.events.find(text(base), base) if base is not None else None

    def _may_be_written(self, argument: Node, loop: int) -> bool:
        """Whether a function may change shared data through an argument."""
        node = bare(argument)
        if node is None or "literal" in node.type or node.type == "sizeof_expression":
            return False
        if node.type == "lambda_expression":
            return not self._quiet(node, 0)
        if node.type == "initializer_list":
            return any(self._may_be_written(part, loop) for part in node.named_children)
        pointed = self.names.pointer(node, loop)
        declared = pointed[1] if pointed is not None else self._declared(node)
        if declared is None:
            return node.type not in ("binary_expression", "unary_expression", "call_expression")
        words = set(re.sub(r"unsigned|std::", " int ", declared.kind).split()) - _SPECIFIERS
        # a function can take an object by reference
        plain = words <= _NUMBERS and not (declared.refers or declared.array)
        addressed = node.type == "pointer_expression"
        unshared = self.local(declared) or (plain and not addressed)
        return not unshared and "const" not in declared.kind.split()

    def _changes_arguments_alone(self, call: Node, depth: int) -> bool:
        """Whether a function or lambda of the text changes nothing but through its arguments."""
        function, name = call.child_by_field_name("function"), called(call)
        declared = self.events.find(name, function) if function is not None else None
        bodies = [bare(declared.value)] if declared is not None else self._meant(call)
        kinds = ("function_definition", "lambda_expression")
        return bool(bodies) and all(
            body is not None and body.type in kinds and self._quiet(body, depth) for body in bodies
        )

    def _meant(self, call: Node) -> list[Node]:
        """The functions of the text that a call may mean, by the number of arguments."""
        named, count = self.events.overloads.get(called(call), []), len(arguments(call))
        return [node for node in named if len(parameters(node)) == count] or named

    def _quiet(self, body: Node, depth: int) -> bool:
        """Whether a function sets nothing that is declared outside of it."""
        begin, end = body.start_byte, body.end_byte
        if depth > _DEEPEST:
            return False

        def inside(use: Occurrence) -> bool:
            return begin <= use.node.start_byte < end

        def is_own(use: Occurrence) -> bool:
            node = use.node.child_by_field_name("right") or use.node  # of a loop over a container
            pointed = self.names.pointer(node, use.place.loop)
            declared = (pointed[1] if pointed is not None else None) or self._declared(node)
            if declared is None or "static" in declared.kind.split():
                return False
            return begin <= declared.scope[0] and declared.scope[1] <= end

        uses = [*filter(inside, self.events.names), *filter(inside, self.events.elements)]
        if not all(is_own(use) or (use.mode == "read" and self._fixed(use)) for use in uses):
            return False
        for call in filter(inside, self.events.calls):
            name = called(call.node)
            known = name not in self.events.functions and (
                name in library.ASKING or _harmless(name)
            )
            if not known and not self._changes_arguments_alone(call.node, depth + 1):
                return False
        return True

    def _fixed(self, use: Occurrence) -> bool:
        """Whether a value that a function reads from outside never changes."""
        declared = self._declared(use.node)
        if declared is None:
            return use.node.type == "identifier"
        element = use.node.type in ("subscript_expression", "pointer_expression")
        return not declared.writes and (not element or "const" in declared.kind.split())


def kept_elements(function: Node | None) -> set[int]:
    """Numbers of parameters through which a function reaches at most the element that it gets.

    These are values, and references of which it takes no address.
    """
    inside = [*walk(function)] if function is not None else []
    addressed = {text(node).lstrip("& (") for node in inside if node.type == "pointer_expression"}
    kept = set[int]()
    for number, parameter in enumerate(parameters(function)):
        named = parameter.child_by_field_name("declarator")
        is_value = named is None or named.type == "identifier"
        refers = named is not None and named.type == "reference_declarator"
        if is_value or (refers and declared_name(named) not in addressed):
            kept.add(number)
    return kept


def _harmless(name: str) -> bool:
    """Whether a function is known to write nothing that a loop's iterations share."""
    listed = name in library.MATH or name in library.HARMLESS or "atomic" in name
    return listed or name.endswith("_cast") or name.startswith(("_", "cudaM", "cudaF", "cudaS"))
