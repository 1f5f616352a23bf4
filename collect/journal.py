"""The journal of a collection: what was answered, judged and measured, so that it is paid once.

Lines of JSON beside the result, each written and synced before it is used: after a kill the same
command finds all but a torn last line, which is cut off. Each entry has as its key a hash of
everything that it depends on. One process at a time. Not here: a guard against a file that
somebody changed; what it holds is believed, as trajectories are.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from regraph_kg import locks
from regraph_kg.errors import BadInput, ToolError, file_errors
from regraph_kg.private import opener

FORMAT = 1
"""History: 1 (2026-11)."""


def key_of(kind: str, *parts: object) -> str:
    """The key of an entry: its kind, and a hash of all that it depends on."""
    text = json.dumps([kind, *parts], sort_keys=True, default=str)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()[:40]}"


def count_entries(path: Path, kind: str) -> int:
    """Entries of a kind in a journal; 0 where there is none."""
    try:
        with path.open("rb") as file:
            return sum(line.startswith(f'{{"key": "{kind}:'.encode()) for line in file)
    except OSError:
        return 0


class Journal:
    """Entries by key; a context manager that holds the file."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Open or begin the journal of the collection that `about` describes.

        Raises `BadInput` where the file is of another collection, no journal, or in use.
        """
        self._path = path
        with file_errors(path, "choose another place: --output", ToolError):
            # Unbuffered: what a full disk refused is not tried again when it is closed.
            self._file = open(path, "a+b", buffering=0, opener=opener)  # noqa: SIM115
        self._entries: dict[str, Any] = {}
        self._begun = False
        self.written = 0
        """Entries that were added since it was opened."""
        self.about: Mapping[str, Any] = about
        try:
            self._lock()
            self._read(about)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def find(self, key: str) -> Any:
        """The entry under `key`; None where there is none."""
        return self._entries.get(key)

    def write(self, key: str, value: Any) -> None:
        """Add an entry; it is on the disk when this returns."""
        if not self._begun:  # a collection that came to nothing leaves an empty file
            self._append({"format": FORMAT, **self.about})
            self._begun = True
        self._append({"key": key, "value": value})
        self._entries[key] = value
        self.written += 1

    def _lock(self) -> None:
        with suppress(OSError):  # a file system without locks
            if locks.take(self._file):
                return
        raise BadInput(
            f"{self._path}: another process is collecting into it; wait for its end, or give"
            " another --output"
        )

    def _read(self, about: Mapping[str, Any]) -> None:
        self._file.seek(0)
        whole, _, torn = self._file.read().rpartition(b"\n")
        if torn:
            self._file.truncate(len(whole) + 1 if whole else 0)
        if not whole:
            return
        self._begun = True
        head, *lines = whole.split(b"\n")
        self._check(_object(self._path, 1, head), about)
        for number, line in enumerate(lines, start=2):
            entry = _object(self._path, number, line)
            self._entries[str(entry.get("key"))] = entry.get("value")

    def _check(self, head: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """The journal is of this collection; what it began with stays."""
        if head.get("format") != FORMAT:
            raise BadInput(f"{self._path}: not a journal of regraph collect; give another --output")
        for name, value in about.items():
            if name != "created" and head.get(name) != value:
                raise BadInput(
                    f"{self._path}: of another collection ({name}: {head.get(name)}, not {value});"
                    " give another --output"
                )
        self.about = {**about, "created": head.get("created", about.get("created"))}

    def _append(self, entry: Mapping[str, Any]) -> None:
        with file_errors(self._path, "free space and run the same command again", ToolError):
            unwritten = json.dumps(entry).encode() + b"\n"
            while unwritten:
                unwritten = unwritten[self._file.write(unwritten) :]
            os.fsync(self._file.fileno())


def _object(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if not isinstance(entry, dict):
        raise BadInput(
            f"{path}:{number}: not a line of a journal; remove the file to collect anew"
        ) from None
    return entry
