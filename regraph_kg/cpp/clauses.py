"""OpenMP's view of a loop: whether it is canonical, and the names for its clauses."""

import re
from collections.abc import Sequence

from regraph_kg.cpp.comparisons import comparison
from regraph_kg.cpp.guards import sides
from regraph_kg.cpp.headers import COMPARES
from regraph_kg.cpp.indices import ElementAccess, Indices
from regraph_kg.cpp.occurrences import Declared, Loop, Occurrence
from regraph_kg.cpp.polynomial import Monomial, add, coefficient, constant, number, replace
from regraph_kg.cpp.syntax import bare, operator, short, text

_FLOATING = frozenset({"float", "double"})
_SEQUENCES = frozenset({"vector", "array", "span", "valarray", "string", "string_view"})
_OBJECT = re.compile(r"<|string|_Complex|atomic|thread_local")
"""Types of variables that no clause combines by itself hold one of these."""


def is_counted(names: Indices, loop: Loop) -> bool:
    """Whether a loop's head alone says how often it runs."""
    header, k = names.headers[loop.number], loop.number
    condition = bare(loop.node.child_by_field_name("condition"))
    if header.ranged:
        return True
    step = names.step(k)
    if step is None or condition is None or operator(condition) not in COMPARES:
        return False
    left, right = (names.value(side, k) for side in sides(condition))
    difference = add(left, right, -1)
    factor = number(coefficient(difference, header.symbol) or {})
    fixed = [replace(difference, header.symbol, {}), step]
    if loop.seen and not loop.seen & names.closure(difference):  # bounds, variable: watched, too
        return factor in (1, -1)
    varies = any(names.varies(value, k, header.symbol) for value in fixed)
    return factor in (1, -1) and not varies and k not in names.disturbed


def is_canonical(names: Indices, loop: Loop) -> bool:
    """Whether OpenMP can share out a loop, its comparison of a sum apart."""
    header = names.headers[loop.number]
    if header.ranged:
        pointed = names.pointer(loop.node.child_by_field_name("right"), loop.place.loop)
        return pointed is not None and _in_order(names, pointed[1])
    at = loop.node.child_by_field_name("condition") or loop.node
    declared = names.events.find(names.headers[loop.number].variable, at)
    step = names.step(loop.number)
    kind = declared.kind if declared is not None else ""
    if "iterator" in kind or "auto" in kind.split():
        pointed = names.pointer(header.start, loop.place.loop)
        if pointed is not None and not _in_order(names, pointed[1]):
            return False
    integral = not _FLOATING & set(kind.split()) or (declared is not None and declared.pointer)
    size = number(step) if step is not None else None
    sign = header.sign if size is None else "-" if size < 0 else "+"
    ahead = sign == ("+" if "<" in header.compare else "-")
    ahead = size in (1, -1) if header.compare == "!=" else ahead
    taken = header.plain or bool(comparison(names, loop))
    plain = taken and integral and ahead and not (declared and declared.reference)
    return plain and not loop.exits and is_counted(names, loop)


def _in_order(names: Indices, declared: Declared | None) -> bool:
    """Whether a loop over a container can begin at any of its elements."""
    if declared is None or declared.array or declared.pointer:
        return declared is not None
    words = set(re.findall(r"\w+", declared.kind.partition("<")[0]))
    return bool(words & _SEQUENCES - names.events.classes)


def section(names: Indices, k: int, accesses: Sequence[ElementAccess], name: str) -> str:
    """The name or section in a reduction clause of loop `k`; "" where there is none."""
    if not accesses:
        declared = names.events.find(name, names.events.loops[k].node)
        scalar = declared is None or not _OBJECT.search(declared.kind)
        return name if name.isidentifier() and scalar else ""
    first = accesses[0]
    if any(
        access.node.type not in ("subscript_expression", "pointer_expression")
        for access in accesses
    ):
        return ""
    declared = first.declared
    if declared is None or len(first.index) != 1 or not first.array.isidentifier():
        return ""
    if all(access.index == first.index for access in accesses) and (
        declared.pointer or declared.array
    ):
        at = number(first.index[0])
        if at is not None and at >= 0:  # from 0 on: g++ 12 loses a simd section's offset
            return f"{first.array}[:{at + 1}]"
    if declared.array and declared.width is not None:
        return f"{first.array}[:{short(declared.width)}]"
    length = _cleared(names, k, accesses)
    return f"{first.array}[:{length}]" if length else ""


