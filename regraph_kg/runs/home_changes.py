"""Changes of a user's files: shown as a patch, written all or none, and taken back.

The record that undo reads lies in the user's data folder, never beside a trace: a stranger's folder
of runs could name any file and any content. Not covered: a write to a file between two reads of it.
"""

import difflib
import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from regraph_kg import atomic, private, regular
from regraph_kg.errors import BadInput, file_errors

LARGEST_FILE = 32 * 2**20  # bytes of a user's file
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True, slots=True)
class HomeChange:
    """A file's content before and after; `before` None: it is new."""

    # a user's file may have any encoding, and JSON holds none of its bytes
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        ser_json_bytes="base64", val_json_bytes="base64"
    )

    path: Path
    before: bytes | None
    after: bytes


_RECORD = TypeAdapter(list[HomeChange])


def patch(changes: Sequence[HomeChange]) -> bytes:
    """Unified diffs with the names that `git apply` takes in the repository's root folder.

    Outside a repository they are relative to the folder of the first file (`patch -p1` there).
    The patch is bytes: files may have any encoding.
    """
    folder = changes[0].path.resolve().parent
    parents = (folder, *folder.parents)
    root = next((parent for parent in parents if (parent / ".git").exists()), folder)
    texts = []
    for change in changes:
        name = Path(os.path.relpath(change.path.resolve(), root)).as_posix()
        old, new = _quoted(f"a/{name}"), _quoted(f"b/{name}")
        mode = b"new file mode 100644\n" if change.before is None else b""
        texts.append(b"diff --git %b %b\n%b" % (old, new, mode))
        # lines as git and patch count them: form feeds and others of Unicode's ends end none
        before, after = (_LINE.findall(text or b"") for text in (change.before, change.after))
        names = b"/dev/null" if change.before is None else _ended(old), _ended(new)
        for line in difflib.diff_bytes(difflib.unified_diff, before, after, *names):
            whole = line.endswith(b"\n")
            texts.append(line if whole else line + b"\n\\ No newline at end of file\n")
    return b"".join(texts)


def _quoted(name: str) -> bytes:
    """A file's name as a patch has it: in quotes where it holds quotes or control characters."""
    raw = os.fsencode(name)
    if not _QUOTED.search(raw):
        return raw
    return b'"%b"' % _QUOTED.sub(lambda match: b"\\%03o" % match.group()[0], raw)


def _ended(name: bytes) -> bytes:
    """The name with the tab that ends a name with spaces."""
    return name + b"\t" if b" " in name and name[:1] != b'"' else name


def write(changes: Sequence[HomeChange], record: Path) -> None:
    """Write all or none, after `record` says how to take them back. Raises `BadInput`."""
    for change in _recorded(record) if record.exists() else ():
        if content_of(change.path) == change.after:
            # a second record would lose the contents from before the first
            raise BadInput(
                f"{change.path}: holds this run's code already; take that back first"
                " (regraph apply RUN --undo), or use --patch"
            )
    whole = [replace(change, path=change.path.resolve()) for change in changes]
    # the record stands before the first write, so that a kill between two files can be undone
    with file_errors(record, "it is to say how to take this back"):
        private.make_folder(record.parent)
        atomic.write(record, _RECORD.dump_json(whole))
    try:
        for change in changes:
            if content_of(change.path) != change.before:
                raise BadInput(
                    f"{change.path}: somebody changes it now; run the same command again"
                )
            _replace(change.path, change.after)
    except BaseException:  # also Ctrl-C: nothing stays half written
        for change in changes:
            if content_of(change.path) == change.after:
                _restore(change)
        record.unlink(missing_ok=True)
        raise


def take_back(record: Path) -> list[Path]:
    """Restore files that are not as before; `BadInput` where one was changed since."""
    if not record.exists():
        raise BadInput("nothing of this run was applied here, or it was taken back")
    changes = _recorded(record)
    # all are looked at before one is restored: an undo is whole or not at all
    for change in changes:
        if content_of(change.path) not in (change.before, change.after):
            raise BadInput(f"{change.path}: was changed since it was applied; take it back by hand")
    for change in changes:
        _restore(change)
    record.unlink()
    return [change.path for change in changes]


def _recorded(record: Path) -> list[HomeChange]:
    try:
        return _RECORD.validate_json(record.read_bytes())
    except (OSError, ValidationError):
        raise BadInput(f"{record}: cannot be read; take the change back by hand") from None


def content_of(path: Path) -> bytes | None:
    """A file's bytes; None where there is none. Raises `BadInput` of one that cannot be read."""
    with file_errors(path, "give another FILE with --to"), suppress(FileNotFoundError):
        return regular.read_bytes(Path(os.path.realpath(path)), LARGEST_FILE)
    return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; it keeps its mode."""
    real = path.resolve()
    with file_errors(path, "make it writable, or use --patch"):
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else None
        # a rename would replace a file that its owner protects
        if mode is not None and not mode & 0o222:
            raise PermissionError(13, "is read-only")
        with atomic.replacing(real, mode=0o666) as file:
            file.write(content)
            if mode is not None:
                os.fchmod(file.fileno(), mode)


def _restore(change: HomeChange) -> None:
    if change.before is None:
        with file_errors(change.path, "delete it by hand"):
            change.path.unlink(missing_ok=True)
    elif content_of(change.path) != change.before:
        _replace(change.path, change.before)
