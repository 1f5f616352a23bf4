"""Files of other systems: what one seems to be, and the documents of which steps are read.

Read are an array of trajectories, a trajectory over several lines, and the graph that the method's
published implementation saves (published.py). Of all else one sentence says what it seems to be.
"""

import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any, BinaryIO

from regraph_kg.ingest.published import GRAPH, Unread, trajectories

MOST_BYTES = 256 * 2**20  # longest document that is read whole
HEAD = 512  # bytes that tell what a file is
SHOWN_FIELDS = 4  # fields that are named where a document is no trajectory
READ = "give Trajectory JSONL (regraph docs trajectory-schema), one object a line"
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")
MARKS = {
    b"PK\x03\x04": "a zip archive: unpack it and give what is in it",
    b"7z\xbc\xaf": "a 7z archive: unpack it and give what is in it",
    b"Rar!": "a RAR archive: unpack it and give what is in it",
    **dict.fromkeys(PACKED, "a compressed file: unpack it (gunzip, bunzip2, unxz, unzstd)"),
    b"PAR1": "a Parquet table: write its rows as JSON lines",
    b"ARROW1": "an Arrow table: write its rows as JSON lines",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x7fELF": "a compiled program",
    b"%PDF": "a PDF document",
    b"\x80\x04\x95": "a Python pickle",
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16 text: write it as UTF-8 (iconv)"),
}
ENDINGS = {
    **dict.fromkeys((".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08"), "a Fortran source"),
    **dict.fromkeys((".csv", ".tsv"), "a table"),
    **dict.fromkeys(
        (".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hpp"),
        "a source file: regraph problem new takes a function of it in",
    ),
    ".py": "a Python source",
    ".md": "a page of text",
    **dict.fromkeys((".yaml", ".yml", ".toml"), "a file of settings"),
    **dict.fromkeys((".html", ".xml"), "a page"),
}
KINDS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(fields.split()), what)
    for fields, what in (
        ("cells nbformat", "a notebook"),
        ("messages", "a conversation, as chat models are trained on"),
        ("conversations", "a conversation, as chat models are trained on"),
        ("instruction output", "a question with its answer, as models are trained on"),
        ("prompt completion", "a question with its answer, as models are trained on"),
        ("task_id", "a task of a benchmark"),
        ("custom_id", "a question or answer of a batch (regraph optimize --model batch:FOLDER)"),
        ("event key value", "a search's trace: regraph learn FILE reads it"),
        ("choices", "an answer of a model's server"),
        ("think method code", "a step of a list: regraph docs ingest says how it becomes a line"),
        ("kernel", "a kernel without steps"),
        ("code", "a code without steps"),
        ("line reason", "a list of rejected lines"),
    )
)


def packed(head: bytes, stream: BinaryIO) -> str:
    """What a file of bytes seems to be by its beginning; "" for text."""
    what = next((words for mark, words in MARKS.items() if head.startswith(mark)), "")
    with suppress(tarfile.TarError, EOFError, OSError, ValueError):
        if head.startswith(PACKED) or head[257:262] == b"ustar":
            tarfile.open(fileobj=stream).close()
            what = "a tar archive: unpack it (tar xf) and give the files in it"
    return f"seems to be {what}; {READ}" if what else ""


def text(name: str, head: bytes) -> str:
    """What a file of text without a line of JSON seems to be, by the ending of its name."""
    kind = ENDINGS.get(PurePath(name).suffix.lower())
    seems = f"no lines of JSON, seems to be {kind}" if kind else "no lines of JSON in UTF-8"
    return f"{seems}; {READ}"


def unlike(content: Mapping[str, Any]) -> str:
    """What an object of another system seems to be: without a schema it is hardly a trajectory."""
    kind = next((what for fields, what in KINDS if fields <= content.keys()), "")
    fields = ", ".join(f"{key:.40}" for key in list(content)[:SHOWN_FIELDS])
    more = ", .." if len(content) > SHOWN_FIELDS else ""
    said = f'no trajectory: it has no "schema", only {fields or "no field"}{more}; {READ}'
    return f"seems to be {kind}; {said}" if kind else said


def document(stream: BinaryIO, longest_line: int) -> list[Any] | dict[str, Any] | None:
    """The one JSON document that a file is; None where it has a document a line, or none."""
    first = stream.readline(longest_line + 1)
    with suppress(ValueError, RecursionError):
        found = json.loads(first)
        if not isinstance(found, list) and not (isinstance(found, dict) and GRAPH.holds(found)):
            return None
    with suppress(ValueError, RecursionError):
        if first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"", b"{", b"["):
            whole = first + stream.read(MOST_BYTES)
            found = json.loads(whole.decode("utf-8-sig"))
            return found if isinstance(found, list | dict) else None
    return None


def parts(found: list[Any] | dict[str, Any]) -> Iterator[bytes | Unread]:
    """The lines that a document would be as Trajectory JSONL, and what of it cannot be read."""
    if isinstance(found, dict) and GRAPH.holds(found):
        yield from trajectories(found)
        return
    for one in found if isinstance(found, list) else [found]:
        yield json.dumps(one, ensure_ascii=False).encode("utf-8", "replace")
