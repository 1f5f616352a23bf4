"""The loops, and the threads, that the words of a recipe mean in a code."""

from collections.abc import Collection, Sequence
from itertools import takewhile

from regraph_kg.cpp.cuda_facts import GridNumber
from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.cpp.occurrences import LONGEST
from regraph_kg.search.fit.openmp_predicates import lanes
from regraph_kg.search.fit.predicate import (
    adds_up,
    around,
    collapsible,
    innermost,
    is_parallel,
    outermost,
    shareable,
    undirected,
    walks,
    within,
)


def named_loops(facts: Facts, names: Collection[str]) -> dict[str, LoopFacts | None]:
    """Word -> its loop; of several the one in the deepest nest that has all of `names`."""
    inner = innermost(facts)
    lanes_share = [loop for loop in inner if lanes(loop) and shareable(loop) and _takes_simd(loop)]
    long = [lane for lane in lanes_share if lane.trips is None]
    if "contiguous" in names:
        inner = [loop for loop in inner if _walking(facts, loop)] or inner
    nests = [outer for loop in inner if (outer := _nest(facts, loop)) is not loop]
    lists = {
        "parallel": _parallel(facts, names),
        "inner": inner,
        "vector": long or lanes_share,
        "bare": [loop for loop in inner if undirected(loop)],
        "adding": [loop for loop in inner if adds_up(facts, loop)],
        "nest": nests,
        "contiguous": [two for loop in inner for two in _walking(facts, loop)],
        "reducing": [loop for loop in facts.loops if loop.reduces and _takes_for(facts, loop)],
        "collapsible": [
            loop for loop in facts.loops if collapsible(facts, loop) and _takes_for(facts, loop)
        ],
    }
    shared = _deepest(facts, _nests_of_all(facts, [lists[name] for name in names if name in lists]))
    for name, loops in lists.items():  # those in the shared nest; all of them if none is
        lists[name] = [loop for loop in loops if outermost(facts, loop) is shared] or loops
    return {name: _deepest(facts, loops) for name, loops in lists.items()}


def _takes_simd(loop: LoopFacts) -> bool:
    """Whether a directive for lanes can be written: g++ takes no objects that count, for one."""
    counts = loop.kind == "for" and "begin(" not in loop.start
    words = [word for directive in loop.directives for word in directive.split()]
    whole = all(len(directive) < LONGEST / 2 for directive in loop.directives)
    return counts and whole and "simd" not in words and {*loop.lasting} <= {loop.variable}


def _takes_for(facts: Facts, loop: LoopFacts) -> bool:
    """Whether a directive can share a loop out, with no variable of a loop that must last."""
    outer = loop.perfect and any(two.variable in loop.lasting for two in within(facts, loop)[:1])
    lasts = loop.variable in loop.lasting or outer
    return shareable(loop) and not _in_threads(facts, loop) and not lasts


def _walking(facts: Facts, loop: LoopFacts) -> list[LoopFacts]:
    """The loops around one along which memory is read in order."""
    return [two for two in around(facts, loop) if walks(two, loop)]


def _nests_of_all(facts: Facts, lists: Sequence[Sequence[LoopFacts]]) -> list[LoopFacts]:
    """The outermost loops that have a loop of each list in them."""
    roots = [[outermost(facts, loop) for loop in loops] for loops in lists if loops]
    return [root for root in roots[0] if all(root in group for group in roots)] if roots else []


def _deepest(facts: Facts, loops: Sequence[LoopFacts]) -> LoopFacts | None:
    """The first of those loops that stand in the deepest nest."""
    depths = [max((two.depth for two in within(facts, loop)), default=loop.depth) for loop in loops]
    return loops[depths.index(max(depths))] if loops else None


def _nest(facts: Facts, loop: LoopFacts) -> LoopFacts:
    """The outermost loop around a loop that can be interchanged with all loops between."""
    free = takewhile(
        lambda two: two.kind == "for" and not two.time and two.carries != "yes", around(facts, loop)
    )
    return [loop, *free][-1]


def numbered_threads(facts: Facts, names: Collection[str]) -> list[GridNumber]:
    """The thread's number in the main kernel, if a recipe means existing threads."""
    main = facts.main_kernel
    return [main.number] if main and main.number and "serial" not in names else []


def _parallel(facts: Facts, names: Collection[str]) -> list[LoopFacts]:
    """Loops to share out: long ones that reduce nothing, else reducing ones, else short ones."""
    loops = [loop for loop in facts.loops if _takes_for(facts, loop)]
    if "serial" in names:
        loops = [loop for loop in loops if not each_has(facts, loop)]
    plain = [loop for loop in loops if not loop.reduces]
    long = [loop for loop in plain if loop.trips is None]
    reducing = [] if numbered_threads(facts, names) else [loop for loop in loops if loop.reduces]
    return long or reducing or plain


def each_has(facts: Facts, loop: LoopFacts) -> bool:
    """Whether each of several threads runs a loop."""
    return any(
        kernel.axes and loop.function in (kernel.name, *kernel.reached) for kernel in facts.kernels
    )


def _in_threads(facts: Facts, loop: LoopFacts) -> bool:
    """Whether threads share a loop, or share or can share one around it."""
    outer = around(facts, loop)
    return loop.shared_out or any(two.shared_out or is_parallel(two) is True for two in outer)
