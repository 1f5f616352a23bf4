"""Facts of a code: its loops, its accesses, its OpenMP and its CUDA, read from its tree.

The text alone is read: no header, no compiler. A fact that it does not show is unknown.
Not here: the meaning of facts for a technique (fit/).
"""

import re
from functools import lru_cache

from tree_sitter import Node

from regraph_kg.cpp.cuda_facts import KernelFacts, kernel_facts
from regraph_kg.cpp.cuda_host import HostFacts, LaunchFacts, host_facts, launch_facts
from regraph_kg.cpp.events import events_of
from regraph_kg.cpp.indices import ElementAccess, Indices
from regraph_kg.cpp.loop_facts import Access, LoopFacts, access, loop_facts
from regraph_kg.cpp.occurrences import Declared, Events
from regraph_kg.cpp.reached import Reached, looped
from regraph_kg.cpp.syntax import (
    SyntaxTree,
    arguments,
    bare,
    called,
    declared_name,
    inside_of,
    operator,
    short,
    text,
    tree_of,
    walk,
)
from regraph_kg.models.base import Frozen

_MOST_NAMES = 48
_BYTES = frozenset({"char", "short", "uint8_t", "int8_t", "uint16_t", "int16_t", "byte", "bool"})
_ALIGNS = frozenset(
    {"aligned_alloc", "posix_memalign", "alignas", "__builtin_assume_aligned", "_mm_malloc"}
)
_MOST_ELEMENTS = 3_000
_MOST_ALIASES = 3
_WORD = re.compile(r"\w+")
_TYPES = ("primitive_type", "type_identifier", "long", "short")


class Facts(Frozen):
    """Facts of a code."""

    read_whole: bool = True  # whether the text was read without errors and without a cut
    functions: tuple[str, ...] = ()
    recursive: bool | None = False  # None: a method calls one of the same name
    loops: tuple[LoopFacts, ...] = ()
    kernels: tuple[KernelFacts, ...] = ()
    launches: tuple[LaunchFacts, ...] = ()
    host: HostFacts = HostFacts()
    directives: tuple[str, ...] = ()  # pragmas of OpenMP without "omp", in the order of the text
    calls: tuple[str, ...] = ()  # functions and methods that are called; methods begin with a dot
    often: tuple[str, ...] = ()
    """Functions that may run many times: called in loops or lambdas, passed, or by themselves."""
    multiplies_and_adds: bool = False
    own_arrays: tuple[str, ...] = ()
    """Arrays and containers that the text declares or allocates, with the lengths of arrays."""
    constants: tuple[str, ...] = ()  # names for numbers: "TILE = 16"
    variables: tuple[str, ...] = ()  # local variables that are no arrays
    declared: frozenset[str] = frozenset()  # all names of variables and parameters
    region_arrays: tuple[str, ...] = ()  # arrays that each thread of a region declares for itself
    types: tuple[str, ...] = ()  # types that the text names, without namespaces
    small_elements: tuple[str, ...] = ()  # arrays of bytes or shorts that loops or kernels read
    pointers: tuple[str, ...] = ()  # parameters that are pointers without `restrict`
    restricted: bool = False
    aligned: bool = False
    intrinsics: bool = False  # whether it calls vector intrinsics
    per_thread: tuple[str, ...] = ()  # arrays that are indexed by a thread's number and written
    updates: tuple[str, ...] = ()  # arrays with data-dependent updates, such as histograms
    gathers: tuple[str, ...] = ()
    scatters: tuple[str, ...] = ()
    outside: tuple[Access, ...] = ()  # accesses that stand in no loop, in kernels

    @property
    def main_kernel(self) -> KernelFacts | None:
        """The kernel that does most, the first of equally deep ones; None for no kernel."""
        return max(self.kernels, key=self._depth, default=None)

    def _depth(self, kernel: KernelFacts) -> int:
        """Number of nested ranges of unknown length: a kernel's loops, and its threads."""
        loops = [loop for loop in self.loops if loop.function in (kernel.name, *kernel.reached)]
        few = kernel.guard.isdigit()
        deepest = max((loop.depth + 1 for loop in loops if loop.trips is None), default=0)
        return deepest + (bool(kernel.axes) and not few)


