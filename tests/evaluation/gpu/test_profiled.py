"""A profiled worker, end to end, on a pretended GPU with a pretended CUPTI."""

import shutil
import subprocess
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import Candidate, EvalReport

from ..conftest import passed

pytestmark = pytest.mark.nightly

FAKE_CUPTI = Path(__file__).parent / "fake_cupti"
CODE = """
#include <cuda_runtime_api.h>
#include <dlfcn.h>
struct Work { const float* x; float* y; float a; int n; };
static void kernel(void* p) {
  Work* w = (Work*)p;
  for (int i = 0; i < w->n; ++i) w->y[i] = w->a * w->x[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) {
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti)  // as the driver would tell CUPTI
    ((void (*)(const char*, long, long))dlsym(cupti, "fake_kernel"))("_Z5scalePf", 100, 35100);
  Work w{x, y, a, n};
  fakeLaunch(kernel, &w, sizeof w);
}
"""


@pytest.fixture
def recorded(fake_cuda: Path, pretended_gpu: None) -> None:
    """The pretended toolkit has CUPTI from now on."""
    shutil.copy(FAKE_CUPTI / "cupti.h", fake_cuda / "include")
    library = fake_cuda / "lib" / "libcupti.so.13"
    command = ["g++", "-std=c++17", "-fPIC", "-shared", "-Wl,-soname,libcupti.so.13"]
    subprocess.run([*command, FAKE_CUPTI / "cupti.cpp", "-o", library], check=True)


def judged(cache: Path, problem: Problem, grade: str) -> EvalReport:
    with Judge(cache, seed=5) as judge:
        return judge.evaluate(Candidate("cuda", CODE), problem, grade=grade)


@pytest.mark.usefixtures("recorded")
def test_the_full_grade_profiles_one_call(cache: Path, on_device: Problem) -> None:
    report = judged(cache, on_device, "full")
    assert passed(report), report.diagnosis
    assert report.facts["kernel_launches"] == "1"
    assert float(report.facts["kernel_seconds"]) == pytest.approx(35e-6)
    assert report.facts["kernels"] == "scale"
    assert report.stages["profile"] > 0


@pytest.mark.usefixtures("recorded")
def test_screening_does_not_profile(cache: Path, on_device: Problem) -> None:
    report = judged(cache, on_device, "screening")
    raised = report.grade == "full"  # by a machine in turmoil
    assert ("kernel_launches" in report.facts) is raised


@pytest.mark.usefixtures("pretended_gpu")
def test_a_toolkit_without_cupti_is_said_not_suffered(
    cache: Path, on_device: Problem, fake_cuda: Path
) -> None:
    (fake_cuda / "include" / "cupti.h").unlink(missing_ok=True)
    report = judged(cache, on_device, "full")
    assert passed(report), report.diagnosis
    assert "CUPTI: not found" in report.facts["profile"]
