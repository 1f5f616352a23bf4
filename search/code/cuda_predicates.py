"""Predicates over kernels, launches and what the host does for them."""

from regraph_kg.search.code.cuda_facts import KernelFacts
from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import Access
from regraph_kg.search.code.loop_predicates import library_loop
from regraph_kg.search.code.predicate import Predicates, Truth, any_of, is_parallel

CUDA_PREDICATES = Predicates()
_add = CUDA_PREDICATES.add


def _threaded(facts: Facts) -> list[KernelFacts]:
    """Kernels whose threads differ, and that are not launched with one thread alone."""
    alone = {one.kernel for one in facts.launches if one.one_thread}
    alone -= {one.kernel for one in facts.launches if not one.one_thread}
    return [one for one in facts.kernels if one.axes and one.name not in alone]


@_add("a kernel")
def kernel(facts: Facts) -> Truth:
    """The code has a kernel."""
    return bool(facts.kernels)


@_add("a kernel whose threads do different work")
def threads(facts: Facts) -> Truth:
    """A kernel uses the number of its thread or block, and is launched with several."""
    return bool(_threaded(facts))


@_add("a launch of one thread")
def launch_one_thread(facts: Facts) -> Truth:
    """A launch is `<<<1, 1>>>`."""
    return any(one.one_thread for one in facts.launches)


@_add("a parallel loop that one thread runs")
def one_thread_loop(facts: Facts) -> Truth:
    """A parallel loop stands in a kernel of one thread, or on the host where there is no kernel."""
    if not facts.kernels:
        answer = any_of(map(is_parallel, facts.loops))
        return True if answer is False and library_loop(facts) else answer
    known = {one.name for one in _threaded(facts)}
    alone = [one for one in facts.loops if _on_device(facts, one.function)]
    return any_of(is_parallel(one) for one in alone if one.function not in known)


def _on_device(facts: Facts, function: str) -> bool:
    return any(one.name == function for one in facts.kernels)


@_add("a loop in a kernel")
def kernel_loop(facts: Facts) -> Truth:
    """A loop stands in a kernel."""
    return any(one.kernel for one in facts.loops)


@_add("threads that walk in steps of the grid")
def grid_stride(facts: Facts) -> Truth:
    """Every kernel whose threads differ uses `gridDim`."""
    listed = _threaded(facts)
    return bool(listed) and all(one.grid_stride for one in listed)


@_add("several launches")
def several_launches(facts: Facts) -> Truth:
    """The code launches more than one kernel."""
    return len(facts.launches) > 1


@_add("shared memory")
def shared_memory(facts: Facts) -> Truth:
    """A kernel has `__shared__` arrays."""
    return any(one.shared for one in facts.kernels)


@_add("a tree in shared memory, with a barrier at each level")
def block_tree(facts: Facts) -> Truth:
    """A loop of a kernel halves or doubles its variable and touches shared memory."""
    return any(_tree(facts, one) for one in facts.kernels)


def _tree(facts: Facts, kernel: KernelFacts) -> bool:
    return kernel.barrier_in_loop and any(
        one.function == kernel.name
        and one.kind == "for"
        and not one.step
        and any(access.shared for access in one.accesses)
        for one in facts.loops
    )


@_add("a loop that fills and uses a tile of shared memory")
def tile_loop(facts: Facts) -> Truth:
    """A loop of a kernel has barriers in it and is no tree."""
    return any(one.barrier_in_loop and not _tree(facts, one) for one in facts.kernels)


@_add("atomic updates in a kernel")
def atomics(facts: Facts) -> Truth:
    """A kernel updates memory atomically."""
    return any(one.global_atomics or one.shared_atomics for one in facts.kernels)


@_add("atomic updates of global memory")
def global_atomic(facts: Facts) -> Truth:
    """A kernel updates global memory atomically."""
    return any(one.global_atomics for one in facts.kernels)


@_add("atomic updates of shared memory")
def shared_atomic(facts: Facts) -> Truth:
    """A kernel updates shared memory atomically."""
    return any(one.shared_atomics for one in facts.kernels)


@_add("an address that all threads update atomically")
def one_address(facts: Facts) -> Truth:
    """An atomic update of global memory has one address for all threads."""
    return any(one.one_address for one in facts.kernels)


@_add("shuffles within a warp")
def shuffles(facts: Facts) -> Truth:
    """Every kernel of several threads that shares memory uses `__shfl_*_sync`."""
    return any(one.shuffles for one in facts.kernels)


@_add("accesses of neighbouring threads that lie far apart")
def scattered(facts: Facts) -> Truth:
    """Neighbouring threads touch addresses with a stride."""
    answers: list[Truth] = [bool(one.scattered) for one in _threaded(facts)]
    unknown = any(one.thread == "unknown" for one in _accesses(facts))
    return any_of([*answers, None] if unknown else answers)


