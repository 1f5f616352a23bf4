"""The trace of a run: what it read, asked, was told and learned, one JSON object a line.

A resumed run is the same search again with the trace as memory in front of the outside world: what
was asked before is answered from the file, the rest is asked anew and appended. Every line is
written at once; a line torn by a kill is dropped on the way back in. Not covered: a power failure.

Lines are {"event": .., "key": .., "value": ..}; the first is the header (`RunHeader`, with the
schema version). One process at a time writes a trace (flock).
"""

import fcntl
import json
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.graph import Example, Neighbourhood
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import RunHeader, SimulationRecord
from regraph_kg.search.world import World

Event = Literal["header", "neighbours", "examples", "reply", "report", "final", "record"]
V = TypeVar("V")

_HEADER = TypeAdapter(RunHeader)
_NEIGHBOURS = TypeAdapter(Neighbourhood)
_EXAMPLES = TypeAdapter(tuple[Example, ...])
_REPLY = TypeAdapter(Reply)
_REPORT = TypeAdapter(EvalReport)
_RECORD = TypeAdapter(SimulationRecord)


class Line(Frozen):
    """One line of a trace; `value` is validated by who reads that kind of event."""

    event: Event
    key: str
    value: Any


class Trace:
    """An open trace file: memory and record of a world, keeper of the run's records."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        """Use `create` or `resume`. Takes the file's lock: `BadInput` if another process has it."""
        self.path = path
        self.torn = False
        """Whether half a line was dropped on resuming."""
        self._file = file
        self._memory: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BadInput(f"{path}: another search is writing this trace; wait for it") from None

    @classmethod
    def create(cls, folder: Path, header: RunHeader) -> Self:
        """A new `folder`/<time>-<problem>-<method>-<seed>.jsonl; `ToolError` where it cannot be."""
        time = header.created.translate({ord(mark): None for mark in "-:"})
        stem = f"{time}-{header.problem}-{header.method}-{header.seed}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            trace = cls(*_new_file(folder, stem))
        except OSError as error:
            raise ToolError(f"{folder}: {error.strerror}; choose another folder: --runs") from None
        trace._append("header", "", _HEADER, header)
        return trace

    @classmethod
    def resume(cls, path: Path, header: RunHeader) -> Self:
        """The trace of an earlier run with the same header; its torn last line is cut off.

        Raises `BadInput` naming the first difference, or the line that is not ours.
        """
        refuse_differences(path, read_header(path), header)
        try:
            trace = cls(path, path.open("r+b", buffering=0))
        except OSError as error:
            raise ToolError(f"{path}: {error.strerror}") from None
        content = read(path)
        for line in content.lines[1:]:
            trace._memory[line.event, line.key].append(line.value)
        trace.torn = content.torn
        trace._file.truncate(content.size)
        trace._file.seek(content.size)
        return trace

    def world(self, live: World) -> World:
        """`live`, with this trace as memory in front of it and as record behind it."""
        return World(
            neighbours=lambda technique: self._recall(
                "neighbours", technique, _NEIGHBOURS, lambda: live.neighbours(technique)
            ),
            examples=partial(self._examples, live),
            complete=lambda prompt: self._recall(
                "reply", prompt.key.model_dump_json(), _REPLY, lambda: live.complete(prompt)
            ),
            evaluate=lambda candidate: self._recall(
                "report", code_hash(candidate.code), _REPORT, lambda: live.evaluate(candidate)
            ),
            evaluate_final=lambda candidate: self._recall(
                "final", code_hash(candidate.code), _REPORT, lambda: live.evaluate_final(candidate)
            ),
        )

    def _examples(
        self, live: World, source: str, target: str, code: str = ""
    ) -> tuple[Example, ...]:
        if not code:
            ask, key = partial(live.examples, source, target), f"{source} {target}"
        else:
            ask = partial(live.examples, source, target, code)
            key = f"{source} {target} {code_hash(code)}"
        return self._recall("examples", key, _EXAMPLES, ask)

    def record(self, record: SimulationRecord) -> None:
        """Append `record`, or see it come out as before where the file already holds it."""
        if self._recall("record", "", _RECORD, lambda: record) != record:
            raise BadInput(
                f"{self.path}: iteration {record.iteration} comes out otherwise than it did:"
                " the trace was changed or is of another version; start a new run"
            )

    def close(self) -> None:
        """Close the file; idempotent."""
        self._file.close()

    def __enter__(self) -> Self:
        """Itself, open."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _recall(self, event: Event, key: str, adapter: TypeAdapter[V], ask: Callable[[], V]) -> V:
        """What the same question was answered before, the k-th time the k-th answer; else ask."""
        remembered = self._memory[event, key]
        if remembered:
            return adapter.validate_python(remembered.popleft())
        value = ask()
        self._append(event, key, adapter, value)
        return value

    def _append(self, event: Event, key: str, adapter: TypeAdapter[V], value: V) -> None:
        head = f'{{"event":{json.dumps(event)},"key":{json.dumps(key)},"value":'
        line = head.encode() + adapter.dump_json(value) + b"}\n"
        end = self._file.tell()
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            with suppress(OSError):  # if half a line stays, the next reader drops it
                self._file.truncate(end)
                self._file.seek(end)
            raise ToolError(f"{self.path}: {error.strerror} while tracing; make room") from None


@dataclass(frozen=True, slots=True)
class Content:
    """A trace as read: its whole lines, their bytes, and whether half a line follows them."""

    lines: tuple[Line, ...]
    size: int
    torn: bool


def read(path: Path) -> Content:
    """Every whole line of a trace; `BadInput` names the one that is not ours."""
    try:
        whole, _, rest = path.read_bytes().rpartition(b"\n")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; --resume takes a trace of runs/") from None
    lines = []
    for number, text in enumerate(whole.split(b"\n"), start=1):
        try:
            lines.append(Line.model_validate_json(text))
        except ValidationError:
            raise BadInput(f"{path}:{number}: not a line of a trace; start a new run") from None
    return Content(tuple(lines), size=len(whole) + 1, torn=bool(rest))


def read_header(path: Path) -> RunHeader:
    """What a trace was made with; `BadInput` where it is not a trace, or of another schema."""
    first = read(path).lines[0]
    try:
        return RunHeader.model_validate(first.value)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInput(f"{path}:1: header field {field!r} is not ours; start a new run") from None


def refuse_differences(path: Path, was: RunHeader, now: RunHeader) -> None:
    """Raise `BadInput` naming the first thing in which a run would differ from its trace."""
    old, new = _flat(was), _flat(now)
    for name in old | new:
        if name != "created" and old.get(name) != new.get(name):
            raise BadInput(
                f"{path}: {name} was {old.get(name)!r}, now it is {new.get(name)!r};"
                " resume with what it was, or start a new run"
            )


class RecordedEvaluator:
    """The verdicts of an earlier trace, replayed: no compiler, no GPU, no clock.

    Code that was evaluated more than once gets its last report: a function of the code alone.
    """

    def __init__(self, path: Path, event: Literal["report", "final"]) -> None:
        """Verdicts of the search ("report") or of its finalists ("final") in the trace `path`."""
        self._path = path
        self._reports = {line.key: line.value for line in read(path).lines if line.event == event}

    def __call__(self, candidate: Candidate) -> EvalReport:
        """The report; `ToolError` for code that this trace has none for."""
        key = code_hash(candidate.code)
        if key not in self._reports:
            raise ToolError(
                f"{self._path}: no verdict for code {key}; evaluate it: leave out --judge"
            )
        return _REPORT.validate_python(self._reports[key])


def _flat(header: RunHeader) -> dict[str, object]:
    fields = header.model_dump()
    return {name: value for name, value in fields.items() if name != "settings"} | {
        f"settings.{name}": value for name, value in fields["settings"].items()
    }


def _new_file(folder: Path, stem: str) -> tuple[Path, BinaryIO]:
    """`folder`/`stem`.jsonl, numbered where another search began in the same second."""
    path, number = folder / f"{stem}.jsonl", 1
    while True:
        try:
            return path, path.open("xb", buffering=0)
        except FileExistsError:
            number += 1
            path = folder / f"{stem}.{number}.jsonl"