def _cleared(names: Indices, k: int, reduced: Sequence[ElementAccess]) -> str:
    """The length of an array by the loop that clears it before loop `k`; "" for none.

    Data, or a loop over the same range, choose its elements: others may lie beyond that length.
    """
    declared, loop = reduced[0].declared, names.events.loops[k]
    if declared is None or not declared.pointer or declared.function != loop.place.function:
        return ""
    for element in names.elements:
        is_before = element.node.end_byte < loop.node.start_byte
        if element.declared is not declared or element.mode != "write" or not is_before:
            continue
        header = names.headers[element.place.loop]
        if element.index != ({(header.symbol,): 1},) or element.place.loop in names.chain(k):
            continue  # another loop goes through it, or it clears one element before each loop
        ends = _range(names, element)
        inside = (ends == _range(names, one) or _by_data(one) for one in reduced)
        if ends is not None and all(inside):
            known, more = number(dict(ends)), " + 1" * (header.compare == "<=")
            return str(known) if known else f"{short(header.end)}{more}"
    return ""


def _range(names: Indices, element: ElementAccess) -> frozenset[tuple[Monomial, int]] | None:
    """The end of the range from 0 that a loop goes through by an index; None for another index."""
    for loop in names.chain(element.place.loop):
        header = names.headers[loop]
        if element.index == ({(header.symbol,): 1},) and header.symbol:
            counts = header.compare in ("<", "<=", "!=") and header.plain
            by_one = names.known_start(loop) == {} and names.step(loop) == {(): 1}
            if not (counts and by_one) or loop in names.disturbed:
                return None
            return frozenset(add(names.end(loop), constant(int(header.compare == "<="))).items())
    return None


def _by_data(element: ElementAccess) -> bool:
    named = {name for product in element.index[0] for name in product}
    return len(named) == 1 and named.pop().startswith("@")


def lasting(names: Indices, loop: Loop, private: Sequence[str]) -> tuple[str, ...]:
    """Names of `private`, and the loop's variable, that are read after the loop."""
    result = []
    for name in dict.fromkeys([*private, names.headers[loop.number].variable]):
        declared = names.events.find(name, loop.node) if name else None
        outer = declared is not None and declared.scope[0] < loop.node.start_byte
        if declared is not None and outer and _read_after(names, loop, declared):
            result.append(name)
    return tuple(result)


def _read_after(names: Indices, loop: Loop, declared: Declared) -> bool:
    """Whether a value that a loop gives a name is read after it, or in a next round around it."""
    events = names.events
    if not declared.function or "static" in declared.kind or declared.reference:
        return True
    named = [name for name in events.names if text(name.node) == declared.name]
    uses = [use for use in named if events.find(declared.name, use.node) is declared]
    around = [events.loops[k].node for k in names.chain(loop.place.loop)]
    begins = [node.start_byte for node in around if node.start_byte > declared.scope[0]]
    later = [[use for use in uses if use.node.start_byte >= loop.node.end_byte]]
    later += [[use for use in uses if use.node.start_byte >= begin] for begin in begins[:1]]
    return any(_read_first(names, loop, listed) for listed in later)


def _read_first(names: Indices, loop: Loop, uses: list[Occurrence]) -> bool:
    """Whether any of a name's later uses sees what it had; other loops may have no iterations."""
    while uses and uses[0].mode == "write" and uses[0].place.branches <= loop.place.branches:
        around = names.chain(uses[0].place.loop)
        others = [k for k in around if k not in names.chain(loop.place.loop)]
        if not others:
            return False
        end = names.events.loops[others[-1]].node.end_byte
        uses = [use for use in uses if use.node.start_byte >= end]
    return bool(uses)
