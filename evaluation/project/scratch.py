"""A session's temporary folder: removed at its end, or by a later session where it was killed.

Copies of a project may be large, and batch systems end programs without asking. The folder is
locked while its session lives; the kernel forgets the lock, however that ends.
"""

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from regraph_kg import locks
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.project.commands import remove

_PREFIX = "regraph-project-"
_NEW_SECONDS = 60.0
"""So long a folder is left alone, which may not be locked yet."""


class ScratchFolder:
    """A folder of this process, `root`. Close it."""

    def __init__(self) -> None:
        _sweep()
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        self.root = Path(self._folder.name)
        self._lock = contextlib.ExitStack()
        self._lock.enter_context(_locked(self.root))

    def close(self) -> None:
        """Remove it; idempotent."""
        remove(self.root)
        self._folder.cleanup()
        self._lock.close()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder for as long as this process wants. Raises `OSError` where another does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if not locks.take(descriptor):
            raise BlockingIOError
        yield
    finally:
        os.close(descriptor)


def _sweep() -> None:
    """Remove folders of this user whose sessions were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ToolError):
            status = path.lstat()
            is_ours = status.st_uid == os.geteuid() and stat.S_ISDIR(status.st_mode)
            if is_ours and time.time() - status.st_mtime > _NEW_SECONDS:
                with _locked(path):
                    remove(path)
