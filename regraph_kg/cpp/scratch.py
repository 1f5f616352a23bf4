"""Arrays before a loop of which an iteration reads nothing but what it wrote itself.

Each thread may have one of its own then. A write is certain where no condition is around it, and
covers a read behind it of the same element, or of elements among those that its loops go through.
Assumption: the end of a loop that fills an array is beyond its start.
"""

import re
from collections.abc import Iterable, Sequence

from tree_sitter import Node

from regraph_kg.cpp.clauses import is_counted
from regraph_kg.cpp.headers import continues
from regraph_kg.cpp.indices import UNKNOWN, ElementAccess, Indices
from regraph_kg.cpp.occurrences import Declared
from regraph_kg.cpp.overlaps import Overlaps
from regraph_kg.cpp.polynomial import Polynomial, add, coefficient, number
from regraph_kg.cpp.polynomial import names as names_in
from regraph_kg.cpp.syntax import inside_of, operator, text, walk

_NUMBER = (
    r"(?:unsigned |signed |long |short )*"
    r"(?:std::)?(?:int|long|short|float|double|size_t|u?int(?:8|16|32|64)_t)"
)
_NUMBERS = re.compile(_NUMBER)
_VECTOR = re.compile(rf"(?:std::)?vector\s*<\s*{_NUMBER}\s*>")
_BEFORE = frozenset({"size", "resize", "assign", "reserve"})
_DECLARES = frozenset(
    {"init_declarator", "array_declarator", "declaration", "function_declarator"}  # `v(n)`
)
_MOST = 48


