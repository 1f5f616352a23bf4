"""Facts of the kernels of a text, with the functions and macros that they use.

Not here: launches, copies and memory of the host (cuda_host.py).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from tree_sitter import Node

from regraph_kg.cpp import polynomial
from regraph_kg.cpp.indices import INDIRECT, UNKNOWN, ElementAccess, Indices
from regraph_kg.cpp.library import FAST_MATH, FUSED
from regraph_kg.cpp.loop_facts import thread_stride
from regraph_kg.cpp.occurrences import NO_LOOP
from regraph_kg.cpp.reached import MOST_NODES, Reached
from regraph_kg.cpp.syntax import called, operator, short, statements, text, walk
from regraph_kg.models.base import Frozen

_AXES = ("x", "y", "z")
_NUMBERS = ("float", "double", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
_VECTORS = frozenset(f"{kind}{count}" for kind in (*_NUMBERS, "half") for count in (2, 4, 8))
_TENSOR = frozenset({"mma", "wmma", "wgmma"})
_SHUFFLES = ("__shfl", "__reduce_", "shfl", "WarpReduce")
_RANKS = frozenset(
    {"thread_rank", "thread_index", "group_index", "block_rank", "block_index", "meta_group_rank"}
)
_BARRIERS = frozenset(
    {
        *("__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"),
        *("__syncwarp", ".sync", "sync"),
    }
)
_BUILT_IN = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
_FLOATS = frozenset({"float", "double", "half", "__half", "__nv_bfloat16"}) | _VECTORS
_INTEGERS = frozenset(
    {
        *("int", "unsigned", "signed", "long", "short", "char", "size_t", "bool", "uint", "std"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    }
)
_SPECIFIERS = frozenset({"const", "constexpr", "static", "volatile", "register", "__shared__"})
_NEAR = ("0", "1", "-1", UNKNOWN, INDIRECT)  # strides that are none, or not known to be far
_BANKS = 32
_MOST_KERNELS = 32
_GRID_NUMBER = re.compile(
    r"(?:\(\w+\))?(?:blockIdx\.x\*blockDim\.x\+threadIdx\.x|threadIdx\.x\+blockIdx\.x\*blockDim\.x)(\+\d+)?"
)
_BOUND = re.compile(r"\(\s*(\w+)\s*<\s*([\w\s+\-*]*\w)\s*\)")


class KernelFacts(Frozen):
    """Facts of one kernel, and of the functions that it reaches in the text."""

    name: str
    reached: tuple[str, ...] = ()  # functions and macros of the text, without the kernel
    followed: bool = True
    """Whether the thread's number and all accesses stand in the kernel itself, by `threadIdx`."""
    guard: str = ""  # the number that bounds the thread's number in its one guard: "256"
    axes: tuple[str, ...] = ()
    """Dimensions in which its threads differ: "x", "y", "z"; empty: all threads do the same."""
    grid_stride: bool = False  # whether its threads walk in steps of the whole grid
    shared: tuple[str, ...] = ()  # arrays in shared memory, with their lengths
    barriers: int = 0
    barrier_in_loop: bool = False
    atomics: bool = False  # whether it updates memory atomically, in whatever memory
    global_atomics: int = 0
    shared_atomics: int = 0
    one_address: bool = False  # an atomic update of global memory has one address for all threads
    shuffles: bool = False
    read_only: bool = False  # it loads by `__ldg`, or its pointers to const are `__restrict__`
    inputs: tuple[str, ...] = ()  # its parameters that are pointers to const
    vectors: bool = False
    bounds: str = ""  # its `__launch_bounds__`
    unrolled: bool = False
    fast_math: bool = False
    divides: bool | None = False
    """Whether it divides floating-point numbers by a variable; None: a type is unknown."""
    fused: bool = False
    async_copy: bool = False
    tensor: bool = False
    divergent: bool = False
    """Whether a condition depends on data or on the thread's number, guards of bounds aside."""
    scattered: tuple[str, ...] = ()
    """Arrays in global memory where neighbouring threads touch addresses far apart."""
    uniform: tuple[str, ...] = ()  # inputs that all threads read at the same places
    reuse: tuple[str, ...] = ()
    """Arrays in global memory of which several threads of a block read the same elements."""
    conflicts: tuple[str, ...] = ()  # shared arrays that a warp touches in steps of rows of banks
    sure_conflicts: tuple[str, ...] = ()  # those of them whose steps are numbers in the text


def kernel_facts(
    names: Indices, elements: Sequence[ElementAccess], reached: Reached
) -> tuple[KernelFacts, ...]:
    """Every kernel, in the order of the text."""
    kernels: list[KernelFacts] = []
    for name, node in names.events.functions.items():
        is_kernel = any(text(part) == "__global__" for part in node.children)
        if is_kernel and len(kernels) < _MOST_KERNELS:
            kernels.append(_Kernel(names, name, node, elements, reached).facts())
    return tuple(kernels)


