"""Facts of each loop: its head, its nest, its accesses, and its dependences."""

from collections.abc import Sequence
from typing import Literal, TypeVar

from tree_sitter import Node

from regraph_kg.cpp.aims import Aims
from regraph_kg.cpp.calls import Carries
from regraph_kg.cpp.clauses import is_canonical, lasting, section
from regraph_kg.cpp.comparisons import comparison
from regraph_kg.cpp.dependences import Dependences, LoopUses
from regraph_kg.cpp.headers import continues, declared_kind
from regraph_kg.cpp.indices import INDIRECT, UNKNOWN, ElementAccess, Indices
from regraph_kg.cpp.library import COPIES, MATH
from regraph_kg.cpp.occurrences import LONGEST, NO_LOOP, Loop, Occurrence
from regraph_kg.cpp.polynomial import Polynomial, number, shown
from regraph_kg.cpp.syntax import LOOPS, called, operator, short, statements, text
from regraph_kg.models.base import Frozen

_KINDS: dict[str, Literal["for", "range", "while", "do"]] = {
    "for_statement": "for",
    "for_range_loop": "range",
    "while_statement": "while",
    "do_statement": "do",
}
MOST_ACCESSES = 24
_MOST_NAMES = 24
_STILL = frozenset({"0", UNKNOWN})
_FEW = 16  # this many elements stay in registers or the nearest cache by themselves
_THREAD = ("threadIdx.", "blockIdx.")
_Placed = TypeVar("_Placed", ElementAccess, Occurrence)
_OMP_THREAD = "omp_get_thread_num"


class Access(Frozen):
    """An access to an array in a loop; equal accesses are listed once."""

    array: str
    mode: Literal["read", "write", "update"]
    index: str
    strides: tuple[str, ...]
    """For each loop around it, outermost first: "0", "1", "n", "row", "indirect", "unknown"."""
    thread: str = ""  # the stride from one CUDA thread to the next; "" outside kernels
    shared: bool = False  # whether it lies in shared memory


