"""Predicates over the loops of a code, for any target."""

from functools import partial

from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.library import ALGORITHMS, COPIES, MATH, REDUCTIONS, SORTS
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import (
    Predicate,
    Predicates,
    Test,
    Truth,
    all_of,
    any_of,
    around,
    collapsible,
    innermost,
    is_parallel,
    unit,
    walks,
    within,
)

LOOP_PREDICATES = Predicates()
_add = LOOP_PREDICATES.add
_FEW = 4
_PACKED = 16
_TILE = 8


@_add("a call of an algorithm of the standard library that is a loop")
def library_loop(facts: Facts) -> Truth:
    """The code calls `std::transform`, `std::accumulate` or the like."""
    return bool(ALGORITHMS & _foreign(facts))


@_add("a result that threads would update together")
def shared_reduction(facts: Facts) -> Truth:
    """A loop reduces, and no loop around it is parallel, or shared out, without reducing."""
    return any_of(map(_combines, _reducing_together(facts)))


@_add("an array whose elements threads would update together")
def shared_array_reduction(facts: Facts) -> Truth:
    """A loop whose threads would have a shared result adds to elements, not to a variable alone."""
    changed = {a.array for loop in facts.loops for a in loop.accesses if a.mode != "read"}
    together = _reducing_together(facts)
    return any_of(_combines(loop) for loop in together if changed & set(loop.reduces))


def _combines(loop: LoopFacts) -> Truth:
    """Whether nothing but results binds iterations, also where no clause says how (a place)."""
    return True if loop.carries == "no" and not loop.exits else is_parallel(loop)


def _reducing_together(facts: Facts) -> list[LoopFacts]:
    loops = [loop for loop in facts.loops if loop.reduces]
    return [loop for loop in loops if not any(map(_has_own_sums, around(facts, loop)))]


def _has_own_sums(loop: LoopFacts) -> bool:
    """Whether each iteration of a loop can run in another thread and has its own sums."""
    return not loop.reduces and (is_parallel(loop) is True or loop.shared_out)


@_add("an outermost loop that reduces")
def outer_reduction(facts: Facts) -> Truth:
    """The outermost loop of a function reduces; not known where only an inner one does.

    A loop that each of several threads runs for itself does not count: a sum of its own is theirs.
    """
    placed = set(facts.updates)  # at places that data decides: no block has one result of them
    alone = {
        name for kernel in facts.kernels if kernel.axes for name in (kernel.name, *kernel.reached)
    }
    reducing = [loop for loop in facts.loops if loop.reduces and loop.function not in alone]
    if any(not loop.depth and set(loop.reduces) - placed for loop in reducing):
        return True
    return None if reducing else False


@_add("a loop in another loop that threads can share")
def divided_task(facts: Facts) -> Truth:
    """A loop within another one is parallel, reduces or scans: its task is no chain of steps."""
    return any_of(
        (bool(loop.reduces) and not loop.exits) or loop.scan or is_parallel(loop)
        for loop in facts.loops
        if loop.depth
    )


@_add("an innermost loop that steps through memory with a stride")
def strided(facts: Facts) -> Truth:
    return any_of(
        _not(unit(access.strides[-1], loop.step))
        for loop in innermost(facts)
        for access in loop.accesses
        if access.strides and not access.shared
    )


@_add("a nest where another loop than the innermost has stride one")
def stride_one_outside(facts: Facts) -> Truth:
    """The innermost loop strides through an array that a loop around it walks in steps of one."""
    return any_of(
        walks(outer, inner) for inner in innermost(facts) for outer in around(facts, inner)
    )


@_add("an innermost loop that walks memory in steps of one")
def contiguous(facts: Facts) -> Truth:
    """All accesses of an innermost loop have stride one, or none."""
    return any_of(
        all_of(unit(access.strides[-1], loop.step) for access in loop.accesses if access.strides)
        for loop in innermost(facts)
        if loop.accesses
    )


@_add("records of which a loop reads one part after another, with a constant stride")
def interleaved(facts: Facts) -> Truth:
    """A loop walks an array in constant steps such as 3, as of (x, y, z)."""
    return any(
        access.strides[-1].isdigit()
        and 1 < int(access.strides[-1]) <= _PACKED
        and access.strides[-1] != loop.step
        for loop in facts.loops
        for access in loop.accesses
        if access.strides
    )


