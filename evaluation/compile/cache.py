"""Compiled code on the disk, by content: ours alone, of bounded size, never half an entry.

Code of anyone who can write into the folder is loaded, so the folder, its parents and each
entry are checked before every use. An entry is written elsewhere and renamed, so that no kill
leaves half of one. Above the bound, the least recently used go first, except those that a living
judge holds: it has a lock on the file, which the kernel takes back when it dies.

Not covered: a folder above the cache that a group may write to (a member could put another folder
in its place between look and use); NFS, where no such lock can be had and nothing is evicted.
"""

import contextlib
import os
import stat
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from regraph_kg import locks, regular
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.own_folder import own_folder

BYTES = 2 * 2**30
_HELD = 32  # entries handed out last that are held besides those asked to be kept
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Cache:
    """Entries `<key>.so` in `folder`, at most about `bytes_` together; several processes may."""

    def __init__(self, folder: Path, bytes_: int = BYTES) -> None:
        self._folder, self._bytes = folder, bytes_
        self._held: dict[Path, int] = {}  # the last used last
        self._kept: set[Path] = set()
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._held)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release every entry, so that others may evict it."""
        with self._lock:
            _close(self._held)
            self._kept.clear()

    def find(self, key: str, keep: bool = False) -> Path | None:
        """The entry, held for this process; None where there is none, or one not to be trusted.

        `keep`: for as long as this object lives. Raises `ToolError` for a folder of others,
        `OSError` where there cannot be one.
        """
        self._require_ours()
        entry = self._folder / f"{key}.so"
        return entry if self._hold(entry, keep) else None

    def put(self, key: str, code: bytes, keep: bool = False) -> Path:
        """Add an entry. Raises `OSError` (a full disk) and `ToolError`."""
        entry = self._folder / f"{key}.so"
        with self.building() as folder:
            draft = folder / "entry"
            draft.write_bytes(code)
            draft.chmod(0o555)
            draft.replace(entry)
        self._hold(entry, keep)
        self._evict(entry)
        return entry

    @contextlib.contextmanager
    def building(self) -> Iterator[Path]:
        """A folder to compile in, beside the entries; `OSError` and `ToolError` as for `put`."""
        self._require_ours()
        parent = self._folder / "building"
        parent.mkdir(mode=0o700, exist_ok=True)
        with own_folder(parent) as folder:
            yield folder

    def _require_ours(self) -> None:
        """Raise unless only we can put something into the folder, or another in its place."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = self._folder.lstat()
        fault = ""
        if stat.S_ISLNK(status.st_mode) or not stat.S_ISDIR(status.st_mode):
            fault = "is no folder"
        elif status.st_uid != os.geteuid():
            fault = f"belongs to user {status.st_uid}"
        else:
            fault = _parent_fault(self._folder)
        if fault:
            raise ToolError(
                f"compile cache {self._folder}: {fault}; others could have code of theirs loaded;"
                " set REGRAPH_CACHE_DIR to a folder of yours"
            )
        if stat.S_IMODE(status.st_mode) != stat.S_IRWXU:
            os.chmod(self._folder, stat.S_IRWXU)

    def _hold(self, entry: Path, keep: bool) -> bool:
        """Keep it from being evicted; False where there is none, or one that is not ours alone."""
        descriptor = _locked(entry, shared=True)
        if descriptor is None:
            return False
        status = os.fstat(descriptor)
        if not _is_private(status) or not _is_at(entry, status):
            os.close(descriptor)
            return False
        os.utime(descriptor, ns=(time.time_ns(), status.st_mtime_ns))
        with self._lock:
            if entry in self._held:
                os.close(self._held.pop(entry))
            self._held[entry] = descriptor
            if keep:
                self._kept.add(entry)
            recent = [path for path in self._held if path not in self._kept]
            if len(recent) > _HELD:
                os.close(self._held.pop(recent[0]))
        return True

    def _evict(self, newest: Path) -> None:
        """Remove the least recently used entries until the rest fits, but none that is held."""
        entries = []
        for path in self._folder.glob("*.so"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                entries.append((status.st_atime_ns, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._bytes:
                return
            if path != newest and _removed(path):
                total -= size


def _is_private(status: os.stat_result) -> bool:
    ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1
    return ours and not status.st_mode & _OTHERS_WRITE


def _is_at(path: Path, status: os.stat_result) -> bool:
    """Whether the file still lies there: it may have been evicted before we had the lock."""
    try:
        return os.path.samestat(path.lstat(), status)
    except OSError:
        return False


def _removed(path: Path) -> bool:
    """Remove an entry that nobody holds."""
    descriptor = _locked(path, shared=False)
    if descriptor is None:
        return False
    try:
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
    return True


def _locked(path: Path, *, shared: bool) -> int | None:
    """The open file with a lock; None where there is no such file, or another lock on it."""
    descriptor = None
    with contextlib.suppress(OSError):
        descriptor = regular.opener(str(path), os.O_RDONLY)
        if locks.take(descriptor, shared=shared):
            return descriptor
    if descriptor is not None:
        os.close(descriptor)
    return None


def _parent_fault(folder: Path) -> str:
    """The fault of a folder above; "" where no other user can exchange its entries.

    In a sticky folder (/tmp) only owners rename. Where a user namespace hides root, what belongs
    to nobody in it counts as root's.
    """
    trusted = {0, os.geteuid()}
    with contextlib.suppress(OSError):
        if Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    for parent in {*folder.absolute().parents, *folder.resolve().parents}:
        status = parent.stat()
        if status.st_uid not in trusted:
            return f"lies in {parent}, of user {status.st_uid}"
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            return f"lies in {parent}, which is open to others"
    return ""


def _close(held: dict[Path, int]) -> None:
    while held:
        os.close(held.popitem()[1])
