"""Tries which of the worker's confinements hold on this machine, whatever its versions.

`tried` starts a child for one of `PROBES`, which confines itself with the worker's own functions
and then tries forbidden acts.

Not covered: what the GPU's driver does under these confinements, and what only cuda's workers may;
whether the container around us is itself well confined; memory and process limits of a control
group.
"""

import contextlib
import ctypes
import errno
import mmap
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import command, files, filters, landlock, seccomp, worker
from .calls import FLAVOURS

_SECONDS = 20.0
_PR_SET_DUMPABLE = 4
_WITHOUT_LANDLOCK = {
    True: "cuda candidates read and overwrite what this user may, openmp ones see no files",
    False: "candidates read what this user may read, cuda ones overwrite what it may write",
}


def tried(name: str) -> tuple[bool, str]:
    """Whether a confinement holds here, and the evidence in a line; 20 s at most, usually 0.05."""
    try:
        child = subprocess.run(
            command("probe", name),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, f"could not be tried: {error}"[:200]
    output = " ".join((child.stdout or child.stderr).split()[-20:])[:200]
    text = output or (f"the child ended with {child.returncode}" if child.returncode else "holds")
    return child.returncode == 0, text


def _seccomp(libc: ctypes.CDLL) -> str:
    filters.drop_privileges(libc)
    text = "the kernel takes no filter: candidates can start processes, change and remove files"
    _require(seccomp.confine(libc, "python"), text)
    _refused("fork", os.fork)
    _refused("a socket", socket.socket, errno.ENOSYS)
    _refused("changing an attribute", lambda: os.setxattr("/", "user.a", b""), errno.ENOSYS)
    _refused("a signal", lambda: os.kill(os.getpid(), 0), errno.ENOSYS)
    _refused("opening for writing", lambda: os.open(os.devnull, os.O_WRONLY), errno.EPERM)
    allowed = len(FLAVOURS["openmp"])
    return f"{allowed} system calls are allowed, for cuda more; others are refused"


def _landlock(libc: ctypes.CDLL) -> str:
    abi = landlock.abi(libc)
    if not landlock.restrict(libc, files.openable(cuda=False)):
        why = os.strerror(ctypes.get_errno())
        sys.exit(f"the kernel has none ({why}): {_WITHOUT_LANDLOCK[_hides_files(libc)]}")
    _refused("reading a file", lambda: os.open(__file__, os.O_RDONLY))
    os.close(os.open("/dev/zero", os.O_RDONLY))
    known = {"TCP": landlock.TCP_SINCE, "signals": landlock.SCOPES_SINCE}
    missing = [right for right, since in known.items() if abi < since]
    old = f", too old for {' and '.join(missing)}: seccomp alone stops these" if missing else ""
    return f"ABI {abi}{old}"


def _own_root(libc: ctypes.CDLL) -> str:
    if not _hides_files(libc):
        why = os.strerror(ctypes.get_errno())
        text = f"none to be had ({why}), nor landlock: {_WITHOUT_LANDLOCK[False]}"
        _require(landlock.abi(libc) >= 1, text)
        return f"none to be had ({why}): a file's name, size and times can be seen, not its content"
    _require(not os.path.exists(__file__), "other files are still there")
    _refused("making a file", lambda: os.mkdir("/made"))
    return "openmp candidates see system libraries only"


def _hides_files(libc: ctypes.CDLL) -> bool:
    return files.hide_others(libc, files.openable(cuda=False), (os.getuid(), os.getgid()))


def _namespaces(libc: ctypes.CDLL) -> str:
    kinds = ("user", "net", "ipc", "uts")
    before = [os.readlink(f"/proc/self/ns/{kind}") for kind in kinds]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if not worker.separate(libc):
            why = os.strerror(ctypes.get_errno())
            _require(not _has_network(), f"the kernel allows none ({why})")
            return f"none to be had ({why}), and no network to be kept from"
        _refused("a connection", lambda: socket.create_connection(listener.getsockname(), 1))
    own = (
        k for k, was in zip(kinds, before, strict=True) if os.readlink(f"/proc/self/ns/{k}") != was
    )
    return "own " + ", ".join(own)


def _privileges(libc: ctypes.CDLL) -> str:
    filters.drop_privileges(libc)
    status = Path("/proc/self/status").read_text()
    _require("NoNewPrivs:\t1" in status, "the kernel has no no_new_privs")
    _require("CapEff:\t0000000000000000\n" in status, "capabilities are kept")
    _refused("chroot", lambda: os.chroot("/"))
    return "none, and none to be gained"


def _memfd(libc: ctypes.CDLL) -> str:
    descriptor = os.memfd_create("probe")
    os.write(descriptor, bytes(mmap.PAGESIZE))
    landlock.restrict(libc, files.openable(cuda=False))
    again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
    mmap.mmap(again, mmap.PAGESIZE, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
    return "code can be loaded from memory"


def _hidden(libc: ctypes.CDLL) -> str:
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    ours = os.getpid()
    child = os.fork()
    if child == 0:
        filters.drop_privileges(libc)
        with contextlib.suppress(OSError):
            os.open(f"/proc/{ours}/environ", os.O_RDONLY)
            os._exit(1)
        os._exit(0)
    _require(os.waitpid(child, 0)[1] == 0, "another process reads our environment")
    return "our memory and environment are closed to others"


def _has_network() -> bool:
    """Whether any route leads out of this machine or container."""
    routes = Path("/proc/net/route").read_text().splitlines()[1:]
    with contextlib.suppress(OSError):  # no IPv6
        lines = Path("/proc/net/ipv6_route").read_text().splitlines()
        routes += [line for line in lines if not line.endswith(" lo")]
    return bool(routes)


def _refused(action: str, attempt: Callable[[], object], *expected: int) -> None:
    """Require that the attempt fails, with one of the expected error numbers if any is given."""
    try:
        attempt()
    except OSError as error:
        _require(not expected or error.errno in expected, f"{action}: {error.strerror}")
        return
    sys.exit(f"{action} is possible")


def _require(good: object, otherwise: str) -> None:
    if not good:
        sys.exit(otherwise)


_ELSE = "; else run the judge in the container of docker/worker.Dockerfile"
PROBES: dict[str, tuple[Callable[[ctypes.CDLL], str], str]] = {
    "seccomp": (_seccomp, "a kernel with CONFIG_SECCOMP_FILTER on x86_64 or aarch64" + _ELSE),
    "landlock": (_landlock, "Linux 5.13 or later, started with landlock in its lsm= list" + _ELSE),
    "namespaces": (
        _namespaces,
        "sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1 and"
        " kernel.apparmor_restrict_unprivileged_userns=0" + _ELSE,
    ),
    "own root": (_own_root, "as for namespaces, or landlock, which does as well"),
    "privileges": (_privileges, "Linux 3.5 or later" + _ELSE),
    "memory files": (_memfd, "sysctl vm.memfd_noexec=0; candidates cannot be loaded without"),
    "hidden memory": (_hidden, "do not run the judge where other processes may trace it" + _ELSE),
}
"""Probes by name, and what to do where one fails."""


def start(name: str) -> None:
    """Entry point of a child."""
    sys.stdout.write(PROBES[name][0](ctypes.CDLL(None, use_errno=True)))
