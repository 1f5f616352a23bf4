"""Facts of the host code around kernels: launches, copies, memory."""

from tree_sitter import Node

from regraph_kg.cpp.indices import Indices
from regraph_kg.cpp.occurrences import NO_LOOP, Events, Occurrence
from regraph_kg.cpp.reached import looped
from regraph_kg.cpp.syntax import arguments, bare, called, short, text
from regraph_kg.models.base import Frozen

_WAYS = ("ToDevice", "ToHost", "HostToHost", "ToSymbol", "FromSymbol", "Peer")


class LaunchFacts(Frozen):
    """Facts of one launch."""

    kernel: str
    function: str = ""  # the function around it
    at: int = 0  # bytes of the text before the first statement of that function
    grid: str = ""
    block: str = ""
    one_thread: bool = False
    in_loop: bool = False  # whether a loop of the host holds it, or a function that one calls
    stream: bool = False


class HostFacts(Frozen):
    """Facts of the host code: numbers of calls by kind."""

    allocations: int = 0
    to_device: int = 0
    to_host: int = 0
    on_device: int = 0
    unsaid: int = 0  # copies without a direction in the call
    in_loop: int = 0  # copies within a loop of the host, or in a function that a loop calls
    asynchronous: int = 0
    streams: int = 0
    pinned: bool = False
    managed: bool = False
    kept: bool = False  # whether device memory is kept in static variables from call to call
    constants: tuple[str, ...] = ()  # arrays in constant memory


def launch_facts(events: Events) -> tuple[LaunchFacts, ...]:
    """Every launch, in the order of the text."""
    launches, again = [], looped(events)
    for call in events.calls:
        shape = [child for child in call.node.children if child.type == "kernel_call_syntax"]
        parts = (
            [child for child in shape[0].named_children if child.type != "comment"] if shape else []
        )
        if len(parts) > 1:
            grid, block = (_shape(events, part) for part in parts[:2])
            launches.append(
                LaunchFacts(
                    kernel=called(call.node),
                    function=call.place.function,
                    at=_first_at(events.functions.get(call.place.function)),
                    grid=grid,
                    block=block,
                    one_thread=_is_one(grid) and _is_one(block),
                    in_loop=call.place.loop != NO_LOOP or call.place.function in again,
                    stream=len(parts) > 3 and text(parts[3]) != "0",  # noqa: PLR2004
                )
            )
    return tuple(launches[:32])


def _first_at(function: Node | None) -> int:
    """Bytes before a function's first statement."""
    body = function.child_by_field_name("body") if function is not None else None
    if body is None:
        return 0
    return body.named_children[0].start_byte if body.named_children else body.end_byte - 1


def _shape(events: Events, node: Node) -> str:
    """A launch's extent as text; a variable is replaced by its value."""
    declared = events.find(text(node), node) if node.type == "identifier" else None
    if declared is not None and declared.value is not None and not declared.writes:
        return short(declared.value)
    return declared.arguments if declared is not None and declared.arguments else short(node)


def _is_one(shape: str) -> bool:
    inner = shape.replace(" ", "").removeprefix("dim3").strip("(){}")
    return bool(inner) and all(part == "1" for part in inner.split(","))


def host_facts(names: Indices) -> HostFacts:
    """Facts of all host functions together."""
    calls = [call for call in names.events.calls if not call.place.kernel]
    listed = [(called(call.node), call) for call in calls]
    copies = [(name, call) for name, call in listed if name.startswith("cudaMemcpy")]
    kinds = [" ".join([name, *map(text, arguments(call.node))]) for name, call in copies]
    again = looped(names.events)
    symbols = [(symbol.name, symbol.kind) for symbol in names.events.symbols]
    functions = {name for name, _ in listed}
    return HostFacts(
        allocations=sum(name in ("cudaMalloc", "cudaMallocAsync") for name, _ in listed),
        to_device=sum("HostToDevice" in kind for kind in kinds),
        to_host=sum("DeviceToHost" in kind for kind in kinds),
        on_device=sum("DeviceToDevice" in kind for kind in kinds),
        unsaid=sum(not any(way in kind for way in _WAYS) for kind in kinds),
        in_loop=sum(
            call.place.loop != NO_LOOP or call.place.function in again for _, call in copies
        ),
        asynchronous=sum("Async" in name for name, _ in copies),
        streams=sum(name.startswith("cudaStreamCreate") for name, _ in listed),
        pinned=bool(functions & {"cudaHostRegister", "cudaMallocHost", "cudaHostAlloc"}),
        managed="cudaMallocManaged" in functions
        or any("__managed__" in kind for _, kind in symbols),
        kept=any(_is_static(names.events, call) for name, call in listed if name == "cudaMalloc"),
        constants=tuple(name for name, kind in symbols if "__constant__" in kind.split())[:8],
    )


def _is_static(events: Events, call: Occurrence) -> bool:
    """Whether an allocation goes to a variable that outlives its function."""
    first = bare(arguments(call.node)[0]) if arguments(call.node) else None
    inner = bare(first.child_by_field_name("argument")) if first is not None else None
    while inner is not None and inner.type == "subscript_expression":
        inner = inner.child_by_field_name("argument")
    symbol = events.find(text(inner), inner) if inner is not None else None
    return symbol is not None and ("static" in symbol.kind.split() or not symbol.function)
