"""PendingPrompts: the prompts of a folder that wait for answers, one request a line.

Processes that share a folder add to one pending.jsonl: it is rewritten whole, under a lock. What is
asked anew is kept in a nameless file of the folder until then, so that a kill leaves no litter.
"""

import os
import weakref
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from pydantic import BaseModel, ValidationError

from regraph_kg import atomic, locks
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.private import make_folder, opener

NAME = "pending.jsonl"
LEDGER = "asked.txt"
"""The id of every prompt that ever was pending, one a line."""


class PendingPrompts:
    """The waiting prompts of a folder; memory holds ids only."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made if it is missing; `ToolError` where that cannot be."""
        self.path = folder / NAME
        self._folder = folder
        self._noted: dict[str, None] = {}
        self._file: IO[bytes] | None = None
        with self._writing():
            make_folder(folder)

    @property
    def noted(self) -> list[str]:
        """Ids of what was noted since the last `publish`, in that order."""
        return list(self._noted)

    def note(self, request: str, line: bytes) -> None:
        """Keep a request for `publish`, once; `ToolError` where there is no room for it."""
        if request in self._noted:
            return
        with self._writing():
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 (closed by _forget)
                weakref.finalize(self, _close, self._file)
            self._file.write(line)
            self._file.flush()
        self._noted[request] = None

    def publish(self, answered: Container[str]) -> int:
        """Add what was noted to pending.jsonl, drop what is `answered`; how many lines it has then.

        Without any the file goes away. Raises `ToolError` where it cannot be written (the file
        stays as it was), `BadInput` for a line in it that is not ours.
        """
        if not self._noted and not self.path.exists():
            return 0
        with self._writing(), self._lock():
            listed = dict.fromkeys(name for name, _ in self._requests())
            unanswered = {name for name in listed if name not in answered}
            added = [name for name in self._noted if name not in listed and name not in answered]
            if added or len(unanswered) < len(listed):
                self._remember(added)
                self._rewrite(unanswered | set(added))
        self._forget()
        return len(unanswered) + len(added)

    def ever_asked(self) -> set[str]:
        """The ids of all prompts that ever were pending here."""
        try:
            ledger = (self._folder / LEDGER).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise ToolError(
                f"{self._folder / LEDGER}: {error.strerror}; make it readable"
            ) from None
        return set(ledger.split())

    def waiting(self) -> list[str]:
        """The ids in pending.jsonl."""
        try:
            return [request for request, _ in self._requests()]
        except OSError as error:
            raise ToolError(f"{self.path}: {error.strerror}; make it readable") from None

    def _requests(self) -> Iterator[tuple[str, bytes]]:
        """Id and line of each request in pending.jsonl."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield _Request.model_validate_json(line).custom_id, line
                except ValidationError:
                    raise BadInput(
                        f"{self.path}:{number}: not a request of ours; remove the file: whoever"
                        " asks writes it anew"
                    ) from None

    def _noted_lines(self) -> Iterator[tuple[str, bytes]]:
        if self._file is not None:
            self._file.seek(0)
            yield from zip(self._noted, self._file, strict=True)
            self._file.seek(0, os.SEEK_END)

    def _remember(self, added: list[str]) -> None:
        with open(self._folder / LEDGER, "a", encoding="utf-8", opener=opener) as ledger:
            ledger.writelines(f"{request}\n" for request in added)

    def _rewrite(self, requests: set[str]) -> None:
        """Replace the file by these `requests`, older ones first."""
        if not requests:
            self.path.unlink()
            return
        with atomic.replacing(self.path, synced=True) as file:
            for source in (self._requests(), self._noted_lines()):
                for request, line in source:
                    if request in requests:
                        requests.remove(request)
                        file.write(line)

    def _forget(self) -> None:
        self._noted.clear()
        if self._file is not None:
            _close(self._file)
            self._file = None

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Wait until no other process rewrites the file."""
        with open(self._folder / ".lock", "ab", opener=opener) as file:
            locks.wait(file)
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ToolError(
                f"{self._folder}: {error.strerror}; prompts cannot be noted there: make room,"
                " let us write, or give another folder"
            ) from None


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # what a full disk did not take was told already
        file.close()


class _Request(BaseModel):
    """The part of a request that we read; the rest is copied as it is."""

    custom_id: str
