"""Every format of values and rows on a real GPU: the right kernel passes, a near one fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Candidate, Outcome

from ..conftest import passed

GRID = "<<<(n + 255) / 256, 256>>>"
INDEX = "const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;"
SIZES = """
[sizes]
check = [{ n = 1 }, { n = 1000 }, { n = 4099 }]
time = { n = 2000000 }
"""
LENGTH = """
[[args]]
name = "n"
type = "int32"
role = "size"
size = "n"
"""


@dataclass(frozen=True)
class Format:
    """One problem, with device pointers, and what its kernel must not get wrong."""

    head: str  # of problem.toml: `tolerance`, `returns`
    args: tuple[str, ...]  # each argument's fields, by commas
    declares: str  # types that serial.cpp and candidates define
    serial: str
    kernels: str
    body: str
    wrong: tuple[str, str]  # what to replace in `kernels` or `body`, and by what
    says: str  # part of the diagnosis of the wrong one

    def toml(self) -> str:
        args = "".join("\n[[args]]\n" + arg.replace("; ", "\n") + "\n" for arg in self.args)
        head = f'schema = 1\nname = "of"\nentry = "of"\nmetric = "device"\n{self.head}\n'
        return head + SIZES + args + LENGTH

    def candidate(self, signature: str) -> str:
        includes = "#include <cuda_fp16.h>\n#include <complex>\n#include <cstddef>\n"
        return f"{includes}{self.declares}\n{self.kernels}\n{signature} {{ {self.body} }}\n"


FORMATS = {
    "complex numbers": Format(
        'tolerance = "conditioned"',
        (
            'name = "x"; type = "complex64"; role = "in"; shape = ["n"]',
            'name = "y"; type = "complex64"; role = "out"; shape = ["n"]',
        ),
        "",
        "for (int i = 0; i < n; ++i) y[i] = x[i] * x[i];",
        "__global__ void square(const float2* x, float2* y, int n) {"
        f"{INDEX} const float2 a = x[i];"
        "y[i] = make_float2(a.x * a.x - a.y * a.y, 2 * a.x * a.y); }",
        f"square{GRID}((const float2*)x, (float2*)y, n);",
        ("2 * a.x * a.y", "-2 * a.x * a.y"),
        "y[",
    ),
    "halves": Format(
        'tolerance = "conditioned"\nprecision = "fp16"\nseparates = false',
        (
            'name = "x"; type = "float16"; role = "in"; shape = ["n"]',
            'name = "y"; type = "float16"; role = "out"; shape = ["n"]',
        ),
        "",
        "for (int i = 0; i < n; ++i) y[i] = x[i] * x[i] + x[i];",
        "__global__ void curve(const __half* x, __half* y, int n) {"
        f"{INDEX} const float a = __half2float(x[i]); y[i] = __float2half(a * a + a); }}",
        f"curve{GRID}(x, y, n);",
        ("a * a + a", "a * a + 1.1f * a"),
        "y[",
    ),
    "bytes that are true or false": Format(
        "",
        (
            'name = "x"; type = "float32"; role = "in"; shape = ["n"]',
            'name = "y"; type = "bool"; role = "out"; shape = ["n"]',
        ),
        "",
        "for (int i = 0; i < n; ++i) y[i] = x[i] > 0;",
        f"__global__ void sign(const float* x, bool* y, int n) {{ {INDEX} y[i] = x[i] > 0; }}",
        f"sign{GRID}(x, y, n);",
        ("y[i] = x[i] > 0;", "((char*)y)[i] = x[i] > 0 ? 2 : 0;"),
        "y[",
    ),
    "records": Format(
        'tolerance = "conditioned"',
        (
            'name = "p"; type = "struct"; struct = "Particle"; role = "inout"; shape = ["n"];'
            ' fields = { x = "float32", v = "float32", steps = "int64" }',
        ),
        "struct Particle { float x, v; long long steps; };",
        "for (int i = 0; i < n; ++i) { p[i].x += 0.5f * p[i].v; p[i].steps += 1; }",
        "__global__ void move(Particle* p, int n) {"
        f"{INDEX} p[i].x += 0.5f * p[i].v; p[i].steps += 1; }}",
        f"move{GRID}(p, n);",
        ("p[i].steps += 1;", "p[i].steps += 1 + (i == 0);"),
        "steps",
    ),
    "a result that is returned": Format(
        'returns = { type = "int64" }',
        (
            'name = "x"; type = "int32"; role = "in"; shape = ["n"];'
            ' values = ["uniform"]; range = [-1000, 1000]',
        ),
        "",
        "long long sum = 0; for (int i = 0; i < n; ++i) sum += x[i]; return sum;",
        "__global__ void add(const int* x, unsigned long long* sum, int n) {"
        f"{INDEX} atomicAdd(sum, (unsigned long long)(long long)x[i]); }}",
        "static unsigned long long* sum = nullptr; if (!sum) cudaMalloc(&sum, sizeof *sum);"
        f"cudaMemset(sum, 0, sizeof *sum); add{GRID}(x, sum, n); long long found = 0;"
        "cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost); return found;",
        ("i >= n", "i >= n - 1"),
        "return",
    ),
}


@pytest.fixture(params=FORMATS, ids=lambda name: name.replace(" ", "-"))
def of(request: pytest.FixtureRequest) -> Format:
    return FORMATS[request.param]


@pytest.fixture
def problem(of: Format, tmp_path: Path) -> Problem:
    return load_problem(written(of, tmp_path / "of"))


def written(of: Format, folder: Path) -> Path:
    folder.mkdir()
    serial = folder / "serial.cpp"
    (folder / "problem.toml").write_text(of.toml())
    serial.write_text("#include <complex>\n")
    signature = load_problem(folder).signature()
    serial.write_text(f"#include <complex>\n{of.declares}\n{signature} {{ {of.serial} }}\n")
    return folder


def broken(of: Format, signature: str) -> str:
    code = of.candidate(signature)
    assert of.wrong[0] in code
    return code.replace(*of.wrong)


def test_the_kernels_compile(toolkit: Cuda, of: Format, problem: Problem, tmp_path: Path) -> None:
    compiler = Compiler(tmp_path / "cache", find_gcc(), JudgeLimits())
    for code in (
        of.candidate(problem.signature(cuda=True)),
        broken(of, problem.signature(cuda=True)),
    ):
        built = compiler.cuda(code, toolkit, "90")
        assert isinstance(built, Path), built
    assert compiler.harness(problem, toolkit, "90")


@pytest.fixture(scope="module")
def judge(gpu: None, cache: Path) -> Iterator[Judge]:
    with Judge(cache) as judge:
        yield judge


def test_the_right_kernel_passes_on_a_gpu(judge: Judge, of: Format, problem: Problem) -> None:
    report = judge.evaluate(Candidate("cuda", of.candidate(problem.signature(cuda=True))), problem)
    assert passed(report), report.diagnosis


def test_a_kernel_that_is_nearly_right_fails_on_a_gpu(
    judge: Judge, of: Format, problem: Problem
) -> None:
    report = judge.evaluate(Candidate("cuda", broken(of, problem.signature(cuda=True))), problem)
    assert report.outcome is Outcome.WRONG_ANSWER, report.diagnosis
    assert of.says in report.diagnosis
