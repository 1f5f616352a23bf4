"""Files that a confined process can open, and a root folder that holds no others.

Standard library only, like all that worker.py imports. Landlock (landlock.py) and the root say the
same twice, as a kernel may lack either. Landlock also keeps from executing, TCP, signals and
abstract sockets, as far as the kernel knows these; a root of its own (a mount namespace) also hides
that other files exist.

The root is for openmp and for inputs.py only: nobody has yet listed the files that the GPU's driver
needs. Not covered: without both, files that this user may read can be read; for cuda, those this
user may write can then be overwritten in place, as the driver opens its nodes for that.
"""

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING or __package__:
    from regraph_kg.evaluation.confined.landlock import (
        DEVICE_IOCTL,
        READ_FILE,
        READ_FOLDER,
        TRUNCATE,
        WRITE_FILE,
    )
else:  # worker.py, run by path, has made this folder's files importable
    from landlock import DEVICE_IOCTL, READ_FILE, READ_FOLDER, TRUNCATE, WRITE_FILE

READ = READ_FILE | READ_FOLDER
READ_WRITE = READ | WRITE_FILE | DEVICE_IOCTL

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
PLACE = "/tmp"  # the folder in which the new root is made: any does, nobody else sees it

Openable = Iterable[tuple[str, int]]  # paths that can be opened, with all below them, and how


def openable(cuda: bool) -> Iterator[tuple[str, int]]:
    """Paths that a loaded candidate may open, with their rights."""
    search_path = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders = [path for path in search_path if path.startswith("/")]
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


def own_root(libc: ctypes.CDLL, paths: Openable, owner: tuple[int, int]) -> bool:
    """Move to a root folder that holds these paths only, read-only; whether the kernel allows it.

    `owner`: user and group as they were before any user namespace. Only while there is one thread.
    """
    if not any(libc.unshare(flags) == 0 for flags in (NEW_MOUNTS, NEW_USER | NEW_MOUNTS)):
        return False
    descriptors: dict[str, int] = {}
    try:
        for path in existing(paths):  # opened first: some may lie in PLACE
            descriptors[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
        be_known(owner)
        mount(libc, "none", "/", MS_REC | MS_PRIVATE)
        mount(libc, "tmpfs", PLACE, MS_NOSUID | MS_NODEV | MS_NOEXEC, "tmpfs")
        for path, descriptor in descriptors.items():
            show(libc, path, descriptor)
        enter(libc)
    except OSError:
        libc.umount2(PLACE.encode(), MNT_DETACH)
        return False
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)
    return True


def existing(paths: Openable) -> Iterator[str]:
    """The paths that exist, outer ones first, and the folder the harness loads from."""
    candidates = {path for path, _ in paths} | {"/proc/self/fd"}
    yield from (path for path in sorted(candidates) if os.path.exists(path))


def be_known(owner: tuple[int, int]) -> None:
    """Keep the user and group in a user namespace: only mapped users can make files."""
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
    """Show the target of a path in the new root, read-only."""
    inside = PLACE + path
    if os.path.lexists(inside):  # within one that is shown
        return
    os.makedirs(os.path.dirname(inside), 0o755, exist_ok=True)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.mkdir(inside, 0o755)
    else:
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    mount(libc, f"/proc/self/fd/{descriptor}", inside, MS_BIND | MS_REC)
    flags = os.statvfs(inside).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount(libc, "none", inside, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)


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


def mount(libc: ctypes.CDLL, source: str, where: str, flags: int, kind: str = "") -> None:
    """Mount; raises `OSError` where that is refused."""
    kind_ = kind.encode() or None
    if libc.mount(source.encode(), where.encode(), kind_, ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), f"mount {where}")
