"""Whether serial code leaves its arrays: run with the address sanitizer.

A small overrun reads a neighbour, and nothing shows it but answers that differ from machine to
machine. So the code runs on the judge's own inputs, each array in memory of exactly its length, at
every shape to check and some that may be checked in secret. It runs where compilers do: alone, and
with no file but its inputs. There is no limit on its address space, which the sanitizer needs; it
has run at these shapes before, within the judge's limits.

Not covered: larger shapes; reading what nothing wrote; arithmetic that overflows.
"""

import math
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regraph_kg.adopt.probe import PATIENCE_SECONDS, ran
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, signature_header
from regraph_kg.evaluation.compile.own_folder import own_folder
from regraph_kg.evaluation.compile.toolchain import Gcc
from regraph_kg.evaluation.problem.declaration import Sizes, shape_text
from regraph_kg.evaluation.problem.inputs import distributions, factors, generate
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.verify.cases import check_shapes

_DRIVER = Path(__file__).with_name("driver.cpp")
_FLAGS = ("-g", "-O1", "-w", "-fno-omit-frame-pointer", "-fsanitize=address,bounds")
_OPTIONS = "detect_leaks=0:alloc_dealloc_mismatch=0:allocator_may_return_null=1"
"""Compiled in: the sanitizer reads its environment in /proc, which is not there."""
_REPORT = re.compile(r"AddressSanitizer: (?!stack-overflow|out-of-memory|failed)([\w-]+)")
_BOUNDS = re.compile(r"serial\.cpp:(\d+):\d+: runtime error: (index .*)")
_FRAME = re.compile(r"serial\.so\+(0x[0-9a-f]+)")
_REGION = re.compile(r"(before|after|to the \w+ of|inside of) (\d+)-byte region \[(0x[0-9a-f]+),")
_SLOT = re.compile(r"^case (\d+) slot (\d+) at (\S+)$", re.MULTILINE)
_MOST_VARIANTS, _SECRET_SHAPES, _MOST_BYTES = 24, 4, 32 * 2**20
_MORE_SEEDS, _MORE_BYTES = 8, 2**18
"""Drawings that are tried besides, at shapes of at most so many bytes: one may lead too far."""
_POISON = 0xA5  # what outputs hold before a call: read as an index, it is far out of every array


class Overrun(NamedTuple):
    """The code left an array: what it did, of which one, at which shape."""

    line: int  # line of serial.cpp; 0 where nobody can tell
    what: str
    sizes: Sizes


_Case = tuple[Sizes, tuple[bytes, ...]]


def look(problem: Problem, gcc: Gcc) -> Overrun | None:
    """How the code leaves an array; None where it does not. Raises `ToolError`."""
    cases = list(_cases(problem))
    with own_folder() as folder:
        work = folder / "work"
        work.mkdir()
        with (work / "inputs").open("wb") as file:
            for one in (slot for _, slots in cases for slot in slots):
                file.write(struct.pack("=q", len(one)) + one)
        said = f"{signature_header(problem)}\n#define ENTRY {problem.entry}\n"
        (work / "signature.h").write_text(f'{said}#define OPTIONS "{_OPTIONS}"\n', "utf-8")
        shutil.copy(_DRIVER, work)
        (work / "serial.cpp").write_text(problem.serial_code, "utf-8")
        made = ran(_commands(gcc, work), folder, gcc)
        if made.code is None:
            raise ToolError(f"more than {PATIENCE_SECONDS:.0f} s with the address sanitizer")
        if not (slots := _SLOT.findall(made.said)):
            raise ToolError(f"{gcc.path.name} has no address sanitizer here")
        if not made.code:
            return None
        line, case = _line(made.said, folder, gcc), cases[int(slots[-1][0])]
        return _overrun(problem, case, made.said, line)


