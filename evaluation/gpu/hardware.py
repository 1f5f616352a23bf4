"""Hardware in a line that a prompt can show: no host name, no user, nothing secret.

Only facts that stay the same while the machine does: measured rates are peaks.py's. A fact that the
system does not tell is left out. Not covered: several kinds of cores in one CPU, memory nodes.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

from regraph_kg.evaluation.gpu.device import Gpu, cpu_says, machine_facts, told

_CPU = Path("/sys/devices/system/cpu/cpu0/cache")
_VECTORS = (
    ("avx512f", "vectors of 512 bits (AVX-512)"),
    ("avx2", "vectors of 256 bits (AVX2)"),
    ("avx", "vectors of 256 bits (AVX)"),
    ("sse4_2", "vectors of 128 bits (SSE4.2)"),
    ("sve", "scalable vectors (SVE)"),
    ("asimd", "vectors of 128 bits (NEON)"),
)
"""Flag of the CPU, and what it means; the widest that it has is told."""
_ATTRIBUTES = {
    "sms": (16, 1, "{} SMs"),
    "threads": (39, 1, "{} threads a SM"),
    "registers": (82, 1, "{} registers a SM"),
    "shared_block": (8, 1024, "{} KiB shared memory a block"),
    "shared_opt_in": (97, 1024, "{} KiB if the kernel opts in"),
    "shared_sm": (81, 1024, "{} KiB shared memory a SM"),
    "l2": (38, 1024, "{} KiB L2 cache"),
    "memory_khz": (36, 1, ""),
    "memory_bits": (37, 1, ""),
}
"""Numbers of CUDA's device attributes (CUdevice_attribute), their unit, and what they say."""
_ASK = """
import ctypes, json, sys
cuda, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
found = {}
for name, number in json.loads(sys.argv[1]).items():
    value = ctypes.c_int()
    if cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device) == 0:
        found[name] = value.value
print(json.dumps(found))
"""
"""Runs in a process of its own: one that has called the driver cannot be forked."""
_SECONDS = 30.0


@functools.cache
def cpu_hardware() -> str:
    """Model, threads, vectors and caches of this machine's CPU."""
    facts = machine_facts()
    parts = [facts["cpu"], f"{facts['threads']} threads", _vectors(), *_caches()]
    return ", ".join(part for part in parts if part)


@functools.cache
def gpu_hardware(gpu: Gpu) -> str:
    """Model of a GPU, and as much of its size as the driver tells."""
    architecture = f"compute capability {gpu.arch[:-1]}.{gpu.arch[-1:]}"
    return ", ".join([gpu.name, architecture, *gpu_sizes(_attributes(gpu))])


def gpu_sizes(facts: dict[str, int]) -> list[str]:
    """Known attributes in words."""
    parts = [
        text.format(facts[name] // unit)
        for name, (_, unit, text) in _ATTRIBUTES.items()
        if text and facts.get(name)
    ]
    if rate := _memory_rate(facts):
        parts.append(f"memory of {rate / 1e9:.0f} GB/s")
    return parts


@functools.cache
def gpu_memory(gpu: Gpu) -> float | None:
    """Bytes a second of a GPU's memory by its clock and bus; None where neither is told."""
    return _memory_rate(_attributes(gpu)) or None


def _memory_rate(facts: dict[str, int]) -> float:
    """Two transfers a clock of the bus."""
    return 2e3 * facts.get("memory_khz", 0) * facts.get("memory_bits", 0) / 8


def _vectors() -> str:
    """The widest vectors, by the CPU's flags."""
    flags = cpu_says("flags", "Features").split()
    return next((text for flag, text in _VECTORS if flag in flags), "")


def _caches() -> list[str]:
    """Caches for data, from the nearest: "L2 512 KiB"."""
    sizes: dict[str, str] = {}
    for index in sorted(_CPU.glob("index*")):
        size = told(index / "size")
        if told(index / "type") != "Instruction" and size.endswith("K") and size[:-1].isdigit():
            kib = int(size[:-1])
            sizes[told(index / "level")] = f"{kib} KiB" if kib % 1024 else f"{kib // 1024} MiB"
    return [f"L{level} cache of {size}" for level, size in sorted(sizes.items())]


def _attributes(gpu: Gpu) -> dict[str, int]:
    """Attributes by their names in `_ATTRIBUTES`; empty where the driver does not tell."""
    numbers = {name: number for name, (number, *_) in _ATTRIBUTES.items()}
    try:
        output = subprocess.run(
            [sys.executable, "-I", "-c", _ASK, json.dumps(numbers)],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": gpu.visible},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        ).stdout
        return {str(name): int(value) for name, value in json.loads(output).items()}
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
