"""Predicates over kernels, launches and what the host does for them."""

from functools import partial

from regraph_kg.cpp.cuda_facts import KernelFacts
from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import Access, LoopFacts
from regraph_kg.search.fit.loop_predicates import library_loop
from regraph_kg.search.fit.predicate import (
    Predicate,
    Predicates,
    Test,
    Truth,
    any_of,
    is_parallel,
)

CUDA_PREDICATES = Predicates()
_add = CUDA_PREDICATES.add


def _several(facts: Facts) -> list[KernelFacts]:
    """Kernels that are not launched with one thread alone."""
    alone = {launch.kernel for launch in facts.launches if launch.one_thread}
    alone -= {launch.kernel for launch in facts.launches if not launch.one_thread}
    return [kernel for kernel in facts.kernels if kernel.name not in alone]


def _threaded(facts: Facts) -> list[KernelFacts]:
    """Kernels whose threads differ, and that are not launched with one thread alone."""
    return [kernel for kernel in _several(facts) if kernel.axes]


def _if_followed(answer: Truth, facts: Facts) -> Truth:
    """An answer about accesses; unknown instead of False where some are not followed."""
    hidden = any(not kernel.followed or not kernel.axes for kernel in _several(facts))
    return None if answer is False and hidden else answer


@_add("a kernel whose threads do different work")
def threads(facts: Facts) -> Truth:
    """The kernel that does most uses its threads' or blocks' numbers; not known if none is seen."""
    main = facts.main_kernel
    return bool(main and main.axes) or None if main in _several(facts) else False


@_add("a parallel loop that one thread runs")
def one_thread_loop(facts: Facts) -> Truth:
    """A parallel loop stands in a kernel of one thread, or on the host where there is no kernel."""
    if not facts.kernels:
        answer = any_of(map(is_parallel, facts.loops))
        return True if answer is False and library_loop(facts) else answer
    several = _several(facts)
    alone = _loops(facts, [kernel for kernel in facts.kernels if kernel not in several])
    unknown = _loops(facts, [kernel for kernel in several if not kernel.axes])
    answer = any_of(map(is_parallel, alone))
    return None if answer is False and unknown else answer


def _loops(facts: Facts, kernels: list[KernelFacts]) -> list[LoopFacts]:
    """The loops of kernels and of what they reach."""
    functions = {name for kernel in kernels for name in (kernel.name, *kernel.reached)}
    return [loop for loop in facts.loops if loop.function in functions]


@_add("threads that walk in steps of the grid")
def grid_stride(facts: Facts) -> Truth:
    """Every kernel whose threads differ uses `gridDim`."""
    listed = _threaded(facts)
    return bool(listed) and all(kernel.grid_stride for kernel in listed)


def _tree(facts: Facts, kernel: KernelFacts) -> bool:
    return kernel.barrier_in_loop and any(
        loop.kind == "for" and not loop.step and any(access.shared for access in loop.accesses)
        for loop in _loops(facts, [kernel])
    )


def _atomically(name: str, facts: Facts) -> Truth:
    """Whether a kernel has atomic updates of a kind; a helper's updates are not followed."""
    answer = any(getattr(kernel, name) for kernel in facts.kernels)
    is_any = any(kernel.atomics for kernel in facts.kernels)
    return _if_followed(answer, facts) if is_any else answer


def _of_threads(name: str, facts: Facts) -> Truth:
    return _if_followed(any(getattr(kernel, name) for kernel in _threaded(facts)), facts)


def _tile(facts: Facts, kernel: KernelFacts) -> bool:
    return kernel.barrier_in_loop and not _tree(facts, kernel)


_LISTED: dict[str, tuple[str, Test]] = {
    "kernel_loop": ("a loop in a kernel", lambda f: bool(_loops(f, list(f.kernels)))),
    "several_launches": ("several launches", lambda f: len(f.launches) > 1),
    "block_tree": ("a tree in shared memory", lambda f: any(_tree(f, k) for k in f.kernels)),
    "tile_loop": ("a loop over shared tiles", lambda f: any(_tile(f, k) for k in f.kernels)),
    "global_atomic": ("atomic updates of global memory", partial(_atomically, "global_atomics")),
    "shared_atomic": ("atomic updates of shared memory", partial(_atomically, "shared_atomics")),
    "one_address": ("an address of all threads' updates", partial(_atomically, "one_address")),
    "kernel_reuse": ("data that several threads of a block read", partial(_of_threads, "reuse")),
    "uniform_input": ("an input that all threads read alike", partial(_of_threads, "uniform")),
    "kernel_division": ("a division in a kernel", lambda f: any_of(k.divides for k in f.kernels)),
}
CUDA_PREDICATES.update({name: Predicate(test, what) for name, (what, test) in _LISTED.items()})


@_add("accesses of neighbouring threads that lie far apart")
def scattered(facts: Facts) -> Truth:
    return _if_strides_known(any(kernel.scattered for kernel in _threaded(facts)), facts)


def _if_strides_known(answer: Truth, facts: Facts) -> Truth:
    """An answer about neighbouring threads; unknown, not False, where a stride is not known."""
    listed = [access for access in _accesses(facts) if not access.shared]
    unknown = any(access.thread == "unknown" for access in listed)
    return _if_followed(any_of([answer, None]) if unknown else answer, facts)


@_add("accesses of neighbouring threads that lie side by side")
def coalesced(facts: Facts) -> Truth:
    """Neighbouring threads touch neighbouring addresses of global memory."""
    listed = [access for access in _accesses(facts) if not access.shared]
    strides = [access.thread for access in listed]
    answer = any_of(None if stride == "unknown" else stride == "1" for stride in strides)
    return _if_followed(answer and bool(_threaded(facts)), facts)


def _accesses(facts: Facts) -> list[Access]:
    inside = [access for loop in facts.loops if loop.kernel for access in loop.accesses]
    return [*inside, *facts.outside]


@_add("shared arrays that a warp walks in whole rows of banks")
def bank_conflict(facts: Facts) -> Truth:
    """Neighbouring threads touch the same bank; not known where an index is not followed."""
    unknown = any(access.shared and access.thread == "unknown" for access in _accesses(facts))
    conflicts = any(kernel.conflicts for kernel in facts.kernels)
    shared = any(kernel.shared for kernel in facts.kernels)
    if conflicts or unknown:
        return True if conflicts else None
    return _if_followed(False, facts) if shared else False


@_add("threads of a warp that branch differently")
def divergent(facts: Facts) -> Truth:
    """A condition of a kernel depends on data, or on the thread's number with % or &."""
    return any(kernel.divergent for kernel in _threaded(facts))


@_add("loads through the read-only cache")
def read_only_loads(facts: Facts) -> Truth:
    """Every kernel uses `__ldg` or `const .. __restrict__`."""
    return bool(facts.kernels) and all(kernel.read_only for kernel in facts.kernels)


@_add("copies between host and device")
def transfers(facts: Facts) -> Truth:
    """The host copies to or from the device; not known where a copy does not say which way."""
    host = facts.host
    return bool(host.to_device or host.to_host) or (None if host.unsaid else False)
