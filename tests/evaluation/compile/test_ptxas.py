"""What ptxas said once is read, and the occupancy that follows is NVIDIA's own."""

import subprocess
from pathlib import Path

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.evaluation.compile.ptxas import findings, occupancy
from regraph_kg.evaluation.compile.toolchain import Cuda

RECORDED = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '(anonymous namespace)::crowded(float const*, float*, int)' for 'sm_90'
ptxas info    : Function properties for (anonymous namespace)::crowded(float const*, float*, int)
    704 bytes stack frame, 1268 bytes spill stores, 1716 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 704 bytes cumulative stack size
ptxas info    : Compile time = 66.626 ms
ptxas info    : Compiling entry function 'void turn<float>(float const*, float*, int)' for 'sm_90'
ptxas info    : Function properties for void turn<float>(float const*, float*, int)
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 4096 bytes smem
ptxas info    : Compile time = 1.561 ms
"""  # noqa: E501 (nvcc 13.0, through c++filt)
CODE = """
const int WIDE = 32;
namespace { __global__ void crowded(const float* a, float* b, int n) { b[threadIdx.x] = a[n]; } }
template <class T> __global__ void turn(const T* a, T* b, int n) {
    __shared__ T tile[WIDE][WIDE];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * n + threadIdx.x];
    __syncthreads();
    b[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void f(const float* a, float* b, int n, int block) {
    crowded<<<1, block>>>(a, b, n);
    turn<<<1, dim3(BLOCK, 4)>>>(a, b, n);
}
"""
ORACLE = """
#include "cuda_occupancy.h"
#include <cstdio>
int main() {
    cudaOccDeviceProp h100;
    h100.computeMajor = 9; h100.computeMinor = 0; h100.warpSize = 32; h100.numSms = 132;
    h100.maxThreadsPerBlock = 1024; h100.maxThreadsPerMultiprocessor = 2048;
    h100.regsPerBlock = h100.regsPerMultiprocessor = 65536;
    h100.sharedMemPerBlock = 49152; h100.sharedMemPerMultiprocessor = 233472;
    h100.sharedMemPerBlockOptin = 232448; h100.reservedSharedMemPerBlock = 1024;
    cudaOccDeviceState state;
    for (int threads = 32; threads <= 1024; threads += 96)
        for (int registers = 1; registers <= 255; registers += 7)
            for (int shared = 0; shared <= 49152; shared += 2500) {
                cudaOccFuncAttributes kernel;
                kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers;
                kernel.sharedSizeBytes = shared; kernel.numBlockBarriers = 1;
                cudaOccResult found;
                if (cudaOccMaxActiveBlocksPerMultiprocessor(
                        &found, &h100, &kernel, &state, threads, 0))
                    return 1;
                printf("%d %d %d %d\\n", threads, registers, shared,
                       found.activeBlocksPerMultiprocessor);
            }
}
"""


def test_recorded_words_of_ptxas_become_findings() -> None:
    found = dict(findings(RECORDED, facts_of(CODE.replace("BLOCK", "WIDE"))))
    assert found == {
        "(anonymous namespace)::crowded(float const*, float*, int)": {
            "registers": 32,
            "bytes stack frame": 704,
            "bytes spill stores": 1268,
            "bytes spill loads": 1716,
            "threads a block": "unknown",  # the text has a variable
            "occupancy at most": 1.0,
            "limited by": "block size",
            "bank conflicts": "none seen",
        },
        "void turn<float>(float const*, float*, int)": {
            "registers": 12,
            "bytes stack frame": 0,
            "bytes spill stores": 0,
            "bytes spill loads": 0,
            "bytes smem": 4096,
            "threads a block": "32x4",
            "occupancy at most": 1.0,
            "limited by": "block size",
            "bank conflicts": "tile",
        },
    }


def test_lanes_that_are_few_are_not_said_to_meet_in_a_bank() -> None:
    _, (_, turn) = findings(RECORDED, facts_of(CODE.replace("BLOCK", "4")))
    assert (turn["threads a block"], turn["bank conflicts"]) == ("4x4", "none seen")


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "expected"),
    [
        (256, 32, 0, (1.0, "block size")),
        (32, 32, 0, (0.5, "block size")),
        (256, 128, 0, (0.25, "registers")),
        (1024, 128, 0, (0.0, "registers")),
        (256, 32, 48 * 1024, (0.5, "shared memory")),
    ],
)
def test_what_limits_occupancy_is_named(
    threads: int, registers: int, shared: int, expected: tuple[float, str]
) -> None:
    assert occupancy(threads, registers, shared) == expected


def test_occupancy_is_that_of_the_toolkits_own_header(toolkit: Cuda, tmp_path: Path) -> None:
    source, program = tmp_path / "oracle.cpp", tmp_path / "oracle"
    source.write_text(ORACLE)
    subprocess.run(["g++", f"-I{toolkit.include}", source, "-o", program], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    rows = [tuple(map(int, line.split())) for line in said.splitlines()]
    assert len(rows) > 1000
    for threads, registers, shared, blocks in rows:
        share, _ = occupancy(threads, registers, shared)
        assert share == blocks * -(-threads // 32) / 64, (threads, registers, shared)
