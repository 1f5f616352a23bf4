"""Files written whole or not at all: beside their place, then renamed.

A kill leaves a draft behind, which nobody reads. Not covered: other writers of the same file.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, *, mode: int = 0o600, synced: bool = False) -> Iterator[BinaryIO]:
    """A new file that replaces `path` when the block succeeds; both may raise `OSError`.

    The umask narrows `mode`; a `synced` file outlasts a power failure. A device, or a link to a
    pipe or an open file, is refused: as root, renaming would put a file into the place of
    /dev/stdout.
    """
    is_device = path.is_char_device() or path.is_block_device()
    target = str(path.readlink()) if path.is_symlink() else ""
    if is_device or target.startswith("/proc/") or (target and path.is_fifo()):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    draft = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.draft")
    with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        try:
            yield file
            file.flush()
            if synced:
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise


def write(path: Path, content: str | bytes, *, mode: int = 0o600, synced: bool = False) -> None:
    """Replace `path` by a file with `content`, as `replacing` does."""
    with replacing(path, mode=mode, synced=synced) as file:
        file.write(content.encode() if isinstance(content, str) else content)
