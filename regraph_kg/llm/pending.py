"""PendingPrompts: the prompts of a folder that wait for answers, one request a line.

Processes that share a folder add to one pending.jsonl: it is rewritten whole, under a lock.
"""

from collections.abc import Container, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, ValidationError

from regraph_kg import atomic, locks
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.private import make_folder, opener

NAME = "pending.jsonl"
LEDGER = "asked.txt"
"""The id of every prompt that ever was pending, one a line."""


class PendingPrompts:
    """The waiting prompts of a folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is made if it is missing; `ToolError` where that cannot be."""
        self.path = folder / NAME
        self._folder = folder
        self._noted: dict[str, bytes] = {}
        with self._writing():
            make_folder(folder)

    @property
    def noted(self) -> list[str]:
        """Ids of what was noted since the last `publish`, in that order."""
        return list(self._noted)

    def note(self, request: str, line: bytes) -> None:
        """Keep a request for `publish`, once."""
        self._noted.setdefault(request, line)

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
        self._noted.clear()
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

    def _remember(self, added: list[str]) -> None:
        with open(self._folder / LEDGER, "a", encoding="utf-8", opener=opener) as ledger:
            ledger.writelines(f"{request}\n" for request in added)

    def _rewrite(self, requests: set[str]) -> None:
        """Replace the file by these `requests`, older ones first."""
        if not requests:
            self.path.unlink()
            return
        with atomic.replacing(self.path, synced=True) as file:
            for request, line in chain(self._requests(), self._noted.items()):
                if request in requests:
                    requests.remove(request)
                    file.write(line)

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


class _Request(BaseModel):
    """The part of a request that we read; the rest is copied as it is."""

    custom_id: str
