"""Arrays before a loop of which an iteration reads nothing but what it wrote itself.

A container that an iteration empties before it names it otherwise is such, too, whatever follows.

Each thread may have one of its own then. A write is certain where no condition is around it, and
covers a read behind it of the same element, or of elements among those that its loops go through.
Loops that fill it have iterations, or whatever reads or writes the array has none then: so it keeps
what it had before the loop, which `firstprivate` copies.
"""

import re
from collections.abc import Iterable, Sequence
from math import prod

from tree_sitter import Node

from regraph_kg.cpp import polynomial as poly
from regraph_kg.cpp.clauses import is_counted
from regraph_kg.cpp.escapes import takes_value
from regraph_kg.cpp.headers import continues
from regraph_kg.cpp.indices import UNKNOWN, ElementAccess, Indices
from regraph_kg.cpp.occurrences import Declared, Events, Occurrence
from regraph_kg.cpp.overlaps import Overlaps
from regraph_kg.cpp.polynomial import Polynomial
from regraph_kg.cpp.syntax import called, inside_of, root_name, target, text, walk

_NUMBER = (
    r"(?:unsigned |signed |long |short )*"
    r"(?:std::)?(?:int|long|short|float|double|size_t|u?int(?:8|16|32|64)_t)"
)
_NUMBERS = re.compile(_NUMBER)
VECTOR = re.compile(rf"(?:std::)?vector\s*<\s*{_NUMBER}\s*>")
_CONTAINER = re.compile(
    r"(?:std::)?(?:vector|deque|basic_string|(?:unordered_)?(?:multi)?(?:map|set))\s*<([^*&()]+)>"
)
_BEFORE = frozenset({"size", "resize", "assign"})
_EMPTIES = (".clear", ".assign")
_PARTS = (".begin", ".end", ".data", ".cbegin", ".cend")
_DECLARES = frozenset(
    {"init_declarator", "array_declarator", "declaration", "function_declarator"}  # `v(n)`
)
_MOST = 48
_MOST_ELEMENTS = 8_192  # of an array on the stack of each thread of OpenMP


