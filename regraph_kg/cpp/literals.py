"""Numbers at which a source may branch: thresholds, tiles and bounds that it spells out.

Each comes with the names that it is compared with, likely thresholds first:

    if (n < 100000)              100000 with n
    #pragma omp .. if(n > L)     what L is with n, where L is a constant or a macro
    for (i = 0; i < n; i += 512) 512 alone

Products, sums and shifts of constants are worked out. A name that was set to an expression over
others stands for those, over a step or two: total = rows * cols.

Not covered: numbers that are computed when the code runs, and those of headers.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile, declared_name, functions, parsed
from regraph_kg.cpp.syntax import walk

_MOST, _MOST_SHIFT = 2**40, 40  # no extent is larger, and no number that is worked out grows on
_COMPARISONS = {"<", ">", "<=", ">=", "==", "!="}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": lambda number, bits: number << min(max(bits, 0), _MOST_SHIFT),
}
_WHOLE = re.compile(r"(0[xX][\da-fA-F]{1,16}|0[bB][01]{1,64}|\d{1,20})[uUlLzZ]*")
_ROUND = re.compile(r"(\d{1,20}(?:\.\d{0,20})?(?:[eE]\+?\d{1,2})?)[fFlL]?")
_STEPS = 2  # how often a name is replaced by those that it was computed from
_DEPTH, _NODES, _NAMED = 8, 200_000, 64  # what a hostile source can have looked at
_PLACE = Path("candidate.cpp")


@dataclass(frozen=True, slots=True)
class Literal:
    """A number of a source, and the names that it is compared with; none where it is not."""

    value: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Literals:
    """Numbers of one source, likely thresholds first, and the parameters of its entry point."""

    numbers: tuple[Literal, ...]
    lengths: frozenset[int]  # of arrays
    parameters: tuple[str, ...]


@lru_cache(maxsize=4)
def literals(code: str, entry: str) -> Literals:
    """Whole numbers above 1 in a source. Raises `BadInput` where it is no UTF-8 text."""
    # a directive's lines are one, and its words are parsed as if they were a statement
    source = parsed(_PLACE, code.replace("\\\n", " ").encode())
    statements = (f"void f() {{ {said}; }}" for said in _directives(source))
    texts = [source, *(parsed(_PLACE, said.encode()) for said in statements)]
    scope = _Scope({}, {})
    for text in texts:
        scope.learn(text)
    found: dict[Literal, None] = {}
    lengths = set[int]()
    for text in texts:
        for node in islice(walk(text.tree.root_node), _NODES):
            for literal in scope.literals(text, node):
                found.setdefault(literal)
            lengths.update(scope.length(text, node))
    compared = {literal.value for literal in found if literal.names}
    numbers = [lit for lit in found if lit.value > 1 and (lit.names or lit.value not in compared)]
    entries = [function for function in functions(source) if function.name == entry]
    names = [declared_name(source, node) for node in entries[0].parameters] if entries else []
    return Literals(
        tuple(sorted(numbers, key=lambda lit: not lit.names)), frozenset(lengths), tuple(names)
    )


def _directives(source: CodeFile) -> Iterator[str]:
    """The text of pragmas as calls, and of macros without parameters as definitions."""
    for node in islice(walk(source.tree.root_node), _NODES):
        if node.type not in ("preproc_def", "preproc_call"):
            continue
        value, name = (node.child_by_field_name(part) for part in ("value", "name"))
        if node.type == "preproc_def" and value is not None and name is not None:
            yield f"auto {source.text(name)} = {source.text(value)};"
        argument = node.child_by_field_name("argument")
        if argument is not None and "(" in source.text(argument):
            text = source.text(argument)
            yield text[text.index("(") - 2 :].replace(" if", "; if")


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the names of a source stand for, blocks and shadowing aside."""

    constants: dict[str, int]
    origins: dict[str, frozenset[str]]  # names in what another one was set to

    def learn(self, source: CodeFile) -> None:
        """Take in declarations with a value, and enumerators."""
        for node in islice(walk(source.tree.root_node), _NODES):
            value = node.child_by_field_name("value")
            name = node.child_by_field_name("declarator") or node.child_by_field_name("name")
            if node.type not in ("init_declarator", "enumerator") or not value or not name:
                continue
            number = self._number(source, value)
            if number is None:
                self.origins.setdefault(source.text(name), _identifiers(source, value))
            else:
                self.constants.setdefault(source.text(name), number)

    def literals(self, source: CodeFile, node: Node) -> Iterator[Literal]:
        """The number of a node, or of one side of a comparison."""
        sides = [node.child_by_field_name(part) for part in ("left", "right")]
        sign = node.child_by_field_name("operator")
        if node.type == "binary_expression" and sign and source.text(sign) in _COMPARISONS:
            for side, other in (sides, sides[::-1]):
                number = side and self._number(source, side)
                if number and other:
                    names = _identifiers(source, other)
                    for _ in range(_STEPS):  # and those that they were computed from
                        names = names.union(*(self.origins.get(name, ()) for name in names))
                    yield Literal(number, names)
        elif number := self._number(source, node):
            yield Literal(number, frozenset())

    def length(self, source: CodeFile, node: Node) -> Iterator[int]:
        """The length of an array that a node declares."""
        size = node.child_by_field_name("size") if node.type == "array_declarator" else None
        number = self._number(source, size) if size is not None else None
        if number is not None:
            yield number

    def _number(self, source: CodeFile, node: Node, depth: int = _DEPTH) -> int | None:
        """The value of a constant expression; None of any other, and of a deeper one."""
        kind = node.type if depth else ""
        if kind == "number_literal":
            return _whole(source.text(node))
        if kind == "identifier":
            return self.constants.get(source.text(node))
        if kind in ("parenthesized_expression", "cast_expression") and node.named_children:
            return self._number(source, node.named_children[-1], depth - 1)
        sign = node.child_by_field_name("operator")
        apply = _ARITHMETIC.get(source.text(sign)) if sign is not None else None
        if kind != "binary_expression" or apply is None:
            return None
        sides = [node.child_by_field_name(part) for part in ("left", "right")]
        first, second = (side and self._number(source, side, depth - 1) for side in sides)
        if first is None or second is None or max(first, second) >= _MOST:
            return None
        return apply(first, second)


def _identifiers(source: CodeFile, node: Node) -> frozenset[str]:
    few = islice(walk(node), _NAMED)
    return frozenset(source.text(each) for each in few if each.type == "identifier")


def _whole(text: str) -> int | None:
    """A literal's value where it is whole: 0x1F, 100'000, 1e6."""
    plain = text.replace("'", "")
    if match := _WHOLE.fullmatch(plain):
        octal = re.fullmatch("0[0-7]+", match[1])
        has_prefix = match[1][:2].lower() in ("0x", "0b")
        return int(match[1], 8 if octal else 0 if has_prefix else 10)
    match = _ROUND.fullmatch(plain)
    value = float(match[1]) if match else 0.5
    return int(value) if value.is_integer() and value <= _MOST else None
