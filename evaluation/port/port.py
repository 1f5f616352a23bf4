"""Serial code as a CUDA program that works: the story of one port.

The function that does the work becomes a kernel, what it calls code of the device; `launch` calls
the kernel, and the entry calls `launch` (wrapper.py). One thread does all of it, or, where loops.py
is sure of it, one thread each iteration of the one loop. Nothing is compiled: the judge is to.
"""

import re
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

from tree_sitter import Node

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.cpp.slice import sliced
from regraph_kg.evaluation.cpp.syntax import CodeFile, Function, functions, parsed, walk
from regraph_kg.evaluation.port import launch
from regraph_kg.evaluation.port.containers import Containers
from regraph_kg.evaluation.port.device import gives_nothing, on_device, work_name
from regraph_kg.evaluation.port.edits import Edits, UnportableError
from regraph_kg.evaluation.port.host import declared, words_of
from regraph_kg.evaluation.port.names import fresh
from regraph_kg.evaluation.port.phases import Phase, phases
from regraph_kg.evaluation.port.returned import returned_to
from regraph_kg.evaluation.port.sums import with_sums_apart
from regraph_kg.evaluation.port.work import Work, view_of, work_of
from regraph_kg.evaluation.port.wrapper import result_name, signature, tail
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import LAUNCH, NotPorted, Port

_PLACE = Path("serial.cpp")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include[ \t]*[<\"][^\n]*|pragma[ \t]+once)[ \t]*\n?", re.M)
_EMPTY_CONDITION = re.compile(r"^[ \t]*#[ \t]*if[^\n]*\n\s*#[ \t]*endif[^\n]*\n?", re.M)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_OWN = {LAUNCH, "device_memory"}
_KEPT_HEADERS = [
    *("cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstring"),
    *("assert.h", "float.h", "limits.h", "math.h", "stddef.h", "stdint.h", "string.h"),
]
_LIMIT_HEADERS = (("cfloat", r"\b(?:DBL|FLT)_"), ("climits", r"\bU?(?:INT|LLONG)_"))


def port(problem: Problem, *, one_thread: bool = False) -> Port | NotPorted:
    """The problem's serial code for CUDA. `one_thread`: also where a loop may run as threads."""
    try:
        _require_types(problem)
        source = parsed(_PLACE, problem.serial_code.encode())
        work = work_of(problem, source)
        return _port(problem, work, one_thread)
    except (UnportableError, BadInput) as error:
        return NotPorted(" ".join(str(error).split()))


def _require_types(problem: Problem) -> None:
    """Raise `UnportableError` for types that the serial code and the device spell differently."""
    for arg in problem.slots:
        if arg.type in ("float16", "complex64", "complex128"):
            raise UnportableError(f"{arg.name} is {arg.type}: a GPU has another type for that")
    if _OWN & {problem.entry, *(arg.name for arg in problem.args)}:
        raise UnportableError(f"{LAUNCH} and device_memory are names of the port's own")


def _port(problem: Problem, work: Work, one_thread: bool) -> Port:
    source = _needed(work, problem.entry)
    known = [function for function in functions(source) if function.method_of is None]
    found = [one for one in known if one.name == work.function.name]
    if len(found) != 1:
        raise UnportableError(f"two functions have the name {work.function.name}")
    taken = {*re.findall(r"[A-Za-z_]\w*", problem.serial_code), *(arg.name for arg in problem.args)}
    if _OWN & words_of(source, source.tree.root_node):
        raise UnportableError(f"{LAUNCH} and device_memory are names of the port's own")
    held = Containers(known, work, taken)
    code = on_device(source, found[0], held, {a.name for a in work.arguments if a.const})
    plan = launch.Launch(
        problem, work, held.held[work.function.name], held.kernel, frozenset(taken)
    )
    code, plan = _as_kernels(code, plan, one_thread)
    start = f"{_tidied(code)}\n\n{plan.text()}"
    return Port(
        entry=problem.entry,
        head=_head(problem, start),
        start=start,
        tail=tail(problem),
        signature=signature(problem),
        types=tuple(_types(problem, start)),
        parallel=bool(plan.phases),
    )


def _needed(work: Work, entry: str) -> CodeFile:
    """What the work needs of its file, without the entry where that only calls the work."""
    source = work.function.source
    content = source.content
    if work.function.name != entry:
        node = next(function.node for function in functions(source) if function.name == entry)
        node = node.parent if node.parent and node.parent.type == "linkage_specification" else node
        view = view_of(source)  # stands before it, and its place is taken by pointers
        cut = [node, view] if view is not None else [node]
        for one in cut:
            content = content[: one.start_byte] + content[one.end_byte :]
    whole = parsed(_PLACE, content)
    found = [
        function for function in functions(whole) if function.qualified == work.function.qualified
    ]
    if len(found) != 1:
        raise UnportableError(f"serial.cpp does not define {entry} once, as a plain function")
    text = _INCLUDE.sub("", sliced(found[0]).text)
    return parsed(_PLACE, _EMPTY_CONDITION.sub("", text).encode())


