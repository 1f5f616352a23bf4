"""Whether threads of a kernel are apart: each one writes what is its own, however many there are.

Not here: the facts of kernels (cuda_facts.py), of loops in order (dependences.py).
"""

from bisect import bisect_right
from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.search.code.indices import ElementAccess, Indices
from regraph_kg.search.code.occurrences import NO_LOOP, Occurrence
from regraph_kg.search.code.polynomial import Monomial, Polynomial
from regraph_kg.search.code.syntax import arguments, called, operator, text, walk

_NUMBER = frozenset({"threadIdx.x", "blockIdx.x"})
_IN_ANY_ORDER = frozenset(
    f"atomic{one}" for one in ("Add", "Sub", "Min", "Max", "And", "Or", "Xor")
)


def apart(names: Indices, kernel: Node, elements: Sequence[ElementAccess]) -> bool:
    """Whether each write of a kernel is of the thread's own, by its number in the whole grid.

    It is at a place of that number, which no data decides, or an atomic update for that number, or
    by a sum over such numbers that starts at 0. Of what is written nothing is read but at such a
    place.
    """
    written = [one for one in elements if one.mode != "read"]
    known, places = {one.array for one in written}, {_place(one) for one in written}
    updates = _updates(kernel)
    starts = [one.start_byte for one in updates]
    for one in written:
        before = bisect_right(starts, one.node.start_byte)
        update = updates[before - 1] if before else None
        inside = update is not None and one.node.start_byte < update.end_byte
        if not _own(names, one, update if inside else None):
            return False
    return all(_place(one) in places for one in elements if one.array in known)


def _place(one: ElementAccess) -> tuple[str, tuple[frozenset[tuple[Monomial, int]], ...]]:
    return one.array, tuple(frozenset(index.items()) for index in one.index)


def _updates(kernel: Node) -> list[Node]:
    """Atomic updates to which threads may come in any order, in that of the text."""
    found = (one.named_children[:1] for one in walk(kernel) if one.type == "expression_statement")
    calls = (one for first in found for one in first if one.type == "call_expression")
    return [one for one in calls if called(one) in _IN_ANY_ORDER]


def _own(names: Indices, one: ElementAccess, update: Node | None) -> bool:
    loop = one.place.loop
    given = [names.value(part, loop) for part in arguments(update)] if update else one.index
    held = _held(names, loop, given)
    by_data = any(name.startswith("@") for name in held)
    if update is not None and loop == NO_LOOP and _is_own_sum(names, update):
        return True
    return held >= _NUMBER and (update is not None or not by_data)


def _held(names: Indices, loop: int, given: Sequence[Polynomial]) -> frozenset[str]:
    """Names of which expressions in a loop are made, and where the loops around it start."""
    held = frozenset[str]().union(*map(names.closure, given))
    for around in reversed(names.chain(loop)):
        if names.headers[around].symbol in held:
            held |= names.closure(names.start(around))
    return held


def _is_own_sum(names: Indices, update: Node) -> bool:
    """Whether `atomicAdd(.., s)` adds what only numbers of the thread's own have added to s."""
    value = arguments(update)[-1]
    declared = names.events.find(text(value), value) if value.type == "identifier" else None
    if declared is None or not declared.zero or called(update) != "atomicAdd":
        return False
    uses = [
        one for one in names.events.names if names.events.find(text(one.node), one.node) is declared
    ]
    changes = [one for one in uses if one.mode != "read"]
    others = [one for one in uses if one.mode == "read" and not _within(one.node, update)]
    return bool(changes) and not others and all(_adds_own(names, one) for one in changes)


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte < outer.end_byte


def _adds_own(names: Indices, change: Occurrence) -> bool:
    """Whether what is added is for a number of the thread's own: in its loop, or by its value."""
    statement = change.node.parent
    adds = statement is not None and operator(statement) == "+="
    value = statement.child_by_field_name("right") if statement is not None and adds else None
    loop = change.place.loop
    starts = frozenset[str]().union(*(names.closure(names.start(k)) for k in names.chain(loop)))
    held = starts | _held(names, loop, [names.value(value, loop)])
    return adds and held >= _NUMBER
