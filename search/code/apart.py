"""Whether threads of a kernel are apart: each one writes what is its own, however many there are.

Not here: the facts of kernels (cuda_facts.py), of loops in order (dependences.py).
"""

from bisect import bisect_right
from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.search.code.indices import ElementAccess, Indices
from regraph_kg.search.code.polynomial import Monomial
from regraph_kg.search.code.syntax import arguments, called, walk

_NUMBER = frozenset({"threadIdx.x", "blockIdx.x"})
_IN_ANY_ORDER = frozenset(
    f"atomic{one}" for one in ("Add", "Sub", "Min", "Max", "And", "Or", "Xor")
)


def apart(names: Indices, kernel: Node, elements: Sequence[ElementAccess]) -> bool:
    """Whether each write of a kernel is of the thread's own, by its number in the whole grid.

    It is at a place of that number, which no data decides, or an atomic update for that number. Of
    what is written nothing is read but at such a place.
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
    held = frozenset[str]().union(*map(names.closure, given))
    for around in reversed(names.chain(loop)):
        if names.headers[around].symbol in held:
            held |= names.closure(names.start(around))
    by_data = any(name.startswith("@") for name in held)
    return held >= _NUMBER and (update is not None or not by_data)