def _as_kernels(code: str, plan: "launch.Launch", one_thread: bool) -> tuple[str, "launch.Launch"]:
    """The code with loops' iterations as threads, where that may be; as it was elsewhere."""
    source, planned = _as_kernel(parsed(_PLACE, code.encode()), plan)
    kernel = _kernel_of(source, planned)
    if kernel is None or one_thread:
        return code, plan
    apart = with_sums_apart(source, kernel, planned.arrays())
    if apart is not None:
        source = parsed(_PLACE, apart.encode())
        kernel = _kernel_of(source, planned) or kernel
    found = phases(kernel, planned.arrays(), serial=apart is not None)
    hosted = {one.loop.variable for top in found for one in top.all() if one.inside and one.loop}
    if not found or hosted & {arg.name for arg in planned.problem.args}:
        return code, plan
    plan = replace(planned, phases=found, code=source)
    edits = Edits()
    for _, phase in plan.kernels:
        _threads(source, phase, edits)
    if len(found) > 1 or found[0].inside:
        texts = [_kernel(source, name, one, plan, edits) for name, one in plan.kernels]
        start = source.original.rindex(b"__global__", 0, kernel.node.start_byte)
        edits.made = [(start, kernel.node.end_byte, "\n\n".join(texts))]
    return edits.applied(source.original), plan


def _as_kernel(source: CodeFile, plan: "launch.Launch") -> tuple[CodeFile, "launch.Launch"]:
    """The work that returns something as the kernel itself, where that may be."""
    if gives_nothing(plan.held) or not plan.kind:
        return source, plan
    place = fresh(result_name(plan.problem), plan.taken)
    made = returned_to(source, work_name(plan.held.function), plan.kernel, plan.kind, place)
    if made is None:
        return source, plan
    return parsed(_PLACE, made.encode()), replace(plan, returns=place)


def _kernel_of(source: CodeFile, plan: "launch.Launch") -> Function | None:
    return next((function for function in functions(source) if function.name == plan.kernel), None)


def _threads(source: CodeFile, phase: Phase, edits: Edits) -> None:
    """A loop's head becomes the thread's number, and the test whether there is work for it."""
    loop, body = phase.loop, phase.node.child_by_field_name("body")
    if loop is None or body is None:
        return
    wide = "" if loop.type.removeprefix("const ") == "int" else f"({loop.type})"
    index = f"{loop.type} {loop.variable} = {wide}blockIdx.x * blockDim.x + threadIdx.x"
    index += f" + {loop.first};\n" if loop.first != "0" else ";\n"
    head = f"{index}{_indent(source, loop.node)}if ({loop.variable} < {loop.end}) "
    edits.made.append((loop.node.start_byte, body.start_byte, head))


def _kernel(source: CodeFile, name: str, phase: Phase, plan: "launch.Launch", edits: Edits) -> str:
    """A phase as a kernel of its own, with the constants that it needs."""
    words = plan.needed(phase)
    constants = [n for n in phase.constants if words & set(declared(source, n))]
    parts = [source.text(node) for node in constants]
    start = phase.node.start_byte
    line = source.original[:start].rpartition(b"\n")[2]
    text = (line.decode() if not line.strip() else "") + edits.applied(
        source.original, start, phase.node.end_byte
    )
    inner = {name for node in phase.node.named_children for name in declared(source, node)}
    outer = {name for node in constants for name in declared(source, node)}
    outer |= set(re.findall(r"\w+", " ".join(plan.parameters(phase))))
    if phase.node.type == "compound_statement" and not inner & outer:
        text = text.strip()[1:-1].strip("\n").rstrip()
    body = "".join(f"    {part}\n" for part in parts) + indent(dedent(text), "    ")
    return f"__global__ void {name}({', '.join(plan.parameters(phase))}) {{\n{body}\n}}"


def _indent(source: CodeFile, node: Node) -> str:
    """The spaces before a node on its line."""
    line = source.content[: node.start_byte].rpartition(b"\n")[2]
    return line.decode() if not line.strip() else "    "


def _tidied(code: str) -> str:
    lines = (line.rstrip() for line in code.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()


def _head(problem: Problem, start: str) -> str:
    """Headers: CUDA's, and those of the serial code that the device has a use for."""
    wanted = [
        name
        for name in _KEPT_HEADERS
        if re.search(rf"#[ \t]*include[ \t]*<{re.escape(name)}>", problem.serial_code)
    ]
    wanted += [name for name, uses in _LIMIT_HEADERS if re.search(uses, start)]
    headers = ["cuda_runtime.h", *sorted(set(wanted))]
    return "".join(f"#include <{name}>\n" for name in headers)


def _types(problem: Problem, start: str) -> list[tuple[str, str]]:
    """Definitions of the structs that the entry's signature names. Raises `UnportableError`."""
    source, found = parsed(_PLACE, start.encode()), list[tuple[str, str]]()
    for name in dict.fromkeys(arg.struct for arg in problem.args if arg.struct):
        node = next((n for n in walk(source.tree.root_node) if _is_type(source, n, name)), None)
        if node is None:
            raise UnportableError(f"struct {name} is not defined outside of namespaces")
        found.append((name, f"{source.text(node)};\n"))
    return found


def _is_type(source: CodeFile, node: Node, name: str) -> bool:
    named = node.child_by_field_name("name")
    return (
        node.type in ("struct_specifier", "class_specifier")
        and node.child_by_field_name("body") is not None
        and named is not None
        and source.text(named) == name
        and node.parent is not None
        and node.parent.type == "translation_unit"
    )
