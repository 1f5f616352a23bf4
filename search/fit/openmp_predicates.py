"""Predicates over what OpenMP does in a code."""

from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.search.fit import predicate

OPENMP_PREDICATES = predicate.Predicates()
_add = OPENMP_PREDICATES.add


def _words(facts: Facts) -> list[list[str]]:
    """The words of each directive; a clause's arguments are words too."""
    signs = str.maketrans("(),:", "    ")
    return [directive.translate(signs).split() for directive in facts.directives]


@_add("a loop that is shared among the threads of a region around it")
def loop_of_region(facts: Facts) -> predicate.Truth:
    """`#pragma omp for` stands before a loop, and `parallel` elsewhere."""
    return any("for" in words and "parallel" not in words for words in _words(facts))


@_add("a parallel loop that is not shared among threads")
def unshared_parallel_loop(facts: Facts) -> predicate.Truth:
    """A loop could run in parallel, and neither it nor a loop around or in it does."""
    return predicate.any_of(
        predicate.is_parallel(loop) for loop in facts.loops if not _shared(facts, loop)
    )


@_add("a scan by one thread")
def unshared_scan(facts: Facts) -> predicate.Truth:
    """A loop stores a running value, and no region is around it, nor does each thread run it."""
    alone = [loop for loop in facts.loops if not _by_each_thread(facts, loop)]
    return any(loop.scan and not _shared(facts, loop) for loop in alone) or (
        any(loop.carries == "yes" and not loop.region for loop in facts.loops) and _streams(facts)
    )


def _by_each_thread(facts: Facts, loop: LoopFacts) -> bool:
    """Whether it stands in a kernel of several threads, and touches what is its thread's."""
    own = any(access.thread not in ("", "0") for access in loop.accesses)
    launched = [launch for launch in facts.launches if launch.kernel == loop.function]
    return own and any(not launch.one_thread for launch in launched)


def _streams(facts: Facts) -> bool:
    """Whether stores are intrinsics, which are not followed."""
    return any("_stream_" in name or "_store" in name for name in facts.calls)


def _shared(facts: Facts, loop: LoopFacts) -> bool:
    nest = [loop, *predicate.around(facts, loop), *predicate.within(facts, loop)]
    return any(loop.shared_out or loop.region for loop in nest)


@_add("a parallel region in a loop that starts it again and again")
def region_in_loop(facts: Facts) -> predicate.Truth:
    """A serial loop holds a loop that opens a region of its own."""
    return any(
        any("parallel" in words for words in loop.directives for words in words.split())
        and any(not two.region for two in predicate.around(facts, loop))
        for loop in facts.loops
    )


@_add("several parallel regions")
def several_regions(facts: Facts) -> predicate.Truth:
    return sum("parallel" in words for words in _words(facts)) > 1


@_add("a barrier between parallel loops")
def barrier(facts: Facts) -> predicate.Truth:
    """A barrier is written, or ends a worksharing loop or one of several regions."""
    words = _words(facts)
    ends = any("for" in word and "parallel" not in word and "nowait" not in word for word in words)
    return ends or predicate.has_any("directives.barrier", facts) or several_regions(facts)


@_add("an innermost loop that vector lanes can share")
def vector_loop(facts: Facts) -> predicate.Truth:
    """An innermost loop carries nothing but reductions and is not left early."""
    return predicate.any_of(map(lanes, predicate.innermost(facts)))


def lanes(loop: LoopFacts) -> predicate.Truth:
    """Whether vector lanes can share a loop: they must not write at data-dependent places."""
    scatters = any(
        access.mode != "read" and access.strides[-1:] == ("indirect",) for access in loop.accesses
    )
    return False if scatters or loop.kind in ("while", "do") else predicate.is_parallel(loop)


@_add("an innermost loop without `omp simd` that vector lanes can share")
def unvectorized_loop(facts: Facts) -> predicate.Truth:
    """A `vector_loop` with no simd directive before it."""
    return predicate.any_of(
        lanes(loop)
        for loop in predicate.innermost(facts)
        if not any("simd" in words.split() for words in loop.directives)
    )


@_add("a reduction clause")
def reduction_clause(facts: Facts) -> predicate.Truth:
    """A directive of a parallel loop has `reduction`."""
    return any("reduction" in words and "simd" not in words[:1] for words in _words(facts))


@_add("a reduction of an array")
def array_reduction(facts: Facts) -> predicate.Truth:
    """A reduction clause names a section of an array."""
    return any("reduction" in words and "[" in "".join(words) for words in _words(facts))


@_add("stores past the cache")
def streaming(facts: Facts) -> predicate.Truth:
    """The code stores with `nontemporal` or with streaming intrinsics."""
    told = predicate.has_any("directives.nontemporal", facts)
    return told or any("_stream_" in name for name in facts.calls)
