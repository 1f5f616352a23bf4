"""The lines of a trace: how they are written, checked and read.

Lines are {"event": .., "key": .., "value": .., "at": .., "sum": .., "mac": ..}; the first is the
header (`RunHeader`, with the schema version and its history). `at` are the run's active seconds,
`sum` is a checksum of the line and all before it, `mac` the same with this installation's key: who
lacks the key can write a trace, but not one of ours. Verdicts in another trace are claims: it is
not resumed, and `regraph learn` judges its codes again.
Not here: what a search makes of them (trace.py).
"""

import hashlib
import hmac
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from regraph_kg import jsonl, regular
from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.graph import (
    Example,
    KnownFailure,
    Neighbourhood,
    Successor,
)
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import RunHeader, SimulationRecord, Stopped
from regraph_kg.search.methods import read_settings

Event = Literal[
    "header",
    "neighbours",
    "examples",
    "nearest",
    "failures",
    "pooled",
    "reply",
    "report",
    "final",
    "record",
    "stop",
]

VALUES: dict[Event, TypeAdapter[Any]] = {
    "header": TypeAdapter(RunHeader),
    "neighbours": TypeAdapter(Neighbourhood),
    "examples": TypeAdapter(tuple[Example, ...]),
    "nearest": TypeAdapter(tuple[Example, ...]),
    "failures": TypeAdapter(tuple[KnownFailure, ...]),
    "pooled": TypeAdapter(tuple[Successor, ...]),
    "reply": TypeAdapter(Reply),
    "report": TypeAdapter(EvalReport),
    "final": TypeAdapter(EvalReport),
    "record": TypeAdapter(SimulationRecord),
    "stop": TypeAdapter(Stopped),
}
"""The type of a line's value."""


class TraceLine(Frozen):
    """One line of a trace; `value` is validated by who reads that kind of event."""

    event: Event
    key: str
    value: Any
    at: float
    sum: str
    mac: str = ""
    """Absent from traces of schema 2."""


def checksum(before: str, body: bytes) -> str:
    """Checksum of a line and all lines before it."""
    return hashlib.sha256(before.encode() + body).hexdigest()[:12]


def mac_of(key: bytes, before: str, body: bytes) -> str:
    """The seal of a line and all lines before it under `key`."""
    return hmac.digest(key, before.encode() + body, "sha256").hex()


def ending(total: str, mac: str) -> bytes:
    """The end of a line, behind its body."""
    return f',"sum":"{total}","mac":"{mac}"}}'.encode()


AS_WRITTEN = "give a trace as this version's regraph optimize wrote it"
"""The remedy for an unreadable trace."""


LONGEST_LINE = 1 << 26
"""Bytes; a file with a longer one is no trace, and is not read into memory to find that out."""


class TraceReader:
    """The whole lines of a trace one by one, in the memory that one of them takes.

    What it says of the file (`size`, `torn`, `ours`) holds of what was read so far.
    """

    def __init__(self, path: Path, key: bytes | None = None) -> None:
        """`key`: this installation's, to know whether the trace is `ours`; else it is not."""
        self.path, self.size, self.torn, self.ours = path, 0, False, key is not None
        self._key = key or b""

    def __iter__(self) -> Iterator[TraceLine]:
        """Its lines; `BadInput` names the one that is none, or was changed."""
        total = mac = ""
        for number, text in enumerate(self._texts(), start=1):
            body = text.rpartition(b',"sum":')[0]
            total, mac = checksum(total, body), mac_of(self._key, mac, body)
            self.ours = self.ours and hmac.compare_digest(text, body + ending(total, mac))
            line = _line(self.path, number, text)
            if line.sum != total:
                raise BadInput(f"{self.path}:{number}: the trace was changed here; {AS_WRITTEN}")
            self.size += len(text) + 1
            yield line
        if self.size == 0:
            _line(self.path, 1, b"")

    def _texts(self) -> Iterator[bytes]:
        """Whole lines without their ends; half a line is cut off where the file ends in it."""
        try:
            with open(self.path, "rb", opener=regular.opener) as file:
                for line in jsonl.raw_lines(file, LONGEST_LINE):
                    self.torn = not line.whole
                    if line.whole:
                        yield line.content
                    elif len(line.content) > LONGEST_LINE:
                        raise BadInput(f"{self.path}: a line is too long; {AS_WRITTEN}")
        except OSError as error:
            raise BadInput(f"{self.path}: {error.strerror}; {AS_WRITTEN}") from None


def read(path: Path) -> tuple[TraceLine, ...]:
    """Every whole line of a trace; `BadInput` names the one that is none."""
    return tuple(TraceReader(path))


def _line(path: Path, number: int, text: bytes) -> TraceLine:
    try:
        return TraceLine.model_validate_json(text)
    except ValidationError:
        old = number == 1 and b'"schema_version":1' in text
        why = "a trace of an older version" if old else "not a line of a trace"
        raise BadInput(f"{path}:{number}: {why}; {AS_WRITTEN}") from None


def read_header(path: Path) -> RunHeader:
    """The header of a trace; `BadInput` where it is not a trace, or of another schema."""
    return header_of(path, next(iter(TraceReader(path))))


def header_of(path: Path, first: TraceLine) -> RunHeader:
    """The header in the first line of the trace `path`; `BadInput` names what is not ours."""
    try:
        return _header(first.value if isinstance(first.value, dict) else {})
    except BadInput as error:
        raise BadInput(f"{path}:1: {error}; {AS_WRITTEN}") from None


def _header(value: dict[str, Any]) -> RunHeader:
    raw = value.get("settings")
    if not isinstance(raw, dict) or "method" not in raw:
        raise BadInput("header field 'settings' is not ours")
    where = "settings."
    try:
        settings = read_settings(raw)
        where = ""
        return RunHeader.model_validate(value | {"settings": settings})
    except ValidationError as error:
        field = where + ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInput(f"header field {field!r} is not ours") from None
