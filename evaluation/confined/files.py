"""Files that a confined process can open, and a root folder that holds no others.

Standard library only, like all that worker.py imports. Landlock (landlock.py) and the root say the
same twice, as a kernel may lack either; docs/evaluation.md says what is left without each.

The root is for openmp and for inputs.py only: nobody has yet listed the files that the GPU's driver
needs.
"""

import contextlib
import ctypes
import os
from collections.abc import Iterable, Iterator

from . import own_root
from .landlock import DEVICE_IOCTL, READ_FILE, READ_FOLDER, TRUNCATE, WRITE_FILE

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


def hide_others(libc: ctypes.CDLL, paths: Openable, owner: tuple[int, int]) -> bool:
    """Move, while there is one thread, to a root that holds these paths only; whether it worked."""
    # `owner`: user and group as they were before any user namespace
    sets = (own_root.NEW_MOUNTS, own_root.NEW_USER | own_root.NEW_MOUNTS)
    if not any(libc.unshare(flags) == 0 for flags in sets):
        return False
    with open("/proc/self/uid_map", encoding="ascii") as file:
        is_known = bool(file.read())
    if not is_known and not own_root.be_known(*owner):
        return False
    # the harness loads from the last of these
    return own_root.change(libc, [*(path for path, _ in paths), "/proc/self/fd"])
