"""Which files a confined process can open: by landlock, and by a root folder that holds no others.

Standard library only, like all that worker.py imports. Both say the same twice, as a kernel may
lack either. Landlock also keeps from executing, TCP, signals and abstract sockets, as far as the
kernel knows these; a root of its own (a mount namespace) also hides that other files exist.

The root is for openmp and for inputs.py only: of cuda nobody has yet tried what the GPU's driver
looks for. Not covered: without both, what this user may read can be read; for cuda, files that this
user may write can then be overwritten in place, as the driver opens its nodes for that.
"""

import contextlib
import ctypes
import fcntl
import os
import stat
import struct
from collections.abc import Iterable, Iterator

PR_SET_NO_NEW_PRIVS = 38

# The same numbers on every architecture.
CREATE_RULESET_CALL, ADD_RULE_CALL, RESTRICT_SELF_CALL = 444, 445, 446
READ_FILE, READ_FOLDER, WRITE_FILE, DEVICE_IOCTL = 1 << 2, 1 << 3, 1 << 1, 1 << 15
TRUNCATE = 1 << 14
FILE_RIGHTS = READ_FILE | WRITE_FILE | DEVICE_IOCTL
READ, READ_WRITE = READ_FILE | READ_FOLDER, FILE_RIGHTS | READ_FOLDER
RIGHTS_BY_ABI = (0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""Rights over files that ABI 1, 2, ... knows: 2 added moving, 3 truncating, 5 ioctl of devices."""
TCP_SINCE, SCOPES_SINCE, QUIET_SINCE = 4, 6, 7
NEWEST_ABI = 7
KEPT_OPEN = 200
"""From here on: descriptors that keep the kernel from forgetting an inode in /proc and its rule."""

LIBRARIES = (
    *("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"),
    *("/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/alternatives"),
)
OPENMP_READS = (
    *("/dev/urandom", "/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm/overcommit_memory"),
)
CUDA_READS = (
    *("/proc/self", "/proc/devices", "/proc/modules", "/proc/driver", "/proc/sys"),
    *("/sys", "/usr/share/nvidia"),
)
DRIVER_LIBRARIES = ("libcuda", "libnvidia", "libInterceptor", "libsanitizer", "libTreeLauncher")
"""Libraries whose folders a GPU's driver, runtime or sanitizer loads more from."""

NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MNT_DETACH = 2
PIVOT_ROOT_CALL = {"x86_64": 155, "aarch64": 41}
PLACE = "/tmp"
"""Where the new root is made before it is the root: any folder does, nobody else sees it."""

Openable = Iterable[tuple[str, int]]
"""Paths that can be opened, with all below them, and how."""


def openable(cuda: bool) -> Iterator[tuple[str, int]]:
    """What a loaded candidate may open."""
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders = [path for path in given if path.startswith("/")]
    yield from (("/dev/null", READ_WRITE), ("/dev/zero", READ_WRITE))
    for path in (*LIBRARIES, *folders, *OPENMP_READS):
        yield path, READ
    if not cuda:
        return
    with contextlib.suppress(OSError):  # a pretended GPU has no driver
        ctypes.CDLL("libcuda.so.1")
    for path in (*CUDA_READS, *driver_folders()):
        yield path, READ
    # The driver names its threads, or makes no context.
    yield "/proc/self/task", READ_WRITE | TRUNCATE
    for name in os.listdir("/dev"):
        if name.startswith("nvidia") or name == "dxg":
            yield f"/dev/{name}", READ_WRITE


def driver_folders() -> set[str]:
    """Folders of the GPU driver's and runtime's libraries that are loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/" in line}
    return {
        os.path.dirname(path)
        for path in paths
        if os.path.basename(path).startswith(DRIVER_LIBRARIES)
    }


def close_files(libc: ctypes.CDLL, paths: Openable, newest: int = NEWEST_ABI) -> bool:
    """Refuse to open any other file, by landlock; whether the kernel does.

    `newest` is the last ABI to use, for tests of what older kernels leave.
    """
    abi = min(libc.syscall(CREATE_RULESET_CALL, None, 0, 1), newest)
    if abi < 1:
        return False
    handled = RIGHTS_BY_ABI[min(abi, len(RIGHTS_BY_ABI)) - 1]
    tcp, scopes = 3 * (abi >= TCP_SINCE), 3 * (abi >= SCOPES_SINCE)
    ruleset = libc.syscall(CREATE_RULESET_CALL, struct.pack("<QQQ", handled, tcp, scopes), 24, 0)
    if ruleset < 0:
        return False
    for path, rights in paths:
        descriptor = permit(libc, ruleset, path, rights & handled)
        if descriptor is not None and path.startswith("/proc"):
            fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, KEPT_OPEN)
        if descriptor is not None:
            os.close(descriptor)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # landlock asks for it
    restricted = libc.syscall(RESTRICT_SELF_CALL, ruleset, int(abi >= QUIET_SINCE))
    os.close(ruleset)
    return bool(restricted == 0)


def permit(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> int | None:
    """Add a rule; the open path, or None where this machine has none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        rights &= FILE_RIGHTS
    libc.syscall(ADD_RULE_CALL, ruleset, 1, struct.pack("<Qi", rights, descriptor), 0)
    return descriptor


def own_root(libc: ctypes.CDLL, paths: Openable, owner: tuple[int, int]) -> bool:
    """Move to a root folder that holds these paths only, read-only; whether the kernel allows it.

    `owner`: user and group as they were before any user namespace. Only while there is one thread.
    """
    if not any(libc.unshare(flags) == 0 for flags in (NEW_MOUNTS, NEW_USER | NEW_MOUNTS)):
        return False
    held: dict[str, int] = {}
    try:
        for path in existing(paths):  # opened first: some may lie in PLACE
            held[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
        be_known(owner)
        mount(libc, "none", "/", MS_REC | MS_PRIVATE)
        mount(libc, "tmpfs", PLACE, MS_NOSUID | MS_NODEV | MS_NOEXEC, "tmpfs")
        for path, descriptor in held.items():
            show(libc, path, descriptor)
        enter(libc)
    except OSError:
        libc.umount2(PLACE.encode(), MNT_DETACH)
        return False
    finally:
        for descriptor in held.values():
            os.close(descriptor)
    return True


def existing(paths: Openable) -> Iterator[str]:
    """Those of the paths that are here, outer ones first; and what the harness loads from."""
    wanted = {path for path, _ in paths} | {"/proc/self/fd"}
    yield from (path for path in sorted(wanted) if os.path.exists(path))


def be_known(owner: tuple[int, int]) -> None:
    """In a user namespace: be who we were, as files are made by known users only."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        if file.read():
            return
    user, group = owner
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def show(libc: ctypes.CDLL, path: str, descriptor: int) -> None:
    """Have what a path leads to in the new root as well, read-only."""
    inside = PLACE + path
    if os.path.lexists(inside):  # within one that is shown
        return
    os.makedirs(os.path.dirname(inside), 0o755, exist_ok=True)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.mkdir(inside, 0o755)
    else:
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    mount(libc, f"/proc/self/fd/{descriptor}", inside, MS_BIND | MS_REC)
    kept = os.statvfs(inside).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount(libc, "none", inside, MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def enter(libc: ctypes.CDLL) -> None:
    """Make PLACE the root, nothing to be made in it, and the old root unreachable."""
    pivot_root = PIVOT_ROOT_CALL.get(os.uname().machine)
    mount(libc, "none", PLACE, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.chdir(PLACE)
    if pivot_root is None or libc.syscall(pivot_root, b".", b"."):
        raise OSError(ctypes.get_errno(), "pivot_root")
    if libc.umount2(b".", MNT_DETACH):  # the old root, which lies upon the new one
        os._exit(1)
    os.chdir("/")


def mount(libc: ctypes.CDLL, what: str, where: str, flags: int, kind: str = "") -> None:
    """Mount; raises `OSError` where that is refused."""
    kind_ = kind.encode() or None
    if libc.mount(what.encode(), where.encode(), kind_, ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), f"mount {where}")