@lru_cache(maxsize=256)
def facts_of(code: str, entry: str = "") -> Facts:
    """The facts of a text, or of what its function `entry` reaches. Never raises."""
    try:
        return _facts(code, entry)
    except (RecursionError, MemoryError):  # a text made to be deep
        return Facts(read_whole=False)


def _facts(code: str, entry: str) -> Facts:
    tree = tree_of(code)
    events = events_of(tree.root)
    names = Indices(events)
    elements = names.elements[:_MOST_ELEMENTS]
    all_reached = Reached(tree.root, events.functions)
    functions = events.functions
    reached = {"", *(all_reached.of(entry) if entry in functions else functions)}
    facts = _of_text(tree, events)
    pointers = [
        symbol.name
        for symbol in events.symbols
        if symbol.parameter
        and symbol.pointer
        and symbol.function in reached
        and not facts.restricted
    ]
    return facts.model_copy(
        update={
            "read_whole": facts.read_whole and len(names.elements) <= _MOST_ELEMENTS,
            "loops": tuple(
                fact for fact in loop_facts(names, elements) if fact.function in reached
            ),
            "kernels": tuple(
                fact for fact in kernel_facts(names, elements, all_reached) if fact.name in reached
            ),
            "launches": launch_facts(events),
            "host": host_facts(names),
            "pointers": tuple(dict.fromkeys(pointers))[:16],
            **_of_elements(
                names,
                [element for element in elements if element.place.function in reached],
                _aliases(tree.root),
            ),
        }
    )


def _of_text(tree: SyntaxTree, events: Events) -> Facts:
    leaves = [node for node in walk(tree.root) if not node.child_count]
    words = frozenset(map(text, leaves))
    types = {text(leaf) for leaf in leaves if leaf.type in _TYPES}
    calls = [called(call.node) for call in events.calls]
    lines = [words for words, _ in events.directives]
    openmp = [line.removeprefix("omp").strip() for line in lines if line.startswith("omp")]
    return Facts(
        read_whole=tree.complete and events.complete,
        functions=tuple(events.functions)[:_MOST_NAMES],
        recursive=_recursive(events),
        directives=tuple(line[:120] for line in openmp)[:_MOST_NAMES],
        calls=tuple(dict.fromkeys(name for name in calls if name))[:_MOST_NAMES],
        often=tuple(sorted(_often(events))),
        multiplies_and_adds=_multiplies_and_adds(tree.root),
        own_arrays=_own_arrays(events, region=False),
        variables=tuple(
            symbol.name
            for symbol in events.symbols
            if symbol.function and not (symbol.parameter or symbol.array)
        )[:_MOST_NAMES],
        declared=frozenset(events.declared),
        region_arrays=_own_arrays(events, region=True),
        types=tuple(sorted(types))[:_MOST_NAMES],
        constants=_constants(tree.root, events),
        restricted=bool({"__restrict__", "__restrict", "restrict"} & words),
        aligned=bool(_ALIGNS & words) or any("aligned" in line for line in lines),
        intrinsics=any(name.startswith(("_mm", "__m", "vld1", "vst1")) for name in words),
    )


def _of_elements(
    names: Indices, elements: list[ElementAccess], aliases: dict[str, str]
) -> dict[str, tuple[object, ...]]:
    by_data = [  # data decides the index: `a[b[i]]`
        element
        for element in elements
        if any(part.startswith("@") for index in element.index for part in names.closure(index))
    ]
    outside = [access(names, e) for e in elements if e.place.kernel and e.place.loop < 0]
    return {
        "small_elements": _named(
            [element for element in elements if _small(element, aliases)], "read"
        ),
        "per_thread": tuple(
            dict.fromkeys(
                element.array
                for element in elements
                if element.mode != "read"
                and any("omp_get_thread_num" in names.closure(index) for index in element.index)
            )
        )[:8],
        "updates": _named(by_data, "update"),
        "gathers": _named(by_data, "read"),
        "scatters": _named(by_data, "write"),
        "outside": tuple(dict.fromkeys(outside))[:24],
    }


def _constants(root: Node, events: Events) -> tuple[str, ...]:
    macros = [node for node in walk(root) if node.type == "preproc_def"]
    named = [(text(m.child_by_field_name("name")), m.child_by_field_name("value")) for m in macros]
    fixed = [
        symbol for symbol in events.symbols if {"const", "constexpr"} & set(symbol.kind.split())
    ]
    named += [(symbol.name, symbol.value) for symbol in fixed]
    numbers = [
        f"{name} = {short(value)}"
        for name, value in named
        if value is not None and all(node.type != "identifier" for node in walk(value))
    ]
    return tuple(numbers)[:_MOST_NAMES]


