"""What compute-sanitizer says, cut to a line; and the tool's way around a worker."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.source_rules import without_comments
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.gpu.sanitizer import (
    Subject,
    Tool,
    find_sanitizer,
    finding,
    first_finding,
)
from regraph_kg.evaluation.machine import _UNTRACKED
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.worker.spawn import Program
from tests.requirement import require

OUT_OF_BOUNDS = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at kernel(const float *, float *, float, int)+0xb0
=========     by thread (96,0,0) in block (3,0,0)
=========     Access to 0x7f698ba00144 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f698ba00000 of size 1,024 bytes
=========
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
========= ERROR SUMMARY: 2 errors
"""  # noqa: E501
WITH_LINES = """\
========= COMPUTE-SANITIZER
========= Invalid __shared__ read of size 16 bytes
=========     at T1 load<float4>(const T1 *)+0x1dd40 in vector.cuh:908
=========     by thread (0,0,0) in block (0,0,0)
=========     Access at 0x8 is misaligned
=========         Device Frame: void tile<(int)32>(float4 *)+0x1dd40 in candidate.cu:47
========= ERROR SUMMARY: 1 error
"""
OLDER = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 8 bytes
=========     at ns::operator()(const ns::Form *)+0x8b0 in /tmp/regraph/candidate.cu:12
=========     by thread (251,0,0) in block (0,0,0)
=========     Address 0x964000008 is out of bounds
========= ERROR SUMMARY: 1 error
"""
RACE = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at reduce(int *, int *)+0x370 in candidate.cu:14
=========     and Read access at reduce(int *, int *)+0x3d0 in candidate.cu:16 [496 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
API_ERROR = """\
========= COMPUTE-SANITIZER
========= Program hit cudaErrorInvalidConfiguration (error 9) due to "invalid configuration argument" on CUDA API call to cudaLaunchKernel.
=========     Saved host backtrace up to driver entry point at error
========= ERROR SUMMARY: 1 error
"""  # noqa: E501
CLEAN = """\
========= COMPUTE-SANITIZER
========= ERROR SUMMARY: 0 errors
"""
DETACHED = """\
========= COMPUTE-SANITIZER
========= Error: Target application terminated before first instrumented API call
========= ERROR SUMMARY: 0 errors
"""
"""Samples put together from NVIDIA's documentation and public bug reports (CUDA 12.9, 13.0)."""


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            OUT_OF_BOUNDS,
            "Invalid __global__ write of size 4 bytes in kernel",
        ),
        (
            WITH_LINES,
            "Invalid __shared__ read of size 16 bytes in T1 load<float4> at candidate.cu:47",
        ),
        (
            OLDER,
            "Invalid __global__ read of size 8 bytes in ns::operator() at candidate.cu:12",
        ),
    ],
    ids=["out-of-bounds", "source-lines", "older-form"],
)
def test_the_first_finding_fits_on_a_line(log: str, said: str) -> None:
    assert finding(log, "memcheck") == f"compute-sanitizer memcheck: {said}"


def test_a_race_names_its_access() -> None:
    said = finding(RACE, "racecheck")
    assert said is not None
    assert "Write access at reduce(int *, int *)" in said


@pytest.mark.parametrize(
    "log", [CLEAN, DETACHED, API_ERROR, "", "Segmentation fault\n", "=========\n"]
)
def test_no_finding_is_no_advice(log: str) -> None:
    assert finding(log, "memcheck") is None


def test_a_finding_is_short_and_printable() -> None:
    hostile = OUT_OF_BOUNDS.replace("kernel(", "k\x1b[2J\u202e" + "x" * 1000 + "(")
    said = finding(hostile, "memcheck")
    assert said is not None
    assert len(said) == 400
    assert said.isprintable()


SCALE = """
#include <cuda_runtime_api.h>
struct Work { const float* x; float* y; float a; int n; };
static void kernel(void* p) {
  Work* w = (Work*)p;
  for (int i = 0; i < w->n; ++i) w->y[i] = w->a * w->x[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) {
  Work w{x, y, a, n};
  fakeLaunch(kernel, &w, sizeof w);
"""
PRETENDED = """#!/bin/sh
# Runs a command like the tool does: as a child, with its findings in a file when that ends.
while [ "${1#--}" != "$1" ]; do [ "$1" = --log-file ] && log=$2; shift 2; done
"$@"
echo "$?" >> '@SEEN@'
if [ "$(wc -l < '@SEEN@')" -le @DEAF@ ]; then cat '@DETACHED@' > "$log"; exit; fi
cat '@SAMPLE@' > "$log"
"""


@pytest.fixture
def pretended(tmp_path: Path) -> Callable[..., Path]:
    """A compute-sanitizer that says a sample, after being unable to attach so many times."""

    def make(sample: str, deaf: int = 0) -> Path:
        text = PRETENDED.replace("@DEAF@", str(deaf))
        for name, content in (("SAMPLE", sample), ("DETACHED", DETACHED), ("SEEN", "")):
            path = tmp_path / name.lower()
            path.write_text(content)
            text = text.replace(f"@{name}@", str(path))
        tool = tmp_path / "compute-sanitizer"
        tool.write_text(text)
        tool.chmod(0o755)
        return tool

    return make


