"""The key of this installation, which marks its own records.

32 random bytes in the data folder, readable for the user alone, made when first needed. Not
covered: a reader of this user's files has the key, and can write records that look like this
installation's.
"""

import hashlib
import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

from regraph_kg import private, regular
from regraph_kg.errors import ToolError, file_errors
from regraph_kg.settings import Settings

BYTES = 32


def own_folder(settings: Settings) -> Path:
    """The user's data folder, not one that a stranger's file names and whose key he knows."""
    if settings.origin("data_dir") == "folder":
        return Path(platformdirs.user_data_dir("regraph"))
    return settings.data_dir


def trace_key(settings: Settings) -> bytes:
    """The key of traces (search/trace.py). Raises `ToolError` where it cannot be kept secret."""
    file = own_folder(settings) / "trace-key"
    with file_errors(file, "set REGRAPH_DATA_DIR to a folder of yours", ToolError):
        private.make_folder(file.parent)
        if not file.exists():
            _make(file)
        return _read(file)


def applied_record(settings: Settings, trace: Path) -> Path:
    """The file in which `regraph apply` keeps how to take back what it wrote of a run."""
    # two folders of runs may hold traces of one name
    place = hashlib.sha256(str(trace.resolve()).encode()).hexdigest()[:16]
    return own_folder(settings) / "applied" / f"{trace.stem}-{place}.json"


def _make(file: Path) -> None:
    """Make the key whole, or leave the one that another process has just made."""
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.")  # mode 0600
    try:
        with open(handle, "wb") as opened:
            opened.write(secrets.token_bytes(BYTES))
            opened.flush()
            os.fsync(handle)
        with suppress(FileExistsError):  # a link fails where another process was first
            os.link(draft, file)
    finally:
        os.unlink(draft)


def _read(file: Path) -> bytes:
    with open(file, "rb", opener=regular.opener) as opened:
        status, key = os.fstat(opened.fileno()), opened.read(BYTES + 1)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise ToolError(f"{file}: others may read or own it; chmod 600 it, or delete it")
    if len(key) != BYTES:
        raise ToolError(
            f"{file}: no key of {BYTES} bytes; delete it, and traces written so far are no"
            " longer resumed, but judged again where they are learned from"
        )
    return key