def _overrun(problem: Problem, case: _Case, said: str, line: int) -> Overrun | None:
    """What the sanitizer said of the last case that was begun."""
    if bounds := _BOUNDS.search(said):
        return Overrun(int(bounds[1]), f"leaves an array: {bounds[2]}", case[0])
    if not _REPORT.search(said):
        return None
    does = "writes" if re.search(r"^WRITE of", said, re.MULTILINE) else "reads"
    what = f"{does} memory that is not its own"
    if region := _REGION.search(said):
        where = "freed memory of" if region[1] == "inside of" else "out of"
        what = f"{does} {where} {_array(problem, case, said, region)}"
    return Overrun(line, what, case[0])


def _commands(gcc: Gcc, work: Path) -> list[tuple[str, ...]]:
    """The code in an object of its own: of the program itself no line could be told."""
    compiler, shared = (str(gcc.path), *HOST_FLAGS, *_FLAGS), str(work / "serial.so")
    library = ("-fno-sanitize-recover=all", "-shared", "-fPIC")
    return [
        (*compiler, *library, "serial.cpp", "-o", shared),
        (*compiler, "driver.cpp", shared, "-o", "driver"),
        (str(work / "driver"),),
    ]


def _cases(problem: Problem) -> Iterator[_Case]:
    """Every shape to check, and some that may be, with the first distributions, small ones."""
    declared, secret = len(problem.sizes.check), list[Sizes]()
    for seed in range(_SECRET_SHAPES):
        secret += check_shapes(problem, seed, Defences())[declared:]
    known = {shape_text(sizes): sizes for sizes in (*problem.sizes.check, *secret)}
    left = _MOST_BYTES
    for variant in range(min(math.prod(factors(problem)), _MOST_VARIANTS)):
        for sizes in known.values():
            left -= problem.nbytes(sizes)
            if left < 0:
                return
            yield sizes, _slots(problem, sizes, generate(problem, sizes, variant, 1))
    for sizes in known.values():
        if problem.nbytes(sizes) <= _MORE_BYTES:
            for seed in range(2, 2 + _MORE_SEEDS):
                yield sizes, _slots(problem, sizes, generate(problem, sizes, 0, seed))
            yield sizes, _slots(problem, sizes, _ending(problem, sizes))


def _ending(problem: Problem, sizes: Sizes) -> dict[str, Array]:
    """Inputs whose sorted arrays lie at the end of their range: as of rows that are all empty."""
    arrays = generate(problem, sizes, 0, 1)
    kinds = distributions(problem, 0)
    for arg in problem.inputs:
        limits = arg.at(sizes).limits
        if kinds[arg.name] == "sorted" and limits:
            arrays[arg.name][...] = limits[1]
    return arrays


def _slots(problem: Problem, sizes: Sizes, made: dict[str, Array]) -> tuple[bytes, ...]:
    """The bytes of each argument, and of what is returned."""
    found = []
    for arg in problem.slots:
        if not arg.is_array:
            found.append(np.array([arg.scalar(sizes)], arg.dtype).tobytes())
        elif arg.name in made:
            found.append(made[arg.name].tobytes())
        else:
            elements = math.prod(arg.dimensions(sizes))
            found.append(bytes([_POISON]) * (elements * arg.dtype.itemsize))
    return tuple(found)


def _line(said: str, folder: Path, gcc: Gcc) -> int:
    """The line of serial.cpp in which it happened, by addr2line; 0 where that is missing."""
    places, tool = _FRAME.findall(said), shutil.which("addr2line")
    if not places or not tool:
        return 0
    command = (tool, "-i", "-e", str(folder / "work" / "serial.so"), *places)
    lines = re.findall(r"serial\.cpp:(\d+)", ran([command], folder, gcc).said)
    return int(lines[0]) if lines else 0


def _array(problem: Problem, case: _Case, said: str, region: re.Match[str]) -> str:
    """The name and length of a region's array, by its address; of a copy its bytes."""
    nbytes, start = int(region[2]), int(region[3], 16)
    for _, slot, place in _SLOT.findall(said)[-len(case[1]) :]:
        arg = problem.slots[int(slot)]
        if int(place, 16) == start:
            return f"{arg.name} ({nbytes // arg.dtype.itemsize} elements)"
    return f"an array of {nbytes} bytes"