class LoopFacts(Frozen):
    """Facts of one loop."""

    number: int
    parent: int = NO_LOOP  # the number of the loop around it, -1 for none
    at: int = 0  # bytes of the text before it
    depth: int = 0
    kind: Literal["for", "range", "while", "do"]
    function: str = ""
    kernel: bool = False  # whether it stands in a CUDA kernel
    variable: str = ""
    type: str = ""
    start: str = ""
    end: str = ""
    step: str = ""
    uneven: bool = False  # whether its bounds depend on data or on a loop around it
    trips: int | None = None  # number of iterations, where it is a constant
    compare: str = ""  # how its variable is compared with `end`
    perfect: bool = False  # whether its body is one loop and nothing else
    innermost: bool = True
    carries: Carries = "unknown"  # whether an iteration needs the one before, reductions apart
    reduces: tuple[str, ...] = ()  # scalars and elements that all iterations update alike
    combines: tuple[str, ...] = ()  # OpenMP's operator of each of `reduces`; "": no clause has one
    sections: tuple[str, ...] = ()
    """The name of each of `reduces` in a clause: `hist[:256]`; "" where there is none."""
    canonical: bool = False
    """Whether OpenMP can share it out: one start, one fixed end, one fixed step, no other exit."""
    comparison: str = ""  # what its head must have for that: `i < n - 1` for `i + 1 < n`
    scan: bool = False  # whether a running value is stored in each iteration
    swaps: bool = False
    time: bool = False  # each iteration computes whole arrays from those of the one before
    copies: bool = False  # whether it does nothing but copy elements from one array to another
    branches: bool = False
    exits: bool = False  # whether it is left early, by break, return or goto
    continues: bool = False
    launches: bool = False  # whether it launches kernels
    math: tuple[str, ...] = ()  # costly functions that it calls, inner loops included
    divides: bool = False
    private: tuple[str, ...] = ()
    """Names that are declared outside and set in each iteration before they are read."""
    scratch: tuple[str, ...] = ()  # of `private`: arrays, of which each thread may have one
    large: bool = False  # whether one of `scratch` has no place on the stack of OpenMP's threads
    lasting: tuple[str, ...] = ()  # of `private` and the loop's variable: read after the loop
    directives: tuple[str, ...] = ()  # pragmas directly before it
    region: bool = False  # whether a parallel region of OpenMP is around it, or begins with it
    shared_out: bool = False
    """Whether its iterations are shared among threads, by a directive or by thread numbers."""
    accesses: tuple[Access, ...] = ()  # accesses in the loop itself, not in loops within it
    reuse: tuple[str, ...] = ()  # arrays that an inner loop sweeps again in each iteration

    @property
    def stride(self) -> str:
        """Its step, if it is not one."""
        return "" if self.step in ("1", "-1") else self.step

    @property
    def clauses(self) -> str:
        """The reduction, private and lastprivate clauses to share it out, with blanks before."""
        by_sign: dict[str, list[str]] = {}
        for name, sign in zip(self.sections, self.combines, strict=True):
            if name:
                by_sign.setdefault(sign, []).append(name)
        # its variable is private by the directive itself, and naming it is an error
        others = {self.variable, *self.lasting, *self.scratch}
        private = [name for name in self.private if name not in others]
        clauses = [f" reduction({sign}:{', '.join(names)})" for sign, names in by_sign.items()]
        clauses += [f" private({', '.join(private)})"] if private else []
        # a copy of a vector has its length
        clauses += [f" firstprivate({', '.join(self.scratch)})"] if self.scratch else []
        # the first value lasts if there is no iteration
        words = ("firstprivate", "lastprivate") if self.lasting else ()
        return "".join((*clauses, *(f" {word}({', '.join(self.lasting)})" for word in words)))

    @property
    def head(self) -> str:
        """A text that identifies the loop."""
        return f"{self.variable} {self.start} {self.end}"


def loop_facts(names: Indices, elements: Sequence[ElementAccess]) -> tuple[LoopFacts, ...]:
    """The facts of all loops, in the order of the text."""
    reader = _Loops(names, elements)
    return tuple(reader.facts(loop) for loop in names.events.loops)


def access(names: Indices, element: ElementAccess) -> Access:
    """An access as a fact."""
    around = names.chain(element.place.loop)
    kind = element.declared.kind.split() if element.declared is not None else []
    return Access(
        array=element.array,
        mode=element.mode,
        index=",".join(shown(index)[:60] for index in element.index),
        strides=tuple(names.stride(element.index, loop, around) for loop in around),
        thread=thread_stride(names, element) if element.place.kernel else "",
        shared="__shared__" in kind,
    )


def thread_stride(names: Indices, element: ElementAccess) -> str:
    """The step of an index from one thread to the next."""
    around = names.chain(element.place.loop)
    total: list[str] = []
    for index in element.index:
        moved = names.expanded(index, "threadIdx.x", around)
        hidden = names.closure(moved) - set().union(*moved) | names.begun(moved, element)
        for loop in around:
            if names.headers[loop].symbol in hidden:
                hidden |= names.closure(names.start(loop))
        factor: Polynomial = {}
        for product, times in moved.items():
            if product.count("threadIdx.x") == 1:
                factors = list(product)
                factors.remove("threadIdx.x")
                factor = {**factor, tuple(factors): times}
        if "threadIdx.x" in hidden and not factor:
            data = any(name.startswith("@") for name in names.closure(moved) | hidden)
            return INDIRECT if data else UNKNOWN
        total.append(shown(factor))
    return "row" if any(stride != "0" for stride in total[:-1]) else (total[-1] if total else "0")


