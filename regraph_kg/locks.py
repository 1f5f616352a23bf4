"""The kernel's locks of open files (flock): they end with their holder, however that dies.

A lock is on an open file's descriptor, as most locked files are also read or written. Not covered:
network file systems without such locks (`OSError`).
"""

import fcntl
import time
from pathlib import Path
from typing import IO

from regraph_kg import regular

_POLL_SECONDS = 0.05


def take(file: IO[bytes] | IO[str] | int, *, shared: bool = False, seconds: float = 0.0) -> bool:
    """Lock `file`; False where another holds it for so many seconds."""
    deadline = time.monotonic() + seconds
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    while True:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def wait(file: IO[bytes] | IO[str] | int) -> None:
    """Lock `file`, however long another holds it."""
    fcntl.flock(file, fcntl.LOCK_EX)


def is_held(path: Path) -> bool:
    """Whether a process holds the lock of `path`; not where there is no such file."""
    try:
        with open(path, "rb", opener=regular.opener) as file:
            return not take(file, shared=True)
    except OSError:
        return False
