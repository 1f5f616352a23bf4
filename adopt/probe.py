"""A user's function run confined, every access to its arrays recorded: what it reads and writes.

The compiler puts a call before each access (-fsanitize=thread); here those calls are ours. Arrays
lie in more room than they need, so that an index is seen, wherever it leads. Each call runs in a
process of its own: one that crashes, or never ends, says nothing more than that.
"""

import functools
import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from regraph_kg.adopt.adapter import Given, argument
from regraph_kg.adopt.types import Passed
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.sandboxed import Ran, run_project
from regraph_kg.evaluation.compile.toolchain import Gcc, find_gcc
from regraph_kg.evaluation.cpp.slice import Slice
from regraph_kg.evaluation.cpp.syntax import Function

ROOM = 1 << 13
"""Elements that an array has room for, whatever its length."""
_PATIENCE_SECONDS = 60.0
_FLAGS = ("-std=c++17", "-w", "-g0")
_SPANS = "-std=c++20"
"""For std::span, which the judge's C++17 lacks."""
_RECORDED = ("-O1", "-fno-builtin", "-fno-tree-loop-distribute-patterns", "-fsanitize=thread")
_MISSING = re.compile(r"probed\.cpp:(\d+):\d+: (?:fatal )?error: (\S+): No such file")
_MOST_MISSING = 40
_DRIVER = Path(__file__).with_name("recorder.cpp")


@dataclass(frozen=True, slots=True)
class ProbeCall:
    """One call: a number for each scalar and each container's length, contents, ends."""

    numbers: Mapping[str, float]
    """Of scalars by name, of lengths as `x_size`."""
    contents: Mapping[str, int] = field(default_factory=dict)
    """Which of the patterns an array holds; 0 where nothing is said."""
    ends: Mapping[str, int] = field(default_factory=dict)
    """Elements beyond which an access to an array is a stray one."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What a call did with one array."""

    end: int
    """One more than the largest index that was accessed; 0 where none was."""
    distinct: int
    """Elements that were accessed."""
    total: int
    """Accesses."""
    read_first: int
    """Elements that were read before they were written."""
    read_within: int
    """Those of them that its length after the call covers."""
    written: int
    """Elements that were written."""
    size: int
    """Its length after the call."""
    moved: bool
    """Its elements lie elsewhere afterwards: all of them are new."""
    begins: tuple[int, ...]
    """The first few elements that were accessed, each once."""
    steps: frozenset[int]
    """Distances between accesses in a row."""
    counts: Mapping[int, int]
    """Of the first elements how often each was accessed."""


@dataclass(frozen=True, slots=True)
class Called:
    """What a call did; None of it where it crashed."""

    arrays: Mapping[str, Touched]
    strays: int
    """Accesses to memory that is nobody's."""
    returned: int
    """Elements that were returned; -1 for what is no vector."""


