"""Machine facts, and the statistics key under which a technique's effects are counted."""

import functools
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import ToolError


@dataclass(frozen=True, slots=True)
class Gpu:
    """The first visible GPU."""

    name: str
    arch: str
    """Compute capability without its dot: "90"."""
    driver: str


def threads() -> int:
    """Threads an openmp candidate gets: the CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def openmp_device() -> str:
    """Statistics key of this machine's CPU: "<model> x<threads> threads"."""
    return f"{_cpu_model()} x{threads()} threads"


def find_gpu() -> Gpu:
    """The GPU that CUDA sees first. Raises `ToolError`, in one line."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        raise ToolError("GPU: nvidia-smi not found; target cuda needs an NVIDIA GPU and its driver")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    query = [tool, "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(
            [*query, *([f"--id={visible}"] if visible else [])],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        name, capability, driver = (part.strip() for part in said.splitlines()[0].split(","))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise ToolError(f"GPU: nvidia-smi finds no usable GPU: {str(error)[:200]}") from None
    return Gpu(name, capability.replace(".", ""), driver)


def machine_facts() -> dict[str, str]:
    """What else a report says of this machine."""
    return {
        "kernel": platform.release(),
        "cpu": _cpu_model(),
        "threads": str(threads()),
        "load": f"{os.getloadavg()[0]:.2f}",
    }


@functools.cache
def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    return platform.machine()
