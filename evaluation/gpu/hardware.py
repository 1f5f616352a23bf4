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

from regraph_kg.evaluation.gpu.device import Gpu, machine_facts

_CPU = Path("/sys/devices/system/cpu/cpu0/cache")
_CPUINFO = Path("/proc/cpuinfo")
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
    "sms": 16,
    "shared_block": 8,
    "shared_opt_in": 97,
    "shared_sm": 81,
    "registers": 82,
    "threads": 39,
    "l2": 38,
    "memory_khz": 36,
    "memory_bits": 37,
}
"""Numbers of CUDA's device attributes (CUdevice_attribute)."""
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
    texts = {
        "sms": "{} SMs",
        "threads": "{} threads a SM",
        "registers": "{} registers a SM",
    }
    kib = {
        "shared_block": "{} KiB shared memory a block",
        "shared_opt_in": "{} KiB if the kernel opts in",
        "shared_sm": "{} KiB shared memory a SM",
        "l2": "{} KiB L2 cache",
    }
    parts = [text.format(facts[name]) for name, text in texts.items() if facts.get(name)]
    parts += [text.format(facts[name] // 1024) for name, text in kib.items() if facts.get(name)]
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
    flags: set[str] = set()
    for line in _read(_CPUINFO).splitlines():
        if line.startswith(("flags", "Features")):
            flags = set(line.partition(":")[2].split())
            break
    return next((text for flag, text in _VECTORS if flag in flags), "")


def _caches() -> list[str]:
    """Caches for data, from the nearest: "L2 512 KiB"."""
    sizes: dict[str, str] = {}
    for index in sorted(_CPU.glob("index*")):
        size = _read(index / "size")
        if _read(index / "type") != "Instruction" and size.endswith("K") and size[:-1].isdigit():
            sizes[_read(index / "level")] = _bytes(int(size[:-1]))
    return [f"L{level} cache of {size}" for level, size in sorted(sizes.items())]


def _bytes(kib: int) -> str:
    return f"{kib} KiB" if kib % 1024 else f"{kib // 1024} MiB"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _attributes(gpu: Gpu) -> dict[str, int]:
    """Attributes by their names in `_ATTRIBUTES`; empty where the driver does not tell."""
    try:
        output = subprocess.run(
            [sys.executable, "-I", "-c", _ASK, json.dumps(_ATTRIBUTES)],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": gpu.visible},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        ).stdout
        return {str(name): int(value) for name, value in json.loads(output).items()}
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