class Probe:
    """A function, compiled for being watched; a context manager."""

    def __init__(
        self,
        function: Function,
        call: str,
        part: Slice,
        passed: Mapping[str, Passed],
        returned: Passed | None,
    ) -> None:
        """Raises `BadInput` where it does not compile here."""
        self._function, self._passed, self._gcc = function, passed, find_gcc()
        self._names = list(passed)
        self._held = tempfile.TemporaryDirectory(prefix="regraph-")
        self._folder = Path(self._held.name)
        self._work = self._folder / "work"
        self._work.mkdir()
        self._compile("#include <cstddef>\n" + part.text + glue(call, passed, returned))

    def __enter__(self) -> "Probe":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._held.cleanup()

    def _compile(self, code: str) -> None:
        lines, left_out = code.splitlines(keepends=True), list[str]()
        (self._work / "recorder.o").write_bytes(_recorder(self._gcc))
        compiler = (str(self._gcc.path), *_FLAGS)
        spans = any(one.form == "span" for one in self._passed.values())
        build = [
            (
                *compiler,
                *((_SPANS,) if spans else ()),
                *_RECORDED,
                "-c",
                "probed.cpp",
                "-o",
                "probed.o",
            ),
            (*compiler, "recorder.o", "probed.o", "-o", "probe"),
        ]
        ran = Ran((), 1, "", ())
        for _ in range(_MOST_MISSING):
            (self._work / "probed.cpp").write_text("".join(lines), "utf-8")
            ran = _ran(build, self._folder, self._gcc)
            missing = _MISSING.search(ran.said)
            if not (ran.code and missing):
                break
            left_out.append(missing[2])
            lines[int(missing[1]) - 1] = "\n"
        if ran.code != 0:
            self._held.cleanup()
            raise BadInput(self._refusal(ran, left_out))

    def _refusal(self, ran: Ran, left_out: Sequence[str]) -> str:
        first = next((line for line in ran.said.splitlines() if "error" in line), ran.said)
        said = first.replace("probed.cpp", "the code that it needs of its file")[:300]
        why = f"; headers that are not here: {', '.join(left_out)}" if left_out else ""
        source = self._function.source.path
        return f"{source}: {self._function.qualified} does not compile: {said}{why}"

    def run(
        self, cases: Sequence[ProbeCall], patterns: Mapping[str, Sequence[bytes]]
    ) -> list[Called | None]:
        """What each call did, in order."""
        parts = [struct.pack("=qq", len(cases), len(self._names))]
        for name in self._names:
            held = patterns.get(name, ())
            parts.append(struct.pack("=q", len(held)))
            parts += [struct.pack("=q", len(one)) + one for one in held]
        for case in cases:
            for name in self._names:
                numbers = case.numbers.get(name, 0), case.numbers.get(f"{name}_size", 0)
                places = case.contents.get(name, 0), case.ends.get(name, ROOM)
                parts.append(struct.pack("=ddqq", *numbers, *places))
        (self._work / "cases").write_bytes(b"".join(parts))
        said = _ran([(str(self._work / "probe"),)], self._folder, self._gcc).said
        return self._read(said, len(cases))

    def _read(self, said: str, count: int) -> list[Called | None]:
        found: list[Called | None] = [None] * count
        for line in said.splitlines():
            words = line.split("|")
            if words[0] != "call" or not line.endswith("|end"):
                continue
            number, strays, returned = map(int, words[1:4])
            arrays = {
                self._names[int(slot)]: _touched(rest)
                for slot, rest in (one.split(" ", 1) for one in words[4:-1])
            }
            found[number] = Called(arrays, strays, returned)
        return found


def _ran(commands: Sequence[tuple[str, ...]], folder: Path, gcc: Gcc) -> Ran:
    return run_project(commands, folder, gcc.reads, {}, _PATIENCE_SECONDS, any_memory=True)


@functools.cache
def _recorder(gcc: Gcc) -> bytes:
    """What records, compiled."""
    with tempfile.TemporaryDirectory(prefix="regraph-") as name:
        work = Path(name) / "work"
        work.mkdir()
        (work / "recorder.cpp").write_text(_DRIVER.read_text("utf-8"), "utf-8")
        command = (str(gcc.path), *_FLAGS, "-O2", f"-DROOM={ROOM}", "-c", "recorder.cpp")
        ran = _ran([command], Path(name), gcc)
        if ran.code != 0:
            raise ToolError(f"{gcc.path.name} does not compile what records: {ran.said[:300]}")
        return (work / "recorder.o").read_bytes()


def _touched(text: str) -> Touched:
    plain, begins, steps, counts = text.split(";")
    end, distinct, total, read_first, read_within, written, size, moved = map(int, plain.split())
    pairs = (one.split(":") for one in counts.split())
    return Touched(
        end,
        distinct,
        total,
        read_first,
        read_within,
        written,
        size,
        bool(moved),
        tuple(map(int, begins.split())),
        frozenset(map(int, steps.split())),
        {int(index): int(often) for index, often in pairs},
    )


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
    return f'{_GLUE}extern "C" void probe_call() {{\n{body}}}\n'


def _needed(passed: Mapping[str, Passed]) -> str:
    forms = {one.form for one in passed.values()}
    headers = ["cstring", "utility", *sorted(forms & {"vector", "array", "span"})]
    return "".join(f"\n#include <{name}>" for name in headers)


_GLUE = """
#include <cstddef>
extern "C" {
void *probe_room(int slot, std::size_t element, void *own);
double probe_number(int slot);
std::size_t probe_length(int slot);
const void *probe_content(int slot);
void probe_begin();
void probe_keep(const void *result);
void probe_end();
void probe_returned(std::size_t size);
void probe_after(int slot, std::size_t size, const void *data);
void probe_bit(int slot, std::size_t index, bool bit);
}
"""


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
        after = [
            f"for (std::size_t i = 0; i < {made}.size(); ++i) probe_bit({slot}, i, {made}[i]);",
            f"probe_after({slot}, {made}.size(), nullptr);",
        ]
        return lines, argument_, [] if one.const else after
    lines += [
        f"{made}.reserve({ROOM});",
        f"{made}.resize(probe_length({slot}));",
        f"probe_room({slot}, sizeof({kind}), {made}.data());",
    ]
    after = [f"probe_after({slot}, {made}.size(), {made}.data());"]
    return lines, argument_, [] if one.by_value else after
