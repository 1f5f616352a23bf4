"""Compiled code on the disk, by content: ours alone, of bounded size, never half an entry.

Code of anyone who can write into the folder is loaded, so the folder, its parents and each entry
are checked before every use. An entry is written elsewhere and renamed; its digest stands behind
it, so that one that was damaged since is made again. A living judge has a lock on those it keeps,
which the kernel takes back when it dies.

Not covered: a folder above the cache that a group may write to (a member could put another folder
in its place between look and use); NFS, where no such lock can be had and nothing is evicted.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from regraph_kg import locks, regular
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.own_folder import own_folder

BYTES = 2 * 2**30
_DIGEST = 32  # bytes; whoever loads an object does not look behind its end
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Cache:
    """Entries `<key>.so` in `folder`, at most about `bytes_` together; several processes may."""

    def __init__(self, folder: Path, bytes_: int = BYTES) -> None:
        self._folder, self._bytes = folder, bytes_
        self._kept: dict[Path, BinaryIO] = {}  # open, with a lock

    def close(self) -> None:
        """Release every entry, so that others may evict it."""
        while self._kept:
            self._kept.popitem()[1].close()

    def __del__(self) -> None:
        self.close()

    def find(self, key: str, keep: bool = False) -> Path | None:
        """The entry; None where there is none, or one not to be trusted.

        `keep`: nobody evicts it while this object lives. Raises `ToolError` for a folder of others,
        `OSError` where there cannot be one.
        """
        self._require_ours()
        entry = self._folder / f"{key}.so"
        return entry if self._use(entry, keep) else None

    def put(self, key: str, code: bytes, keep: bool = False) -> Path:
        """Add an entry. Raises `OSError` (a full disk) and `ToolError`."""
        entry = self._folder / f"{key}.so"
        with self.building() as folder:
            draft = folder / "entry"
            draft.write_bytes(code + _digest(code))
            draft.chmod(0o555)
            if entry.is_dir() and not entry.is_symlink():  # nothing of ours
                shutil.rmtree(entry)
            draft.replace(entry)
        self._use(entry, keep)
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

    def _use(self, entry: Path, keep: bool) -> bool:
        """Note its use; False where there is none, or one that is damaged or not ours alone."""
        with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
            file = opened.enter_context(open(entry, "rb", opener=regular.opener))
            if not locks.take(file, shared=True):
                return False  # it is being evicted
            status, content = os.fstat(file.fileno()), file.read()
            # a file of ours under one name: once it is evicted it has none
            is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            is_private = is_ours and status.st_nlink == 1 and not status.st_mode & _OTHERS_WRITE
            if not is_private or content[-_DIGEST:] != _digest(content[:-_DIGEST]):
                return False
            os.utime(file.fileno(), ns=(time.time_ns(), status.st_mtime_ns))
            if keep:
                if entry in self._kept:
                    self._kept.pop(entry).close()
                self._kept[entry] = file
                opened.pop_all()
            return True
        return False

    def _evict(self, newest: Path) -> None:
        """Remove the least recently used entries until the rest fits, but none that is kept."""
        entries = []
        for path in self._folder.glob("*.so"):
            with contextlib.suppress(OSError):
                status = path.lstat()
                entries.append((status.st_atime_ns, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._bytes:
                return
            if path == newest:
                continue
            with contextlib.suppress(OSError), open(path, "rb", opener=regular.opener) as file:
                if locks.take(file):  # nobody keeps it
                    path.unlink(missing_ok=True)
                    total -= size


def _digest(code: bytes) -> bytes:
    return hashlib.blake2b(code, digest_size=_DIGEST).digest()


def _parent_fault(folder: Path) -> str:
    """The fault of a folder above; "" where no other user can exchange its entries."""
    # In a sticky folder (/tmp) only owners rename. Where a user namespace hides root, what belongs
    # to nobody in it counts as root's.
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
