"""A working CUDA program from serial code: the steps of one port.

The function that does the work becomes a kernel, and the functions it calls become device code.
`launch` starts the kernel, and the entry calls `launch` (wrapper.py). One thread does all the work,
unless loops.py proves that a loop's iterations may be threads. The judge compiles the result.
"""

import re
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, Function, functions, parsed
from regraph_kg.cpp.macros import written_out
from regraph_kg.cpp.slice import sliced
from regraph_kg.cpp.syntax import LOOPS, walk
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import LAUNCH, NotPorted, Port
from regraph_kg.port import launch
from regraph_kg.port.containers import Containers
from regraph_kg.port.device import on_device, returns_nothing, work_name
from regraph_kg.port.host import declared, words_of
from regraph_kg.port.names import UnportableError, fresh
from regraph_kg.port.normal import plain
from regraph_kg.port.phases import Phase, phases
from regraph_kg.port.sums import with_split_sum
from regraph_kg.port.work import Work, view_of, work_of
from regraph_kg.port.wrapper import result_name, signature, tail

_PLACE = Path("serial.cpp")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include[ \t]*[<\"][^\n]*|pragma[ \t]+once)[ \t]*\n?", re.M)
_EMPTY_CONDITION = re.compile(r"^[ \t]*#[ \t]*if[^\n]*\n\s*#[ \t]*endif[^\n]*\n?", re.M)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_RETURNS = {"return_statement", "lambda_expression"}
_OWN = {LAUNCH, "device_memory"}
_KEPT = r"(?:assert|float|limits|math|stddef|stdint|string)"
_KEPT_HEADERS = re.compile(rf"#[ \t]*include[ \t]*<(c{_KEPT}|{_KEPT}\.h)>")
_LIMIT_HEADERS = (("cfloat", r"\b(?:DBL|FLT)_"), ("climits", r"\bU?(?:INT|LLONG)_"))


def port(problem: Problem, *, one_thread: bool = False) -> Port | NotPorted:
    """The problem's serial code for CUDA. `one_thread`: one thread even where loops allow more."""
    try:
        for arg in problem.slots:  # the serial code and the device spell these differently
            if arg.type in ("float16", "complex64", "complex128"):
                raise UnportableError(f"{arg.name} is {arg.type}: a GPU has another type for that")
        if _OWN & {problem.entry, *(arg.name for arg in problem.args)}:
            raise UnportableError(f"{LAUNCH} and device_memory are names of the port's own")
        code, unclear = written_out(problem.serial_code)
        if unclear:
            why = "is defined in two ways, or pastes names or a list"
            raise UnportableError(f"macro {min(unclear)} {why}: write out what it stands for")
        source = parsed(_PLACE, plain(code).encode())
        work = work_of(problem, source)
        return _port(problem, work, one_thread)
    except (UnportableError, BadInput) as error:
        return NotPorted(" ".join(str(error).split()))


def _port(problem: Problem, work: Work, one_thread: bool) -> Port:
    source = _needed(work, problem.entry)
    defined = [function for function in functions(source) if function.method_of is None]
    matches = [function for function in defined if function.name == work.function.name]
    if len(matches) != 1:
        raise UnportableError(f"two functions have the name {work.function.name}")
    taken = {*re.findall(r"[A-Za-z_]\w*", problem.serial_code), *(arg.name for arg in problem.args)}
    if _OWN & words_of(source, source.tree.root_node):
        raise UnportableError(f"{LAUNCH} and device_memory are names of the port's own")
    containers = Containers(defined, work, taken)
    code = on_device(source, matches[0], containers, {a.name for a in work.arguments if a.const})
    plan = launch.Launch(
        problem, work, containers.owners[work.function.name], containers.kernel, frozenset(taken)
    )
    code, plan = _as_kernels(code, plan, one_thread)
    lines = "\n".join(line.rstrip() for line in code.split("\n"))
    start = "\n\n".join((_EMPTY_LINES.sub("\n\n", lines).strip(), plan.text()))
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
    """The part of its file that the work needs, without an entry that only calls the work."""
    source = work.function.source
    content = source.content
    if work.function.name != entry:
        node = next(function.node for function in functions(source) if function.name == entry)
        node = node.parent if node.parent and node.parent.type == "linkage_specification" else node
        view = view_of(source)  # stands before it, and its place is taken by pointers
        cut = [node, view] if view is not None else [node]
        for part in cut:
            content = content[: part.start_byte] + content[part.end_byte :]
    file = parsed(_PLACE, content)
    matches = [
        function for function in functions(file) if function.qualified == work.function.qualified
    ]
    if len(matches) != 1:
        raise UnportableError(f"serial.cpp does not define {entry} once, as a plain function")
    text = _INCLUDE.sub("", sliced(matches[0]).text)
    return parsed(_PLACE, _EMPTY_CONDITION.sub("", text).encode())