class _Kernel:
    def __init__(
        self,
        names: Indices,
        name: str,
        node: Node,
        elements: Sequence[ElementAccess],
        reached: Reached,
    ) -> None:
        self.names, self.events, self.name, self.node = names, names.events, name, node
        self.within, self.words = reached.of(name), reached.words_of(name)
        self.all = [element for element in elements if element.place.function in self.within]
        self.elements = [element for element in self.all if element.place.function == name]
        self.calls = [use for use in self.events.calls if use.place.function in self.within]
        inside = [symbol for symbol in self.events.symbols if symbol.function in self.within]
        self.declared = [symbol for symbol in inside if symbol.function == name]
        self.shared = {symbol.name for symbol in inside if "__shared__" in symbol.kind.split()}
        self.axes = _axes(self.words)
        helpers = self.within - {name}
        with_axes = {helper for helper in helpers if _axes(reached.words.get(helper, frozenset()))}
        self.numbers = _RANKS | reached.that_reach(with_axes)  # names for a thread's number
        self.hidden = self.axes != _axes(reached.words.get(name, frozenset()) - _RANKS)
        parameters = [symbol for symbol in inside if symbol.parameter and symbol.function != name]
        pointers = any(symbol.pointer or symbol.reference or symbol.array for symbol in parameters)
        macros = self.within & reached.macros
        indexed = any("[" in reached.words[macro] for macro in macros)
        self.followed = not (self.hidden or pointers or indexed)
        self.macros = reached.macros

    def facts(self) -> KernelFacts:
        words = self.words
        listed = [text(n) for n in walk(self.node) if n.type == "parameter_declaration"]
        pointers = [parameter for parameter in listed if "*" in parameter and "const" in parameter]
        inputs = [
            symbol.name
            for symbol in self.declared
            if symbol.parameter and symbol.pointer and "const" in symbol.kind.split()
        ]
        return KernelFacts(
            name=self.name,
            reached=tuple(sorted(self.within - {self.name}))[:32],
            followed=self.followed,
            guard=self._guard(),
            axes=self.axes,
            grid_stride=any(word.startswith("gridDim.") for word in words)
            or ("this_grid" in words and bool({"size", "num_threads"} & words)),
            shuffles=any(word.startswith(_SHUFFLES) for word in words)
            or {"tiled_partition", "reduce"} <= words,
            read_only="__ldg" in words
            or (bool(pointers) and all("restrict" in pointer for pointer in pointers)),
            inputs=tuple(inputs),
            vectors=any(word.lstrip("_") in _VECTORS for word in words),
            bounds="".join(short(node) for node in walk(self.node) if node.type == "launch_bounds"),
            unrolled=any(
                "unroll" in directive and place.function in self.within
                for directive, place in self.events.directives
            ),
            fast_math=bool(words & FAST_MATH),
            divides=self._divides(),
            fused=bool(words & FUSED),
            async_copy=any("memcpy_async" in word or "cp.async" in word for word in words),
            tensor=any(_TENSOR & {*word.replace(".", "_").split("_")} for word in words),
            divergent=self._divergent(),
            scattered=self._arrays(
                lambda element: thread_stride(self.names, element) not in _NEAR and bool(self.axes)
            ),
            uniform=self._uniform(inputs),
            reuse=self._arrays(self._reused),
            conflicts=self._arrays(self._conflicts, shared=True),
            sure_conflicts=self._arrays(lambda e: self._conflicts(e, sure=True), shared=True),
        ).model_copy(update=self._of_shared())

    def _of_shared(self) -> dict[str, object]:
        barriers = [use for use in self.calls if called(use.node) in _BARRIERS]
        updates = []
        for element in (element for element in self.all if element.mode == "update"):
            # the call around the element of `atomicAdd(&a[i], 1)` is the last one before it
            before = [use for use in self.calls if use.order < element.order]
            if before and "atomic" in called(before[-1].node):
                updates.append(element)
        inside = [update for update in updates if update.array in self.shared]
        elsewhere = [update for update in updates if update.array not in self.shared]
        # a helper's parameter may lie anywhere
        outside = [
            update
            for update in elsewhere
            if update.place.function == self.name
            or not (update.declared is not None and update.declared.parameter)
        ]
        shared = {
            symbol.sized
            for symbol in self.events.symbols
            if symbol.name in self.shared and symbol.function in self.within
            if not symbol.parameter
        }
        return {
            "shared": tuple(sorted(shared)),
            "barriers": len(barriers),
            "barrier_in_loop": any(use.place.loop != NO_LOOP for use in barriers),
            "atomics": any(word.startswith("atomic") for word in self.words),
            "global_atomics": len(outside),
            "shared_atomics": len(inside),
            "one_address": any(self._fixed(element) for element in outside),
        }

    def _guard(self) -> str:
        """The bound of the thread's number, if the last statement guards it."""
        body = statements(self.node.child_by_field_name("body"))
        guard = body[-1] if body and body[-1].type == "if_statement" else None
        if guard is None or self.axes != ("x",) or guard.child_by_field_name("alternative"):
            return ""
        head = _BOUND.fullmatch(text(guard.child_by_field_name("condition")))
        numbers = {
            symbol.name
            for symbol in self.declared
            if _GRID_NUMBER.fullmatch("".join(text(symbol.value).split()))
        }
        return head[2] if head is not None and head[1] in numbers else ""

    def _divides(self) -> bool | None:
        nodes = [self.events.functions[key] for key in self.within & self.events.functions.keys()]
        answers = {
            self._floating(division)
            for node in nodes
            for division in islice(walk(node), MOST_NODES)
            if operator(division) in ("/", "/=") and division.children[-1].type != "number_literal"
        }
        return True if True in answers else (None if None in answers else False)

    def _floating(self, division: Node) -> bool | None:
        """Whether a division is of floating-point numbers; None where a type is unknown."""
        kinds = set[str]()
        for node in walk(division):
            if node.type == "number_literal" and "." in text(node):
                return True
            declared = self.events.find(text(node), node) if node.type == "identifier" else None
            if declared is not None:
                kinds |= set(re.findall(r"\w+", declared.kind)) - _SPECIFIERS
            elif node.type == "identifier" and text(node) not in self.macros | _BUILT_IN:
                kinds.add(UNKNOWN)
        return True if kinds & _FLOATS else (None if kinds - _INTEGERS else False)

    def _fixed(self, element: ElementAccess) -> bool:
        names = frozenset().union(*map(self.names.closure, element.index))
        return not any(self._varies(name) or "#" in name for name in names)

    def _varies(self, name: str) -> bool:
        """Whether a name in an index depends on the thread's number, or on data."""
        last = name.rpartition(".")[2]
        return name.startswith(("threadIdx", "blockIdx", "@")) or last in self.numbers

    def _arrays(
        self, test: Callable[[ElementAccess], bool], *, shared: bool = False
    ) -> tuple[str, ...]:
        """Arrays in global or in shared memory with an access of which a test holds."""
        in_shared = (element for element in self.elements if element.array in self.shared)
        elements = in_shared if shared else filter(self._in_global, self.elements)
        return tuple(dict.fromkeys(element.array for element in elements if test(element)))[:8]

    def _in_global(self, element: ElementAccess) -> bool:
        if element.array in self.shared:
            return False
        return element.declared is None or element.declared.parameter or not element.declared.array

    def _index_names(self, element: ElementAccess) -> frozenset[str]:
        around = self.names.chain(element.place.loop)
        full = [self.names.expanded(index, "threadIdx.x", around) for index in element.index]
        names = set[str]().union(*map(self.names.closure, full))
        for loop in around:
            if self.names.headers[loop].symbol in names:
                names |= self.names.closure(self.names.start(loop))
        return frozenset(names)

    def _reused(self, element: ElementAccess) -> bool:
        """Whether an axis of the block does not enter the index, in a loop."""
        names = self._index_names(element)
        if self.hidden or element.mode != "read" or any(name.startswith("@") for name in names):
            return False
        missing = [a for a in self.axes if f"threadIdx.{a}" not in names]
        loops = self.names.chain(element.place.loop)
        walked = any(self.names.headers[k].symbol in names for k in loops)
        return bool(missing) and walked

    def _uniform(self, inputs: list[str]) -> tuple[str, ...]:
        uniform = []
        for name in inputs:
            listed = [element for element in self.elements if element.array == name]
            names = [self._index_names(element) for element in listed]
            if listed and not any(self._varies(part) for parts in names for part in parts):
                uniform.append(name)
        return tuple(uniform)[:8]

    def _conflicts(self, element: ElementAccess, *, sure: bool = False) -> bool:
        width = element.declared.width if element.declared is not None else None
        length = polynomial.number(self.names.value(width, NO_LOOP)) if width is not None else None
        stride = thread_stride(self.names, element)
        number = int(stride) if stride.lstrip("-").isdigit() else 0
        # the columns of rows of an odd length lie in all banks
        column = stride == "row" and not (length is not None and length % 2 == 1)
        if sure and column:  # short rows, or of unknown length, and diagonals may have none
            within = thread_stride(self.names, replace(element, index=element.index[-1:]))
            column = within == "0" and length is not None and not length % 8
        return bool(self.axes) and (column or (number != 0 and not number % _BANKS))

    def _divergent(self) -> bool:
        """Whether a condition reads data, or the thread's number with % or &."""
        for use in self.events.conditions:
            if use.place.function not in self.within:
                continue
            for count, node in enumerate(walk(use.node)):
                if count > 200:  # noqa: PLR2004
                    break
                if node.type == "subscript_expression" or text(node) in ("%", "&"):
                    return True
                if node.type == "identifier":
                    names = self.names.closure(self.names.value(node, use.place.loop))
                    if any(name.startswith("@") for name in names):
                        return True
        return False


def _axes(words: frozenset[str]) -> tuple[str, ...]:
    """Dimensions that the words name; a rank in a group counts as "x"."""
    ranked = {"threadIdx.x"} if words & _RANKS else set[str]()
    mentioned = words | ranked
    return tuple(axis for axis in _AXES if mentioned & {f"threadIdx.{axis}", f"blockIdx.{axis}"})
