"""What is known of CUDA in a text: kernels, launches, and what the host does for them."""

import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from regraph_kg.models.base import Frozen
from regraph_kg.search.code import polynomial
from regraph_kg.search.code.indices import INDIRECT, UNKNOWN, ElementAccess, Indices
from regraph_kg.search.code.library import FAST_MATH, FUSED
from regraph_kg.search.code.loop_facts import thread_stride
from regraph_kg.search.code.occurrences import NO_LOOP, Events, Occurrence
from regraph_kg.search.code.stencils import stencil_arrays
from regraph_kg.search.code.syntax import arguments, bare, called, short, text, walk

_AXES = ("x", "y", "z")
_NUMBERS = ("float", "double", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_VECTORS = frozenset(f"{kind}{count}" for kind in (*_NUMBERS, "half") for count in (2, 4, 8))
_TENSOR = frozenset({"mma", "wmma", "wgmma"})
_SHUFFLES = ("__shfl", "__reduce_", ".shfl", "WarpReduce")
_MOST_NODES = 20_000
_BANKS = 32
_GRID_NUMBERS = ("blockIdx.x*blockDim.x+threadIdx.x", "threadIdx.x+blockIdx.x*blockDim.x")
_BOUND = re.compile(r"\(\s*(\w+)\s*<\s*(\w+)\s*\)")


class GridNumber(Frozen):
    """The variable for a thread's number in the grid, where there is one, with one guard."""

    at: int
    """Bytes of the text before the statement that makes it."""
    name: str
    end: str
    """What the guard has it below."""


class KernelFacts(Frozen):
    """What is known of one kernel."""

    name: str
    head_at: int = 0
    """Bytes of the text before it."""
    number: GridNumber | None = None
    axes: tuple[str, ...] = ()
    """The dimensions in which its threads differ: "x", "y", "z"; none: all do the same."""
    grid_stride: bool = False
    """Whether its threads walk in steps of the whole grid."""
    shared: tuple[str, ...] = ()
    """Arrays in shared memory, with their lengths."""
    barriers: int = 0
    barrier_in_loop: bool = False
    global_atomics: int = 0
    shared_atomics: int = 0
    one_address: bool = False
    """Whether an atomic update of global memory has the same address for all threads."""
    shuffles: bool = False
    read_only: bool = False
    """Whether it loads by `__ldg`, or all that it only reads is `const .. __restrict__`."""
    inputs: tuple[str, ...] = ()
    """Its parameters that are pointers to const."""
    vectors: bool = False
    bounds: str = ""
    """Its `__launch_bounds__`."""
    unrolled: bool = False
    fast_math: bool = False
    fused: bool = False
    async_copy: bool = False
    tensor: bool = False
    divergent: bool = False
    """Whether a condition depends on data or on the thread's number, guards of bounds aside."""
    scattered: tuple[str, ...] = ()
    """Arrays in global memory where neighbouring threads touch addresses far apart."""
    uniform: tuple[str, ...] = ()
    """Inputs that all threads read at the same places."""
    reuse: tuple[str, ...] = ()
    """Arrays in global memory of which several threads of a block read the same elements."""
    stencil: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Shared arrays that a warp reads or writes in steps of whole rows of banks."""


class LaunchFacts(Frozen):
    """What is known of one launch."""

    kernel: str
    function: str = ""
    """Where it stands."""
    at: int = 0
    """Bytes of the text before the first statement of that function."""
    grid: str = ""
    block: str = ""
    one_thread: bool = False
    in_loop: bool = False
    stream: bool = False


class HostFacts(Frozen):
    """What the host does for its kernels: how many calls of each kind."""

    allocations: int = 0
    to_device: int = 0
    to_host: int = 0
    on_device: int = 0
    in_loop: int = 0
    """Copies within a loop of the host."""
    asynchronous: int = 0
    streams: int = 0
    pinned: bool = False
    managed: bool = False
    kept: bool = False
    """Whether device memory is kept in static variables from call to call."""
    constants: tuple[str, ...] = ()
    """Arrays in constant memory."""


def launch_facts(events: Events) -> tuple[LaunchFacts, ...]:
    """Every launch, in the order of the text."""
    found = []
    for call in events.calls:
        shape = [one for one in call.node.children if one.type == "kernel_call_syntax"]
        parts = [one for one in shape[0].named_children if one.type != "comment"] if shape else []
        if len(parts) > 1:
            grid, block = (_shape(events, one) for one in parts[:2])
            found.append(
                LaunchFacts(
                    kernel=called(call.node),
                    function=call.place.function,
                    at=_first_at(events.functions.get(call.place.function)),
                    grid=grid,
                    block=block,
                    one_thread=_one(grid) and _one(block),
                    in_loop=call.place.loop != NO_LOOP,
                    stream=len(parts) > 3 and text(parts[3]) != "0",  # noqa: PLR2004
                )
            )
    return tuple(found[:32])


def _first_at(function: Node | None) -> int:
    """Bytes before a function's first statement."""
    body = function.child_by_field_name("body") if function is not None else None
    if body is None:
        return 0
    return body.named_children[0].start_byte if body.named_children else body.end_byte - 1


def _shape(events: Events, node: Node) -> str:
    """A launch's number as text; that of a variable is what it was set to."""
    declared = events.find(text(node), node) if node.type == "identifier" else None
    if declared is not None and declared.value is not None and not declared.writes:
        return short(declared.value)
    return declared.made if declared is not None and declared.made else short(node)


def _one(shape: str) -> bool:
    inner = shape.replace(" ", "").removeprefix("dim3").strip("(){}")
    return bool(inner) and all(part == "1" for part in inner.split(","))


def host_facts(names: Indices) -> HostFacts:
    """What the host does, of all functions together."""
    calls = [call for call in names.events.calls if not call.place.kernel]
    listed = [(called(call.node), call) for call in calls]
    copies = [
        (name, call, text(arguments(call.node)[-1]) if arguments(call.node) else "")
        for name, call in listed
        if name.startswith("cudaMemcpy")
    ]
    kinds = [" ".join(map(text, arguments(call.node))) for _, call, _ in copies]
    declared = [one for group in names.events.declared.values() for one in group]
    known = {name for name, _ in listed}
    return HostFacts(
        allocations=sum(name in ("cudaMalloc", "cudaMallocAsync") for name, _ in listed),
        to_device=sum("HostToDevice" in kind for kind in kinds),
        to_host=sum("DeviceToHost" in kind for kind in kinds),
        on_device=sum("DeviceToDevice" in kind for kind in kinds),
        in_loop=sum(call.place.loop != NO_LOOP for _, call, _ in copies),
        asynchronous=sum("Async" in name for name, _, _ in copies),
        streams=sum(name.startswith("cudaStreamCreate") for name, _ in listed),
        pinned=bool(known & {"cudaHostRegister", "cudaMallocHost", "cudaHostAlloc"}),
        managed="cudaMallocManaged" in known or any("__managed__" in one.kind for one in declared),
        kept=any(_kept(names.events, call) for name, call in listed if name == "cudaMalloc"),
        constants=tuple(one.name for one in declared if "__constant__" in one.kind.split())[:8],
    )


def _kept(events: Events, call: Occurrence) -> bool:
    """Whether an allocation goes to a variable that outlives its function."""
    first = bare(arguments(call.node)[0]) if arguments(call.node) else None
    inner = bare(first.child_by_field_name("argument")) if first is not None else None
    while inner is not None and inner.type == "subscript_expression":
        inner = inner.child_by_field_name("argument")
    one = events.find(text(inner), inner) if inner is not None else None
    return one is not None and ("static" in one.kind.split() or not one.function)


def kernel_facts(names: Indices, elements: Sequence[ElementAccess]) -> tuple[KernelFacts, ...]:
    """Every kernel, in the order of the text."""
    found = []
    for name, node in names.events.functions.items():
        body = node.child_by_field_name("body")
        heads = [one for one in node.children if body is None or one.id != body.id]
        if any(text(one) == "__global__" for one in heads):
            found.append(_Kernel(names, name, node, elements).facts())
    return tuple(found[:32])


class _Kernel:
    def __init__(
        self, names: Indices, name: str, node: Node, elements: Sequence[ElementAccess]
    ) -> None:
        self.names, self.events, self.name, self.node = names, names.events, name, node
        self.elements = [one for one in elements if one.place.function == name]
        self.calls = [use for use in self.events.calls if use.place.function == name]
        self.words = {
            text(one)
            for count, one in enumerate(walk(node))
            if count < _MOST_NODES and not one.child_count
        }
        self.fields = {
            text(one)
            for count, one in enumerate(walk(node))
            if count < _MOST_NODES and one.type == "field_expression"
        }
        declared = [one for group in self.events.declared.values() for one in group]
        self.own = [one for one in declared if one.function == name]
        self.shared = {one.name for one in self.own if "__shared__" in one.kind.split()}
        self.axes = tuple(
            axis for axis in _AXES if {f"threadIdx.{axis}", f"blockIdx.{axis}"} & self.fields
        )

    def facts(self) -> KernelFacts:
        called_names = [called(use.node) for use in self.calls]
        known = set(called_names)
        barriers = [use for use in self.calls if called(use.node) == "__syncthreads"]
        atomics = [
            one for one in self.elements if one.mode == "update" and "atomic" in self._caller(one)
        ]
        outside = [one for one in atomics if one.array not in self.shared]
        inputs = [one for one in self.own if one.parameter and one.pointer and _const(one.kind)]
        return KernelFacts(
            name=self.name,
            head_at=self.node.start_byte,
            number=self._number(),
            axes=self.axes,
            grid_stride=any(field.startswith("gridDim.") for field in self.fields),
            shared=tuple(sorted(one.sized for one in self.own if one.name in self.shared)),
            barriers=len(barriers),
            barrier_in_loop=any(use.place.loop != NO_LOOP for use in barriers),
            global_atomics=len(outside),
            shared_atomics=len(atomics) - len(outside),
            one_address=any(self._fixed(one) for one in outside),
            shuffles=any(name.startswith(_SHUFFLES) for name in known | self.words),
            read_only="__ldg" in known or self._restricted(),
            inputs=tuple(one.name for one in inputs),
            vectors=bool(self.words & _VECTORS),
            bounds="".join(short(one) for one in walk(self.node) if one.type == "launch_bounds"),
            unrolled=any(
                "unroll" in words and place.function == self.name
                for words, place in self.events.directives
            ),
            fast_math=bool(known & FAST_MATH),
            fused=bool(known & FUSED),
            async_copy=any("memcpy_async" in word or "cp.async" in word for word in self.words),
            tensor=any(_TENSOR & {*word.replace(".", "_").split("_")} for word in self.words),
            divergent=self._divergent(),
            scattered=self._arrays(self._scattered),
            uniform=self._uniform([one.name for one in inputs]),
            reuse=self._arrays(self._reused),
            stencil=self._stencil(),
            conflicts=self._conflicts(),
        )

    def _number(self) -> GridNumber | None:
        made = [
            (one.value.parent.parent.start_byte, one.name)
            for one in self.own
            if one.value and "".join(text(one.value).split()) in _GRID_NUMBERS
            if one.value.parent and one.value.parent.parent
        ]
        heads = (text(one) for one in walk(self.node) if one.type == "condition_clause")
        bounds = [found for found in map(_BOUND.fullmatch, heads) if found]
        found = [
            GridNumber(at=at, name=name, end=bound[2])
            for at, name in made
            for bound in bounds
            if bound[1] == name
        ]
        return found[0] if len(made) == len(found) == 1 else None

    def _caller(self, one: ElementAccess) -> str:
        """The name of the call that an element stands in, as `atomicAdd(&a[i], 1)`."""
        order = one.order
        before = [use for use in self.calls if use.order < order]
        return called(before[-1].node) if before else ""

    def _restricted(self) -> bool:
        listed = [one for one in walk(self.node) if one.type == "parameter_declaration"]
        pointers = [one for one in listed if "*" in text(one) and "const" in text(one)]
        return bool(pointers) and all("restrict" in text(one) for one in pointers)

    def _fixed(self, one: ElementAccess) -> bool:
        held = frozenset().union(*map(self.names.closure, one.index))
        return not any(n.startswith(("threadIdx", "blockIdx", "@")) or "#" in n for n in held)

    def _arrays(self, test: Callable[[ElementAccess], bool]) -> tuple[str, ...]:
        found = [one.array for one in self.elements if self._in_global(one) and test(one)]
        return tuple(dict.fromkeys(found))[:8]

    def _in_global(self, one: ElementAccess) -> bool:
        if one.array in self.shared:
            return False
        return one.declared is None or one.declared.parameter or not one.declared.array

    def _scattered(self, one: ElementAccess) -> bool:
        stride = thread_stride(self.names, one)
        return bool(self.axes) and stride not in ("0", "1", "-1", UNKNOWN, INDIRECT)

    def _held(self, one: ElementAccess) -> frozenset[str]:
        around = self.names.chain(one.place.loop)
        full = [self.names.expanded(index, "threadIdx.x", around) for index in one.index]
        held = set[str]().union(*map(self.names.closure, full))
        for loop in around:
            if self.names.headers[loop].symbol in held:
                held |= self.names.closure(self.names.start(loop))
        return frozenset(held)

    def _reused(self, one: ElementAccess) -> bool:
        """Whether an axis of the block does not enter the index, in a loop."""
        held = self._held(one)
        if one.mode != "read" or any(name.startswith("@") for name in held):
            return False
        missing = [a for a in self.axes if f"threadIdx.{a}" not in held]
        loops = self.names.chain(one.place.loop)
        walked = any(self.names.headers[k].symbol in held for k in loops)
        return bool(missing) and walked

    def _uniform(self, inputs: list[str]) -> tuple[str, ...]:
        found = []
        for name in inputs:
            listed = [one for one in self.elements if one.array == name]
            held = [self._held(one) for one in listed]
            if listed and not any(
                part.startswith(("threadIdx", "blockIdx", "@")) for parts in held for part in parts
            ):
                found.append(name)
        return tuple(found)[:8]

    def _stencil(self) -> tuple[str, ...]:
        groups: dict[int, list[ElementAccess]] = {}
        for one in self.elements:
            if self._in_global(one):
                groups.setdefault(one.place.loop, []).append(one)
        found = [name for group in groups.values() for name in stencil_arrays(self.names, group)]
        return tuple(dict.fromkeys(found))[:8]

    def _conflicts(self) -> tuple[str, ...]:
        found = []
        for one in self.elements:
            if one.array in self.shared and len(self.axes) > 0:
                stride = thread_stride(self.names, one)
                number = int(stride) if stride.lstrip("-").isdigit() else 0
                if (stride == "row" and not self._padded(one)) or (number and not number % _BANKS):
                    found.append(one.array)
        return tuple(dict.fromkeys(found))[:8]

    def _padded(self, one: ElementAccess) -> bool:
        """Whether a row is an odd number of elements long: then its columns lie in all banks."""
        width = one.declared.width if one.declared is not None else None
        length = polynomial.number(self.names.value(width, NO_LOOP)) if width is not None else None
        return length is not None and length % 2 == 1

    def _divergent(self) -> bool:
        """Whether a condition reads data, or the thread's number with % or &."""
        for use in self.events.conditions:
            if use.place.function != self.name:
                continue
            for count, one in enumerate(walk(use.node)):
                if count > 200:  # noqa: PLR2004
                    break
                if one.type == "subscript_expression" or text(one) in ("%", "&"):
                    return True
                if one.type == "identifier":
                    held = self.names.closure(self.names.value(one, use.place.loop))
                    if any(name.startswith("@") for name in held):
                        return True
        return False


def _const(kind: str) -> bool:
    return "const" in kind.split()
