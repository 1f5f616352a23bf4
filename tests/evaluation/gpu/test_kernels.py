"""Kernel times from CUPTI's records, which are pretended here (fake_cupti/)."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, find_gcc
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.gpu.kernels import (
    KernelTimes,
    find_cupti,
    parsed,
    profiler,
)
from regraph_kg.evaluation.rules import JudgeLimits
from tests.requirement import require

HARNESS = Path(__file__).parents[3] / "evaluation" / "worker" / "harness"

FAKE_CUPTI = Path(__file__).parent / "fake_cupti"

SAID = {
    **{"kernels": 2, "kernel_ns": 35_000, "copies": 2, "copy_ns": 500_000, "busy_ns": 535_000},
    **{"dropped": 0, "in_bytes": 4096, "out_bytes": 1024, "inside_bytes": 0},
    "names": [["scale", 2, 35_000]],
}


THREE_LAUNCHES = """
template <typename T> __global__ void twice(T *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
extern "C" void call() {
  static float host[1000000];
  float *x;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) twice<<<4000, 256>>>(x, 1000000);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaDeviceSynchronize();
}
"""
ONE_CALL = """
import ctypes, sys
recorder = ctypes.CDLL(sys.argv[1])
opened = recorder.regraph_profile_open()
candidate = ctypes.CDLL(sys.argv[2])
(ctypes.c_int * 2).in_dll(candidate, "regraph_wraps")[:] = (0, 0)  # no poison, no canaries
candidate.call()
recorder.regraph_profile_begin()
candidate.call()
text = ctypes.create_string_buffer(512)
ended = recorder.regraph_profile_end(text, 512)
sys.exit(f"{opened} {ended}") if opened or ended else print(text.value.decode())
"""


class Recorder:
    """profile.cpp over pretended CUPTI records."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        assert self._library.regraph_profile_open() == 0
        self._names: list[bytes] = []
        self.lose(0)
        self.begin()

    def begin(self) -> None:
        assert self._library.regraph_profile_begin() == 0

    def kernel(self, name: bytes, start: int, end: int) -> None:
        self._names.append(name)  # the record holds a pointer
        self._library.fake_kernel(name, ctypes.c_uint64(start), ctypes.c_uint64(end))

    def copy(self, kind: int, nbytes: int, start: int, end: int) -> None:
        self._library.fake_copy(kind, *map(ctypes.c_uint64, (nbytes, start, end)))

    def lose(self, records: int) -> None:
        self._library.fake_loss(ctypes.c_uint64(records))

    def end(self, room: int = 512) -> str:
        text = ctypes.create_string_buffer(room)
        status = self._library.regraph_profile_end(text, ctypes.c_size_t(room))
        return text.value.decode() if status == 0 else f"status {status}"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "profile.so"
    sources = (HARNESS / "profile.cpp", FAKE_CUPTI / "cupti.cpp")
    command = ("g++", "-std=c++17", "-fPIC", "-shared", f"-I{FAKE_CUPTI}")
    subprocess.run([*command, *sources, "-o", path], check=True)
    return path


@pytest.fixture
def recorder(library: Path) -> Recorder:
    return Recorder(library)


def times(text: str) -> KernelTimes:
    found = parsed(text)
    assert found is not None, text
    return found


def test_overlapping_kernels_are_counted_once(recorder: Recorder) -> None:
    for start, end in ((100, 300), (200, 400), (600, 700), (250, 260)):
        recorder.kernel(b"scale", start, end)
    recorder.copy(1, 4096, 350, 500)
    recorder.copy(2, 1024, 700, 800)
    found = times(recorder.end())
    assert found.launches == 4
    assert found.kernel_seconds == pytest.approx(400e-9)
    assert found.copy_seconds == pytest.approx(250e-9)
    assert found.busy_seconds == pytest.approx(600e-9)
    assert (found.copies, found.in_bytes, found.out_bytes) == (2, 4096, 1024)


