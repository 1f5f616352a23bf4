"""Files that come with a folder: read only where they are files, never waited for.

A pipe or a device in the place of a file may have no beginning or no end.
"""

import os
import stat
from errno import EFBIG, EINVAL, EISDIR
from pathlib import Path


def opener(path: str, flags: int) -> int:
    """For `open(.., opener=opener)`: `OSError` for what is no regular file."""
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise OSError(EISDIR, os.strerror(EISDIR))
    raise OSError(EINVAL, "no regular file")


def read_bytes(path: Path, most: int) -> bytes:
    """What a file of at most `most` bytes holds; `OSError` for any other."""
    with open(path, "rb", opener=opener) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(EFBIG, os.strerror(EFBIG))
    return content
