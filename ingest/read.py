"""Reads trajectory files line by line; a bad line becomes a `Rejected`, and stops nothing.

Two formats: Trajectory JSONL (models/trajectory.py), and step lists `[{think, method, detail,
code}]`, one list a line, which say neither problem nor target nor serial code: `steps.json.toml`
beside `steps.json` does. That names no file outside its own folder: who wrote it may be a stranger,
and the graph is shared. A pretty-printed file (its first line is a bare bracket) is one document.

An object that has a key twice is refused: readers of JSON differ in which one they take.
"""

import codecs
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.models.base import KEPT, Frozen
from regraph_kg.models.target import Target
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Name, NoteText, Text, Trajectory

MOST_BYTES = 8 * 2**20  # longest accepted line; a longer one is cut, for the report
LONGEST_REASON = 300  # characters
SHOWN_FIELDS = 4  # fields of a line of another system that its reason names
SIDECAR = ".toml"  # suffix of the file beside a step list
_HINT = "write problem, target and serial (a file), a line each: regraph docs ingest"


@dataclass(frozen=True, slots=True)
class InputLine:
    """One line as it is in the file, without its end; `data` is cut where `size` says more."""

    number: int
    data: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """A line that holds a trajectory."""

    line: InputLine
    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line without a trajectory, and the reason in one line."""

    line: InputLine
    reason: str


class FileOrigin(Frozen):
    """The facts that a step list lacks."""

    target: Target
    problem: Name
    serial: str


class _Sidecar(FileOrigin):
    """The file beside a step list."""

    serial: Name  # path of the serial code


class UpstreamStep(BaseModel):
    """One step of a step list; fields that we do not know are ignored, the format is not ours.

    Those that begin with `x_` are kept.
    """

    model_config = ConfigDict(extra="allow")

    think: NoteText
    method: Name
    detail: NoteText
    code: Text


_STEP_LIST = TypeAdapter(list[UpstreamStep])


def sidecar(path: Path) -> Path:
    """Path of the origin file of `path`."""
    return path.with_name(path.name + SIDECAR)


def read_origin(path: Path) -> FileOrigin | None:
    """The origin that stands beside `path`; None where nothing does. `BadInput` for a bad one."""
    beside = sidecar(path)
    try:
        origin = _Sidecar.model_validate(tomllib.loads(beside.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{beside}: {error.strerror}; make it readable, or remove it") from None
    except ValidationError as error:
        raise BadInput(f"{beside}: {first_mistake(error)}; {_HINT}") from None
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, or nested too deeply
        raise BadInput(f"{beside}: not TOML: {error}; {_HINT}") from None
    serial = beside.parent / origin.serial
    # A stranger's file must not send what lies elsewhere on this machine to a shared graph.
    if not serial.resolve().is_relative_to(beside.parent.resolve()):
        raise BadInput(f"{beside}: serial: {origin.serial} is in another folder; put it beside")
    if serial.exists() and not serial.is_file():
        raise BadInput(f"{beside}: serial: {origin.serial} is no file; {_HINT}")
    try:
        code = serial.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{serial}: {error.strerror}; give the serial code's file") from None
    except UnicodeDecodeError:
        raise BadInput(f"{serial}: not UTF-8 text; give the serial code's file") from None
    return FileOrigin(target=origin.target, problem=origin.problem, serial=code)


def split(stream: BinaryIO) -> Iterator[InputLine]:
    """The lines of a file in bounded memory; a pretty-printed file is one line. Blank ones go."""
    number, first = 0, True
    while data := stream.readline(MOST_BYTES + 1):
        number += 1
        size = len(data) + _skipped(stream, data, line=True)
        data = data.removeprefix(codecs.BOM_UTF8)  # files that were put together have several
        # Only the first line: later ones of JSONL that are bare brackets are broken lines.
        if first and data.strip() in (b"[", b"{", b"[{"):
            data += stream.read(MOST_BYTES)
            size = len(data) + _skipped(stream, data, line=False)
        if data := data.strip(b" \t\r\n"):
            first = False
            yield InputLine(number, data, size)


def read(
    lines: Iterable[InputLine], origin: FileOrigin | None = None
) -> Iterator[Accepted | Rejected]:
    """The trajectory of each line. An empty file is rejected as line 1."""
    empty = True
    for line in lines:
        empty = False
        try:
            yield Accepted(line, _trajectory(line, origin))
        except ValidationError as error:
            yield Rejected(line, _one_line(_reason(error, line.data)))
        except BadInput as error:
            yield Rejected(line, _one_line(str(error)))
    if empty:
        yield Rejected(InputLine(1, b"", 0), "the file is empty")


def _trajectory(line: InputLine, origin: FileOrigin | None) -> Trajectory:
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
    _refuse_doubled(line.data)
    if line.data.startswith(b"["):
        return _from_steps(_STEP_LIST.validate_json(line.data, strict=True), origin)
    return Trajectory.model_validate_json(line.data, strict=True)


def _from_steps(steps: list[UpstreamStep], origin: FileOrigin | None) -> Trajectory:
    if origin is None:
        raise BadInput("a step list needs a FILE.toml beside it: regraph docs ingest")
    return Trajectory.model_validate(
        {
            "schema": 1,
            "target": origin.target,
            "problem": origin.problem,
            "serial": origin.serial,
            "steps": [
                {"label": s.method, "reasoning": s.think, "detail": s.detail, "code": s.code}
                | {key: text for key, text in (s.model_extra or {}).items() if key.startswith(KEPT)}
                for s in steps
            ],
        }
    )


def _refuse_doubled(data: bytes) -> None:
    """Raise `BadInput` where an object has a key twice, and say which."""

    def read_object(pairs: list[tuple[str, Any]]) -> None:
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                raise BadInput(f'key "{name:.80}" stands there twice in one object: keep one')

    with suppress(ValueError, RecursionError):  # broken JSON: its reader says what is wrong
        json.loads(data, object_pairs_hook=read_object)


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


def _unlike(content: dict[str, Any]) -> str:
    """What a line of another system seems to be: without a schema it is hardly a trajectory."""
    if {"node", "edge"} <= content.keys():
        return "a graph of nodes and edges, as other programs save it: give trajectories"
    fields = ", ".join(f"{key:.40}" for key in list(content)[:SHOWN_FIELDS])
    more = ", .." if len(content) > SHOWN_FIELDS else ""
    return f'no trajectory: it has no "schema", only {fields or "no field"}{more}'


def _one_line(reason: str) -> str:
    """A reason that names what the line says, however long or hostile that is."""
    text = " ".join(plain(reason).split())
    # The end names what is wrong, the beginning where.
    half = LONGEST_REASON // 2
    return text if len(text) <= LONGEST_REASON else f"{text[:half]} .. {text[-half:]}"


def _skipped(stream: BinaryIO, data: bytes, *, line: bool) -> int:
    """Go on to the next line, or to the end; how many bytes that skipped."""
    size = 0
    while data and not (line and data.endswith(b"\n")):
        data = stream.readline(MOST_BYTES) if line else stream.read(MOST_BYTES)
        size += len(data)
    return size
