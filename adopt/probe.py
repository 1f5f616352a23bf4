"""A user's function run confined, every access to its arrays recorded: what it reads and writes.

The compiler puts a call before each access (-fsanitize=thread); here those calls are ours. Arrays
lie in more room than they need, so that an index is seen, wherever it leads. Each call runs in a
process of its own: one that crashes, leaves its memory, or never ends says nothing more than that.
"""

import functools
import json
import re
import shutil
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from regraph_kg.adopt.adapter import Given, argument
from regraph_kg.adopt.types import Passed
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.diagnostics import trimmed
from regraph_kg.evaluation.compile.own_folder import own_folder
from regraph_kg.evaluation.compile.sandboxed import Ran, run_program
from regraph_kg.evaluation.compile.toolchain import Gcc, find_gcc

ROOM = 1 << 13  # elements that an array has room for, whatever its length
PATIENCE_SECONDS = 60.0
_FLAGS = ("-w", "-g0", "-march=native", "-fdiagnostics-color=never")
_RECORDED = ("-O1", "-fno-builtin", "-fno-tree-loop-distribute-patterns", "-fsanitize=thread")
_RECORDER, _HEADER = map(Path(__file__).with_name, ("recorder.cpp", "regraph_probe.h"))


@dataclass(frozen=True, slots=True)
class ProbeCall:
    """One call: a number for each scalar and each container's length, contents, ends."""

    numbers: Mapping[str, float]  # values of scalars by name; lengths are named `x_size`
    contents: Mapping[str, bytes]  # what an array holds, again and again; a struct by value
    ends: Mapping[str, int] = field(default_factory=dict)  # elements beyond which an array is left


class Touched(NamedTuple):
    end: int  # one more than the largest index that was accessed; 0 where none was
    distinct: int  # elements that were accessed
    total: int  # accesses
    read_first: int  # elements that were read before they were written
    read_within: int  # reads of elements that its length after the call covers
    written: int  # elements that were written
    size: int  # its length after the call
    moved: bool  # its elements lie elsewhere afterwards: all of them are new
    begins: Sequence[int]  # the first few elements that were accessed, each once
    steps: Sequence[int]  # distances between accesses in a row
    counts: Sequence[int]  # how often each of the first elements was accessed


class Called(NamedTuple):
    returned: int  # elements that were returned; -1 for what is no vector
    arrays: Mapping[str, Touched]


class Probe:
    """A function, compiled for being watched, in `folder`."""

    def __init__(self, folder: Path, code: str, passed: Mapping[str, Passed]) -> None:
        """`code`: the function and all that `glue` needs. Raises `BadInput`: what g++ says."""
        self._names, self._gcc, self._folder = list(passed), find_gcc(), folder
        (folder / "work").mkdir()
        (folder / "work" / "recorder.o").write_bytes(_recorder(self._gcc))
        shutil.copy(_HEADER, folder / "work")
        spans = any(one.form == "span" for one in passed.values())
        compiler = str(self._gcc.path), *_FLAGS, "-std=c++20" if spans else "-std=c++17"
        build = [
            (*compiler, *_RECORDED, "-c", "candidate.cpp", "-o", "probed.o"),
            (*compiler, "recorder.o", "probed.o", "-o", "probe"),
        ]
        (folder / "work" / "candidate.cpp").write_text(code, "utf-8")
        built = ran(build, folder, self._gcc)
        if built.code != 0:
            raise BadInput(trimmed(built.said))

    def run(self, cases: Sequence[ProbeCall]) -> list[Called | None]:
        """What each call did, in order; None of one that crashed, left its memory or went on."""
        parts = [struct.pack("=qq", len(cases), len(self._names))]
        for case in cases:
            for name in self._names:
                numbers = case.numbers.get(name, 0), case.numbers.get(f"{name}_size", 0)
                content = case.contents.get(name, b"")
                end = case.ends.get(name, ROOM)
                parts += [struct.pack("=ddqq", *numbers, end, len(content)), content]
        (self._folder / "work" / "cases").write_bytes(b"".join(parts))
        said = ran([(str(self._folder / "work" / "probe"),)], self._folder, self._gcc).said
        found: list[Called | None] = [None] * len(cases)
        for line in re.findall(r"^call (.*\])$", said, re.MULTILINE):
            number, returned, *slots = json.loads(line)
            touched = (Touched(*numbers, *lists) for numbers, *lists in slots)
            found[number] = Called(returned, dict(zip(self._names, touched, strict=True)))
        return found


