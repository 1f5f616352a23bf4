"""All predicates over facts, by name, for the preconditions of techniques.

Here are those that a code has if it has certain facts; `loop_predicates.py`, `openmp_predicates.py`
and `cuda_predicates.py` hold those that weigh several facts.
"""

from collections.abc import Mapping
from functools import partial

from regraph_kg.search.fit.cuda_predicates import CUDA_PREDICATES
from regraph_kg.search.fit.loop_predicates import LOOP_PREDICATES
from regraph_kg.search.fit.openmp_predicates import OPENMP_PREDICATES
from regraph_kg.search.fit.predicate import Predicate, has_any

_OF_FACTS = {
    "loop": ("a loop", "loops"),
    "nest": ("a loop in another loop", "loops.depth"),
    "perfect_nest": ("a loop whose body is one loop alone", "loops.perfect"),
    "while_loop": ("a while loop", "loops.kind.while|loops.kind.do"),
    "time_loop": ("a loop over steps in time", "loops.time"),
    "reduction": ("a result that all iterations of a loop update", "loops.reduces"),
    "stencil": ("a loop that reads neighbouring elements", "loops.stencil|kernels.stencil"),
    "indirect": ("indirect accesses, a[b[i]]", "gathers|scatters|updates"),
    "repeated_work": ("a costly expression that a loop computes again", "loops.repeated"),
    "swaps": ("buffers that change places", "loops.swaps"),
    "small_elements": ("arrays of bytes or shorts", "small_elements"),
    "recursive": ("a function that calls itself", "recursive"),
    "own_array": ("arrays that the code makes itself", "own_arrays|region_arrays"),
    "multiply_add": ("a sum of products", "multiplies_and_adds"),
    "parallel_region": ("a parallel region", "directives.parallel"),
    "worksharing_loop": ("a loop that is shared among threads", "directives.for"),
    "collapse": ("a collapse clause", "directives.collapse"),
    "schedule": ("a schedule clause", "directives.schedule"),
    "atomic": ("atomic updates", "directives.atomic"),
    "critical": ("a critical section", "directives.critical"),
    "tasks": ("tasks", "directives.task|directives.taskloop"),
    "bound_threads": ("threads that are bound to cores", "directives.proc_bind"),
    "intrinsics": ("vector intrinsics", "intrinsics"),
    "prefetch": ("prefetch instructions", "calls.__builtin_prefetch|calls._mm_prefetch"),
    "aligned": ("aligned data", "aligned"),
    "per_thread_array": ("an array with one element for each thread", "per_thread"),
    "region_array": ("private arrays of threads", "region_arrays"),
    "shared_memory": ("shared memory", "kernels.shared"),
    "atomics": ("atomic updates in a kernel", "kernels.atomics"),
    "shuffles": ("shuffles within a warp", "kernels.shuffles"),
    "read_only_input": ("inputs that a kernel only reads", "kernels.inputs"),
    "vector_types": ("vector types", "kernels.vectors"),
    "launch_bounds": ("launch bounds", "kernels.bounds"),
    "unrolled": ("unrolled loops in a kernel", "kernels.unrolled"),
    "fast_math": ("fast intrinsics", "kernels.fast_math"),
    "fused": ("fused multiply-adds", "kernels.fused"),
    "async_copy": ("asynchronous copies to shared memory", "kernels.async_copy"),
    "tensor_cores": ("matrix instructions", "kernels.tensor"),
    "repeated_launch": ("a launch that the host repeats", "launches.in_loop"),
    "constant_memory": ("constant memory", "host.constants"),
    "allocations": ("device memory that each call allocates", "host.allocations"),
    "kept_buffers": ("device memory that is kept from call to call", "host.kept"),
    "pinned": ("pinned memory", "host.pinned"),
    "managed": ("managed memory", "host.managed"),
    "streams": ("several streams", "host.streams"),
}
"""Name -> the code's property in words, and paths of facts, one of which is enough."""

PREDICATES: Mapping[str, Predicate] = {
    **{name: Predicate(partial(has_any, paths), what) for name, (what, paths) in _OF_FACTS.items()},
    **LOOP_PREDICATES,
    **OPENMP_PREDICATES,
    **CUDA_PREDICATES,
}
