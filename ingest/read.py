"""Reads trajectory files line by line; a bad line becomes a `Rejected`, and stops nothing.

The format is Trajectory JSONL (models/trajectory.py): one object a line; an array of them, or one
over several lines, is read likewise. An object that has a key twice is refused: readers of JSON
differ in which one they take.
"""

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

from pydantic import ValidationError

from regraph_kg.errors import BadInput
from regraph_kg.models.text import one_line
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.models.transform import StoredTransform

MOST_BYTES = 8 * 2**20  # longest accepted line; a longer one is cut, for the report
MOST_OF_DOCUMENT = 256 * 2**20  # bytes of the longest document that is read whole
SHOWN_FIELDS = 4  # fields that are named where a document is no trajectory
READ = "give Trajectory JSONL (regraph docs trajectory-schema), one object a line"
NO_JSON = f"no lines of JSON in UTF-8; {READ}"


@dataclass(frozen=True, slots=True)
class InputLine:
    """One line as it is in the file, without its end; `data` is cut where `size` says more."""

    number: int
    data: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Accepted:
    line: InputLine
    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class Brought:
    line: InputLine
    transform: StoredTransform


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line without a trajectory, and the reason in one line; `whole`: it is of the whole file."""

    line: InputLine
    reason: str
    whole: bool = False


Line = Accepted | Brought | Rejected


def split(stream: BinaryIO) -> Iterator[InputLine]:
    """The lines of a file in bounded memory, without blank ones."""
    number = 0
    while data := stream.readline(MOST_BYTES + 1):
        number += 1
        size, rest = len(data), data
        while rest and not rest.endswith(b"\n"):  # the rest of a line that is too long
            rest = stream.readline(MOST_BYTES)
            size += len(rest)
        # files that were put together have several marks
        if data := data.removeprefix(codecs.BOM_UTF8).strip(b" \t\r\n"):
            yield InputLine(number, data, size)


def read_file(stream: BinaryIO) -> Iterator[Line]:
    """The trajectories of a file: lines, or one document."""
    found = _document(stream)
    if isinstance(found, dict) and "schema" not in found:
        yield Rejected(InputLine(1, b"", 0), _unlike(found), whole=True)
        return
    if found is None:
        stream.seek(0)
        yield from read(split(stream))
        return
    for number, one in enumerate(found if isinstance(found, list) else [found], 1):
        line = json.dumps(one, ensure_ascii=False).encode("utf-8", "replace")
        yield from read([InputLine(number, line, len(line))])


def _document(stream: BinaryIO) -> list[Any] | dict[str, Any] | None:
    """The one JSON document that a file is; None where it has a document a line, or none."""
    first = stream.readline(MOST_BYTES + 1)
    with suppress(ValueError, RecursionError):
        if not isinstance(json.loads(first), list):
            return None
    with suppress(ValueError, RecursionError):
        if first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"", b"{", b"["):
            whole = first + stream.read(MOST_OF_DOCUMENT)
            found = json.loads(whole.decode("utf-8-sig"))
            return found if isinstance(found, list | dict) else None
    return None


def _unlike(content: Mapping[str, Any]) -> str:
    """Why an object is hardly a trajectory: it has no schema."""
    fields = ", ".join(f"{key:.40}" for key in list(content)[:SHOWN_FIELDS]) or "no field"
    more = ", .." if len(content) > SHOWN_FIELDS else ""
    return f'no trajectory: it has no "schema", only {fields}{more}; {READ}'


def read(lines: Iterable[InputLine]) -> Iterator[Line]:
    """The trajectory, or the transform, of each line. An empty file is rejected as line 1."""
    empty = True
    for line in lines:
        empty = False
        try:
            yield _read(line)
        except ValidationError as error:
            yield Rejected(line, one_line(_reason(error, line.data)))
        except BadInput as error:
            yield Rejected(line, one_line(str(error)))
    if empty:
        yield Rejected(InputLine(1, b"", 0), "the file is empty")


def _read(line: InputLine) -> Accepted | Brought:
    if len(line.data) > MOST_BYTES:
        raise BadInput(f"longer than {MOST_BYTES:,} bytes: {line.size:,}")
    # Stores and compilers cut text at a NUL byte.
    if b"\0" in line.data:
        raise BadInput(f"NUL byte at byte {line.data.index(0) + 1}")
    try:
        line.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 at byte {error.start + 1}") from None
    # Before pydantic, which takes the last of two keys and says nothing.
    found = _object(line.data)
    if isinstance(found, dict) and "transform" in found:
        return Brought(line, StoredTransform.of_file(found))
    return Accepted(line, Trajectory.model_validate_json(line.data, strict=True))


def _object(data: bytes) -> object:
    """The JSON of a line, None for broken one; `BadInput` where an object has a key twice."""

    def read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                raise BadInput(f'key "{name:.80}" stands there twice in one object: keep one')
        return dict(pairs)

    with suppress(ValueError, RecursionError):  # its reader says what is wrong
        return json.loads(data, object_pairs_hook=read_object)
    return None


def _reason(error: ValidationError, data: bytes) -> str:
    """The first thing that is wrong, the version before all else."""
    errors = sorted(error.errors(), key=lambda entry: entry["loc"] != ("schema",))
    first = errors[0]
    if first["type"] == "json_invalid":
        return f"broken JSON: {first['ctx']['error']}".replace(" at line 1 column", " at column")
    if first["loc"] == ("schema",) and first["type"] == "missing":
        return _unlike(json.loads(data))
    if first["loc"] == ("schema",) and first["type"] == "literal_error":
        return f"unknown schema version {first['input']!r:.40}; this program reads 1"
    place = ".".join(map(str, first["loc"]))
    message = first["msg"].removeprefix("Value error, ")
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}: {message}{more}" if place else f"{message}{more}"
