"""Where drafts are kept: runs/agents/ID.json of the project, signed, one writer at a time.

An agent may write the project's folder, so a draft counts only with the mark of this installation's
key, as traces do: else any writer of the file could claim measurements. Not covered: an older draft
of this installation in the place of a newer one; what was measured in it was measured.
"""

import asyncio
import hmac
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from regraph_kg import atomic, locks, regular
from regraph_kg.agents.drafts import AgentDraft
from regraph_kg.errors import BadInput
from regraph_kg.private import make_folder
from regraph_kg.wiring.key import seal

FOLDER = Path("runs") / "agents"
LARGEST = 64 * 2**20
"""Bytes."""
_ID = re.compile(r"[0-9a-f]{1,40}")
_MAC = b',"mac":'
_TICK = 0.05
"""Seconds between two looks whether another call is done."""


class DraftFolder:
    """The drafts of a project."""

    def __init__(self, root: Path, key: bytes) -> None:
        """`key`: this installation's."""
        self._folder, self._key = root / FOLDER, key

    @asynccontextmanager
    async def taken(self, id_: str, begun: AgentDraft) -> AsyncIterator[AgentDraft]:
        """`begun` where `id_` is empty, else the draft of this id.

        Nobody else goes on with it meanwhile, in this process or another: who comes second waits.
        `BadInput` where there is none, or it is of something else than `begun`.
        """
        if not id_:
            yield begun
            return
        path = self._path(id_)
        while True:
            with _opened(path) as file:
                while not locks.take(file):
                    await asyncio.sleep(_TICK)
                if not _lies_at(path, file):  # it was replaced while we waited
                    continue
                draft = self._read(path, file)
                draft.refuse_unlike(begun)
                yield draft
                return

    def keep(self, draft: AgentDraft) -> Path:
        """Write a draft, whole or not at all."""
        make_folder(self._folder)
        path = self._path(draft.id)
        body = draft.model_dump_json(by_alias=True).encode().removesuffix(b"}")
        atomic.write(path, body + _MAC + f'"{seal(body, self._key)}"}}'.encode())
        return path

    def _path(self, id_: str) -> Path:
        if not _ID.fullmatch(id_):
            raise BadInput(
                f"trajectory {id_[:50]!r}: no such one; give the id that record_step told"
            )
        return self._folder / f"{id_}.json"

    def _read(self, path: Path, file: BinaryIO) -> AgentDraft:
        content = file.read(LARGEST)
        body, _, mac = content.rpartition(_MAC)
        if not hmac.compare_digest(mac, f'"{seal(body, self._key)}"}}'.encode()):
            raise BadInput(f"{path}: this installation did not write it so; begin a new trajectory")
        try:
            draft = AgentDraft.model_validate_json(body + b"}")
        except ValidationError:
            raise BadInput(f"{path}: cannot be read; begin a new trajectory") from None
        if draft.id != path.stem:
            raise BadInput(f"{path}: holds trajectory {draft.id}: give that id")
        return draft


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "rb", opener=regular.opener)
    except FileNotFoundError:
        raise BadInput(f"trajectory {path.stem}: not in {FOLDER}/ of the project") from None
    except OSError:
        raise BadInput(f"{path}: cannot be read; begin a new trajectory") from None


def _lies_at(path: Path, file: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
