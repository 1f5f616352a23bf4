"""Whether the iterations of a loop need each other, as far as simple tests of indices show.

Different arrays are taken not to overlap; what is not proven is unknown. A result that all
iterations update (`sum += ..`) is a reduction, which counts apart: it can be protected or split.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.cpp.aims import Aims
from regraph_kg.cpp.calls import Calls, Carries
from regraph_kg.cpp.clauses import is_counted
from regraph_kg.cpp.guards import combined_by
from regraph_kg.cpp.indices import ElementAccess, Indices
from regraph_kg.cpp.library import LOOKUPS, UNORDERED
from regraph_kg.cpp.occurrences import NUMBERS, Declared, Occurrence
from regraph_kg.cpp.overlaps import Overlaps
from regraph_kg.cpp.polynomial import Polynomial, add
from regraph_kg.cpp.scratch import Scratch
from regraph_kg.cpp.syntax import bare, called, root_name, text
from regraph_kg.cpp.watched import NOTHING

_MOST_OF_AN_ARRAY = 48  # different accesses of one; with more nothing is proved
_PACKED = re.compile(r"\b(?:unordered_)?(?:multi)?map\b|\bbitset\b|\bvector\s*<\s*bool\b")
"""Containers in which writes to different elements touch the same data."""


@dataclass(slots=True)
class Dependences:
    """Data that the iterations of one loop share."""

    verdicts: set[Carries] = field(default_factory=set)
    reduces: dict[str, set[str]] = field(default_factory=dict)
    """Name -> operators of a reduction clause that combine it; "" for another operator."""
    scan: bool = False
    swaps: bool = False  # whether pointers or containers change places
    evolves: bool = False  # whether it reads arrays of the previous iteration, and writes them anew
    private: list[str] = field(default_factory=list)
    """Scalars and arrays that each iteration sets before it reads them."""
    scratch: list[str] = field(default_factory=list)
    """Arrays of `private` that the loop's iterations need for nothing else."""
    large: bool = False  # whether one of them has no place on a thread's stack

    @property
    def carries(self) -> Carries:
        """The strongest verdict."""
        return "yes" if "yes" in self.verdicts else ("unknown" if self.verdicts else "no")


