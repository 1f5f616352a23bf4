"""A working CUDA program from serial code: the steps of one port.

The function that does the work becomes a kernel, and the functions it calls become device code.
`launch` starts the kernel, and the entry calls `launch` (wrapper.py). One thread does all the work,
unless loops.py proves that a loop's iterations may be threads. The judge compiles the result.
"""

import re

from regraph_kg.cpp.functions import CodeFile, functions, parsed, scope_of
from regraph_kg.cpp.macros import written_out
from regraph_kg.cpp.slice import sliced
from regraph_kg.cpp.syntax import around, walk
from regraph_kg.cpp.watched import with_atomic_sums
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import LAUNCH, NotPorted, Port
from regraph_kg.port.buffers import with_local_arrays
from regraph_kg.port.containers import Containers
from regraph_kg.port.device import on_device
from regraph_kg.port.host import PLACE, words_of
from regraph_kg.port.inline import with_bodies
from regraph_kg.port.launch import Launch, alias_of
from regraph_kg.port.names import ALGORITHMS, UnportableError
from regraph_kg.port.normal import plain
from regraph_kg.port.templates import with_plain_work
from regraph_kg.port.work import Work, view_of, work_of
from regraph_kg.port.wrapper import signature, tail

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include[ \t]*[<\"][^\n]*|pragma[ \t]+once)[ \t]*\n?", re.M)
_EMPTY_CONDITION = re.compile(r"^[ \t]*#[ \t]*if[^\n]*\n\s*#[ \t]*endif[^\n]*\n?", re.M)
_EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_OWN = {LAUNCH, "device_memory"}
_KEPT = r"(?:assert|float|limits|math|stddef|stdint|string)"
_KEPT_HEADERS = re.compile(rf"#[ \t]*include[ \t]*<(c{_KEPT}|{_KEPT}\.h)>")
_LIMIT_HEADERS = (
    ("cfloat", r"\b(?:DBL|FLT)_"),
    ("climits", r"\bU?(?:INT|LLONG)_"),
    ("cuda/std/limits", "cuda::std::numeric_limits"),
    ("utility", r"::swap"),
    ("cub/device/device_radix_sort.cuh", "cub::DeviceRadixSort"),
    ("cub/device/device_reduce.cuh", "cub::DeviceReduce"),
    ("cub/device/device_scan.cuh", "cub::DeviceScan"),
)
_OUTSIDE = {"namespace_definition", "declaration_list", "translation_unit"}


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
        if problem.adds_in_any_order:
            code = with_atomic_sums(code, "std::added_to", "std::taken_from")
        code = with_local_arrays(with_plain_work(code, problem.entry))
        source = parsed(PLACE, plain(with_bodies(code, problem.entry)).encode())
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
    if _OWN & words_of(source.tree.root_node):
        raise UnportableError(f"{LAUNCH} and device_memory are names of the port's own")
    containers = Containers(defined, work, taken)
    code = on_device(source, matches[0], containers, {a.name for a in work.arguments if a.const})
    made = parsed(PLACE, code.encode())
    function = next(f for f in functions(made) if f.name == containers.kernel)
    owner = containers.owners[work.function.name]
    plan = Launch(problem, work, owner, function, frozenset(taken), tuple(containers.tables))
    text, parallel = plan.text(one_thread=one_thread)
    for name, own in ALGORITHMS.items():  # what was written as a loop
        said, without = f"std_{name.removesuffix('_any')}(", text.replace(own, "", 1)
        text = without if said in own and said not in without else text
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    start = f"{_EMPTY_LINES.sub(chr(10) * 2, lines).strip()}\n"
    return Port(
        entry=problem.entry,
        head=_head(problem, start),
        start=start,
        tail=tail(problem),
        signature=signature(problem),
        types=tuple(_types(problem, start)),
        parallel=parallel,
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
    file = parsed(PLACE, content)
    matches = [
        function for function in functions(file) if function.qualified == work.function.qualified
    ]
    if len(matches) != 1:
        raise UnportableError(f"serial.cpp does not define {entry} once, as a plain function")
    text = _INCLUDE.sub("", sliced(matches[0]).text)
    return parsed(PLACE, _EMPTY_CONDITION.sub("", text).encode())


def _head(problem: Problem, start: str) -> str:
    """The headers: CUDA's, and the serial code's that device code can use."""
    names = _KEPT_HEADERS.findall(problem.serial_code)
    names += [name for name, uses in _LIMIT_HEADERS if re.search(uses, start)]
    headers = ["cuda_runtime.h", *sorted(set(names))]
    return "".join(f"#include <{name}>\n" for name in headers)


def _types(problem: Problem, start: str) -> list[tuple[str, str]]:
    """Definitions of the structs that the entry's signature names. Raises `UnportableError`."""
    source = parsed(PLACE, start.encode())
    known = dict[str, str]()
    for node in walk(source.tree.root_node):
        named = node.child_by_field_name("name")
        if node.type not in ("struct_specifier", "class_specifier") or named is None:
            continue
        text = f"{source.text(node)};\n"
        for space in reversed(spaces := scope_of(node)):
            text = f"namespace {space} {{\n{text}}}\n"
        inside = {above.type for above in around(node)}
        if node.child_by_field_name("body") is not None and inside <= _OUTSIDE:
            known["::".join((*spaces, source.text(named)))] = text
    found = list[tuple[str, str]]()
    for name in dict.fromkeys(arg.struct for arg in problem.args if arg.struct):
        alias = alias_of(problem, name)
        full = alias.rpartition(" = ")[2].strip(";") or name
        if full not in known:
            raise UnportableError(f"struct {name} is defined in a class or a function")
        found.append((name, known[full] + (f"{alias}\n" if alias else "")))
    return found