class Scratch:
    """Answers for one loop."""

    def __init__(self, names: Indices, overlaps: Overlaps) -> None:
        self.names, self.overlaps, self.loop = names, overlaps, overlaps.loop

    def is_own(self, group: Sequence[ElementAccess]) -> bool:
        """Whether each iteration may have the array of these accesses, all in the loop, alone."""
        declared, loop = group[0].declared, self.names.events.loops[self.loop]
        if declared is None or len(group) > _MOST or declared.function != loop.place.function:
            return False
        vector = bool(_VECTOR.fullmatch(declared.kind)) and not declared.array
        plain = declared.array and _NUMBERS.fullmatch(declared.kind)
        outer = declared.parameter or declared.refers or declared.region or loop.place.region
        if not (vector or plain) or outer or not declared.function or not self._seen(declared):
            return False
        depth = {len(element.index) for element in group}
        return depth == {1 if vector else self._dimensions(declared)} and all(
            any(self._covers(write, read) for write in group)
            for read in group
            if read.mode != "write"
        )

    def _dimensions(self, declared: Declared) -> int:
        sized = declared.width.parent if declared.width is not None else None
        return text(sized).count("[")

    def _seen(self, declared: Declared) -> bool:
        """Whether the text names nothing but elements, in the loop or before all loops around."""
        around = [self.names.events.loops[k].node for k in self.names.chain(self.loop)]
        inside = [node for node in around if node.start_byte > declared.scope[0]]
        loop = around[-1]
        whole = loop
        while whole.parent is not None and whole.start_byte > declared.scope[0]:
            whole = whole.parent
        for node in walk(whole):
            if node.type != "identifier" or text(node) != declared.name:
                continue
            if self.names.events.find(declared.name, node) is not declared:
                continue
            before = node.end_byte <= inside[0].start_byte
            if not before and not loop.start_byte <= node.start_byte < loop.end_byte:
                return False
            if not _is_element(node, before=before):
                return False
        return True

    def _covers(self, write: ElementAccess, read: ElementAccess) -> bool:
        """Whether a write sets all that a read behind it may read in the same iteration."""
        names, base = self.names, self.names.events.loops[self.loop].place.branches
        outer = write.node.parent.parent if write.node.parent is not None else None
        alone = outer is not None and outer.type == "expression_statement"
        if write.mode != "write" or write.place.branches != base or write.order > read.order:
            return False
        one, two = names.chain(write.place.loop), names.chain(read.place.loop)
        common = [k for k in one if k in two]
        writing, reading = one[len(common) :], two[len(common) :]
        inner = [k for k in {*one, *two} if k > self.loop]
        if not alone or names.disturbed & {*inner} or not all(map(self._is_whole, writing)):
            return False
        ends = [end for k in (*writing, *reading) for end in (names.start(k), names.end(k))]
        if any(map(self._moves, (*ends, *write.index, *read.index))):
            return False
        used = [self._symbols(writing) & names.closure(index) for index in write.index]
        if sum(map(len, used)) > len(frozenset().union(*used)):
            return False
        pairs = zip(write.index, read.index, strict=True)
        return all(self._contains(first, second, writing, reading) for first, second in pairs)

    def _contains(
        self, first: Polynomial, second: Polynomial, writing: list[int], reading: list[int]
    ) -> bool:
        """Whether an index takes, through some loops, all values of another one through others."""
        names, inside = self.names, self._symbols([*writing, *reading])
        if first == second and not names.closure(first) & inside:
            return True
        own = [k for k in writing if names.headers[k].symbol in names.closure(first)]
        hidden = (names.closure(first) | names.closure(second)) - names_in(first) - names_in(second)
        if len(own) > 1 or hidden & inside:
            return False
        for k in own:
            factor = number(coefficient(first, names.headers[k].symbol) or {})
            if factor not in (1, -1) or number(names.step(k) or {}) not in (1, -1):
                return False
        bounds = [
            self.overlaps.extremes(index, loops, sign)
            for index, loops in ((first, own), (second, reading))
            for sign in (-1, 1)
        ]
        least, most, low, high = bounds
        if len(least) != 1 or len(most) != 1:
            return False
        # the first and the last element are in it, for the loop has iterations
        below = any(end == most[0] or _reaches(end, least[0]) for end in low)
        return below and any(end == least[0] or _reaches(most[0], end) for end in high)

    def _symbols(self, loops: Iterable[int]) -> frozenset[str]:
        return frozenset(self.names.headers[k].symbol for k in loops)

    def _moves(self, value: Polynomial) -> bool:
        """Whether a value may change within an iteration, loops' variables apart."""
        parts = self.names.closure(value)
        data = any(part.startswith("@") or part == UNKNOWN for part in parts)
        return data or self.names.varies(value, self.loop, "")

    def _is_whole(self, k: int) -> bool:
        """Whether a loop in an iteration goes from its start to its end, each time alike."""
        loop = self.names.events.loops[k]
        counted = loop.node.type == "for_statement" and is_counted(self.names, loop)
        ends = self.names.closure(self.names.start(k)) | self.names.closure(self.names.end(k))
        plain = self.names.headers[k].plain and not loop.exits and not continues(loop.node)
        return counted and plain and self.overlaps.own not in ends


def _reaches(one: Polynomial, other: Polynomial) -> bool:
    """Whether a value is no less than another one."""
    return (number(add(one, other, -1)) or 0) >= 0 and number(add(one, other, -1)) is not None


def _is_element(node: Node, *, before: bool) -> bool:
    """Whether a name stands for an element, whose address nobody takes, or declares the array."""
    parent = node.parent
    if inside_of(node, {"lambda_expression"}) is not None or parent is None:
        return False
    if parent.type == "field_expression":
        asked = text(parent.child_by_field_name("field"))
        return asked == "size" or (before and asked in _BEFORE)
    if parent.type != "subscript_expression":
        return before and parent.type in _DECLARES
    while parent is not None and parent.type == "subscript_expression":
        node, parent = parent, parent.parent
    while parent is not None and parent.type == "parenthesized_expression":
        node, parent = parent, parent.parent
    if parent is None or (parent.type == "pointer_expression" and operator(parent) == "&"):
        return False
    named = parent.child_by_field_name("declarator")
    return named is None or named.type != "reference_declarator"
