"""What a machine's line says: no more than its system tells, and nothing of who owns it."""

import platform
from pathlib import Path

import pytest

from regraph_kg.evaluation.gpu import device
from regraph_kg.evaluation.gpu.device import (
    Gpu,
    cpu_hardware,
    gpu_hardware,
    gpu_sizes,
    machine_facts,
)


@pytest.fixture(autouse=True)
def fresh() -> None:
    cpu_hardware.cache_clear()
    gpu_hardware.cache_clear()
    machine_facts()  # keeps the CPU's model


def test_a_cpu_is_told_with_its_threads_and_without_the_hosts_name() -> None:
    said = cpu_hardware()
    assert said.startswith(f"{machine_facts()['cpu']}, {machine_facts()['threads']} threads")
    assert platform.node() not in said
    assert "\n" not in said


def test_vectors_and_caches_of_data_are_told_from_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("3", "Unified", "32768K")]
    for number, facts in enumerate(caches):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size"), facts, strict=True):
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "cpuinfo").write_text("processor: 0\nflags : sse4_2 avx avx2 avx512f\n")
    monkeypatch.setattr(device, "_CPU", tmp_path)
    monkeypatch.setattr(device, "_CPUINFO", tmp_path / "cpuinfo")
    wanted = "vectors of 512 bits (AVX-512), L1 cache of 48 KiB, L3 cache of 32 MiB"
    assert cpu_hardware().endswith(wanted)


def test_what_the_system_does_not_tell_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "_CPU", tmp_path / "none")
    monkeypatch.setattr(device, "_CPUINFO", tmp_path / "none")
    assert cpu_hardware() == f"{machine_facts()['cpu']}, {machine_facts()['threads']} threads"
    monkeypatch.setattr(device, "_ASK", "raise SystemExit(1)")
    known = gpu_hardware(Gpu("NVIDIA H200", "90", "driver", "GPU-secret"))
    assert known == "NVIDIA H200, compute capability 9.0"


def test_a_gpus_sizes_are_those_of_its_driver() -> None:
    found = {
        "sms": 132,
        "threads": 2048,
        "registers": 65536,
        "shared_block": 49152,
        "shared_opt_in": 232448,
        "shared_sm": 233472,
        "l2": 52428800,
        "memory_khz": 3201000,
        "memory_bits": 6144,
    }
    assert gpu_sizes(found) == [
        "132 SMs",
        "2048 threads a SM",
        "65536 registers a SM",
        "48 KiB shared memory a block",
        "227 KiB if the kernel opts in",
        "228 KiB shared memory a SM",
        "51200 KiB L2 cache",
        "memory of 4917 GB/s",
    ]
    assert gpu_sizes({"sms": 1}) == ["1 SMs"]