class LoopUses:
    """The accesses, names and calls in one loop."""

    def __init__(
        self,
        names: Indices,
        aims: Aims,
        loop: int,
        elements: Sequence[ElementAccess],
        uses: Sequence[Occurrence],
    ) -> None:
        self.names, self.aims, self.loop = names, aims, loop
        self.elements, self.uses = elements, uses
        self.result = Dependences()
        self.overlaps = Overlaps(names, loop)
        self.scratch = Scratch(names, self.overlaps)

    def read(self, calls: Sequence[Occurrence]) -> Dependences:
        """The dependences of the loop."""
        loop = self.names.events.loops[self.loop]
        if self._is_hidden(loop.node, calls):
            self.result.verdicts.add("unknown")
        self._scalars()
        groups: dict[tuple[str, int], list[ElementAccess]] = {}
        for element in self.elements:
            groups.setdefault((element.array, id(element.declared)), []).append(element)
        self._through_pointers([*groups.values()])
        linked = self.aims.has_linked(loop.node)
        emptied = self.scratch.emptied(calls)
        own = [g for g in groups.values() if g[0].declared in emptied or self._is_scratch(g)]
        self.result.scratch += dict.fromkeys(
            [*(it.name for it in emptied), *(group[0].array for group in own)]
        )
        self.result.large = any(self.scratch.is_large(group[0].declared) for group in own)
        groups = {key: group for key, group in groups.items() if group not in own}
        for group in [part for whole in groups.values() for part in self._by_field(whole)]:
            written = any(element.mode != "read" for element in group)
            kind = group[0].declared.kind if group[0].declared is not None else ""
            met = (linked and not NUMBERS.search(kind)) or self._may_be_read(group, calls)
            if self._is_packed(group) or self._is_held(group[0].node) or (written and met):
                self.result.verdicts.add("unknown")
            if not self._local(group[0].declared) and written:
                self._array(self._different(group))
        analysis = Calls(self.names, lambda it: it in emptied or self._local(it))
        self.result.verdicts |= {analysis.carries(call) for call in calls} - {"no"}
        swapped = [called(call.node) for call in calls if analysis.carries(call) == "yes"]
        self.result.swaps |= bool({"swap", ".swap"} & set(swapped))
        # what the text does not tell was seen while it ran (watched.py)
        if loop.seen and all(map(self._is_kept_apart, loop.seen - {NOTHING})):
            self.result.verdicts.discard("unknown")
        if not is_counted(self.names, loop):
            self.result.verdicts.add("unknown")
        return self.result

    def _is_kept_apart(self, name: str) -> bool:
        """Whether a variable that iterations share is a number, and summed up or set first.

        Or it is another one, which each iteration declares, and the function has no outer one.
        """
        function = self.names.events.loops[self.loop].place.function
        known = self.names.events.declared.get(name, [])
        named = [one for one in known if one.function == function]
        if named and all(map(self._inside, named)):
            return True
        plain = all(
            NUMBERS.search(one.kind) and "<" not in one.kind and not (one.pointer or one.array)
            for one in named
        )
        sure = name in self.result.reduces or name in self.result.private
        return (bool(named) and plain and sure) or name in self.result.scratch

    def _is_packed(self, group: list[ElementAccess]) -> bool:
        """Whether elements are written, or may be, that lie in one word with others."""
        kind = group[0].declared.kind if group[0].declared is not None else ""
        known = NUMBERS.search(kind.replace("bool", ""))
        packed = _PACKED.search(kind if known else kind + self.names.events.text.decode())
        return packed is not None and any(
            e.mode != "read" or (text(e.node.child_by_field_name("type")) or "bool") != "bool"
            for e in group  # a loop over a container
        )

    def _may_be_read(self, group: list[ElementAccess], calls: Sequence[Occurrence]) -> bool:
        """Whether an element that is written may be read by a method, or by a reference."""
        array, declared = group[0].array, group[0].declared
        kinds = {*NUMBERS.findall(declared.kind)} if declared is not None else set()
        for call in (one.node for one in calls if called(one.node) in LOOKUPS):
            method = call.child_by_field_name("function")
            base = method.child_by_field_name("argument") if method is not None else None
            pointed = self.names.pointer(base, self.loop)
            if pointed is not None and pointed[0] == array:
                return True
        uses = (self.names.events.find(text(use.node), use.node) for use in self.uses)
        numbers = (one for one in uses if one and one.parameter and one.reference)
        return any("<" not in one.kind and kinds & {*NUMBERS.findall(one.kind)} for one in numbers)

    def _is_hidden(self, loop: Node, calls: Sequence[Occurrence]) -> bool:
        """Whether the loop or what it calls does something that the tree does not show."""
        events = self.names.events
        for call in calls:
            held = events.find(called(call.node), call.node)
            if called(call.node).removeprefix(".") in events.unclear or (
                held is not None and held.value is not None and events.hidden.within(held.value)
            ):
                return True
        changed = {text(root_name(use.node)) for use in self.uses if use.mode != "read"}
        changed |= {element.array for element in self.elements if element.mode != "read"}
        return events.hidden.within(loop) or bool(changed & events.hidden.names)

    def _is_scratch(self, group: list[ElementAccess]) -> bool:
        """Whether each iteration may have an array of its own in place of one before the loop."""
        written = any(element.mode != "read" for element in group)
        local = self._inside(group[0].declared) or self._is_held(group[0].node)
        return written and not local and self.scratch.is_own(group)

    def _through_pointers(self, groups: list[list[ElementAccess]]) -> None:
        """Note writes to an array that a pointer to it, or to another one, may reach as well."""
        shared = [group for group in groups if not self._local(group[0].declared)]
        written = {id(group) for group in shared if any(e.mode != "read" for e in group)}
        for one in (group for group in shared if self.aims.is_open(group[0])):
            for other in shared:
                met = one is other or self.aims.may_meet(one[0], other[0])
                itself = one is other and (one[0].array or id(one) not in written)
                if met and not itself and {id(one), id(other)} & written:
                    self.result.verdicts.add("unknown")

    def _by_field(self, group: list[ElementAccess]) -> list[list[ElementAccess]]:
        """The accesses to each field of an array's structs, where all are to fields."""
        parts: dict[str, list[ElementAccess]] = {}
        for element in group:
            node = element.node if element.node.type == "field_expression" else element.node.parent
            head = node.child_by_field_name("declarator") if node is not None else None
            if head is None or head.type != "reference_declarator":  # its uses are listed, too
                parts.setdefault(text(node and node.child_by_field_name("field")), []).append(
                    element
                )
        mixed = "" in parts or "union" in self.names.events.classes
        return [group] if mixed else [*parts.values()]

    def _different(self, group: list[ElementAccess]) -> list[ElementAccess]:
        """The accesses to an array, where these are many without repeated ones."""
        if len(group) > _MOST_OF_AN_ARRAY:
            keys = ((str(e.index), e.mode, e.place.loop) for e in group)
            group = [*dict(zip(keys, group, strict=True)).values()]
        if len(group) > _MOST_OF_AN_ARRAY:
            self.result.verdicts.add("unknown")
        return group[:_MOST_OF_AN_ARRAY]

    def _is_held(self, node: Node) -> bool:
        """Whether a name, field or element is of an object that may hold a reference."""
        base = root_name(node)
        declared = self.names.events.find(text(base), base) if base is not None else None
        return declared is not None and declared.holds

    def _inside(self, declared: Declared | None) -> bool:
        """Whether a name is declared in each iteration."""
        return (
            declared is not None
            and not declared.parameter
            and self.loop in self.names.chain(declared.loop)
            and "static" not in declared.kind.split()
        )

    def _local(self, declared: Declared | None) -> bool:
        """Whether each iteration has storage of its own under a name."""
        return declared is not None and self._inside(declared) and declared.owns

    def _scalars(self) -> None:
        groups: dict[tuple[str, int], list[Occurrence]] = {}
        for use in self.uses:
            name, base = text(use.node), root_name(use.node)
            declared = self.names.events.find(text(base), base) if base is not None else None
            if name in UNORDERED or (declared is not None and "stream" in declared.kind):
                self.result.verdicts.add("yes")
            elif self._is_held(use.node) or self._is_alias(declared, use):
                self.result.verdicts.add("unknown")
            elif not self._is_other(declared, field=use.node.type == "field_expression"):
                groups.setdefault((name, id(declared)), []).append(use)
        for (name, _), uses in groups.items():
            if any(use.mode != "read" for use in uses):
                self._scalar(name, uses)

    def _is_alias(self, declared: Declared | None, use: Occurrence) -> bool:
        """Whether a local reference to a variable, not to an element, is changed."""
        if declared is None or use.mode == "read" or not declared.reference or declared.element:
            return False
        value = bare(declared.value)
        if value is None or value.type in ("subscript_expression", "pointer_expression"):
            return value is None and not declared.parameter
        base = root_name(value)
        known = self.names.events.find(text(base), base) if base is not None else None
        return self._inside(declared) and not self._local(known)

    def _is_other(self, declared: Declared | None, *, field: bool) -> bool:
        """Whether a name belongs to one iteration, or counts as an element of an array."""
        if declared is None:
            return False
        is_variable = declared.name == self.names.headers[self.loop].variable and not field
        named = field and declared.refers and not declared.parameter and declared.value is not None
        value = bare(declared.value)
        aliases = declared.reference and value is not None and value.type == "subscript_expression"
        return is_variable or named or declared.element or aliases or self._inside(declared)

    def _scalar(self, name: str, uses: list[Occurrence]) -> None:
        modes = [use.mode for use in uses]
        around = self.names.events.loops[self.loop].place.branches
        first = uses[0]
        declared = self.names.events.find(name, first.node)
        if "read" not in modes and ("write" not in modes or first.place.branches > around):
            self._reduces(name, uses)  # also a flag, or the last that was found
        elif first.mode == "write" and first.place.branches == around and "." not in name:
            within = all(first.place.loop in self.names.chain(use.place.loop) for use in uses)
            self.result.private.append(name)
            if not within or declared is None or "->" in name:
                self.result.verdicts.add("unknown")
        elif "write" in modes and declared is not None and declared.pointer:
            self.result.swaps = True
            self.result.verdicts.add("yes")
        elif "read" not in modes:
            self._reduces(name, uses)
        else:
            self._carried(uses)

    def _carried(self, uses: list[Occurrence]) -> None:
        """Note a value that an iteration takes from the previous one, except a mere count."""
        updates = [use for use in uses if use.mode == "update"]
        counts = (
            bool(updates)
            and all(use.mode != "write" for use in uses)
            and all(_counts(use) and use.place.loop == self.loop for use in updates)
        )
        self.result.verdicts.add("unknown" if counts else "yes")
        running = updates and not all(map(_counts, updates))
        self.result.scan |= bool(running) and any(
            use.place.stored for use in uses if use.mode == "read"
        )

    def _reduces(self, name: str, updates: Sequence[Occurrence | ElementAccess]) -> None:
        signs = (combined_by(update.node) for update in updates if update.mode != "read")
        self.result.reduces.setdefault(name, set()).update(
            sign for sign in signs if sign is not None
        )

    def _array(self, group: list[ElementAccess]) -> None:
        writes = [element for element in group if element.mode != "read"]
        if self._inside(group[0].declared):  # a pointer to what is not known
            self.result.verdicts.add("unknown")
            return
        updates = all(element.mode == "update" for element in group)
        for write in writes:
            around = self.names.chain(write.place.loop)
            moved = [self.names.moved(index, self.loop, around) for index in write.index]
            moves = [move for move in moved if move is not None]
            if len(moves) < len(moved):
                self._update(write, updates, "unknown")
            elif not any(moves):
                self._same_place(write, group, updates)
            elif not any(
                self.overlaps.meets(index, index, list(self._inner(write))) == "never"
                for index in write.index
            ):  # two iterations may write the same element
                self._update(write, updates, "unknown")
            else:
                verdicts = {self._pair(write, other, moves) for other in group}
                self.result.verdicts |= verdicts - {"no"}

    def _update(self, write: ElementAccess, updates: bool, otherwise: Carries) -> None:
        if updates:
            self._reduces(write.array, [write])
        else:
            self.result.verdicts.add(otherwise)

    def _same_place(self, write: ElementAccess, group: list[ElementAccess], updates: bool) -> None:
        """Note a write to the same elements in every iteration."""
        around = self.names.events.loops[self.loop].place.branches
        first = group[0]
        if not updates and first.mode == "write" and first.place.branches == around:
            base = root_name(write.node)
            declared = self.names.events.find(text(base), base) if base is not None else None
            if not self._inside(declared):  # else its object is the iteration's own
                self.result.private.append(write.array)
            self.result.verdicts.add("unknown")
            return
        reads = any(element.mode != "update" for element in group if element is not write)
        inner = write.place.loop != self.loop
        self.result.evolves |= inner and reads and not updates
        self._update(write, updates, "yes" if reads else "unknown")

    def _pair(self, write: ElementAccess, other: ElementAccess, moves: list[Polynomial]) -> Carries:
        if write is other:
            return "no"
        if len(write.index) != len(other.index):
            return "unknown"
        inner = list(self._inner(write, other))
        pairs = [*zip(write.index, other.index, strict=True)]
        meetings = [self.overlaps.meets(first, second, inner) for first, second in pairs]
        if "never" in meetings:
            return "no"
        gaps = [add(first, second, -1) for first, second in pairs]
        dimensions = zip(meetings, gaps, moves, strict=True)
        if not all(meets == "later" if move else not gap for meets, gap, move in dimensions):
            return "unknown"
        if write.place.loop == other.place.loop == self.loop:
            later = write.mode == "write" and write.order > other.order
            self.result.scan |= other.place.stored and later
        return "yes"

    def _inner(self, *elements: ElementAccess) -> Iterable[int]:
        for element in elements:
            around = self.names.chain(element.place.loop)
            yield from around[around.index(self.loop) + 1 :]


def _counts(use: Occurrence) -> bool:
    """Whether every iteration adds the same number, so that the loop's variable gives the value."""
    parent = use.node.parent
    if parent is None or use.place.branches:
        return False
    right = parent.child_by_field_name("right")
    return parent.type == "update_expression" or (
        right is not None and right.type == "number_literal"
    )
