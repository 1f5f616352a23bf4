"""The untrusted side: a process of one candidate, confined before its code is loaded.

Standard library only, as are its own files (files, filters, landlock, seccomp, calls); never
imported by the judge's other modules. It confines itself, then hands over to
harness.cpp, which serves calls until told to exit. Each layer is refused by some kernels and
containers; the others hold without it, and `regraph_confined` is told which do: docs/evaluation.md
lists them, and what is left without each.

Those before seccomp begin before the GPU's driver starts threads, which inherit them; seccomp
begins after the CUDA context exists, in all threads at once. The working directory is one that no
longer exists, or the read-only root, so nothing can be made in it.

Not confined: the number of threads (they die with the process); device memory; process numbers are
the machine's (no PID namespace: the judge needs this very process). For cuda, whatever the driver's
device nodes allow. Without seccomp, sockets that have a path, and other processes' affinity. On a
machine that is neither x86_64 nor aarch64, capabilities are kept and there is no seccomp.
"""

import ctypes
import json
import os
import resource
import sys
from dataclasses import dataclass

from . import files, filters, landlock, seccomp

SECCOMP, LANDLOCK, NAMESPACES, OWN_ROOT, SEALED = 1, 2, 4, 8, 16
"""Bits of what holds, as `regraph_confined` is told."""

MSEAL_CALL = 462
SEALED_LIBRARIES = ("libc.so", "libcudart.so", "ld-linux")
QUEUED_SIGNALS = 64  # all of this user's share a queue, which a candidate could fill
PR_SET_PDEATHSIG = 1
SIGKILL = 9

NEW_USER, NEW_NETWORK, NEW_IPC, NEW_HOST_NAME = 0x10000000, 0x40000000, 0x08000000, 0x04000000
NEW_OTHERS = NEW_NETWORK | NEW_IPC | NEW_HOST_NAME
NAMESPACE_SETS = (NEW_USER | NEW_OTHERS, NEW_OTHERS, NEW_USER | NEW_NETWORK, NEW_NETWORK)
"""Tried in this order; the second is for root where user namespaces are forbidden."""


@dataclass(frozen=True)
class WorkerOrders:
    """The supervisor's orders to its worker; `memory` 0 means no limit on address space."""

    descriptor: int
    bytes: int
    harness: str
    entry: str
    parent: int
    directory: int
    memory: int
    cpu_seconds: int
    sandbox: bool
    cuda: bool
    landlock: bool = True
    namespaces: bool = True
    profiler: str = ""
    tool: bool = False  # a tool watches, whose library in this process must speak to it
    own_root: bool = True
    sealed: bool = True

    @property
    def flavour(self) -> str:
        """The set of allowed system calls (calls.py)."""
        if not self.cuda:
            return "openmp"
        return "cuda under a tool" if self.tool else "cuda"


def main(orders: WorkerOrders) -> None:
    """Confine this process, then serve the candidate until told to exit."""
    libc = ctypes.CDLL(None, use_errno=True)
    owner = os.getuid(), os.getgid()
    layers = separate(libc) if orders.namespaces else 0
    os.fchdir(orders.directory)
    os.close(orders.directory)
    harness = ctypes.CDLL(orders.harness)
    if orders.sealed:
        layers |= SEALED * seal(libc, os.path.realpath(orders.harness))
    if orders.own_root and not orders.cuda:
        layers |= OWN_ROOT * files.hide_others(libc, files.openable(cuda=False), owner)
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)  # a new user namespace would undo it
    if orders.parent and os.getppid() != orders.parent:  # it died before the line above
        sys.exit(1)
    if orders.profiler and harness.regraph_profiled(orders.profiler.encode()):
        sys.exit("harness: cannot load the profiler")
    if orders.sandbox:
        filters.drop_privileges(libc)
    if orders.landlock:
        layers |= LANDLOCK * landlock.restrict(libc, files.openable(orders.cuda))
    opened = harness.regraph_open(orders.descriptor, ctypes.c_uint64(orders.bytes))
    if opened:
        sys.exit(f"harness: cannot open the shared memory or device (step {opened})")
    if orders.sealed:
        harness.regraph_seal()
    limit(orders.cpu_seconds, orders.memory)
    if orders.sandbox:
        layers |= SECCOMP * seccomp.confine(libc, orders.flavour)
    harness.regraph_confined(ctypes.c_uint64(layers))
    harness.regraph_serve(orders.entry.encode())


def separate(libc: ctypes.CDLL) -> int:
    """Leave the machine's network, IPC objects and host name; only while there is one thread."""
    return NAMESPACES if any(libc.unshare(flags) == 0 for flags in NAMESPACE_SETS) else 0


def seal(libc: ctypes.CDLL, harness: str) -> bool:
    """Seal the read-only parts of the harness, libc and the runtime; whether the kernel does."""
    # Their call tables (RELRO) lie there, which a candidate could make writable and redirect.
    sealed = False
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            span, rights, _, _, _, *path = line.split(maxsplit=5)
            name = path[0].strip() if path else ""
            trusted = name == harness or os.path.basename(name).startswith(SEALED_LIBRARIES)
            if trusted and "w" not in rights:
                start, end = (int(bound, 16) for bound in span.split("-"))
                sealed = not libc.syscall(
                    MSEAL_CALL, ctypes.c_ulong(start), ctypes.c_ulong(end - start), 0
                )
    return sealed


def limit(cpu_seconds: int, memory: int) -> None:
    """Set the rlimits. File growth is forbidden: shared memory is a file already grown."""
    # 1, not 0: a program that the kernel hands core dumps to is left alone as well (core(5)).
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (QUEUED_SIGNALS, QUEUED_SIGNALS))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def start(orders: str) -> None:
    """Entry point of the process that the judge starts."""
    main(WorkerOrders(**json.loads(orders)))
