"""Numbers at which a source may branch: thresholds, tiles and bounds that it spells out.

Each comes with the names that it is compared with, likely thresholds first:

    if (n < 100000)              100000 with n
    #pragma omp .. if(n > L)     what L is with n, where L is a constant or a macro
    for (i = 0; i < n; i += 512) 512 alone

Products, sums and shifts of constants are worked out. A name that was set to an expression over
others stands for those, over a step or two: total = rows * cols.

Not covered: numbers that are computed when the code runs, and those of headers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from tree_sitter import Node

from regraph_kg.cpp.constants import Constants
from regraph_kg.cpp.functions import CodeFile, functions, parsed
from regraph_kg.cpp.syntax import declared_name, walk

_MOST = 2**40  # no extent is larger
_COMPARISONS = {"<", ">", "<=", ">=", "==", "!="}
_STEPS = 2  # how often a name is replaced by those that it was computed from
_NODES, _NAMED = 200_000, 64  # what a hostile source can have looked at
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
    scope = _Scope(Constants(), {})
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
    names = [declared_name(node) for node in entries[0].parameters] if entries else []
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

    constants: Constants
    origins: dict[str, frozenset[str]]  # names in what another one was set to

    def learn(self, source: CodeFile) -> None:
        """Take in declarations with a value, and enumerators."""
        nodes = list(islice(walk(source.tree.root_node), _NODES))
        self.constants.learn(nodes, changing=True)
        for node in nodes:
            value, name = (node.child_by_field_name(part) for part in ("value", "declarator"))
            if node.type == "init_declarator" and value and name:
                self.origins.setdefault(source.text(name), _identifiers(source, value))

    def literals(self, source: CodeFile, node: Node) -> Iterator[Literal]:
        """The number of a node, or of one side of a comparison."""
        sides = [node.child_by_field_name(part) for part in ("left", "right")]
        sign = node.child_by_field_name("operator")
        if node.type == "binary_expression" and sign and source.text(sign) in _COMPARISONS:
            for side, other in (sides, sides[::-1]):
                number = side and self._number(side)
                if number and other:
                    names = _identifiers(source, other)
                    for _ in range(_STEPS):  # and those that they were computed from
                        names = names.union(*(self.origins.get(name, ()) for name in names))
                    yield Literal(number, names)
        elif number := self._number(node):
            yield Literal(number, frozenset())

    def length(self, source: CodeFile, node: Node) -> Iterator[int]:
        """The length of an array that a node declares."""
        size = node.child_by_field_name("size") if node.type == "array_declarator" else None
        number = self._number(size) if size is not None else None
        if number is not None:
            yield number

    def _number(self, node: Node) -> int | None:
        """The value of a constant expression that is whole; None of any other."""
        number = self.constants.number(node)
        is_whole = number is not None and abs(number) <= _MOST and number == int(number)
        return int(number) if number is not None and is_whole else None


def _identifiers(source: CodeFile, node: Node) -> frozenset[str]:
    few = islice(walk(node), _NAMED)
    return frozenset(source.text(each) for each in few if each.type == "identifier")
