"""Whether the iterations of a loop need each other, as far as simple tests of indices show.

Different arrays are taken not to overlap, and symbolic strides to be longer than the inner loops
that walk between them. A result that all iterations update (`sum += ..`) is a reduction, which
counts apart: it can be protected or split.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tree_sitter import Node

from regraph_kg.search.code.guards import combined_by
from regraph_kg.search.code.indices import ElementAccess, Indices
from regraph_kg.search.code.library import GROWING, HARMLESS, MATH, UNORDERED
from regraph_kg.search.code.occurrences import Declared, Occurrence
from regraph_kg.search.code.polynomial import Polynomial, add, number, replace, symbol
from regraph_kg.search.code.polynomial import names as names_in
from regraph_kg.search.code.syntax import arguments, bare, called, text

Carries = Literal["yes", "no", "unknown"]
_MOST_OF_AN_ARRAY = 48


@dataclass(slots=True)
class Dependences:
    """What the iterations of one loop share."""

    verdicts: set[Carries] = field(default_factory=set)
    reduces: dict[str, set[str]] = field(default_factory=dict)
    """What they combine, and by which operators of a reduction clause; "" is none of them."""
    scan: bool = False
    swaps: bool = False
    """Whether pointers or containers change places."""
    evolves: bool = False
    """Whether it reads arrays as the iteration before it left them, and writes them anew."""
    private: list[str] = field(default_factory=list)
    """Scalars and arrays that each iteration sets before it reads them."""

    @property
    def carries(self) -> Carries:
        """The strongest of all verdicts."""
        return "yes" if "yes" in self.verdicts else ("unknown" if self.verdicts else "no")


class LoopUses:
    """What stands in one loop: its accesses, names and calls."""

    def __init__(
        self,
        names: Indices,
        loop: int,
        elements: Sequence[ElementAccess],
        uses: Sequence[Occurrence],
    ) -> None:
        self.names, self.loop = names, loop
        self.elements, self.uses = elements, uses
        self.found = Dependences()
        self.own = names.headers[loop].symbol

    def read(self, calls: Sequence[Occurrence]) -> Dependences:
        """All that the iterations share."""
        header = self.names.headers[self.loop]
        if not header.symbol:
            self.found.verdicts.add("yes")
        self._scalars()
        for group in _grouped(self.elements):
            if not self._local(group[0].declared):
                self._array(group[:_MOST_OF_AN_ARRAY])
        for call in calls:
            self._call(call)
        return self.found

    def _local(self, declared: Declared | None) -> bool:
        """Whether each iteration has one of its own."""
        return (
            declared is not None
            and not declared.parameter
            and self.loop in self.names.chain(declared.loop)
            and "static" not in declared.kind.split()
        )

    def _scalars(self) -> None:
        groups: dict[tuple[str, int], list[Occurrence]] = {}
        for use in self.uses:
            name = text(use.node)
            declared = self.names.events.find(name, use.node)
            if declared is not None and (declared.element or _aliases(declared)):
                continue
            if name != self.names.headers[self.loop].variable and not self._local(declared):
                groups.setdefault((name, id(declared)), []).append(use)
        for (name, _), uses in groups.items():
            if any(use.mode != "read" for use in uses):
                self._scalar(name, uses)

    def _scalar(self, name: str, uses: list[Occurrence]) -> None:
        modes = [use.mode for use in uses]
        around = self.names.events.loops[self.loop].place.branches
        if "read" not in modes and ("write" not in modes or uses[0].place.branches > around):
            self._reduces(name, uses)  # also a flag, or the last that was found
        elif modes[0] == "write" and uses[0].place.branches == around:
            self.found.private.append(name)
        elif "write" in modes and self._pointer(uses[0]):
            self.found.swaps = True
            self.found.verdicts.add("yes")
        elif "read" not in modes:
            self._reduces(name, uses)
        else:
            self.found.verdicts.add("yes")
            updates = [use for use in uses if use.mode == "update"]
            running = updates and not all(map(_counts, updates))
            self.found.scan |= bool(running) and any(
                use.place.stored for use in uses if use.mode == "read"
            )

    def _reduces(self, name: str, updates: Sequence[Occurrence | ElementAccess]) -> None:
        signs = (combined_by(one.node) for one in updates if one.mode != "read")
        self.found.reduces.setdefault(name, set()).update(one for one in signs if one is not None)

    def _pointer(self, use: Occurrence) -> bool:
        declared = self.names.events.find(text(use.node), use.node)
        return declared is not None and declared.pointer

    def _array(self, group: list[ElementAccess]) -> None:
        writes = [one for one in group if one.mode != "read"]
        if not writes:
            return
        updates = all(one.mode == "update" for one in group)
        for write in writes:
            moves = self._moves(write)
            if moves is None:
                self._update(write, updates, "unknown")
            elif not any(moves):
                self._same_place(write, group, updates)
            elif self._overlaps(write, moves):
                self._update(write, updates, "unknown")
            else:
                for other in group:
                    verdict = self._pair(write, other, moves)
                    if verdict != "no":
                        self.found.verdicts.add(verdict)

    def _update(self, write: ElementAccess, updates: bool, otherwise: Carries) -> None:
        if updates:
            self._reduces(write.array, [write])
        else:
            self.found.verdicts.add(otherwise)

    def _same_place(self, write: ElementAccess, group: list[ElementAccess], updates: bool) -> None:
        """Every iteration writes the same elements."""
        around = self.names.events.loops[self.loop].place.branches
        first = group[0]
        if not updates and first.mode == "write" and first.place.branches == around:
            self.found.private.append(write.array)
            self.found.verdicts.add("unknown")
            return
        reads = any(one.mode != "update" for one in group if one is not write)
        inner = write.place.loop != self.loop
        self.found.evolves |= inner and reads and not updates
        self._update(write, updates, "yes" if reads else "unknown")

    def _moves(self, one: ElementAccess) -> list[Polynomial] | None:
        around = self.names.chain(one.place.loop)
        moves = [self.names.moved(index, self.loop, around) for index in one.index]
        known = [move for move in moves if move is not None]
        return known if len(known) == len(moves) else None

    def _overlaps(self, write: ElementAccess, moves: list[Polynomial]) -> bool:
        """Whether an inner loop walks over the same elements: `r[i + j]`."""
        around = self.names.chain(write.place.loop)
        inner = around[around.index(self.loop) + 1 :]
        for loop in inner:
            steps = [self.names.moved(index, loop, around) for index in write.index]
            same = [bool(a) and a == b for a, b in zip(steps, moves, strict=True)]
            if any(same):
                return True
        return False

    def _pair(self, write: ElementAccess, other: ElementAccess, moves: list[Polynomial]) -> Carries:
        if write is other:
            return "no"
        if len(write.index) != len(other.index):
            return "unknown"
        inside = {self.names.headers[k].symbol for k in self._inner(write, other)} - {""}
        pairs = zip(write.index, other.index, moves, strict=True)
        verdict: Carries = "no"
        for one, two, move in pairs:
            gap = add(one, two, -1)
            if not move:
                if gap and number(gap) is not None:
                    return "no"
                continue
            found = self._gap(gap, move, inside)
            if found == "no" and gap:
                return "no"
            verdict = found if verdict == "no" else verdict
        if verdict == "yes" and write.place.loop == other.place.loop == self.loop:
            self.found.scan |= other.place.stored and _combines_previous(write, other)
        return verdict

    def _inner(self, *elements: ElementAccess) -> Iterable[int]:
        for one in elements:
            around = self.names.chain(one.place.loop)
            yield from around[around.index(self.loop) + 1 :]

    def _gap(self, gap: Polynomial, move: Polynomial, inside: set[str]) -> Carries:
        """Of two accesses `gap` apart, where one iteration moves by `move`."""
        rest = {product: f for product, f in gap.items() if not inside & set(product)}
        size = number(move)
        if size is None:  # a row: what lies within one makes no difference
            held = names_in(move) | {self.own}
            rest = {product: f for product, f in rest.items() if held & set(product)}
        elif len(rest) < len(gap) and abs(size) == 1:
            return "unknown"
        distance = number(rest)
        if distance is not None:
            return "yes" if distance and size is not None and not distance % size else "no"
        if self.own in names_in(rest):
            return "no" if self._apart(rest) else "unknown"
        if any(p in move and f % move[p] == 0 for p, f in rest.items()):
            return "yes"
        return "no" if size is not None and self._row(rest) else "unknown"

    def _apart(self, gap: Polynomial) -> bool:
        """Whether the loop's start keeps a difference such as `i - k` from being zero."""
        begin = add(self.names.start(self.loop), symbol(self.own))
        moved = replace(gap, self.own, begin)
        signs = {factor > 0 for factor in moved.values()}
        return len(signs) == 1 and any(self.own not in product for product in moved)

    def _row(self, gap: Polynomial) -> bool:
        """Whether a difference is a row's length of an array that this loop walks along a row."""
        around = self.names.chain(self.loop)[:-1]
        rows = [self.names.headers[loop].symbol for loop in around]
        wanted = {tuple(n for n in product if n not in rows) for product in gap}
        for one in self.elements:
            for index in one.index:
                products = {
                    tuple(n for n in p if n not in rows) for p in index if set(p) & set(rows)
                }
                if wanted <= products | {()}:
                    return True
        return False

    def _call(self, call: Occurrence) -> None:
        name = called(call.node)
        if name == "swap":
            self.found.swaps = True
        grows = name in GROWING and not self._local(self._receiver(call))
        if name == "swap" or grows or name in UNORDERED:
            self.found.verdicts.add("yes")
        elif not _harmless(name) and any(map(self._may_be_written, arguments(call.node))):
            self.found.verdicts.add("unknown")

    def _receiver(self, call: Occurrence) -> Declared | None:
        function = call.node.child_by_field_name("function")
        inner = function.child_by_field_name("argument") if function else None
        return self.names.events.find(text(inner), inner) if inner is not None else None

    def _may_be_written(self, argument: Node) -> bool:
        node = bare(argument)
        if node is None:
            return False
        if node.type in ("pointer_expression", "lambda_expression"):
            return True
        declared = self.names.events.find(text(node), node) if node.type == "identifier" else None
        if declared is None or self._local(declared):
            return False
        held = declared.pointer or declared.reference or declared.array or "<" in declared.kind
        return held and "const" not in declared.kind.split()


def _grouped(elements: Sequence[ElementAccess]) -> Iterable[list[ElementAccess]]:
    groups: dict[tuple[str, int], list[ElementAccess]] = {}
    for one in elements:
        groups.setdefault((one.array, id(one.declared)), []).append(one)
    return groups.values()


def _aliases(declared: Declared) -> bool:
    value = bare(declared.value)
    return declared.reference and value is not None and value.type == "subscript_expression"


def _counts(use: Occurrence) -> bool:
    """Whether an update is by a number, in every iteration: what the loop's variable says, too."""
    parent = use.node.parent
    if parent is None or use.place.branches:
        return False
    right = parent.child_by_field_name("right")
    return parent.type == "update_expression" or (
        right is not None and right.type == "number_literal"
    )


def _combines_previous(write: ElementAccess, other: ElementAccess) -> bool:
    return write.mode == "write" and write.order > other.order


def _harmless(name: str) -> bool:
    """Whether a function is known to write nothing that a loop's iterations share."""
    known = name in MATH or name in HARMLESS or "atomic" in name
    return not name or known or name.startswith(("_", ".", "cudaM", "cudaF", "cudaS"))
