"""Numbers that a function compares elements of its arrays with: sentinels, ends, thresholds.

    if (dist[i] == INF)                 INF with dist; a literal, a macro or a constant
    const char c = text[i]; switch (c)  its cases with text
    if (flags[i] & 0x80)                0x80 with flags
    std::count(x, x + n, -1)            -1 with x
    if (x[i] == nodata)                 the name nodata with x, where it is an argument

An element may be reached by pointers, references, views, loops over a range and helper functions,
told apart by their names. Not covered: what an element is compared with after it was changed, and
numbers of headers but for the limits of types.
"""

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.macros import written_out
from regraph_kg.cpp.syntax import arguments, bare, called, operator, parameters, text, walk

Number = int | float
_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!=", "&"})
_CHOICES = frozenset(["min", "max", "fmin", "fmax", "fminf", "fmaxf", "clamp"])
_SEARCHES = frozenset({"find", "count", "replace", "remove", "lower_bound", "upper_bound"})
_UNARY: Mapping[str, Callable[[int], int]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "~": lambda a: ~a,
}
_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<<": lambda a, b: a << min(b, 64),
    "|": lambda a, b: a | b,
}
_DEPTH, _ROUNDS, _MOST = 12, 4, 16  # of an expression; of names that follow names; numbers of one
_FLOAT = 3.4028234663852886e38
_SIGNED = {"char": 8, "signed char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}
_BITS = {
    **{name: (bits, True) for name, bits in _SIGNED.items()},
    **{f"unsigned {name}": (bits, False) for name, bits in _SIGNED.items()},
    **{f"{sign}int{bits}_t": (bits, not sign) for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"unsigned": (32, False), "size_t": (64, False), "signed": (32, True)},
}
_SHORT = {"INT": "int", "UINT": "unsigned", "LONG": "long", "LLONG": "long", "SHRT": "short"}
_SHORT |= {"SCHAR": "char", "CHAR": "char", "UCHAR": "unsigned char", "USHRT": "unsigned short"}
_SHORT |= {"FLT": "float", "DBL": "double", "ULONG": "uint64_t", "ULLONG": "uint64_t"}
_ROOTED = ("subscript_expression", "pointer_expression", "field_expression")


@dataclass(frozen=True, slots=True)
class Compared:
    """A number that elements of an argument are compared with; of a struct's, one field.

    `is_own`: the element itself, rather than something that was made of it.
    """

    argument: str
    field: str
    value: Number
    is_own: bool


@dataclass(slots=True)
class _Names:
    """What names stand for, by function: arguments of the entry, and whether they are elements."""

    origins: defaultdict[tuple[str, str], set[str]] = field(
        default_factory=lambda: defaultdict(set)
    )
    elements: set[tuple[str, str]] = field(default_factory=set)


@lru_cache(maxsize=8)
def compared(
    code: str, entry: str, scalars: tuple[tuple[str, Number], ...]
) -> tuple[Compared, ...]:
    """Such numbers of a source, once each; `scalars` are arguments with the value of each call."""
    root = syntax.tree_of(written_out(code)[0]).root
    reading = _Reading(root, entry, dict(scalars))
    found: dict[Compared, None] = {}
    for function, node in reading.inside:
        for one in reading.comparisons(function, node):
            found.setdefault(one)
    kept: defaultdict[tuple[str, str], list[Compared]] = defaultdict(list)
    for one in sorted(found, key=lambda each: not each.is_own):
        same = kept[one.argument, one.field]
        if len(same) < _MOST and one.value not in [other.value for other in same]:
            same.append(one)
    return tuple(one for same in kept.values() for one in same)


class _Reading:
    """One text: its constants, its functions, and whose elements its names are."""

    def __init__(self, root: Node, entry: str, scalars: Mapping[str, Number]) -> None:
        self._entry, self._scalars = entry, scalars
        self._constants: dict[str, Number] = {}
        self._learn(root)
        kinds = [node for node in walk(root) if node.type == "function_definition"]
        self._parameters = {
            syntax.declared_name(node): [
                syntax.declared_name(one.child_by_field_name("declarator"))
                for one in parameters(node)
            ]
            for node in kinds
        }
        self.inside = [(syntax.declared_name(each), node) for each in kinds for node in walk(each)]
        self._names = _Names()
        for name in self._parameters.get(entry, []):
            self._names.origins[entry, name].add(name)
        for _ in range(_ROUNDS):
            for function, node in self.inside:
                self._follow(function, node)

    def _learn(self, root: Node) -> None:
        """Take in macros, enumerators and declarations of what does not change."""
        for node in walk(root):
            value, name = node.child_by_field_name("value"), node.child_by_field_name("name")
            if node.type == "preproc_def" and value is not None:
                inner = syntax.tree_of(f"auto made = ({text(value)});").root
                whole = (n for n in walk(inner) if n.type == "init_declarator")
                value = next((n.child_by_field_name("value") for n in whole), None)
            elif node.type == "init_declarator" and "const" in text(node.parent).partition("=")[0]:
                name = node.child_by_field_name("declarator")
            elif node.type != "enumerator":
                continue
            number = self.number("", value)
            if number is not None:
                self._constants.setdefault(syntax.declared_name(name) or text(name), number)

    def number(self, function: str, node: Node | None, depth: int = _DEPTH) -> Number | None:
        """The value of a constant expression, or of a scalar argument; None of any other."""
        node = bare(node)
        if node is None or not depth:
            return None
        said = text(node)
        if node.type in ("identifier", "qualified_identifier"):
            name = said.rpartition("::")[2]
            scalar = self._names.origins.get((function, name), set()) if function else set[str]()
            given = [self._scalars[one] for one in scalar if one in self._scalars]
            return given[0] if len(scalar) == len(given) == 1 else self._named(name)
        if node.type == "call_expression":
            return _limit(said)
        sign = operator(node)
        if node.type == "unary_expression" and sign in _UNARY:
            inner = self.number(function, node.child_by_field_name("argument"), depth - 1)
            return _applied(_UNARY[sign], inner)
        if node.type == "binary_expression" and sign in _BINARY:
            left, right = (node.child_by_field_name(side) for side in ("left", "right"))
            first, second = (self.number(function, side, depth - 1) for side in (left, right))
            return _applied(_BINARY[sign], first, second)
        return _literal(node.type, said)

    def _named(self, name: str) -> Number | None:
        if name in self._constants:
            return self._constants[name]
        if name in ("INFINITY", "HUGE_VAL", "HUGE_VALF"):
            return math.inf
        kind, _, end = name.rpartition("_")
        if re.fullmatch(r"U?INT\d+", kind):
            kind = f"{kind.lower()}_t"
        return _end(_SHORT.get(kind, kind), end.lower()) if end in ("MAX", "MIN") else None

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
        every = (self._names.origins.get((function, name), set()) for name in self._roots(node))
        return set().union(*every)

    def _is_element(self, function: str, node: Node | None) -> bool:
        """Whether a value is an element as it lies in an array."""
        node = bare(node)
        if node is None:
            return False
        if node.type == "identifier":
            return (function, text(node)) in self._names.elements
        if node.type == "pointer_expression":
            return operator(node) == "*"
        is_at = node.type == "call_expression" and called(node) in (".at", ".front", ".back")
        return is_at or node.type in ("subscript_expression", "field_expression")

    def _set(self, function: str, name: str, from_: tuple[str, Node | None], element: bool) -> None:
        """Let a name stand for what a value is made of."""
        origins = self._origins(*from_)
        if name and origins:
            self._names.origins[function, name] |= origins
            if element:
                self._names.elements.add((function, name))

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
            lambdas = [one for one in values if one.type == "lambda_expression"]
            for one in lambdas:
                for parameter in parameters(one):
                    name = syntax.declared_name(parameter.child_by_field_name("declarator"))
                    for other in values:
                        self._set(function, name, (function, other), element=True)
            name = called(node)
            for taken, other in zip(self._parameters.get(name, []), values, strict=False):
                self._set(name, taken, (function, other), self._is_element(function, other))

    def comparisons(self, function: str, node: Node) -> Iterator[Compared]:
        """What one node compares."""
        left, right = (node.child_by_field_name(side) for side in ("left", "right"))
        if node.type == "binary_expression" and operator(node) in _COMPARISONS:
            yield from self._between(function, left, right)
            yield from self._between(function, right, left)
        elif node.type == "call_expression" and called(node) in _CHOICES | _SEARCHES:
            values = arguments(node)
            for one in values:
                for other in values:
                    yield from self._between(function, one, other, called(node) in _SEARCHES)
        elif node.type == "switch_statement":
            condition = node.child_by_field_name("condition")
            asked = condition and (condition.child_by_field_name("value") or condition)
            for case in (one for one in walk(node) if one.type == "case_statement"):
                yield from self._between(function, asked, case.child_by_field_name("value"))

    def _between(
        self, function: str, element: Node | None, other: Node | None, is_search: bool = False
    ) -> Iterator[Compared]:
        """A value, and a number that it is compared with."""
        value = self.number(function, other)
        inner = bare(element)
        if value is None or inner is None or self.number(function, inner) is not None:
            return
        is_field = inner.type == "field_expression"
        name = text(inner.child_by_field_name("field")) if is_field else ""
        is_own = is_search or self._is_element(function, inner)
        for origin in sorted(self._origins(function, inner)):
            yield Compared(origin, name, value, is_own)


def _applied(apply: Callable[..., Number], *values: Number | None) -> Number | None:
    """What an operator makes of numbers; None where it does not take them."""
    try:
        return None if None in values else apply(*values)
    except (TypeError, ValueError, OverflowError):
        return None


def _literal(kind: str, said: str) -> Number | None:
    """A number or a character as it is spelled."""
    if kind in ("true", "false"):
        return int(kind == "true")
    if kind == "char_literal":
        plain = said.strip("'")
        escapes = {"\\n": 10, "\\t": 9, "\\r": 13, "\\0": 0, "\\\\": 92, "\\'": 39}
        return escapes.get(plain, ord(plain) if len(plain) == 1 else None)
    if kind != "number_literal":
        return None
    plain = said.replace("'", "").lower()
    has_base = plain.startswith(("0x", "0b"))
    plain = plain.rstrip("ulz") if has_base else plain.rstrip("ulzf")
    try:
        digits = plain.removeprefix("-")
        if re.fullmatch("0[0-7]+", digits):
            return int(plain, 8)
        return int(plain, 0) if has_base or digits.isdigit() else float(plain)
    except ValueError:
        return None


def _limit(said: str) -> Number | None:
    """The value of `std::numeric_limits<T>::max()` and its like."""
    head, _, end = "".join(said.split()).rpartition(">::")
    kind = head.partition("numeric_limits<")[2].removeprefix("std::")
    kind = kind.replace("unsigned", "unsigned ").strip()
    return _end(kind, end.removesuffix("()")) if kind and end.endswith("()") else None


def _end(kind: str, which: str) -> Number | None:
    """The least or largest number of a type."""
    if kind in ("float", "double"):
        largest = _FLOAT if kind == "float" else sys.float_info.max
        ends = {"max": largest, "lowest": -largest, "infinity": math.inf}
        return ends.get(which)
    if kind not in _BITS or which not in ("max", "min", "lowest"):
        return None
    bits, signed = _BITS[kind]
    return (1 << bits - signed) - 1 if which == "max" else -(1 << bits - 1) * signed