def test_what_was_recorded_before_the_call_is_forgotten(recorder: Recorder) -> None:
    recorder.kernel(b"sweep", 0, 1000)
    recorder.begin()
    recorder.kernel(b"scale", 2000, 2100)
    assert [kernel.name for kernel in times(recorder.end()).names] == ["scale"]


def test_names_are_demangled_and_short_the_longest_running_first(recorder: Recorder) -> None:
    recorder.kernel(b"_ZN12_GLOBAL__N_13addIfEEvPT_i", 0, 10)
    recorder.kernel(b"_Z5scalePKfPffi", 10, 500)
    recorder.kernel(b"_Z5scalePKfPffi", 500, 900)
    recorder.kernel(b'odd"name\\', 900, 901)
    found = times(recorder.end()).names
    assert [(kernel.name, kernel.launches) for kernel in found] == [
        ("scale", 2),
        ("add<float>", 1),
        ("odd?name?", 1),
    ]
    assert found[0].seconds == pytest.approx(890e-9)


def test_many_long_names_still_fit_the_message(recorder: Recorder) -> None:
    for index in range(40):
        recorder.kernel(f"kernel_{index:02}_{'x' * 100}".encode(), 10 * index, 10 * index + 5)
    text = recorder.end()
    assert len(text) < 512
    assert times(text).launches == 40
    assert 1 < len(times(text).names) < 40
    assert all(len(kernel.name) == 60 for kernel in times(text).names)
    assert recorder.end(100) == "status -1"


def test_a_profile_with_dropped_records_is_nothing(recorder: Recorder) -> None:
    recorder.lose(1)
    recorder.kernel(b"scale", 0, 10)
    assert parsed(recorder.end()) is None


def test_a_kernels_name_is_told(recorder: Recorder) -> None:
    recorder.kernel(b"scale", 0, 10)
    assert times(recorder.end()).facts()["kernels"] == "scale"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "out of memory",
        "[]",
        json.dumps(SAID | {"kernels": -1}),
        json.dumps(SAID | {"kernel_ns": 10**9}),
        json.dumps(SAID | {"names": [["scale"]]}),
        json.dumps({k: v for k, v in SAID.items() if k != "in_bytes"}),
    ],
)
def test_text_that_does_not_hold_together_is_nothing(text: str) -> None:
    assert parsed(json.dumps(SAID)) is not None
    assert parsed(text) is None


def test_a_toolkit_without_cupti_is_our_failure(tmp_path: Path) -> None:
    cuda = Cuda(tmp_path / "bin/nvcc", "13.0", tmp_path / "include", tmp_path / "lib/libcudart.so")
    with pytest.raises(ToolError, match="CUPTI"):
        find_cupti(cuda)
    (tmp_path / "extras/CUPTI/include").mkdir(parents=True)
    (tmp_path / "extras/CUPTI/include/cupti.h").write_text("")
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64/libcupti.so.13").write_text("")
    assert find_cupti(cuda)[1] == tmp_path / "lib64/libcupti.so.13"


def test_the_profiler_compiles_against_the_real_cupti(tmp_path: Path, toolkit: Cuda) -> None:
    built = profiler(Compiler(tmp_path, find_gcc(), JudgeLimits()), toolkit)
    done = subprocess.run(["nm", "-D", built], capture_output=True, text=True, check=True)
    assert "T regraph_profile_end" in done.stdout


def test_a_real_gpus_kernels_and_copies_are_recorded(tmp_path: Path, toolkit: Cuda) -> None:
    try:
        gpu = find_gpu()
    except ToolError as error:
        require("gpu", str(error))
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits())
    candidate = compiler.cuda(THREE_LAUNCHES, toolkit, gpu.arch)
    assert isinstance(candidate, Path), candidate
    command = [sys.executable, "-c", ONE_CALL, profiler(compiler, toolkit), candidate]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = times(done.stdout)
    assert (found.launches, found.copies) == (3, 2)
    assert (found.in_bytes, found.out_bytes) == (4_000_000, 4_000_000)
    assert [(kernel.name, kernel.launches) for kernel in found.names] == [("twice<float>", 3)]
    assert 1e-6 < found.kernel_seconds <= found.busy_seconds < 0.1
