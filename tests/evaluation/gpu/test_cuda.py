"""The cuda target with a real nvcc, and on a real GPU."""

from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome

from ..conftest import passed

KERNEL = """
#include <cuda_runtime.h>
__global__ void kernel(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
"""
ON_DEVICE = "kernel<<<(n + 255) / 256, 256>>>(x, y, a, n);"
FROM_HOST = """
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
  kernel<<<(n + 255) / 256, 256>>>(dx, dy, a, n);
  cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
"""
ANOTHER_STREAM = """
  static cudaStream_t stream;
  if (!stream) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, a, n);
"""


@pytest.fixture
def problem(problem_folder: Callable[..., Path], request: pytest.FixtureRequest) -> Problem:
    name = 'entry = "scale"'
    return load_problem(problem_folder(toml=(name, f'{name}\nmetric = "{request.param}"')))


on_device = pytest.mark.parametrize("problem", ["device"], indirect=True)
by_call = pytest.mark.parametrize("problem", ["call"], indirect=True)


def source(body: str, kernel: str = KERNEL) -> str:
    head = 'extern "C" void scale(const float* x, float* y, float a, int n)'
    return f"{kernel}{head} {{{body}}}\n"


def judged(cache: Path, problem: Problem, code: str) -> EvalReport:
    with Judge(cache) as judge:
        return judge.evaluate(Candidate("cuda", code), problem)


def test_nvcc_compiles_a_candidate_and_trims_its_errors(tmp_path: Path, toolkit: Cuda) -> None:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits())
    assert isinstance(compiler.cuda(source(FROM_HOST), toolkit, "90"), Path)
    failure = compiler.cuda(source("y[0] = q;"), toolkit, "90")
    assert isinstance(failure, Failure)
    assert failure.diagnosis.startswith(("candidate.cu:", "candidate.cu("))  # of g++, of nvcc


def test_code_that_needs_what_the_lean_recipe_leaves_out_compiles(
    tmp_path: Path, toolkit: Cuda
) -> None:
    code = source("y[0] = std::riemann_zeta(2.0f);", f"#include <cmath>\n{KERNEL}")
    assert isinstance(Compiler(tmp_path, find_gcc(), JudgeLimits()).cuda(code, toolkit, "90"), Path)


def test_an_architecture_that_nvcc_does_not_know_is_our_failure(
    tmp_path: Path, toolkit: Cuda
) -> None:
    with pytest.raises(ToolError, match="Unsupported gpu architecture"):
        Compiler(tmp_path, find_gcc(), JudgeLimits()).cuda(source(FROM_HOST), toolkit, "19")


@by_call
def test_the_harness_compiles_for_both_metrics(
    tmp_path: Path, toolkit: Cuda, problem: Problem
) -> None:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits())
    called = compiler.harness(problem, toolkit, "90")
    on_device = compiler.harness(problem.model_copy(update={"metric": "device"}), toolkit, "90")
    assert called != on_device


@by_call
@pytest.mark.usefixtures("gpu")
def test_host_pointers_pass(cache: Path, problem: Problem) -> None:
    report = judged(cache, problem, source(FROM_HOST))
    assert passed(report), report.diagnosis
    assert report.device == find_gpu().name
    assert "seccomp" in report.facts["sandbox"]


@on_device
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("body", [ON_DEVICE, ANOTHER_STREAM])
def test_device_pointers_pass(cache: Path, problem: Problem, body: str) -> None:
    report = judged(cache, problem, source(body))
    assert passed(report), report.diagnosis


@on_device
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("body", "outcome", "says"),
    [
        ("kernel<<<1, 4096>>>(x, y, a, n);", Outcome.CRASHED, 'after the call: "invalid'),
        (f"{ON_DEVICE} kernel<<<1, 1>>>(x, (float*)8, a, n);", Outcome.CRASHED, "CUDA error"),
        (
            "kernel<<<(n + 255) / 256, 256>>>(x, y, a, n - 1);",
            Outcome.WRONG_ANSWER,
            "never written",
        ),
        (f"{ON_DEVICE} kernel<<<1, 1>>>(x, y + n, a, 1);", Outcome.CRASHED, "past the end of y"),
        (f"{ON_DEVICE} kernel<<<1, 1>>>(y, (float*)x, a, 1);", Outcome.MUTATED_INPUT, "input x"),
    ],
)
def test_device_failures_are_told_apart(
    cache: Path, problem: Problem, body: str, outcome: Outcome, says: str
) -> None:
    report = judged(cache, problem, source(body))
    assert report.outcome is outcome, report.diagnosis
    assert says in report.diagnosis


@on_device
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("cycles", [100_000, 1_000_000])
def test_unmasking_inputs_hardly_counts(cache: Path, problem: Problem, cycles: int) -> None:
    """A kernel that takes 0.05 or 0.5 ms takes as long as where its inputs are never masked.

    But for some microseconds, which docs/evaluation.md tells of; and it is never faster.
    """
    body = f"if (!i) while (clock64() - start < {cycles}) {{}}"
    kernel = KERNEL.replace("int i =", "long long start = clock64();\n  int i =")
    kernel = kernel.replace("if (i < n)", f"{body}\n  if (i < n)")
    seen = []
    for defended in (True, False, True, False):
        with Judge(cache, defences=Defences(sealed_inputs=defended)) as judge:
            report = judge.evaluate(Candidate("cuda", source(ON_DEVICE, kernel)), problem)
        assert passed(report), report.diagnosis
        assert report.timing
        seen.append(report.timing.median)
    masked, plain = sum(seen[0::2]) / 2, sum(seen[1::2]) / 2
    assert -0.05 * plain < masked - plain < 0.05 * plain + 8e-6, seen


@by_call
@pytest.mark.usefixtures("gpu")
def test_unwritten_device_memory_is_poisoned(cache: Path, problem: Problem) -> None:
    body = FROM_HOST.replace("kernel<<<(n + 255) / 256, 256>>>(dx, dy, a, n);", "")
    report = judged(cache, problem, source(body))
    assert report.outcome is Outcome.WRONG_ANSWER
    assert "nan" in report.diagnosis
