"""A port's whole CUDA text, run on the CPU beside the serial code on inputs of the problem.

A launch becomes a loop over the threads, forwards and then backwards; memory is watched by the
address sanitizer. Not covered: threads that wait for each other, and textures.
"""

import math
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regraph_kg.evaluation.problem.declaration import Argument, Sizes
from regraph_kg.evaluation.problem.inputs import factors, generate
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.models.port import Port

_DEVICE = Path(__file__).with_name("emulated.hpp")
_LAUNCH = re.compile(r"([\w:<>]+?)<<<(.+?)>>>\((.*?)\);", re.DOTALL)
_FLAGS = ("-std=c++17", "-O1", "-g", "-w", "-fsanitize=address")
_MOST_ELEMENTS = 200_000


@dataclass(frozen=True, slots=True)
class Ran:
    """The outputs of one program by name, how often it launched, and with how many threads."""

    outputs: dict[str, Array]
    launches: int
    most_threads: int


def differences(problem: Problem, made: Port, folder: Path, shapes: int = 3) -> list[str]:
    """What the port does otherwise than the serial code, a line each."""
    problem = problem.model_copy(update={"metric": "call"})
    serial = _built(folder / "serial.cpp", problem.serial_code, problem)
    device = _built(folder / "device.cpp", on_host(made.whole(made.start)), problem)
    sizes = [at for at in problem.sizes.check if problem.elements(at) <= _MOST_ELEMENTS][-shapes:]
    found = list[str]()
    for number, at in enumerate(sizes):
        given = problem.at(at)
        inputs = generate(given, at, number % math.prod(factors(given)), 7 + number)
        right = _ran(serial, given, at, inputs).outputs
        for order in ("", "1"):
            ran = _ran(device, given, at, inputs, BACKWARDS=order)
            found += _unlike(given, at, right, ran.outputs, order)
    return found


def threads_of(problem: Problem, made: Port, folder: Path) -> tuple[int, int]:
    """How often the port launches at the largest shape that is run, and its most threads."""
    device = _built(folder / "device.cpp", on_host(made.whole(made.start)), problem)
    at = [at for at in problem.sizes.check if problem.elements(at) <= _MOST_ELEMENTS][-1]
    ran = _ran(device, problem.at(at), at, generate(problem.at(at), at, 0, 3))
    return ran.launches, ran.most_threads


def on_host(code: str) -> str:
    """CUDA text as C++: launches are calls in a loop."""

    def called(match: re.Match[str]) -> str:
        name, shape, arguments = match.groups()
        return f"emulated_launch({shape}, [&] {{ {name}({arguments}); }});"

    code = re.sub(r"#[ \t]*include[ \t]*<(?:cuda|cub/|thrust/)[^>\n]*>", "", code)
    return f"#include {str(_DEVICE)!r}\n".replace("'", '"') + _LAUNCH.sub(called, code)