def _as_kernels(code: str, plan: "launch.Launch", one_thread: bool) -> tuple[str, "launch.Launch"]:
    """The code with loops' iterations as threads; unchanged where that is not proved."""
    source, planned = _as_kernel(parsed(_PLACE, code.encode()), plan)
    kernel = _kernel_of(source, planned)
    if kernel is None or one_thread:
        return code, plan
    split = with_split_sum(source, kernel, planned.arrays())
    if split is not None:
        source = parsed(_PLACE, split.encode())
        kernel = _kernel_of(source, planned) or kernel
    parts = phases(kernel, planned.arrays(), serial=split is not None)
    hosted = {
        part.loop.variable for phase in parts for part in phase.all() if part.inside and part.loop
    }
    if not parts or hosted & {arg.name for arg in planned.problem.args}:
        return code, plan
    plan = replace(planned, phases=parts, code=source)
    edits = Edits()
    for _, part in plan.kernels:
        _threads(source, part, edits)
    if len(parts) > 1 or parts[0].inside:
        texts = [_kernel(source, name, part, plan, edits) for name, part in plan.kernels]
        start = source.original.rindex(b"__global__", 0, kernel.body.start_byte)
        edits.replacements = [(start, kernel.node.end_byte, "\n\n".join(texts))]
    return edits.applied(source.original), plan


def _as_kernel(source: CodeFile, plan: "launch.Launch") -> tuple[CodeFile, "launch.Launch"]:
    """The work as the kernel itself although it returns a value, where possible."""
    if returns_nothing(plan.owner) or not plan.kind:
        return source, plan
    place = fresh(result_name(plan.problem), plan.taken)
    text = _returned_to(source, work_name(plan.owner.function), plan.kernel, plan.kind, place)
    if text is None:
        return source, plan
    return parsed(_PLACE, text.encode()), replace(plan, returns=place)


def _returned_to(source: CodeFile, work: str, kernel: str, kind: str, result: str) -> str | None:
    """The text with a function that returns a number as a kernel that stores the number.

    It returns only in its last statement. `kind` and `result`: type and name of the parameter for
    the result. None where it returns elsewhere too, or stands in a namespace.
    """
    function = next((f for f in functions(source) if f.qualified == work), None)
    heads = function.declarator.child_by_field_name("parameters") if function is not None else None
    if function is None or function.scope or heads is None:
        return None
    leaves = [node for node in walk(function.body) if node.type in _RETURNS]
    if leaves != function.body.named_children[-1:] or leaves[0].type != "return_statement":
        return None
    edits, taken = Edits(), source.text(heads)[1:-1].strip()
    start = source.original.rindex(b"__device__", 0, function.body.start_byte)
    values = [child for child in leaves[0].named_children if child.type != "comment"]
    declared = function.node.child_by_field_name("type")
    cast = source.text(declared) if declared is not None else kind
    defaults = any(child.type.startswith("optional_") for child in heads.named_children)
    if len(values) != 1 or values[0].type == "initializer_list" or "auto" in cast or defaults:
        return None
    taken = ", ".join(filter(None, (taken, f"{kind}* {result}")))
    head = f"__global__ void {kernel}({taken}) "
    edits.replacements.append((start, function.body.start_byte, head))
    value = source.text(values[0])
    value = f"({value})" if values[0].type == "comma_expression" else value
    edits.put(leaves[0], f"*{result} = {value if cast == kind else f'({cast})({value})'};")
    return edits.applied(source.original)


