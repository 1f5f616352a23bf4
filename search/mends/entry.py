"""Mends of the requested function: its name, its kernel's name, its linkage.

Each mend returns the code and a note of the change, or None for no change. Doubtful cases are left
to the compiler.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from regraph_kg.models.run import Task
from regraph_kg.models.target import TARGETS
from regraph_kg.search.mends.functions import Mended
from regraph_kg.search.mends.source import DefinedFunction, ParsedCode, Signature, signature_in


@dataclass(frozen=True)
class RequestedEntry:
    """The function that an answer must define: one of `entries`, preferably the first."""

    entries: tuple[str, ...]
    heads: Mapping[str, str]
    """Entry -> its head if known: `extern "C" void f(int n)`."""
    on_gpu: bool = False

    @classmethod
    def of(cls, task: Task) -> "RequestedEntry":
        """The request of a task. A project's own function has no C head."""
        heads = {} if task.guarantee else {task.entry: task.signature}
        if task.port is not None:
            heads[task.port.function] = task.port.signature
        return cls(task.entries, heads, TARGETS[task.target].on_gpu)

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        """Entry -> its signature if known."""
        parsed = {name: signature_in(head) for name, head in self.heads.items()}
        return {name: signature for name, signature in parsed.items() if signature is not None}

    @cached_property
    def c_linkage(self) -> frozenset[str]:
        """Entries that must have C linkage."""
        return frozenset(name for name, head in self.heads.items() if '"C"' in head)


def defines(source: ParsedCode, request: RequestedEntry) -> bool:
    """Whether code defines a requested entry as a host function."""
    return any(function.on_host for name in request.entries for function in source.defining(name))


def kernel_renamed(source: ParsedCode, request: RequestedEntry) -> Mended | None:
    """Rename a kernel that has the name and the parameters of the requested function.

    Launches get the new name, calls keep the old one.
    """
    for name in request.entries:
        kernels = [function for function in source.defining(name) if function.is_kernel]
        hosts = [function for function in source.defining(name) if function.on_host]
        twice = len(kernels) == 1 and any(
            host.signature.parameters == kernels[0].signature.parameters for host in hosts
        )
        alone = len(kernels) == 1 and not hosts and _substitute(source, request) is not None
        new = f"{name}_kernel"
        if not (twice or alone) or source.named(new):
            continue
        places = list(_places_of(source, kernels[0]))
        if None not in places:
            code = source.renamed([place for place in places if place is not None], new)
            return code, f"the kernel {name} called {new}"
    return None


def _places_of(source: ParsedCode, kernel: DefinedFunction) -> Iterator[Node | None]:
    """Nodes that name the kernel and not the function; None for an ambiguous node."""
    for node in source.named(kernel.name):
        call = node.parent
        if call is not None and call.type == "template_function":
            call = call.parent
        begins = call is not None and call.start_byte == node.start_byte
        if call is not None and call.type == "call_expression" and begins:
            if any(child.type == "kernel_call_syntax" for child in call.children):
                yield node
        elif call is None or call.type != "function_declarator":
            yield None
        elif any(child.type == "__global__" for child in _declaration(call).children):
            yield node


def _declaration(declarator: Node) -> Node:
    """The definition or declaration around a declarator."""
    node = declarator
    while node.parent is not None and node.type not in ("function_definition", "declaration"):
        node = node.parent
    return node


def entry_renamed(source: ParsedCode, request: RequestedEntry) -> Mended | None:
    """Give the only function with the requested signature the requested name."""
    substitute = _substitute(source, request)
    if substitute is None:
        return None
    function, name = substitute
    if source.named(name):
        return None
    return source.renamed(source.named(function.name), name), f"{function.name} called {name}"


def _substitute(source: ParsedCode, request: RequestedEntry) -> tuple[DefinedFunction, str] | None:
    """The only function that fits, and its right name, if no function has that name."""
    if defines(source, request):
        return None
    for name in request.entries:
        signature = request.signatures.get(name)
        if signature is None or not signature.parameters:
            continue
        fit = [
            function
            for function in source.functions
            if function.exported and function.signature == signature
        ]
        if len(fit) == 1 and _is_root(source, fit[0]):
            return fit[0], name
    return None


def _is_root(source: ParsedCode, function: DefinedFunction) -> bool:
    """Whether a function reaches all exported functions, and a kernel if there are any."""
    calls: defaultdict[str, set[str]] = defaultdict(set)
    for name in {defined.name for defined in source.functions}:
        for node in source.named(name):
            around = source.function_at(node.start_byte)
            calls[around.name if around is not None else ""].add(name)
    reached, waiting = {function.name}, [function.name]
    while waiting:
        new = calls[waiting.pop()] - reached
        reached |= new
        waiting += new
    kernels = {defined.name for defined in source.functions if defined.is_kernel}
    exports = {defined.name for defined in source.functions if defined.exported}
    return exports - {"main"} <= reached and (not kernels or bool(kernels & reached))


def exported(source: ParsedCode, request: RequestedEntry) -> Mended | None:
    """Give the requested function the requested linkage."""
    for function in source.functions:
        wrong = function.name in request.c_linkage and function.exported and not function.c_linkage
        if not wrong or function.signature != request.signatures.get(function.name):
            continue
        if function.name in source.c_names:
            continue  # declared so before
        begin = source.begin_of(function.node)
        return source.edited([(begin, begin, 'extern "C" ')]), f'{function.name} made extern "C"'
    return None
