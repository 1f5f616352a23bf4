"""Machine facts, and the statistics key under which a technique's effects are counted.

No host name, no user, nothing secret; measured rates are roofline.py's. Not covered: several kinds
of cores in one CPU, memory nodes.
"""

import contextlib
import errno
import functools
import os
import platform
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import ToolError

_TURN_NAME = "\0regraph-turn-"  # a leading zero byte: a name of the kernel's, not of a file
_TURN_POLL_SECONDS, _TOLD_AFTER_SECONDS = 0.002, 0.5
_PEER = struct.Struct("3i")  # pid, uid, gid (struct ucred)
_SMI_SECONDS = 60.0
NO_GPU = "see nvidia-smi and the kernel's log (Xid), reset the GPU or restart the machine"
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
    asked = ("--query-gpu=name,compute_cap,driver_version,uuid", "--format=csv,noheader")
    listing = nvidia_smi(os.environ.get("CUDA_VISIBLE_DEVICES", ""), *asked)
    lines = [[part.strip() for part in line.split(",")] for line in listing.splitlines()]
    try:
        gpus = [Gpu(name, arch.replace(".", ""), *rest) for name, arch, *rest in lines]
    except (ValueError, TypeError):  # other columns than those asked for
        gpus = []
    if not gpus:
        raise ToolError(f"GPU: nvidia-smi finds no usable GPU: {listing[:200]!r}")
    tool = shutil.which("nvidia-modprobe")  # makes a node: a confined worker could not start it
    if tool and not Path("/dev/nvidia-uvm").exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run([tool, "-u", "-c=0"], timeout=60, check=False, capture_output=True)
    return gpus


def nvidia_smi(visible: str, *query: str) -> str:
    """What it prints about the GPUs with these ids, "" for all. Raises `ToolError`."""
    tool = shutil.which("nvidia-smi")
    if not tool:
        raise ToolError("GPU: nvidia-smi not found; target cuda needs an NVIDIA GPU and its driver")
    command = [tool, *query, *([f"--id={visible}"] if visible else [])]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SMI_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(f"GPU: nvidia-smi fails: {error}; {NO_GPU}") from None
    if done.returncode:
        raise ToolError(f"GPU: nvidia-smi fails: {' '.join(done.stdout.split())[:200]}; {NO_GPU}")
    return done.stdout


def silent(_: str) -> None:
    """Ignore progress messages."""


@contextlib.contextmanager
def turn(device: str, tell: Callable[[str], None]) -> Iterator[float]:
    """One timing tenant a device: waits for another judge of this machine as long as that lives.

    Yields the seconds waited; `tell` hears now and then for whom. `device` is a GPU's UUID, "cpu",
    or the first core of those that serve a GPU. The lock is a name among the abstract sockets: one
    for all users whatever their TMPDIR, no file that could be exchanged or left, and gone with its
    holder. Containers share it where they share a network.
    """
    with socket.socket(socket.AF_UNIX) as lock:
        start, told = time.monotonic(), 0.0
        while not _claimed(lock, _TURN_NAME + device):
            waited = time.monotonic() - start
            if waited > told + _TOLD_AFTER_SECONDS:
                told = 10 * waited  # rarely, as the wait grows long
                tell(f"waiting for {_holder(device)}, which judges on this device")
            time.sleep(_TURN_POLL_SECONDS)
        yield time.monotonic() - start


def _claimed(lock: socket.socket, name: str) -> bool:
    try:
        lock.bind(name)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise ToolError(f"{name[1:]}: no lock to be had: {error.strerror}") from None
        return False
    lock.listen()  # so that who waits can ask the kernel who we are
    return True


def _holder(device: str) -> str:
    """Holder of a turn, by the kernel's word: "process N"."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)  # those who asked before may fill the holder's queue
        caller.connect(_TURN_NAME + device)
        peer = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        if pid := _PEER.unpack(peer)[0]:  # 0: it lives in another container
            return f"process {pid}"
    return "another process"


@dataclass(frozen=True, slots=True)
class Cores:
    """CPUs of a cuda judge and of its worker, so that neither is moved while it times."""

    judge: frozenset[int]
    worker: frozenset[int]


def cores_of(gpu: int, gpus: int) -> Cores | None:
    """A GPU's share of the CPUs; None where there are too few to give each its own."""
    usable = sorted(os.sched_getaffinity(0))
    share = len(usable) // max(gpus, 1)
    if share < _LEAST_SHARE:
        return None
    # The first CPU of a share is the judge's, the next ones its worker's; the rest of the share is
    # left to compilers.
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
    return {
        "kernel": platform.release(),
        "cpu": _cpu_model(),
        "threads": str(threads()),
        "load": f"{os.getloadavg()[0]:.2f}",
    }


@functools.cache
def _cpu_model() -> str:
    for line in told(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            return " ".join(line.partition(":")[2].split())
    return platform.machine()


def told(path: Path) -> str:
    """A file's text; "" where the system does not have it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
