"""Start of a worker's process: its orders, its environment, its descriptors.

It inherits the shared memory and the empty anonymous file for its candidate, nothing else; the
environment is an allowlist.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regraph_kg.evaluation import confined
from regraph_kg.evaluation.rules import Budget, Defences, JudgeLimits
from regraph_kg.evaluation.worker.handshake import Stopwatch
from regraph_kg.evaluation.worker.shared_memory import SharedMemory

_THREAD_BYTES = 256 * 2**20
_CPU_SECONDS = 600
_SPINS = "2000"
"""How long a thread of libgomp looks for work before it sleeps: 5 to 100 us, by processor, instead
of up to 15 ms, in which the judge would wait for a core on which to note the time."""
_LAYERS = ("sandbox", "landlock", "namespaces", "own_root", "sealed")
"""Switches of `Defences` that the worker carries out itself."""
_ALLOWED_ENV = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Program:
    """A worker's program: shared objects and the entry point."""

    harness: Path
    candidate: Path
    entry: str
    cuda: bool = False
    budget: Budget | None = field(default=None, compare=False)
    """Seconds that all workers of a candidate may take together; None: as long as they need."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A worker's clock, GPU, cores and tool."""

    stopwatch: Stopwatch | None = None
    """None: the judge sleeps until it is woken, which is less precise and takes no core."""
    gpu: str | None = None  # CUDA_VISIBLE_DEVICES of the worker; None = the judge's own
    cores: frozenset[int] | None = None
    """What it keeps to once it has a candidate, so as not to be moved while it is timed."""
    prefix: tuple[str, ...] = ()  # a command that runs the worker: a sanitizer or profiler
    profiler: Path | None = None  # records kernels (kernels.py); None for timed workers
    thread_limit: int | None = None
    """Threads that OpenMP gives at most, however many are asked for; None: as many as that."""


@dataclass(frozen=True, slots=True)
class Start:
    program: Program
    shared: SharedMemory
    defences: Defences
    limits: JudgeLimits
    threads: int
    where: Surroundings

    def process(self, file: int, output: int) -> subprocess.Popen[bytes]:
        """Start it; `file` and the shared memory are all it inherits, `output` is its stdout."""
        # a folder that exists no more: nothing can be made in it, or left
        path = tempfile.mkdtemp(prefix="regraph-")
        try:
            nowhere = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.rmdir(path)
        try:
            return subprocess.Popen(
                self._command(nowhere),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment(),
                pass_fds=(self.shared.fd, nowhere, file),
                start_new_session=True,
            )
        finally:
            os.close(nowhere)

    def _command(self, nowhere: int) -> list[str]:
        memory = self.shared.nbytes + self.limits.memory_bytes + self.threads * _THREAD_BYTES
        # CUDA reserves far more address space than it uses
        is_limited = self.defences.memory_limit and not self.program.cuda
        orders = {
            "descriptor": self.shared.fd,
            "bytes": self.shared.nbytes,
            "harness": str(self.program.harness),
            "entry": self.program.entry,
            "parent": 0 if self.where.prefix else os.getpid(),
            "directory": nowhere,
            "memory": memory if is_limited else 0,
            "cpu_seconds": _CPU_SECONDS * self.threads,
            **{name: getattr(self.defences, name) for name in _LAYERS},
            "cuda": self.program.cuda,
            "tool": bool(self.where.prefix),
            "profiler": str(self.where.profiler or ""),
        }
        return [*self.where.prefix, *confined.command("worker", json.dumps(orders))]

    def _environment(self) -> Mapping[str, str]:
        gpu = {} if self.where.gpu is None else {"CUDA_VISIBLE_DEVICES": self.where.gpu}
        if not self.defences.clean_env:
            return {**os.environ, **gpu}
        most = self.where.thread_limit
        limit = {} if most is None else {"OMP_THREAD_LIMIT": str(most)}
        return {
            **passed_on(),
            **gpu,
            "PATH": "/usr/bin:/bin",
            "LANG": "C",
            "OMP_NUM_THREADS": str(self.threads),
            **limit,
            "GOMP_SPINCOUNT": _SPINS,
            "CUDA_CACHE_DISABLE": "1",
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        }


def passed_on() -> dict[str, str]:
    """Variables of the judge's own environment that its processes get."""
    return {name: os.environ[name] for name in _ALLOWED_ENV if name in os.environ}