@_add("accesses of neighbouring threads that lie side by side")
def coalesced(facts: Facts) -> Truth:
    """Neighbouring threads touch neighbouring addresses of global memory."""
    listed = [one for one in _accesses(facts) if not one.shared]
    return any_of(
        None if one.thread == "unknown" else one.thread == "1" for one in listed
    ) and bool(_threaded(facts))


def _accesses(facts: Facts) -> list[Access]:
    inside = [access for one in facts.loops if one.kernel for access in one.accesses]
    return [*inside, *facts.outside]


@_add("data that several threads of a block read")
def kernel_reuse(facts: Facts) -> Truth:
    """An array of global memory is read at the same places by threads of a block."""
    return any(one.reuse for one in _threaded(facts))


@_add("a kernel that reads neighbouring elements")
def kernel_stencil(facts: Facts) -> Truth:
    """A kernel reads elements of global memory that neighbouring threads read too."""
    return any(one.stencil for one in _threaded(facts))


@_add("an input that all threads read at the same places")
def uniform_input(facts: Facts) -> Truth:
    """The index of an input has no number of a thread or block in it."""
    return any(one.uniform for one in _threaded(facts))


@_add("shared arrays that a warp walks in whole rows of banks")
def bank_conflict(facts: Facts) -> Truth:
    """Neighbouring threads touch the same bank; not known where an index is not followed."""
    unknown = any(one.shared and one.thread == "unknown" for one in _accesses(facts))
    found = any(one.conflicts for one in facts.kernels)
    return True if found else (None if unknown else False)


@_add("threads of a warp that branch differently")
def divergent(facts: Facts) -> Truth:
    """A condition of a kernel depends on data, or on the thread's number with % or &."""
    return any(one.divergent for one in _threaded(facts))


@_add("inputs that a kernel only reads")
def read_only_input(facts: Facts) -> Truth:
    """A kernel takes pointers to const."""
    return any(one.inputs for one in facts.kernels)


@_add("loads through the read-only cache")
def read_only_loads(facts: Facts) -> Truth:
    """Every kernel uses `__ldg` or `const .. __restrict__`."""
    return bool(facts.kernels) and all(one.read_only for one in facts.kernels)


@_add("vector types")
def vector_types(facts: Facts) -> Truth:
    """A kernel uses float4 or the like."""
    return any(one.vectors for one in facts.kernels)


@_add("launch bounds")
def launch_bounds(facts: Facts) -> Truth:
    """A kernel has `__launch_bounds__`."""
    return any(one.bounds for one in facts.kernels)


@_add("unrolled loops in a kernel")
def unrolled(facts: Facts) -> Truth:
    """`#pragma unroll` stands in a kernel."""
    return any(one.unrolled for one in facts.kernels)


@_add("fast intrinsics")
def fast_math(facts: Facts) -> Truth:
    """A kernel calls `__expf` or the like."""
    return any(one.fast_math for one in facts.kernels)


@_add("fused multiply-adds")
def fused(facts: Facts) -> Truth:
    """A kernel calls `fmaf`."""
    return any(one.fused for one in facts.kernels)


@_add("asynchronous copies to shared memory")
def async_copy(facts: Facts) -> Truth:
    """A kernel calls `memcpy_async`."""
    return any(one.async_copy for one in facts.kernels)


@_add("matrix instructions")
def tensor_cores(facts: Facts) -> Truth:
    """A kernel uses wmma."""
    return any(one.tensor for one in facts.kernels)


@_add("constant memory")
def constant_memory(facts: Facts) -> Truth:
    """The code has `__constant__` arrays."""
    return bool(facts.host.constants)


@_add("copies between host and device")
def transfers(facts: Facts) -> Truth:
    """The host calls cudaMemcpy to or from the device."""
    return bool(facts.host.to_device or facts.host.to_host)


@_add("device memory that each call allocates")
def allocations(facts: Facts) -> Truth:
    """The host calls cudaMalloc."""
    return bool(facts.host.allocations)


@_add("device memory that is kept from call to call")
def kept_buffers(facts: Facts) -> Truth:
    """Allocations go to static variables."""
    return facts.host.kept


@_add("pinned memory")
def pinned(facts: Facts) -> Truth:
    """The host pins memory."""
    return facts.host.pinned


@_add("managed memory")
def managed(facts: Facts) -> Truth:
    """The host allocates managed memory."""
    return facts.host.managed


@_add("several streams")
def streams(facts: Facts) -> Truth:
    """The host makes streams."""
    return bool(facts.host.streams)
