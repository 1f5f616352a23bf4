"""A function as a sequence of kernels, one for each loop, and loops of the host around them.

    out[i] = in[i] for all i;  for s: { next[..] = ..; out[..] = next[..]; }

is three kernels, of which the host starts the last two in each step. Phases share data by arrays
only, so no other variable may live across them. Not here: whether a loop's iterations may be
threads (loops.py).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.cpp.functions import Function, declared_name
from regraph_kg.cpp.syntax import LOOPS
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import element_type, words_of
from regraph_kg.port.loops import (
    SerialLoop,
    as_threads,
    counted,
    is_constant,
    is_indexed,
    leaves,
)
from regraph_kg.port.names import RENAMED, is_number

_STATEMENTS = {
    *LOOPS,
    *("expression_statement", "if_statement", "switch_statement", "compound_statement"),
}
"""Statements that declare nothing for later ones."""
_CLEARS = re.compile(r"(?:\*\s*(\w+)|(\w+)\[(\d+)\]) = 0;")


@dataclass(frozen=True, slots=True)
class Phase:
    """One statement: a kernel of its own, or a loop of the host with phases in it."""

    node: Node
    loop: SerialLoop | None
    """A loop whose iterations are threads, or that the host runs; None: one thread runs all."""
    inside: tuple["Phase", ...] = ()
    constants: tuple[Node, ...] = ()  # declarations before it that it may need
    outer: tuple[SerialLoop, ...] = ()  # loops of the host around it
    cleared: tuple[str, str] | None = None
    """The array and the index of the one element that it sets to 0, which the host can do."""

    def all(self) -> Iterator["Phase"]:
        """The phase, and all phases inside it."""
        yield self
        for child in self.inside:
            yield from child.all()

    def kernels(self) -> Iterator["Phase"]:
        """The kernels among them."""
        return (phase for phase in self.all() if not phase.inside and phase.cleared is None)


def phases(
    function: Function, arrays: Mapping[str, bool], *, serial: bool = False
) -> tuple[Phase, ...]:
    """The phases of a kernel; empty where it cannot be split, or where no loop may be threads.

    `arrays`: its array parameters -> whether anything may write them. `serial`: allow phases
    without threads.
    """
    parts = _Reader(function, arrays).split(function.body, (), ())
    kernels = [kernel for phase in parts or () for kernel in phase.kernels()]
    return tuple(parts or ()) if serial or any(kernel.loop for kernel in kernels) else ()


@dataclass(slots=True)
class _Reader:
    function: Function
    arrays: Mapping[str, bool]
    changed: set[str] = field(init=False)  # names that the function may change
    moved: bool = field(init=False)
    """Whether an array may become another one, as by `std::swap(a, b)`: a kernel has its own."""

    def __post_init__(self) -> None:
        source = self.function.source
        self.changed, self.moved = set(), False
        for target in Changes(source).changed_by(self.function.body):
            self.changed.add(source.text(target))
            above = target.parent
            call = above.parent if above is not None and above.type == "argument_list" else None
            called = call.child_by_field_name("function") if call is not None else None
            # what changes lies in an array, and the array stays the same
            inside = is_indexed(target) or (called and source.text(called) in RENAMED)
            self.moved |= not inside and source.text(target) in self.arrays

    def split(
        self, block: Node, constants: tuple[Node, ...], outer: tuple[SerialLoop, ...]
    ) -> list[Phase] | None:
        """The phases of a block; None where another variable lives across them."""
        source, parts = self.function.source, list[Phase]()
        scalars = {declared_name(source, parameter) for parameter in self.function.parameters}
        if self.moved or self.changed & (scalars - self.arrays.keys()):
            return None
        for node in block.named_children:
            if node.type == "comment":
                continue
            if not parts and is_constant(source, node, self.changed, self.arrays):
                constants += (node,)
            elif node.type not in _STATEMENTS or leaves(node):
                return None
            else:
                parts.append(self._phase(node, constants, outer))
        several = len(parts) > 1 or any(part.inside for part in parts)
        reads = {word for node in constants for word in words_of(source, node)}
        reads &= {name for name, may_change in self.arrays.items() if may_change}
        if reads & (self.arrays.keys() if several else self.changed):
            return None
        return parts

    def _phase(
        self, node: Node, constants: tuple[Node, ...], outer: tuple[SerialLoop, ...]
    ) -> Phase:
        heads = [host_loop.head for host_loop in outer if host_loop.head]
        before = (*constants, *heads)
        loop = as_threads(self.function, node, before, self.arrays)
        inside = self._of_host(node, before, constants, outer) if loop is None else None
        if inside is not None:
            return inside
        match = _CLEARS.fullmatch(self.function.source.text(node))  # `a[0] = 0;`, `*a = 0;`
        array = (match[1] or match[2]) if match else ""
        kind = element_type(self.function, array)
        cleared = (array, match[3] or "0") if match and kind and is_number(kind) else None
        return Phase(node, loop, (), constants, outer, cleared)

    def _of_host(
        self,
        node: Node,
        before: Sequence[Node],
        constants: tuple[Node, ...],
        outer: tuple[SerialLoop, ...],
    ) -> Phase | None:
        """A loop that the host can run, with at least one loop of threads inside it."""
        body = node.child_by_field_name("body")
        loop = counted(self.function, node, before, self.arrays) if body is not None else None
        if loop is None or body is None or body.type != "compound_statement":
            return None
        source = self.function.source
        if loop.variable in map(source.text, Changes(source).changed_by(body)):
            return None
        inner = self.split(body, constants, (*outer, loop))
        if not inner or not any(kernel.loop for phase in inner for kernel in phase.kernels()):
            return None
        return Phase(node, loop, tuple(inner), constants, outer)
