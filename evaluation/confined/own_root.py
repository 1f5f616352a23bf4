"""A root folder of a process's own, which shows some paths of this machine, read-only.

All else does not exist there, for this process and what it starts. Standard library only, and few
modules: files.py and compilers.py load this.
"""

import ctypes
import os
import struct

from . import filters

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
MS_REC, MS_PRIVATE, MS_RELATIME, MNT_DETACH = 1 << 14, 1 << 18, 1 << 21, 2
MOUNT_FLAGS, ST_RELATIME = 0xC0F, 4096
"""Flags that statvfs and mount number alike: ro, nosuid, nodev, noexec, noatime, nodiratime."""
MOUNT_SETATTR_CALL, AT_RECURSIVE, AT_FDCWD = 442, 0x8000, -100
PIVOT_ROOT_CALL = (155, 41)
PLACE = "/tmp"  # the folder in which the new root is made: any does, nobody else sees it


def be_known(user: int, group: int) -> bool:
    """Keep the user and group in a new user namespace: only mapped users can make files."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        try:
            with open(f"/proc/self/{name}", "wb", buffering=0) as file:
                file.write(text.encode())
        except OSError:
            return False
    return True


def change(libc: ctypes.CDLL, paths: list[str], writable: str = "") -> bool:
    """Move to a root folder that holds these paths only; whether the kernel allows it.

    `writable`: a folder that is shown besides, not read-only. Only in a mount namespace of one's
    own, while there is one thread.
    """
    descriptors: dict[str, int] = {}
    try:
        for path in [*topmost(paths), *filter(None, [writable])]:  # first: some may lie in PLACE
            descriptors[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
        mount(libc, None, "/", None, MS_REC | MS_PRIVATE)
        mount(libc, "none", PLACE, "tmpfs", MS_NOSUID | MS_NODEV, b"size=1m,mode=755")
        for path, descriptor in descriptors.items():
            shows_target = lies_in(os.path.realpath(path), [*descriptors])
            if os.path.islink(path) and not os.path.isdir(path) and shows_target:
                os.makedirs(os.path.dirname(PLACE + path), exist_ok=True)
                os.symlink(os.readlink(path), PLACE + path)  # a program may look beside its target
                continue
            show(libc, path, descriptor)
            if path != writable:
                protect(libc, PLACE + path)
        mount(libc, None, PLACE, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
        enter(libc)
    except OSError:
        libc.umount2(PLACE.encode(), MNT_DETACH)
        return False
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)
    return True


def topmost(paths: list[str]) -> list[str]:
    """The existing paths that lie in no other of them."""
    roots: list[str] = []
    for path in sorted({os.path.normpath(path) for path in paths}):
        if os.path.exists(path) and not lies_in(path, roots):
            roots.append(path)
    return roots


def lies_in(path: str, roots: list[str]) -> bool:
    """Whether a path is one of these, or below one."""
    return any(f"{path}/".startswith(f"{root}/") for root in roots)


def show(libc: ctypes.CDLL, path: str, descriptor: int) -> None:
    """Show a file or folder, and all that is mounted below it, at the same path."""
    target, source = PLACE + path, f"/proc/self/fd/{descriptor}"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    mount(libc, source, target, None, MS_BIND | MS_REC)


def protect(libc: ctypes.CDLL, target: str) -> None:
    """Make a mount read-only, with all mounts below it where the kernel can (Linux 5.12)."""
    # Devices can still be opened, and written to, but root cannot change their rights and times.
    is_device = target.startswith(f"{PLACE}/dev/")
    restrictions = MS_RDONLY | MS_NOSUID | (0 if is_device else MS_NODEV)
    attributes = struct.pack("<QQQQ", restrictions, 0, 0, 0)
    path = os.fsencode(target)
    if libc.syscall(MOUNT_SETATTR_CALL, AT_FDCWD, path, AT_RECURSIVE, attributes, 32) == 0:
        return
    flags = os.statvfs(target).f_flag
    inherited = (flags & MOUNT_FLAGS) | (MS_RELATIME if flags & ST_RELATIME else 0)
    mount(libc, None, target, None, inherited | MS_REMOUNT | MS_BIND | restrictions)


def enter(libc: ctypes.CDLL) -> None:
    """Make PLACE the root and forget the old one."""
    os.chdir(PLACE)
    column = filters.architecture()
    if column is None or libc.syscall(PIVOT_ROOT_CALL[column], b".", b"."):
        os.chroot(".")  # a root in memory (initramfs) cannot be exchanged
    elif libc.umount2(b".", MNT_DETACH):  # the old root, which lies upon the new one
        os._exit(1)
    os.chdir("/")


def mount(
    libc: ctypes.CDLL,
    source: str | None,
    target: str,
    kind: str | None,
    flags: int,
    options: bytes | None = None,
) -> None:
    """The system call. Raises `OSError`."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), options):
        raise OSError(ctypes.get_errno(), "mount", target)
