"""The list of a file's rejected lines beside it: number, reason, and the line itself.

A row holds `text` where the line is UTF-8, else `base64` of its bytes. A too long line keeps only
its beginning; `bytes` is its length. Under limited disclosure rows have only number and reason.
"""

import base64
import codecs
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

from regraph_kg import atomic
from regraph_kg.errors import Environment, file_errors
from regraph_kg.ingest.read import MOST_BYTES, Rejected

REJECTED = ".rejected.jsonl"
KEPT_BYTES = 2**16
"""Bytes of a too long line that are kept."""
SPOOLED = 2**20
"""Bytes of a list that stay in memory."""


def room() -> SpooledTemporaryFile[str]:
    """A temporary file for the rejected lines of one file; a kill leaves no litter."""
    return SpooledTemporaryFile(SPOOLED, "w+", encoding="utf-8")


def keep(rejected: Sequence[Rejected], listing: IO[str], *, verbatim: bool) -> None:
    """Add rows to a file's list; the text of lines only if `verbatim`."""
    for line in rejected:
        row = {"line": line.line.number, "reason": line.reason}
        row |= _verbatim(line) if verbatim else {}
        listing.write(json.dumps(row, ensure_ascii=False) + "\n")


def _verbatim(line: Rejected) -> dict[str, str | int]:
    data, size = line.line.data, line.line.size
    row: dict[str, str | int] = {}
    if size > MOST_BYTES:
        data, row = data[:KEPT_BYTES], {"bytes": size}
    try:  # not final: drops a character that the cut has split
        return row | {"text": codecs.getincrementaldecoder("utf-8")().decode(data, final=not row)}
    except UnicodeDecodeError:
        return row | {"base64": base64.b64encode(data).decode("ascii")}


def is_json(first: Rejected) -> bool:
    """Whether a file's first rejected line was meant to be JSON, or is an empty file's."""
    return first.line.data[:1] in (b"", b"{", b"[")


def publish(listing: IO[str], path: Path) -> list[Path]:
    """Write the list, or remove an outdated one; return its path, if any."""
    listing.seek(0)
    remedy = "the good lines are in the graph, the list of the rejected ones is lost: make room"
    with file_errors(path, f"{remedy} for it and run the same command again", Environment):
        if not listing.read(1):
            path.unlink(missing_ok=True)
            return []
        listing.seek(0)
        with atomic.replacing(path) as file:
            file.writelines(map(str.encode, listing))
    return [path]