class Scratch:
    """Answers for one loop."""

    def __init__(self, names: Indices, overlaps: Overlaps) -> None:
        self.names, self.overlaps, self.loop = names, overlaps, overlaps.loop

    def is_own(self, group: Sequence[ElementAccess]) -> bool:
        """Whether each iteration may have the array of these accesses, all in the loop, alone."""
        declared, loop = group[0].declared, self.names.events.loops[self.loop]
        if declared is None or len(group) > _MOST or declared.function != loop.place.function:
            return False
        vector = bool(VECTOR.fullmatch(declared.kind)) and not declared.array
        plain = declared.array and _NUMBERS.fullmatch(declared.kind)
        outer = declared.parameter or declared.refers or declared.region or loop.place.region
        if not (vector or plain) or outer or not declared.function or not self._seen(declared):
            return False
        depth = {len(element.index) for element in group}
        return depth == {1 if vector else len(self._widths(declared))} and all(
            any(self._covers(write, read) and self._filled(write, read, group) for write in group)
            for read in group
            if read.mode != "write"
        )

    def emptied(self, calls: Sequence[Occurrence]) -> list[Declared]:
        """The containers before the loop that each iteration empties before all else."""
        around, found = self.names.events.loops[self.loop].place.branches, list[Declared]()
        for call in calls:
            each = (call.place.loop, call.place.branches) == (self.loop, around)
            alone = call.node.parent is not None and call.node.parent.type == "expression_statement"
            name = text(root_name(call.node.child_by_field_name("function")))
            once = text(call.node).count(name) == 1  # not v.assign(v.size() + 1, ..)
            if called(call.node) in _EMPTIES and each and alone and once:
                declared = self.names.events.find(name, call.node)
                if declared and self._is_free(declared) and self._seen(declared, call):
                    found.append(declared)
        return found

    def _is_free(self, declared: Declared) -> bool:
        """Whether it is a container of values in this function's own storage."""
        kind, loop = _CONTAINER.fullmatch(declared.kind), self.names.events.loops[self.loop]
        held = {*re.findall(r"\w+", kind[1])} & self.names.events.holders if kind else {""}
        outer = declared.parameter or declared.refers or declared.region or loop.place.region
        own = declared.function == loop.place.function != "" and not (outer or declared.array)
        return own and not held and declared.scope[0] < loop.node.start_byte

    def is_large(self, declared: Declared | None) -> bool:
        """Whether an array is too large for the stack of a thread, or may be."""
        widths = self._widths(declared) if declared is not None and declared.array else [1]
        return not 0 < prod(widths) <= _MOST_ELEMENTS

    def _widths(self, declared: Declared) -> list[int]:
        """The lengths of an array in each dimension; 0 for what is no number."""
        widths, sized = list[int](), declared.width.parent if declared.width is not None else None
        while sized is not None and sized.type == "array_declarator":
            length = self.names.value(sized.child_by_field_name("size"), declared.loop)
            widths.append(self._number(length) or 0)
            sized = sized.child_by_field_name("declarator")
        return widths

    def _filled(
        self, write: ElementAccess, read: ElementAccess, group: Sequence[ElementAccess]
    ) -> bool:
        """Whether a read sees what it needs where one of the loops around a write is empty."""
        around = self.names.chain(write.place.loop)
        within = [k for k in around if k > self.loop and k not in self.names.chain(read.place.loop)]
        others = [other for other in group if other.mode != "read"]
        return all(
            self._runs(k)
            or self._is_with(read, k)
            or (self._is_fixed(k) and all(self._is_with(other, k) for other in others))
            for k in within
        )

    def _is_fixed(self, k: int) -> bool:
        """Whether a loop has the same ends in all rounds of those around it."""
        ends = self.names.closure(self.names.start(k)) | self.names.closure(self.names.end(k))
        return not ends & self._symbols(range(len(self.names.headers)))

    def _runs(self, k: int) -> bool:
        """Whether a loop surely has an iteration."""
        low, high = self.overlaps.ends(k)
        return bool(low) and all(self._least(end, begin) for end in high for begin in low)

    def _is_with(self, access: ElementAccess, k: int) -> bool:
        """Whether an access is in a loop that has no iteration where loop `k` has none."""
        low, high = self.overlaps.ends(k)
        for one in self.names.chain(access.place.loop):
            least, most = self.overlaps.ends(one) if one > self.loop else ([], [])
            below = all(any(self._least(end, own) for own in most) for end in high)
            if low and below and all(any(self._least(own, at) for own in least) for at in low):
                return True
        return False

    def _least(self, one: Polynomial, other: Polynomial) -> bool:
        """Whether a value is no less than another one."""
        gap = self._number(poly.add(one, other, -1))
        return gap is not None and gap >= 0

    def _number(self, value: Polynomial) -> int | None:
        """A value that is a number where macros are written out."""
        for name in poly.names(value):
            known = self.names.events.hidden.number(name)
            value = value if known is None else poly.replace(value, name, poly.constant(known))
        return poly.number(value)

    def _seen(self, declared: Declared, emptied: Occurrence | None = None) -> bool:
        """Whether the text names nothing but elements, in the loop or before all loops around.

        From where it is emptied on it may be used as a whole, but not get a second name.
        """
        around = [self.names.events.loops[k].node for k in self.names.chain(self.loop)]
        inside = [node for node in around if node.start_byte > declared.scope[0]]
        loop = around[-1]
        whole = loop
        while whole.parent is not None and whole.start_byte > declared.scope[0]:
            whole = whole.parent
        for node in walk(whole):
            if node.child_count or text(node) != declared.name:
                continue
            if self.names.events.find(declared.name, node) is not declared:
                continue
            before = node.end_byte <= inside[0].start_byte
            if not before and not loop.start_byte <= node.start_byte < loop.end_byte:
                return False
            if emptied is not None and not before:
                if node.start_byte < emptied.node.start_byte or not _is_used(node):
                    return False
            elif not _is_element(node, self.names.events, before=before, whole=emptied is not None):
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
        hidden = (
            (names.closure(first) | names.closure(second)) - poly.names(first) - poly.names(second)
        )
        if len(own) > 1 or hidden & inside:
            return False
        for k in own:
            factor = poly.number(poly.coefficient(first, names.headers[k].symbol) or {})
            if factor not in (1, -1) or poly.number(names.step(k) or {}) not in (1, -1):
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
        below = any(end == most[0] or self._least(end, least[0]) for end in low)
        return below and any(end == least[0] or self._least(most[0], end) for end in high)

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


def _is_used(node: Node) -> bool:
    """Whether a name stands for its container in a call, or for an element, and none is kept."""
    parent = node.parent
    if parent is None or inside_of(node, {"lambda_expression"}) is not None:
        return False
    if parent.type == "field_expression":
        call = parent.parent
        if call is None or call.type != "call_expression" or called(call) == ".capacity":
            return False  # a round before may have left more
        given = inside_of(call, {"argument_list", "assignment_expression", "return_statement"})
        return called(call) not in _PARTS or given is None or given.type == "argument_list"
    if parent.type == "subscript_expression":
        outer = parent.parent
        return outer is not None and outer.type != "pointer_expression"
    return parent.type in ("for_range_loop", "argument_list")


def _is_element(node: Node, events: Events, *, before: bool, whole: bool) -> bool:
    """Whether a name stands for an element that is read or set, or declares the array."""
    parent = node.parent
    if inside_of(node, {"lambda_expression"}) is not None or parent is None:
        return False
    if parent.type == "field_expression":
        asked = text(parent.child_by_field_name("field"))
        return asked == "size" or (before and (asked in _BEFORE or (whole and asked == "reserve")))
    if parent.type != "subscript_expression" or node.type != "identifier":
        return before and parent.type in _DECLARES
    while parent is not None and parent.type == "subscript_expression":
        node, parent = parent, parent.parent
    changed = parent is not None and target(parent) == node
    return takes_value(parent if changed and parent is not None else node, events)
