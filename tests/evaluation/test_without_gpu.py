"""`regraph evaluate --target cuda` without a GPU: compiled by the real nvcc, never judged."""

from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.toolchain import Cuda
from tests.in_process import Ended, typed

from .conftest import HERE

KERNEL = """
__global__ void scaled(const float* x, float* y, float a, int n) {
    __shared__ float tile[32][32];
    tile[threadIdx.x][0] = a * x[threadIdx.x];
    float own[64];
    for (int i = 0; i < 64; ++i) own[i] = x[i];
    for (int i = 0; i < n; ++i) own[(i * n) % 64] += tile[threadIdx.x][0];
    for (int i = 0; i < 64; ++i) y[i] = own[i];
}
extern "C" void scale(const float* x, float* y, float a, int n) { scaled<<<1, 32>>>(x, y, a, n); }
"""


@pytest.fixture
def without_gpu(toolkit: Cuda, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_gpus() -> list[object]:
        raise ToolError("GPU: none here")

    monkeypatch.setattr("regraph_kg.cli.evaluate.find_gpus", find_gpus)
    monkeypatch.setenv("REGRAPH_CACHE_DIR", str(cache))
    monkeypatch.setenv("REGRAPH_CORPUS", str(HERE))


def evaluated(folder: Path, code: str, *options: str) -> Ended:
    path = folder / "candidate.cu"
    path.write_text(code)
    return typed("evaluate", "--target", "cuda", "scale", path, *options)


@pytest.mark.usefixtures("without_gpu")
def test_findings_are_printed_and_the_missing_gpu_ends_it(tmp_path: Path) -> None:
    ended = evaluated(tmp_path, KERNEL)
    assert (ended.code, ended.err) == (3, "regraph: GPU: none here\n")
    head, kernel = ended.out.splitlines()
    assert ": not run: no GPU; findings of nvcc " in head
    assert kernel.startswith("kernel scaled(float const*, float*, float, int): ")
    for told in (
        *("bytes stack frame 256", "bytes spill stores 0", "bytes smem 4096", "registers "),
        *("threads a block 32", "occupancy at most 0.5, limited by block size"),
        "bank conflicts tile",
    ):
        assert told in kernel


@pytest.mark.usefixtures("without_gpu")
@pytest.mark.parametrize(
    ("code", "diagnosis"),
    [
        (KERNEL.replace("own[64]", "own[nothing]"), 'identifier "nothing" is undefined'),
        (f'#include "/etc/passwd"\n{KERNEL}', "#include"),
    ],
)
def test_code_that_does_not_compile_gets_a_diagnosis_and_no_verdict(
    tmp_path: Path, code: str, diagnosis: str
) -> None:
    ended = evaluated(tmp_path, code, "--json")
    assert ended.code == 3
    (report,) = ended.json().values()
    assert (report["outcome"], report["kernels"]) == ("not run: no GPU", {})
    assert diagnosis in report["diagnosis"]