def _kernel_of(source: CodeFile, plan: "launch.Launch") -> Function | None:
    return next((function for function in functions(source) if function.name == plan.kernel), None)


def _threads(source: CodeFile, phase: Phase, edits: Edits) -> None:
    """Replace a loop's head by the thread's number and a bounds test."""
    loop, body = phase.loop, phase.node.child_by_field_name("body")
    if loop is None or body is None:
        return
    wide = "" if loop.type.removeprefix("const ") == "int" else f"({loop.type})"
    index = f"{loop.type} {loop.variable} = {wide}blockIdx.x * blockDim.x + threadIdx.x"
    index += f" + {loop.first};\n" if loop.first != "0" else ";\n"
    line = source.content[: loop.node.start_byte].rpartition(b"\n")[2].decode()
    spaces = "    " if line.strip() else line
    head = f"{index}{spaces}if ({loop.variable} < {loop.end}) "
    edits.replacements.append((loop.node.start_byte, body.start_byte, head))
    for node in walk(body):
        above = node.parent if node.type == "continue_statement" else None
        while above is not None and above.type not in LOOPS:
            above = above.parent
        if above is not None and above.id == loop.node.id:
            edits.put(node, "return;")  # the thread has no other iteration


def _kernel(source: CodeFile, name: str, phase: Phase, plan: "launch.Launch", edits: Edits) -> str:
    """A phase as a kernel of its own, with the constants that it needs."""
    words = plan.needed(phase)
    constants = [n for n in phase.constants if words & set(declared(source, n))]
    taken = ", ".join(parameter for parameter, _ in plan.parameters(phase))
    parts = [source.text(node) for node in constants]
    start = phase.node.start_byte
    line = source.original[:start].rpartition(b"\n")[2]
    text = (line.decode() if not line.strip() else "") + edits.applied(
        source.original, start, phase.node.end_byte
    )
    inner = {name for node in phase.node.named_children for name in declared(source, node)}
    outer = {name for node in constants for name in declared(source, node)}
    outer |= set(re.findall(r"\w+", taken))
    if phase.node.type == "compound_statement" and not inner & outer:
        text = text.strip()[1:-1].strip("\n").rstrip()
    body = "".join(f"    {part}\n" for part in parts) + indent(dedent(text), "    ")
    return f"__global__ void {name}({taken}) {{\n{body}\n}}"


def _head(problem: Problem, start: str) -> str:
    """The headers: CUDA's, and the serial code's that device code can use."""
    names = _KEPT_HEADERS.findall(problem.serial_code)
    names += [name for name, uses in _LIMIT_HEADERS if re.search(uses, start)]
    headers = ["cuda_runtime.h", *sorted(set(names))]
    return "".join(f"#include <{name}>\n" for name in headers)


def _types(problem: Problem, start: str) -> list[tuple[str, str]]:
    """Definitions of the structs that the entry's signature names. Raises `UnportableError`."""
    source = parsed(_PLACE, start.encode())
    known = {  # of file scope alone
        source.text(named): node
        for node in source.tree.root_node.children
        if node.type in ("struct_specifier", "class_specifier")
        and node.child_by_field_name("body") is not None
        and (named := node.child_by_field_name("name")) is not None
    }
    names = [*dict.fromkeys(arg.struct for arg in problem.args if arg.struct)]
    for name in names:
        if name not in known:
            raise UnportableError(f"struct {name} is not defined outside of namespaces")
    return [(name, f"{source.text(known[name])};\n") for name in names]
