"""The trace of a run: what it read, asked, was told and learned, one JSON object a line.

A resumed run is the same search again with the trace as memory in front of the outside world: what
was asked before is answered from the file, the rest is asked anew and appended. Every line is
written at once; a line torn by a kill is dropped on the way back in. Not covered: a power failure.

Lines: {"event": .., "key": .., "value": ..}; the first is the header (`RunHeader`, which carries the
schema version). One process at a time writes a trace (flock).
"""

import errno
import fcntl
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.graph import Example, Neighbourhood
from regraph_kg.models.prompt import Prompt, Reply
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
_MAY_DIFFER = {"version", "created"}


class Trace:
    """An open trace file: wraps a world, takes records, remembers what the file already holds."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        """Use `create` or `resume`."""
        self.path = path
        self.note = ""
        """What was odd about the file, for the user; empty when nothing was."""
        self._file = file
        self._memory: Mapping[tuple[str, str], deque[Any]] = {}
        self._records: deque[SimulationRecord] = deque()

    @classmethod
    def create(cls, folder: Path, header: RunHeader) -> Self:
        """A new trace `folder`/<time>-<problem>-<method>-<seed>.jsonl; `ToolError` if it cannot."""
        stem = "-".join(
            [
                header.created.replace("-", "").replace(":", ""),
                Path(header.problem).name,
                header.method,
                str(header.seed),
            ]
        )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            trace = cls(*_new_file(folder, stem))
        except OSError as error:
            raise ToolError(f"{folder}: {error.strerror}; choose another folder: --runs") from None
        trace._append("header", "", _HEADER, header)
        return trace

    @classmethod
    def resume(cls, path: Path, header: RunHeader) -> Self:
        """The trace of an earlier, interrupted run with the same header.

        Raises `BadInput` naming the first difference, or the line that is not ours.
        """
        _refuse_differences(path, read_header(path), header)
        try:
            file = path.open("r+b", buffering=0)
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}") from None
        trace = cls(path, file)
        trace._lock()
        trace._remember()
        return trace

    def world(self, live: World) -> World:
        """`live`, with this trace as memory in front of it and as record behind it."""
        return World(
            neighbours=lambda technique: self._recall(
                "neighbours", technique, _NEIGHBOURS, lambda: live.neighbours(technique)
            ),
            examples=lambda source, target: self._recall(
                "examples", f"{source} {target}", _EXAMPLES, lambda: live.examples(source, target)
            ),
            complete=lambda prompt: self._recall(
                "reply", _prompt_id(prompt), _REPLY, lambda: live.complete(prompt)
            ),
            evaluate=lambda candidate: self._recall(
                "report", code_hash(candidate.code), _REPORT, lambda: live.evaluate(candidate)
            ),
            evaluate_final=lambda candidate: self._recall(
                "final", code_hash(candidate.code), _REPORT, lambda: live.evaluate_final(candidate)
            ),
        )

    def record(self, record: SimulationRecord) -> None:
        """Append `record`, or see it come out as before where the trace already has it."""
        if not self._records:
            self._append("record", "", _RECORD, record)
        elif self._records.popleft() != record:
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

    def _recall(
        self, event: Event, key: str, adapter: TypeAdapter[V], ask: Callable[[], V]
    ) -> V:
        """The value that the same question got before, the k-th time the k-th; else ask it."""
        remembered = self._memory.get((event, key))
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
            self._cut(end)
            raise ToolError(
                f"{self.path}: {error.strerror} while tracing; nothing is lost: make room"
            ) from None

    def _cut(self, end: int) -> None:
        """Drop half a line; if even that fails, the next reader drops it."""
        try:
            self._file.truncate(end)
        except OSError:
            return

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise BadInput(f"{self.path}: another search is writing this trace") from None
            raise ToolError(f"{self.path}: cannot lock: {error.strerror}") from None
