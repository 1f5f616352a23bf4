"""Files and folders that hold users' code: for the user alone (0600, 0700), whatever the umask.

An existing folder keeps its mode, as its user may share it on purpose. Not covered: the best code
of a search (--output), which the user may hand on.
"""

import os
from pathlib import Path


def opener(path: str, flags: int) -> int:
    """For `open(.., opener=opener)`: a new file is readable and writable for its user alone."""
    return os.open(path, flags, 0o600)


def make_folder(path: Path) -> None:
    """Make a folder, and parents that are missing, for their user alone."""
    for folder in (*reversed(path.parents), path):
        # Not `parents=True`: that gives parents the usual mode, and the data folder is one.
        folder.mkdir(mode=0o700, exist_ok=True)
