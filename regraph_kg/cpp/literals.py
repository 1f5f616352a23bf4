"""Numbers at which a source may branch: thresholds, tiles and bounds that it spells out.

Each comes with the names that it is compared with, likely thresholds first:

    if (n < 100000)              100000 with n
    #pragma omp .. if(n > L)     what L is with n, where L is a constant or a macro
    for (i = 0; i < n; i += 512) 512 alone

Products, sums and shifts of constants are worked out. A name that was set to an expression over
others stands for those, over a step or two: total = rows * cols.

Not covered: numbers that are computed when the code runs, and those of headers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.constants import Constants
from regraph_kg.cpp.functions import functions, parsed
from regraph_kg.cpp.syntax import declared_name, operator, text, walk

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
    nodes = list(islice(walk(source.tree.root_node), _NODES))
    for said in filter(None, map(_statement, nodes)):
        nodes += islice(walk(syntax.parse(said.encode()).root_node), _NODES)
    scope, found, lengths = _Scope(nodes), dict[Literal, None](), set[int]()
    for node in nodes:
        found |= dict.fromkeys(scope.literals(node))
        size = node.child_by_field_name("size") if node.type == "array_declarator" else None
        lengths |= {number} if (number := scope.number(size)) is not None else set()
    compared = {literal.value for literal in found if literal.names}
    numbers = [lit for lit in found if lit.value > 1 and (lit.names or lit.value not in compared)]
    entries = [function for function in functions(source) if function.name == entry]
    names = [declared_name(node) for node in entries[0].parameters] if entries else []
    return Literals(
        tuple(sorted(numbers, key=lambda lit: not lit.names)), frozenset(lengths), tuple(names)
    )


def _statement(node: Node) -> str:
    """The text of a pragma as calls, and of a macro without parameters as a definition."""
    value, said = node.child_by_field_name("value"), text(node.child_by_field_name("argument"))
    if node.type == "preproc_def" and value is not None:
        said = f"auto {text(node.child_by_field_name('name'))} = {text(value)}"
    elif node.type == "preproc_call" and "(" in said:
        said = said[said.index("(") - 2 :].replace(" if", "; if")
    else:
        return ""
    return f"void f() {{ {said}; }}"


class _Scope:
    """What the names of a source stand for, blocks and shadowing aside."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._constants, self._origins = Constants(), dict[str, frozenset[str]]()
        self._constants.learn(nodes, changing=True)
        for node in nodes:  # names in what another one was set to
            value, name = (node.child_by_field_name(part) for part in ("value", "declarator"))
            if node.type == "init_declarator" and value and name:
                self._origins.setdefault(text(name), _identifiers(value))

    def literals(self, node: Node) -> Iterator[Literal]:
        """The number of a node, or of one side of a comparison."""
        sides = [node.child_by_field_name(part) for part in ("left", "right")]
        if node.type == "binary_expression" and operator(node) in _COMPARISONS:
            for side, other in (sides, sides[::-1]):
                number = self.number(side)
                if number and other:
                    names = _identifiers(other)
                    for _ in range(_STEPS):  # and those that they were computed from
                        names = names.union(*(self._origins.get(name, ()) for name in names))
                    yield Literal(number, names)
        elif number := self.number(node):
            yield Literal(number, frozenset())

    def number(self, node: Node | None) -> int | None:
        """The value of a constant expression that is whole; None of any other."""
        number = self._constants.number(node)
        is_whole = number is not None and abs(number) <= _MOST and number == int(number)
        return int(number) if number is not None and is_whole else None


def _identifiers(node: Node) -> frozenset[str]:
    few = islice(walk(node), _NAMED)
    return frozenset(text(each) for each in few if each.type == "identifier")