def _multiplies_and_adds(root: Node) -> bool:
    """Whether `a * b + c` or `c += a * b` stands anywhere."""
    for node in walk(root):
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        if operator(node) not in ("+", "-", "+=", "-="):
            continue
        products = [side for side in map(bare, sides) if side is not None and operator(side) == "*"]
        if products and (operator(node) in ("+=", "-=") or _is_no_index(products[0])):
            return True
    return False


def _is_no_index(product: Node) -> bool:
    """Whether an element of an array is a factor, or a number with a fraction."""
    sides = (product.child_by_field_name("left"), product.child_by_field_name("right"))
    return any(
        side.type == "subscript_expression" or (side.type == "number_literal" and "." in text(side))
        for side in map(bare, sides)
        if side is not None
    )


def _own_arrays(events: Events, *, region: bool) -> tuple[str, ...]:
    names = [
        symbol.sized
        for symbol in events.symbols
        if not symbol.parameter and symbol.region == region and _holds_many(symbol)
    ]
    return tuple(dict.fromkeys(names))[:16]


def _holds_many(declared: Declared) -> bool:
    value = declared.value
    creation = (
        "" if value is not None and value.type == "lambda_expression" else text(value)
    ) + declared.arguments
    words = _WORD.findall(declared.kind + creation)
    new = any(word in creation for word in ("alloc(", "new ", "make_unique"))
    return declared.array or new or "vector" in words or "array" in words


def _often(events: Events) -> frozenset[str]:
    """Functions of the text that something other than one call may run."""
    circle = _recursive(events) is not False
    inner = {
        called(call.node).removeprefix(".")
        for call in events.calls
        if circle or inside_of(call.node, {"lambda_expression"}) is not None
    }
    uses = (use.node for use in events.names if text(use.node) in events.functions)
    passed = {text(node) for node in uses if not _declares(node)}
    return (looped(events) | inner | passed) & events.functions.keys()


def _declares(name: Node) -> bool:
    return name.parent is not None and name.parent.type == "function_declarator"


def _recursive(events: Events) -> bool | None:
    """Whether a chain of calls returns to its start; a lambda counts by its name."""
    plain, methods = set[tuple[str, str]](), set[tuple[str, str]]()
    for call in events.calls:
        name, on_this = called(call.node), text(call.node).startswith("this->")
        lambda_ = events.find(name, call.node)
        value = lambda_.value if lambda_ is not None else None
        inside = value is not None and value.start_byte < call.node.start_byte < value.end_byte
        passed = bool(arguments(call.node)) and text(arguments(call.node)[0]) == name
        caller = name if inside or passed else call.place.function
        pair = (caller, name.removeprefix("."))
        (methods if name.startswith(".") and not on_this else plain).add(pair)
    if _has_circle(plain):
        return True
    return None if _has_circle(plain | methods) else False


def _has_circle(calls: set[tuple[str, str]]) -> bool:
    remaining, before = calls, -1
    while len(remaining) != before:  # a function whose callees call nothing is in no circle
        before, callers = len(remaining), {caller for caller, _ in remaining}
        remaining = {(caller, name) for caller, name in remaining if name in callers and caller}
    return bool(remaining)


def _aliases(root: Node) -> dict[str, str]:
    """Alias -> type, by `using byte = unsigned char` and `typedef`."""
    nodes = [node for node in walk(root) if node.type in ("alias_declaration", "type_definition")]
    pairs = [
        (node.child_by_field_name("name") or node.child_by_field_name("declarator"), node)
        for node in nodes
    ]
    return {declared_name(name): text(node.child_by_field_name("type")) for name, node in pairs}


def _small(element: ElementAccess, aliases: dict[str, str]) -> bool:
    kind = element.declared.kind if element.declared is not None else ""
    words = set(_WORD.findall(kind))
    for _ in range(_MOST_ALIASES):
        words |= {word for alias in words for word in _WORD.findall(aliases.get(alias, ""))}
    return bool(_BYTES & words)


def _named(elements: list[ElementAccess], mode: str) -> tuple[str, ...]:
    arrays = [element.array for element in elements if element.mode == mode]
    return tuple(dict.fromkeys(arrays))[:8]
