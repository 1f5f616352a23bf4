"""The throughput benchmark runs, keeps what it has, and goes on after what fails."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.evaluation.problem.problem import load_problem

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FAKE = ROOT / "tests" / "evaluation" / "fake_cuda"
CANDIDATE = """
#include <cuda_runtime_api.h>
struct Work { const float* x; float* y; float a; int n; };
static void kernel(void* p) {
  Work* w = (Work*)p;
  for (int i = 0; i < w->n; ++i) w->y[i] = w->a * w->x[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) {
  float *dx, *dy;
  cudaMalloc((void**)&dx, n * 4); cudaMalloc((void**)&dy, n * 4);
  cudaMemcpy(dx, x, n * 4, cudaMemcpyHostToDevice);
  Work w{dx, dy, a, n}; fakeLaunch(kernel, &w, sizeof w);
  cudaMemcpy(y, dy, n * 4, cudaMemcpyDeviceToHost);
  cudaFree(dx); cudaFree(dy);
}
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A pretended toolkit and GPU (tests/evaluation/fake_cuda)."""
    root = tmp_path / "cuda"
    for folder in ("bin", "include", "lib"):
        (root / folder).mkdir(parents=True)
    for name in ("nvcc", "nvidia-smi"):
        shutil.copy(FAKE / name, root / "bin")
    shutil.copy(FAKE / "cuda_runtime_api.h", root / "include")
    library = ["-Wl,-soname,libcudart.so.13", "-o", str(root / "lib" / "libcudart.so.13")]
    subprocess.run(
        ["g++", "-std=c++17", "-fPIC", "-shared", f"-I{FAKE}", str(FAKE / "cudart.cpp"), *library],
        check=True,
    )
    return root / "bin"


def test_every_section_that_can_be_measured_is_and_the_others_are_named(
    tools: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "problems" / "scale"
    shutil.copytree(ROOT / "tests" / "evaluation" / "problems" / "scale", folder)
    (folder / "candidates").mkdir()
    (folder / "candidates" / "plain.cu").write_text(CANDIDATE)
    out = tmp_path / "out.json"
    options = ["--smoke", "--problems", str(folder.parent), "--out", str(out)]
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "benchmarks" / "throughput.py"), *options),
            *("--gpus", "1,2", "--sections", "contexts,isolated"),
        ],
        env=os.environ
        | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert [row["processes"] for row in figures["contexts"]] == [1, 2, 3, 4, 8]
    (row,) = figures["isolated"]
    assert row["candidates"] == 4
    assert set(row["outcomes"]) <= {"passed", "unstable_timing"}, row
    assert row["per_second"] > 0
    assert figures["not_measured"] == [
        "contexts with 2 GPUs: of 2 GPUs only 1 are there",
        "isolated with 2 GPUs: GPU 1: this machine shows 1; give a lower number",
    ]
    written = json.loads(out.read_text())
    assert written["figures"] == figures
    text = runpy.run_path(str(ROOT / "benchmarks" / "document.py"))["result_text"](
        "throughput", written
    )
    assert "contexts/s" in text
    assert "| 1 | scale | fresh | screening | 4 |" in text


@pytest.mark.parametrize("name", ["matmul-call", "matmul-device"])
def test_its_problems_are_whole(name: str) -> None:
    folder = ROOT / "benchmarks" / "problems" / name
    problem = load_problem(folder)
    assert problem.name == name
    codes = [path.read_text() for path in folder.glob("candidates/*.cu")]
    assert len(codes) == 3
    assert all(("cudaMalloc" in code) is (problem.metric == "call") for code in codes)