@_add("costly functions or divisions in a loop")
def costly_arithmetic(facts: Facts) -> Truth:
    """A loop divides, or calls sqrt, exp or the like, intrinsics included."""
    wide = any("_div_" in name or "sqrt_" in name for name in facts.calls)
    return wide or any(loop.math or loop.divides for loop in facts.loops)


@_add("an element that an inner loop reads or writes in each iteration")
def invariant_access(facts: Facts) -> Truth:
    """An access of an innermost loop does not move with its variable."""
    return any(
        len(access.strides) > 0 and access.strides[-1] == "0"
        for loop in innermost(facts)
        for access in loop.accesses
    )


@_add("two loops over the same range, one after the other")
def adjacent_loops(facts: Facts) -> Truth:
    last: dict[tuple[str, int], LoopFacts] = {}
    for loop in facts.loops:
        before = last.get((loop.function, loop.parent))
        same = before is not None and (before.start, before.end, before.step) == (
            loop.start,
            loop.end,
            loop.step,
        )
        if same and loop.end:
            return True
        last[loop.function, loop.parent] = loop
    return False


@_add("a loop that computes several results")
def several_results(facts: Facts) -> Truth:
    """The body of a loop writes two arrays, or reduces and writes one."""
    for loop in facts.loops:
        written = {access.array for access in loop.accesses if access.mode == "write"}
        if written and len(written | set(loop.reduces)) > 1:
            return True
    return False


@_add("a step that copies its result back")
def copies_back(facts: Facts) -> Truth:
    """A loop over time copies arrays, by a loop of its own or by a call."""
    if facts.host.in_loop and facts.host.on_device:
        return True
    for loop in facts.loops:
        inner = within(facts, loop) if loop.time else []
        if any(two.copies for two in inner):
            return True
    return any(loop.time for loop in facts.loops) and bool(COPIES & _foreign(facts))


@_add("loops over tiles")
def tiled_nest(facts: Facts) -> Truth:
    """A loop around another steps by more than one."""
    return any(
        not loop.innermost and (not loop.step.isdigit() or int(loop.step) >= _TILE)
        for loop in facts.loops
        if loop.step
    )


@_add("several accumulators")
def several_accumulators(facts: Facts) -> Truth:
    """Each innermost loop that reduces has four results or more."""
    reducing = [loop for loop in innermost(facts) if loop.reduces]
    return bool(reducing) and all(len(loop.reduces) >= _FEW for loop in reducing)


@_add("an array that a loop only writes")
def plain_store(facts: Facts) -> Truth:
    """A loop writes an array, in steps of one, that nothing in the code reads or updates."""
    read = {a.array for loop in facts.loops for a in loop.accesses if a.mode != "write"}
    for loop in facts.loops:
        for access in loop.accesses:
            steps = {"1", loop.step}
            if access.mode == "write" and access.array not in read and steps & set(access.strides):
                return True
    return False


def _foreign(facts: Facts) -> set[str]:
    """Functions that the code calls and does not define."""
    return set(facts.calls) - set(facts.functions)


def _not(answer: Truth) -> Truth:
    return None if answer is None else not answer


_LISTED: dict[str, tuple[str, Test]] = {
    "library_reduction": ("a library call that reduces", lambda f: bool(REDUCTIONS & _foreign(f))),
    "sorting": ("a sort of the standard library", lambda f: bool(SORTS & _foreign(f))),
    "collapsible_nest": (
        "a loop that is the whole body of another, both parallel and of even length",
        lambda f: any_of(map(partial(collapsible, f), f.loops)),
    ),
    "inner_reduction": (
        "a sum of an inner loop",
        lambda f: any(any(loop.combines) for loop in innermost(f)),  # no place of a maximum
    ),
    "reuse": (
        "data that an outer loop's iterations read again",
        lambda f: any(loop.reuse and not loop.time for loop in f.loops),
    ),
    "branch_in_loop": (
        "a branch in a loop that is not over time",
        lambda f: any(loop.branches and not loop.time for loop in f.loops),
    ),
    "math_calls": (
        "costly functions",
        lambda f: any(loop.math for loop in f.loops) or bool(MATH & set(f.calls)),
    ),
    "unrolled_loop": (
        "a loop that is unrolled already",
        lambda f: any(o.step.isdigit() and 1 < int(o.step) <= _PACKED for o in innermost(f)),
    ),
    "plain_pointers": ("pointer parameters without __restrict__", lambda f: len(f.pointers) > 1),
}
LOOP_PREDICATES.update({name: Predicate(test, what) for name, (what, test) in _LISTED.items()})
