"""Machine facts, and the statistics key under which a technique's effects are counted."""

import contextlib
import functools
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regraph_kg import locks, regular
from regraph_kg.errors import ToolError

_TURN_SECONDS, _TURN_POLL_SECONDS, _TOLD_AFTER_SECONDS = 600.0, 0.002, 0.5
_LEAST_SHARE = 6
_WORKER_CORES = 3


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    arch: str  # compute capability without its dot: "90"
    driver: str
    visible: str  # what CUDA_VISIBLE_DEVICES must be for it to be the only one: its UUID


def threads() -> int:
    """Threads an openmp candidate gets: the CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def openmp_device() -> str:
    """Statistics key of this machine's CPU: "<model> x<threads> threads"."""
    return f"{_cpu_model()} x{threads()} threads"


def find_gpu(index: int = 0) -> Gpu:
    """The `index`-th GPU that CUDA may see. Raises `ToolError`, in one line."""
    gpus = find_gpus()
    if index >= len(gpus):
        raise ToolError(f"GPU {index}: this machine shows {len(gpus)}; give a lower number")
    return gpus[index]


def find_gpus() -> list[Gpu]:
    """Every GPU that CUDA may see, in its order. Raises `ToolError` where there is none."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        raise ToolError("GPU: nvidia-smi not found; target cuda needs an NVIDIA GPU and its driver")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    query = [tool, "--query-gpu=name,compute_cap,driver_version,uuid", "--format=csv,noheader"]
    try:
        listing = subprocess.run(
            [*query, *([f"--id={visible}"] if visible else [])],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        gpus = [_gpu(line) for line in listing.splitlines() if line.strip()]
        if not gpus:
            raise ValueError("it names none")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ToolError(f"GPU: nvidia-smi finds no usable GPU: {str(error)[:200]}") from None
    _make_nodes()
    return gpus


def _gpu(line: str) -> Gpu:
    name, capability, driver, uuid = (part.strip() for part in line.split(","))
    return Gpu(name, capability.replace(".", ""), driver, uuid)


def silent(_: str) -> None:
    """Ignore progress messages."""


@contextlib.contextmanager
def turn(device: str, tell: Callable[[str], None]) -> Iterator[None]:
    """One timing tenant a device: waits until no other judge on this machine uses it.

    `device` is a GPU's UUID, "cpu", or the first core of those that serve a GPU. The lock is the
    kernel's (flock), so it ends with its holder, however that dies. `tell` gets the holder's name.
    Raises `ToolError` after `_TURN_SECONDS`.
    """
    descriptor = _lock_file(Path(tempfile.gettempdir()) / f"regraph-{device}.lock")
    try:
        _lock(descriptor, device, tell)
        yield
    finally:
        os.close(descriptor)


def _lock_file(path: Path) -> int:
    """Open for reading: enough for a lock, and another user's file allows no more."""
    try:
        with contextlib.suppress(FileNotFoundError):
            return regular.opener(str(path), os.O_RDONLY)
        with contextlib.suppress(FileExistsError):  # another judge was faster
            return os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        return regular.opener(str(path), os.O_RDONLY)
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}; remove it or set TMPDIR") from None


def _lock(descriptor: int, device: str, tell: Callable[[str], None]) -> None:
    start, announced = time.monotonic(), False
    while not locks.take(descriptor):
        waited = time.monotonic() - start
        if waited > _TURN_SECONDS:
            raise ToolError(
                f"{device}: another judge ({_holder(descriptor)}) has used it for"
                f" {_TURN_SECONDS:.0f} s; wait for it, or choose another device"
            )
        if waited > _TOLD_AFTER_SECONDS and not announced:
            announced = True
            tell(f"waiting for {_holder(descriptor)}, which judges on this device")
        time.sleep(_TURN_POLL_SECONDS)


def _holder(descriptor: int) -> str:
    """Holder of a lock, by the kernel's list: "process N"."""
    inode = f":{os.fstat(descriptor).st_ino} "
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            if inode in line and " -> " not in line:
                return f"process {line.split()[4]}"
    return "another process"


def _make_nodes() -> None:
    """Have the driver's helper make /dev/nvidia-uvm: a confined worker could not start it."""
    tool = shutil.which("nvidia-modprobe")
    if tool and not Path("/dev/nvidia-uvm").exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run([tool, "-u", "-c=0"], timeout=60, check=False, capture_output=True)


@dataclass(frozen=True, slots=True)
class Cores:
    """CPUs of a cuda judge and of its worker, so that neither is moved while it times."""

    judge: frozenset[int]
    worker: frozenset[int]


def cores_of(gpu: int, gpus: int) -> Cores | None:
    """A GPU's share of the CPUs; None where there are too few to give each its own.

    The first CPU of a share is the judge's, the next ones its worker's; the rest of the share is
    left to compilers.
    """
    usable = sorted(os.sched_getaffinity(0))
    share = len(usable) // max(gpus, 1)
    if share < _LEAST_SHARE:
        return None
    cores = usable[gpu * share : (gpu + 1) * share]
    return Cores(frozenset(cores[:1]), frozenset(cores[1 : 1 + _WORKER_CORES]))


@contextlib.contextmanager
def pinned(cores: frozenset[int] | None) -> Iterator[None]:
    """Keep the calling thread to these CPUs meanwhile."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def machine_facts() -> dict[str, str]:
    """Facts of this machine for reports."""
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