class _Loops:
    def __init__(self, names: Indices, elements: Sequence[ElementAccess]) -> None:
        self.names, self.events = names, names.events
        events = names.events
        self.elements, self.uses = self._filed(elements), self._filed(events.names)
        self.all, self.aims = self._filed([*elements, *names.unnamed]), Aims(names)
        self.calls, self.divisions = self._filed(events.calls), self._filed(events.divisions)
        self.children: list[list[int]] = [[] for _ in events.loops]
        for loop in events.loops:
            if loop.place.loop != NO_LOOP:
                self.children[loop.place.loop].append(loop.number)

    def _filed(self, items: Sequence[_Placed]) -> list[list[_Placed]]:
        """Items in each loop, those in loops within it included."""
        table: list[list[_Placed]] = [[] for _ in self.events.loops]
        for item in items:
            for k in self.names.chain(item.place.loop):
                table[k].append(item)
        return table

    def facts(self, loop: Loop) -> LoopFacts:
        k, names = loop.number, self.names
        shared = LoopUses(names, self.aims, k, self.all[k], self.uses[k]).read(self.calls[k])
        inner = statements(loop.node.child_by_field_name("body"))
        direct = [element for element in self.elements[k] if element.place.loop == k]
        math = (called(call.node) for call in self.calls[k])
        return self._head(loop).model_copy(
            update={
                "perfect": len(inner) == 1 and inner[0].type in LOOPS,
                "carries": shared.carries,
                "canonical": is_canonical(names, loop),
                "comparison": comparison(names, loop),
                "reduces": tuple(shared.reduces)[:_MOST_NAMES],
                "combines": tuple(map(_only, shared.reduces.values()))[:_MOST_NAMES],
                "sections": self._sections(k, shared),
                "scan": shared.scan,
                "swaps": shared.swaps,
                "time": self._time(loop, shared),
                "copies": sorted(element.mode for element in direct) == ["read", "write"]
                and len(inner) == 1
                and not self.children[k],
                "math": tuple(dict.fromkeys(name for name in math if name in MATH))[:8],
                "divides": any(
                    use.place.loop == k and _costly(use.node) for use in self.divisions[k]
                ),
                "private": tuple(dict.fromkeys([*shared.private, *shared.scratch]))[:_MOST_NAMES],
                "scratch": tuple(shared.scratch)[:_MOST_NAMES],
                "large": shared.large,
                "lasting": lasting(names, loop, shared.private)[:_MOST_NAMES],
                "accesses": tuple(dict.fromkeys(access(names, e) for e in direct))[:MOST_ACCESSES],
                "reuse": self._reuse(k),
            }
        )

    def _sections(self, k: int, shared: Dependences) -> tuple[str, ...]:
        listed: dict[str, list[ElementAccess]] = {name: [] for name in shared.reduces}
        for element in self.elements[k]:
            if element.array in listed:
                listed[element.array].append(element)
        clauses = (section(self.names, k, accesses, name) for name, accesses in listed.items())
        signs = map(_only, shared.reduces.values())
        pairs = zip(clauses, signs, strict=True)
        return tuple(clause if sign else "" for clause, sign in pairs)[:_MOST_NAMES]

    def _head(self, loop: Loop) -> LoopFacts:
        k, names = loop.number, self.names
        header = names.headers[k]
        bounds = names.closure(names.start(k)) | names.closure(names.end(k))
        return LoopFacts(
            number=k,
            parent=loop.place.loop,
            depth=loop.depth,
            at=loop.node.start_byte,
            kind=_KINDS[loop.node.type],
            function=loop.place.function,
            kernel=loop.place.kernel,
            variable=header.variable,
            type=declared_kind(loop.node),
            start=short(header.start, LONGEST),
            end=short(header.end, LONGEST),
            step=shown(names.step(k) or {}) if header.sign else "",
            uneven=self._uneven(loop, bounds),
            trips=self._trips(k),
            compare=header.compare,
            innermost=not self.children[k],
            branches=loop.branches,
            exits=loop.exits,
            continues=continues(loop.node),
            launches=self._launches(k),
            directives=tuple(directive[:LONGEST] for directive in loop.directives),
            region=loop.place.region > 0 or any("parallel" in d for d in loop.directives),
            shared_out=self._shared_out(loop, bounds),
        )

    def _launches(self, k: int) -> bool:
        parts = (child for call in self.calls[k] for child in call.node.children)
        return any(child.type == "kernel_call_syntax" for child in parts)

    def _uneven(self, loop: Loop, bounds: frozenset[str]) -> bool:
        around = self.names.chain(loop.place.loop)
        outer = {self.names.headers[k].symbol for k in around} - {""}
        steps = self.names.step(around[-1]) if around else None
        # A tile's loop starts at the tile: its length is the same for almost all of them.
        tiled = steps is not None and number(steps) not in (1, -1) and len(outer & bounds) <= 1
        data = any(name.startswith("@") for name in bounds)
        return data or bool(outer & bounds and not tiled)

    def _trips(self, k: int) -> int | None:
        header, names = self.names.headers[k], self.names
        step = names.step(k)
        size = number(step) if step is not None else None
        if header.start is None or header.end is None or not size:
            return None
        start, end = number(names.start(k)), number(names.end(k))
        if start is None or end is None:
            return None
        end += (header.compare == "<=") - (header.compare == ">=")
        return max(0, -((start - end) // size))

    def _time(self, loop: Loop, shared: Dependences) -> bool:
        writes = any(
            element.mode != "read" and element.place.loop != loop.number
            for element in self.elements[loop.number]
        )
        copies = any(called(call.node) in COPIES for call in self.calls[loop.number])
        if self._launches(loop.number) and not loop.place.kernel:
            return True
        variable = self.names.headers[loop.number].symbol
        if not self.children[loop.number] or not writes or self._enters(loop.number, variable):
            return False
        return shared.evolves or shared.swaps or (copies and shared.carries != "no")

    def _enters(self, k: int, variable: str) -> bool:
        """Whether a loop's variable enters an index or an inner bound: then it is no time."""
        inner = [two.number for two in self.events.loops if k in self.names.chain(two.number)[:-1]]
        ends = [self.names.start(two) for two in inner] + [self.names.end(two) for two in inner]
        used = [*ends, *(index for element in self.elements[k] for index in element.index)]
        return bool(variable) and any(variable in self.names.closure(part) for part in used)

    def _shared_out(self, loop: Loop, bounds: frozenset[str]) -> bool:
        for directive in loop.directives:
            first, *words = directive.partition("(")[0].split() or [""]
            if first == "omp" and {"for", "taskloop"} & {*words}:
                return True
        start = self.names.closure(self.names.start(loop.number))
        if loop.place.kernel:
            return any(name.startswith(_THREAD) for name in start)
        return _OMP_THREAD in bounds

    def _reuse(self, k: int) -> tuple[str, ...]:
        arrays = []
        for element in self.elements[k]:
            around = self.names.chain(element.place.loop)
            inner = around[around.index(k) + 1 :]
            if element.array in arrays or not inner:
                continue
            if self.names.stride(element.index, k, around) != "0":
                continue
            declared = element.declared
            if declared is not None and not declared.parameter and declared.loop >= k:
                continue
            sweeps = [i for i in inner if self.names.stride(element.index, i, around) not in _STILL]
            if any((self._trips(i) or _FEW + 1) > _FEW for i in sweeps):
                arrays.append(element.array)
        return tuple(arrays)[:8]


def _only(signs: set[str]) -> str:
    return next(iter(signs)) if len(signs) == 1 else ""


def _costly(node: Node) -> bool:
    """Whether a division is other than one by a whole number, which compilers turn into shifts."""
    right = node.child_by_field_name("right")
    is_integer = right is not None and right.type == "number_literal" and text(right).isdigit()
    return right is not None and (not is_integer or operator(node).startswith("%"))
