"""Files that come with a folder: read only where they are files, never waited for.

A pipe or a device in the place of a file may have no beginning or no end; a link may lead to a
file that its sender cannot read. A file that may be any size is read line by line (jsonl.py).
"""

import os
import stat
from errno import EFBIG, EINVAL, EISDIR, ELOOP
from pathlib import Path


def opener(path: str, flags: int) -> int:
    """For `open(.., opener=opener)`: `OSError` for what is no regular file, links among them."""
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == ELOOP:
            raise OSError(ELOOP, "no regular file") from None
        raise
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise OSError(EISDIR, os.strerror(EISDIR))
    raise OSError(EINVAL, "no regular file")


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a file of at most `most` bytes; `OSError` for any other."""
    with open(path, "rb", opener=opener) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(EFBIG, f"larger than {most / 2**20:.3g} MiB")
    return content


def read_text(path: Path, most: int) -> str:
    """The same as text, with a newline at the end of each line; `UnicodeDecodeError` for others."""
    return read_bytes(path, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