def ran(commands: Sequence[tuple[str, ...]], folder: Path, gcc: Gcc) -> Ran:
    return run_program(commands, folder, gcc.reads, PATIENCE_SECONDS)


@functools.cache
def _recorder(gcc: Gcc) -> bytes:
    with own_folder() as folder:
        work = folder / "work"
        work.mkdir()
        for file in (_RECORDER, _HEADER):
            shutil.copy(file, work)
        flags = "-std=c++17", *_FLAGS, "-O2", f"-DROOM={ROOM}"
        built = ran([(str(gcc.path), *flags, "-c", "recorder.cpp")], folder, gcc)
        if built.code != 0:
            raise ToolError(f"{gcc.path.name} does not compile what records: {built.said[:300]}")
        return (work / "recorder.o").read_bytes()


def glue(call: str, passed: Mapping[str, Passed], returned: Passed | None) -> str:
    """What makes the arguments of a case, and calls the function."""
    makes, given, ends = list[str](), list[str](), list[str]()
    for slot, (name, one) in enumerate(passed.items()):
        made, argument_, end = _argument(slot, name, one)
        makes += made
        given.append(argument_)
        ends += end
    called = f"{call}({', '.join(given)})"
    if returned is not None and returned.form == "vector":
        ends.append("probe_returned(regraph_result.size());")
    kept = f"{called};"
    if returned is not None:
        kept = f"auto regraph_result = {called}; probe_keep(&regraph_result);"
    lines = [*makes, "probe_begin();", kept, "probe_end();", *ends]
    body = "".join(f"  {line}\n" for line in lines)
    return f'#include "{_HEADER.name}"\nextern "C" void probe_call() {{\n{body}}}\n'


def _argument(slot: int, name: str, one: Passed) -> tuple[list[str], str, list[str]]:
    """Lines before the call, the argument, lines after."""
    kind = one.element.spelled
    if one.form == "scalar":
        made = f"{kind} {name}_made{{}};"
        value = f"{name}_made = static_cast<{kind}>(probe_number({slot}));"
        if one.element.record:
            value = f"std::memcpy(&{name}_made, probe_content({slot}), sizeof {name}_made);"
        return [made, value], f"{name}_made", []
    if one.form == "vector":
        return _vector(slot, name, one)
    room = f"static_cast<{kind}*>(probe_room({slot}, sizeof({kind}), nullptr))"
    given = Given(f"{name}_made", one, writes=True, length=f"probe_length({slot})")
    return [f"{kind}* {name}_made = {room};"], argument(given), []


def _vector(slot: int, name: str, one: Passed) -> tuple[list[str], str, list[str]]:
    kind, made = one.element.spelled, f"{name}_made"
    lines = [f"auto& {made} = *new std::vector<{kind}>;"]
    argument_ = f"std::move({made})" if one.by_value else made
    if kind == "bool":
        lines += [
            f"{made}.resize(probe_length({slot}));",
            f"for (std::size_t i = 0; i < {made}.size(); ++i)"
            f" {made}[i] = static_cast<const char*>(probe_content({slot}))[i];",
        ]
        return lines, argument_, []
    lines += [
        f"{made}.reserve({ROOM});",
        f"{made}.resize(probe_length({slot}));",
        f"probe_room({slot}, sizeof({kind}), {made}.data());",
    ]
    after = [f"probe_after({slot}, {made}.size(), {made}.data());"]
    return lines, argument_, [] if one.by_value else after
