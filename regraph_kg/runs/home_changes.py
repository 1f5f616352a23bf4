"""Changes of a user's files: shown as a patch, written all or none, and taken back.

Not covered: a write to a file between two reads of it.
"""

import base64
import difflib
import hashlib
import hmac
import json
import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regraph_kg import atomic, regular
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.wiring.key import seal

LARGEST_FILE, LARGEST = 32 * 2**20, 128 * 2**20
"""Bytes of a user's file, and of a record, which holds two of them."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_QUOTED = re.compile(rb'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True, slots=True)
class HomeChange:
    """A file's content before and after; `before` None: it is new."""

    path: Path
    before: bytes | None
    after: bytes


def patch(changes: Sequence[HomeChange]) -> bytes:
    """Unified diffs with the names that `git apply` takes in the repository's root folder.

    Outside a repository they are relative to the folder of the first file (`patch -p1` there).
    The patch is bytes: files may have any encoding.
    """
    root = _root(changes[0].path)
    texts = []
    for change in changes:
        name = Path(os.path.relpath(change.path.resolve(), root)).as_posix()
        old, new = _patched(f"a/{name}"), _patched(f"b/{name}")
        mode = b"new file mode 100644\n" if change.before is None else b""
        before = b"/dev/null" if change.before is None else _ended_name(old)
        texts.append(b"diff --git %b %b\n%b" % (old, new, mode))
        lines = difflib.diff_bytes(
            difflib.unified_diff,
            _lines(change.before or b""),
            _lines(change.after),
            before,
            _ended_name(new),
        )
        texts.extend(map(_ended, lines))
    return b"".join(texts)


def write(changes: Sequence[HomeChange], record: Path, key: bytes) -> None:
    """Write all of them or none, and in `record` how to take them back. Raises `BadInput`.

    After a kill some may be written; `take_back` restores them. `key` is this installation's:
    `take_back` recognizes the record by it.
    """
    _refuse_twice(record, key)
    rows = [
        {
            "path": str(change.path.resolve()),
            "before": None if change.before is None else base64.b64encode(change.before).decode(),
            "after": _hash(change.after),
        }
        for change in changes
    ]
    with file_errors(record, "it is to say how to take this back"):
        atomic.write(record, json.dumps({"schema": 2, "files": rows, "mac": _mac(rows, key)}))
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
                _restore(change.path, change.before)
        record.unlink(missing_ok=True)
        raise


def take_back(record: Path, key: bytes) -> list[Path]:
    """Restore the files; `BadInput` where one of them was changed since.

    `BadInput` also for a record of another installation: it could name any file and content.

    Files that are as they were before, as after a kill or a `git checkout`, stay so.
    """
    try:
        olds = _recorded(record, key)
    except FileNotFoundError:
        raise BadInput(f"{record}: nothing of this run was applied, or it was taken back") from None
    for path, before, after in olds:
        content = content_of(path)
        if content != before and (content is None or _hash(content) != after):
            raise BadInput(f"{path}: was changed since it was applied; take it back by hand")
    for path, before, _ in olds:
        _restore(path, before)
    record.unlink()
    return [path for path, _, _ in olds]


def _recorded(record: Path, key: bytes) -> list[tuple[Path, bytes | None, str]]:
    """Each file's path, its content before, and the hash of the written content."""
    try:
        document = json.loads(regular.read_bytes(record, LARGEST))
        rows = document["files"]
        if not hmac.compare_digest(str(document["mac"]).encode(), _mac(rows, key).encode()):
            raise BadInput(
                f"{record}: this installation did not write it; take the change back by hand, and"
                " delete it"
            )
        return [
            (
                Path(row["path"]),
                None if row["before"] is None else base64.b64decode(row["before"]),
                str(row["after"]),
            )
            for row in rows
        ]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise BadInput(f"{record}: cannot be read; take the change back by hand") from None


def _mac(rows: object, key: bytes) -> str:
    return seal(json.dumps(rows, sort_keys=True).encode(), key)


def _refuse_twice(record: Path, key: bytes) -> None:
    """Refuse a second record: it would lose the contents from before the first."""
    if not record.exists():
        return
    for path, _, after in _recorded(record, key):
        content = content_of(path)
        if content is not None and _hash(content) == after:
            raise BadInput(
                f"{path}: holds this run's code already; take that back first"
                " (regraph apply RUN --undo), or use --patch"
            )


def content_of(path: Path) -> bytes | None:
    """A file's bytes; None where there is none. Raises `BadInput` of one that cannot be read."""
    with file_errors(path, "give another FILE with --to"), suppress(FileNotFoundError):
        return regular.read_bytes(path.resolve(), LARGEST_FILE)
    return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; it keeps its mode."""
    real = path.resolve()
    with file_errors(path, "make it writable, or use --patch"):
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else None
        if mode is not None and not mode & 0o222:
            raise PermissionError(13, "is read-only")
        with atomic.replacing(real, mode=0o666) as file:
            file.write(content)
            if mode is not None:
                os.fchmod(file.fileno(), mode)


def _restore(path: Path, before: bytes | None) -> None:
    if before is not None:
        if content_of(path) != before:
            _replace(path, before)
        return
    with file_errors(path, "delete it by hand"):
        path.unlink(missing_ok=True)


def _root(path: Path) -> Path:
    folder = path.resolve().parent
    parents = (folder, *folder.parents)
    return next((parent for parent in parents if (parent / ".git").exists()), folder)


def _lines(content: bytes) -> list[bytes]:
    """Lines as git and patch count them: form feeds and others of Unicode's ends end none."""
    return _LINE.findall(content)


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _patched(name: str) -> bytes:
    """A file's name as a patch has it: in quotes where it holds quotes or control characters."""
    raw = os.fsencode(name)
    if not _QUOTED.search(raw):
        return raw
    return b'"%b"' % _QUOTED.sub(lambda match: b"\\%03o" % match.group()[0], raw)


def _ended_name(name: bytes) -> bytes:
    """The name with the tab that ends a name with spaces."""
    return name + b"\t" if b" " in name and name[:1] != b'"' else name


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
