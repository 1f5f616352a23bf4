"""The journal of a collection: what was answered, judged and measured, so that it is paid once.

A SQLite file beside the result, whose transactions outlast a kill. Each entry has as its key a hash
of everything that it depends on. One process at a time. What a journal holds is believed.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from regraph_kg.errors import BadInput, RegraphError, ToolError, file_errors
from regraph_kg.private import opener

_ABOUT = "about"
_MINE = {
    "SQLITE_BUSY": "another process is collecting into it; wait for its end",
    "SQLITE_NOTADB": "no journal, or one of an earlier release",
}
"""What SQLite calls a mistake of the user's."""


def key_of(kind: str, *parts: object) -> str:
    """The key of an entry: its kind, and a hash of all that it depends on."""
    text = json.dumps([kind, *parts], sort_keys=True, default=str)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()[:40]}"


class Journal:
    """Entries by key; a context manager that holds the file."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """`BadInput` where it is of another collection than `about`, no journal, or in use."""
        self._path = path
        with file_errors(path, "choose another place: --output", ToolError):
            os.close(opener(str(path), os.O_RDWR | os.O_CREAT))  # answers are for the user alone
        self._file = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            # The first transaction takes the file's lock, and this mode never gives it back.
            self._run("PRAGMA locking_mode = EXCLUSIVE")
            self._run("BEGIN EXCLUSIVE")
            self._run("CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value TEXT)")
            self._run("COMMIT")
            self.about: Mapping[str, Any] = self.find(_ABOUT) or about
            for name in about.keys() - {"created"}:
                if self.about.get(name) != about[name]:
                    was = f"({name}: {self.about.get(name)}, not {about[name]})"
                    raise BadInput(f"{path}: of another collection {was}; give another --output")
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def find(self, key: str) -> Any:
        rows = self._run("SELECT value FROM entry WHERE key = ?", key)
        return json.loads(rows[0][0]) if rows else None

    def write(self, key: str, value: Any) -> None:
        """Add an entry; it is on the disk when this returns."""
        # With the first entry: a collection that came to nothing binds nobody.
        for name, content in ((_ABOUT, self.about), (key, value)):
            self._run("INSERT OR REPLACE INTO entry VALUES (?, ?)", name, json.dumps(content))

    def _run(self, statement: str, *values: str) -> list[tuple[str]]:
        try:
            return self._file.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            mine = _MINE.get(error.sqlite_errorname)
            kind: type[RegraphError] = BadInput if mine else ToolError
            remedy = "give another --output" if mine else "free space, run the same command again"
            raise kind(f"{self._path}: {mine or error}; {remedy}") from None
