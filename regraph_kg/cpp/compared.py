"""Numbers that a function compares elements of its arrays with: sentinels, ends, thresholds.

    if (dist[i] == INF)                 INF with dist; a literal, a macro or a constant
    const char c = text[i]; switch (c)  its cases with text
    if (flags[i] & 0x80)                0x80 with flags

An element may be reached by pointers, references, views, loops over a range and helper functions,
told apart by their names. Not covered: what an element is compared with after it was changed or by
an algorithm of the library, and numbers of headers but for the limits of types.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.constants import Constants, Number
from regraph_kg.cpp.macros import written_out
from regraph_kg.cpp.syntax import arguments, bare, called, operator, parameters, text, walk

_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&"})
_ROUNDS, _MOST = 4, 16  # of names that follow names; numbers of one argument
_ROOTED = ("subscript_expression", "pointer_expression", "field_expression")


Found = tuple[tuple[str, str], Number, bool]
Compared = dict[tuple[str, str], dict[Number, bool]]
"""By argument, and field of a struct: numbers, and whether elements themselves meet them."""


@lru_cache(maxsize=8)
def compared(code: str, entry: str) -> Compared:
    """Such numbers of a source."""
    reading = _Reading(syntax.tree_of(written_out(code)[0]).root, entry)
    found: Compared = {}
    for function, node in reading.inside:
        for place, number, is_own in reading.comparisons(function, node):
            numbers = found.setdefault(place, {})
            if len(numbers) < _MOST or number in numbers:
                numbers[number] = is_own or numbers.get(number, False)
    return found


class _Reading:
    """One text: its constants, its functions, and whose elements its names are."""

    def __init__(self, root: Node, entry: str) -> None:
        self._constants = Constants()
        self._constants.learn(walk(root))
        kinds = [node for node in walk(root) if node.type == "function_definition"]
        self._parameters = {
            syntax.declared_name(node): [
                syntax.declared_name(one.child_by_field_name("declarator"))
                for one in parameters(node)
            ]
            for node in kinds
        }
        self.inside = [(syntax.declared_name(each), node) for each in kinds for node in walk(each)]
        self._origins_of: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._elements: set[tuple[str, str]] = set()
        for name in self._parameters.get(entry, []):
            self._origins_of[entry, name].add(name)
        for _ in range(_ROUNDS):
            for function, node in self.inside:
                self._follow(function, node)

    def _roots(self, node: Node | None) -> Iterator[str]:
        """Names that a value is made of, those of indices aside."""
        node = bare(node)
        if node is None:
            return
        if node.type == "identifier":
            yield text(node)
        elif node.type in _ROOTED:
            yield from self._roots(node.child_by_field_name("argument"))
        else:
            for child in node.named_children:
                yield from self._roots(child)

    def _origins(self, function: str, node: Node | None) -> set[str]:
        every = (self._origins_of.get((function, name), set()) for name in self._roots(node))
        return set().union(*every)

    def _is_element(self, function: str, node: Node | None) -> bool:
        """Whether a value is an element as it lies in an array."""
        node = bare(node)
        if node is None:
            return False
        if node.type == "identifier":
            return (function, text(node)) in self._elements
        if node.type == "pointer_expression":
            return operator(node) == "*"
        is_at = node.type == "call_expression" and called(node) in (".at", ".front", ".back")
        return is_at or node.type in ("subscript_expression", "field_expression")

    def _set(self, function: str, name: str, from_: tuple[str, Node | None], element: bool) -> None:
        """Let a name stand for what a value is made of."""
        origins = self._origins(*from_)
        if name and origins:
            self._origins_of[function, name] |= origins
            if element:
                self._elements.add((function, name))

    def _follow(self, function: str, node: Node) -> None:
        """What a declaration, an assignment, a loop or a call makes of names."""
        value = node.child_by_field_name("value" if node.type == "init_declarator" else "right")
        given = function, value
        if node.type in ("init_declarator", "assignment_expression", "for_range_loop"):
            side = "left" if node.type == "assignment_expression" else "declarator"
            name = syntax.declared_name(node.child_by_field_name(side))
            is_loop = node.type == "for_range_loop"
            self._set(function, name, given, is_loop or self._is_element(*given))
        elif node.type == "call_expression":
            values = arguments(node)
            name = called(node)
            for taken, other in zip(self._parameters.get(name, []), values, strict=False):
                self._set(name, taken, (function, other), self._is_element(function, other))

    def comparisons(self, function: str, node: Node) -> Iterator[Found]:
        """What one node compares."""
        left, right = (node.child_by_field_name(side) for side in ("left", "right"))
        if node.type == "binary_expression" and operator(node) in _COMPARISONS:
            yield from self._between(function, left, right)
            yield from self._between(function, right, left)
        elif node.type == "switch_statement":
            condition = node.child_by_field_name("condition")
            asked = condition and (condition.child_by_field_name("value") or condition)
            for case in (one for one in walk(node) if one.type == "case_statement"):
                yield from self._between(function, asked, case.child_by_field_name("value"))

    def _between(self, function: str, element: Node | None, other: Node | None) -> Iterator[Found]:
        """A value, and a number that it is compared with."""
        value = self._constants.number(other)
        inner = bare(element)
        if value is None or inner is None or self._constants.number(inner) is not None:
            return
        is_field = inner.type == "field_expression"
        name = text(inner.child_by_field_name("field")) if is_field else ""
        is_own = self._is_element(function, inner)
        for origin in sorted(self._origins(function, inner)):
            yield (origin, name), value, is_own
