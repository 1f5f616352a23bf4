"""A folder of one process: removed at its end, or, where that was killed, by the next one made.

Each is locked (flock, which the kernel takes back however its holder dies); whoever makes one
removes those beside it that nobody holds. Not covered: file systems without such locks, where the
folder of a killed process stays.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from regraph_kg import locks

PREFIX = "regraph-own-"
_AS_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def own_folder(parent: Path | None = None) -> Iterator[Path]:
    """A new folder in `parent`, or in the temporary folder. Raises `OSError`."""
    parent = parent or Path(tempfile.gettempdir())
    for other in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # gone meanwhile, no folder, or no locks here
            held = os.open(other, _AS_FOLDER)
            try:
                # In a shared folder another user may have made what bears such a name.
                if os.fstat(held).st_uid == os.geteuid() and locks.take(held):
                    shutil.rmtree(other, ignore_errors=True)
            finally:
                os.close(held)
    path, lock = _locked(parent)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked(parent: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            lock = os.open(path, _AS_FOLDER)
            try:
                is_ours = locks.take(lock)
            except OSError:  # no locks here: then nobody can sweep here either
                is_ours = True
            # Another process may have swept it between its making and the lock.
            if is_ours and path.exists():
                return path, lock
            os.close(lock)