SHAPE = {"n": 1000}


@pytest.fixture
def subject(
    cache: Path, problem_folder: Callable[..., Path], pretended_gpu: None
) -> Callable[[str], Subject]:
    """A candidate on the pretended GPU, with this at the end of its entry point."""
    del pretended_gpu
    name = 'entry = "scale"'
    problem = load_problem(problem_folder(toml=(name, f'{name}\nmetric = "device"')))
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())

    def make(end: str) -> Subject:
        library = compiler.cuda(f"{SCALE} {end}}}", find_cuda(), "90")
        assert isinstance(library, Path), library
        program = Program(compiler.harness(problem, find_cuda(), "90"), library, "scale", cuda=True)
        return Subject(program, problem)

    return make


@pytest.mark.parametrize("end", ["", "__builtin_trap();"])
def test_a_candidate_is_called_once_under_the_tool(
    subject: Callable[[str], Subject], pretended: Callable[..., Path], tmp_path: Path, end: str
) -> None:
    said = first_finding(subject(end), pretended(OUT_OF_BOUNDS), "memcheck", SHAPE)
    assert said is not None
    assert said.startswith("compute-sanitizer memcheck: Invalid __global__ write")
    codes = (tmp_path / "seen").read_text().split()
    assert len(codes) == 1
    assert (codes[0] == "0") == (end == "")


def test_confinements_are_dropped_until_the_tool_can_attach(
    subject: Callable[[str], Subject], pretended: Callable[..., Path], tmp_path: Path
) -> None:
    assert (
        first_finding(subject(""), pretended(OUT_OF_BOUNDS, deaf=1), "memcheck", SHAPE) is not None
    )
    assert len((tmp_path / "seen").read_text().split()) == 2
    assert first_finding(subject(""), pretended(OUT_OF_BOUNDS, deaf=9), "memcheck", SHAPE) is None


def test_a_tool_that_cannot_be_started_gives_no_advice(
    subject: Callable[[str], Subject], tmp_path: Path
) -> None:
    assert first_finding(subject(""), tmp_path / "nowhere", "memcheck", SHAPE) is None


def test_the_tool_is_found_beside_the_compiler(
    pretended_gpu: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del pretended_gpu
    cuda = find_cuda()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_sanitizer(cuda) is None
    beside = cuda.nvcc.with_name("compute-sanitizer")
    beside.touch()
    assert find_sanitizer(cuda) == beside


GUARDED = """
#include <cuda_runtime.h>
__global__ void kernel(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n @REACH@) y[i] = a * x[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) {
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  @COPY@
  kernel<<<n / 256 + 1, 256>>>(dx, dy, a, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
}
"""
COPY = "cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);"


@pytest.fixture(scope="module")
def real_tool() -> Path:
    """The tool of a machine with a GPU."""
    try:
        tool = find_sanitizer(find_cuda())
        find_gpu()
    except ToolError as error:
        require("gpu", str(error))
    if tool is None:
        require("gpu", "compute-sanitizer is not installed")
    return tool


@dataclass(frozen=True)
class Real:
    """A fault of a candidate, the check that looks, and what it must say."""

    reach: str
    copy: str
    check: Tool
    said: str | None


@pytest.mark.parametrize(
    "case",
    [
        Real("+ 1", COPY, "memcheck", "Invalid __global__"),
        Real("", COPY, "memcheck", None),
    ],
    ids=["out-of-bounds", "right"],
)
def test_the_real_tool_finds_what_is_there_and_nothing_else(
    cache: Path, problem_folder: Callable[..., Path], real_tool: Path, case: Real
) -> None:
    problem, cuda, arch = load_problem(problem_folder()), find_cuda(), find_gpu().arch
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    code = GUARDED.replace("@REACH@", case.reach).replace("@COPY@", case.copy)
    library = compiler.cuda(code, cuda, arch)
    assert isinstance(library, Path), library
    program = Program(compiler.harness(problem, cuda, arch), library, "scale", cuda=True)
    found = first_finding(Subject(program, problem), real_tool, case.check, {"n": 1000})
    assert (case.said is None) == (found is None), found
    assert case.said is None or case.said in str(found)


@pytest.mark.parametrize(
    ("code", "untracked"),
    [
        ('asm volatile("bar.sync 1, 64;");', True),
        ("#include <cuda/barrier>", True),
        ("// bar.sync, or a cuda::barrier", False),
        ("int n = bar.size; __syncthreads();", False),
    ],
)
def test_barriers_that_the_tool_does_not_know_are_told_by_code_alone(
    code: str, untracked: bool
) -> None:
    assert bool(_UNTRACKED.search(without_comments(code))) is untracked