def _built(path: Path, code: str, problem: Problem) -> Path:
    """A program that calls the entry on arrays of a file, and writes them back."""
    lines, names = list[str](), list[str]()
    for arg in problem.args:
        kind = arg.spelled(cuda=False)
        if arg.is_array:
            const = "const " if arg.role == "in" else ""
            lines.append(f"{kind}* {arg.name}_ = static_cast<{kind}*>(read());")
            names.append(f"({const}{kind}*){arg.name}_")
        else:
            lines.append(f"{kind} {arg.name}_ = *static_cast<{kind}*>(read());")
            names.append(f"{arg.name}_")
    call = f"{problem.entry}({', '.join(names)});"
    lines.append(f"const auto returned_ = {call}" if problem.returns else call)
    if problem.returns:
        lines.append("write(&returned_, sizeof returned_);")
    arrays = [(at, arg) for at, arg in enumerate(problem.args) if arg.is_array]
    lines += [f"write({arg.name}_, bytes_[{at}]);" for at, arg in arrays]
    body = "\n    ".join(lines)
    path.write_text(f"""{code}
#include <cstdio>
#include <cstdlib>
static size_t bytes_[{len(problem.args)}]; static int place_; static FILE *file_in, *file_out;
static void* read() {{
    if (fread(&bytes_[place_], 8, 1, file_in) != 1) abort();
    void* memory = malloc(bytes_[place_]);
    if (bytes_[place_] && fread(memory, bytes_[place_], 1, file_in) != 1) abort();
    ++place_;
    return memory;
}}
static void write(const void* memory, size_t count) {{
    if (count) fwrite(memory, count, 1, file_out);
}}
int main(int, char** names) {{
    file_in = fopen(names[1], "rb"); file_out = fopen(names[2], "wb");
    {body}
    fclose(file_out);
#ifdef __global__
    std::printf("%ld %ld", launches, most_threads);
#endif
}}
""")
    program = path.with_suffix("")
    command = ["g++", *_FLAGS, str(path), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr[:3000]}\n{code}"
    return program


def _ran(
    program: Path, problem: Problem, at: Sizes, inputs: dict[str, Array], **environment: str
) -> Ran:
    given = program.with_suffix(".in")
    with given.open("wb") as file:
        for arg in problem.args:
            content = _content(arg, at, inputs)
            file.write(len(content).to_bytes(8, "little") + content)
    written = program.with_suffix(".out")
    done = subprocess.run(
        [str(program), str(given), str(written)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={name: value for name, value in environment.items() if value}
        | {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"},
    )
    assert done.returncode == 0, f"{program.name} at {at}: {done.stderr[:3000]}"
    content, outputs = written.read_bytes(), dict[str, Array]()
    if problem.returns:
        result = problem.slots[-1]
        outputs[result.name] = np.frombuffer(content, result.dtype, 1)
        content = content[result.dtype.itemsize :]
    for arg in problem.args:
        if arg.is_array:
            outputs[arg.name] = np.frombuffer(content, arg.dtype, arg.elements(at))
            content = content[arg.dtype.itemsize * arg.elements(at) :]
    launches, most = map(int, (done.stdout or "0 0").split())
    return Ran(outputs, launches, most)


def _content(arg: Argument, at: Sizes, inputs: dict[str, Array]) -> bytes:
    if not arg.is_array:
        return np.asarray(arg.scalar(at), arg.dtype).tobytes()
    if arg.name in inputs:
        return np.ascontiguousarray(inputs[arg.name]).tobytes()
    return b"\x3f" * (arg.dtype.itemsize * arg.elements(at))  # what an output held before


def _unlike(
    problem: Problem, at: Sizes, right: dict[str, Array], actual: dict[str, Array], order: str
) -> list[str]:
    """Lines about outputs that differ by more than another order of additions makes."""
    found = list[str]()
    for arg in problem.outputs:
        a, b = right[arg.name], actual[arg.name]
        if arg.count:
            rows = int(right[arg.count][0]) * max(1, len(a) // max(1, arg.dimensions(at)[0]))
            a, b = a[:rows], b[:rows]
        for leaf in a.dtype.names or ("",):
            one, other = (a[leaf], b[leaf]) if leaf else (a, b)
            same = one == other
            if one.dtype.kind == "f":
                wide, near = one.astype(np.float64), other.astype(np.float64)
                scale = np.abs(wide[np.isfinite(wide)]).max(initial=0.0)
                slack = 200 * float(np.finfo(one.dtype).eps)
                same = np.isclose(wide, near, slack, slack * scale, equal_nan=True)
            if not np.all(same):
                where = int(np.flatnonzero(~same)[0])
                found.append(
                    f"{arg.name}{leaf and '.' + leaf}[{where}] is {other[where]}, not {one[where]},"
                    f" at {at}{', backwards' if order else ''}; {np.sum(~same)} differ"
                )
    return found
