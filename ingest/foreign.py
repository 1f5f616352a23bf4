"""Files of other systems: the documents of which steps are read, and a sentence for all else.

Read are an array of trajectories, a trajectory over several lines, and the graph that the method's
published implementation saves (published.py).
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from regraph_kg.ingest.published import Unread, is_graph, trajectories

MOST_BYTES = 256 * 2**20  # longest document that is read whole
SHOWN_FIELDS = 4  # fields that are named where a document is no trajectory
READ = "give Trajectory JSONL (regraph docs trajectory-schema), one object a line"
NO_JSON = f"no lines of JSON in UTF-8; {READ}"


def unlike(content: Mapping[str, Any]) -> str:
    """Why an object is hardly a trajectory: it has no schema."""
    fields = ", ".join(f"{key:.40}" for key in list(content)[:SHOWN_FIELDS]) or "no field"
    more = ", .." if len(content) > SHOWN_FIELDS else ""
    return f'no trajectory: it has no "schema", only {fields}{more}; {READ}'


def document(stream: BinaryIO, longest_line: int) -> list[Any] | dict[str, Any] | None:
    """The one JSON document that a file is; None where it has a document a line, or none."""
    first = stream.readline(longest_line + 1)
    with suppress(ValueError, RecursionError):
        found = json.loads(first)
        if not isinstance(found, list) and not (is_graph(found)):
            return None
    with suppress(ValueError, RecursionError):
        if first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"", b"{", b"["):
            whole = first + stream.read(MOST_BYTES)
            found = json.loads(whole.decode("utf-8-sig"))
            return found if isinstance(found, list | dict) else None
    return None


def parts(found: list[Any] | dict[str, Any]) -> Iterator[bytes | Unread]:
    """The lines that a document would be as Trajectory JSONL, and what of it cannot be read."""
    if is_graph(found):
        yield from trajectories(found)
        return
    for one in found if isinstance(found, list) else [found]:
        yield json.dumps(one, ensure_ascii=False).encode("utf-8", "replace")
