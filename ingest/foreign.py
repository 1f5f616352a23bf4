"""Files of other systems: what one seems to be, and the documents of which steps are read.

Read are an array of trajectories, a trajectory over several lines, and the graph that the method's
published implementation saves (published.py). Of all else one sentence says what it seems to be.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from regraph_kg.ingest.published import Unread, is_graph, trajectories

MOST_BYTES = 256 * 2**20  # longest document that is read whole
HEAD = 512  # bytes that tell what a file is
SHOWN_FIELDS = 4  # fields that are named where a document is no trajectory
READ = "give Trajectory JSONL (regraph docs trajectory-schema), one object a line"
KINDS = json.loads((Path(__file__).parent / "files.json").read_text(encoding="utf-8"))


def packed(head: bytes, stream: BinaryIO) -> str:
    """What a file of bytes seems to be by its beginning; "" for text."""
    what = next((kind for mark, kind in KINDS["bytes"].items() if head.hex().startswith(mark)), "")
    with suppress(tarfile.TarError, EOFError, OSError, ValueError):
        if what.startswith("compressed") or head[257:262] == b"ustar":
            tarfile.open(fileobj=stream).close()
            what = "a tar archive: unpack it (tar xf) and give the files in it"
    return f"seems to be {what}; {READ}" if what else ""


def text(name: str) -> str:
    """What a file of text without a line of JSON seems to be, by the ending of its name."""
    ending = PurePath(name).suffix.lower()[1:]
    kind = next((what for ends, what in KINDS["endings"].items() if ending in ends.split()), "")
    seems = f", seems to be {kind}" if kind else " in UTF-8"
    return f"no lines of JSON{seems}; {READ}"


def unlike(content: Mapping[str, Any]) -> str:
    """What an object of another system seems to be: without a schema it is hardly a trajectory."""
    kinds = (what for said, what in KINDS["fields"].items() if content.keys() >= set(said.split()))
    fields = ", ".join(f"{key:.40}" for key in list(content)[:SHOWN_FIELDS]) or "no field"
    more = ", .." if len(content) > SHOWN_FIELDS else ""
    seems = "".join(f"seems to be {kind}; " for kind in [*kinds][:1])
    return f'{seems}no trajectory: it has no "schema", only {fields}{more}; {READ}'


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
