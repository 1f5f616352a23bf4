"""The trace of a run: what it read, asked, was told and learned, one JSON object a line.

A resumed run is the same search again with the trace as memory in front of the outside world: what
was asked before is answered from the file, in the order in which the answers came, and the rest is
asked anew and appended. Every line is written at once; a line torn by a kill is dropped on the way
back in. Not covered: a power failure.

Its lines: trace_lines.py. One process at a time writes a trace (flock).
"""

import fcntl
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeVar

from pydantic import TypeAdapter
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.graph import (
    Example,
    FreeChoice,
    KnownFailure,
    Neighbourhood,
    Successor,
)
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import RunHeader, SimulationRecord, Stopped
from regraph_kg.private import make_folder, opener
from regraph_kg.search.driver import Executor, Finished
from regraph_kg.search.effects import Effect, ModelRequest, Result
from regraph_kg.search.trace_lines import (
    Event,
    TraceLine,
    checksum,
    ending,
    mac_of,
    read,
    read_header,
)
from regraph_kg.search.world import World

V = TypeVar("V")
TraceClock = Callable[[], float]

_LOOKED_AT = 0.5
"""Seconds within which whoever looks whether a trace is being written is done with it."""
_HEADER = TypeAdapter(RunHeader)
_NEIGHBOURS = TypeAdapter(Neighbourhood)
_EXAMPLES = TypeAdapter(tuple[Example, ...])
_FAILURES = TypeAdapter(tuple[KnownFailure, ...])
_FREE = TypeAdapter(FreeChoice)
_POOLED = TypeAdapter(tuple[Successor, ...])
_REPLY = TypeAdapter(Reply)
_REPORT = TypeAdapter(EvalReport)
_RECORD = TypeAdapter(SimulationRecord)
_STOPPED: TypeAdapter[Stopped] = TypeAdapter(Stopped)


class Trace:
    """An open trace file: memory and record of a world, keeper of the run's records."""

    def __init__(
        self, path: Path, file: BinaryIO, key: bytes, clock: TraceClock = time.monotonic
    ) -> None:
        """Use `create` or `resume`. Takes the file's lock: `BadInput` if another process has it.

        `key` is this installation's; `clock` gives seconds, and never goes back.
        """
        self.path = path
        self.torn = False
        """Whether half a line was dropped on resuming."""
        self._file = file
        self._memory: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        self._came_in: deque[TraceLine] = deque()
        self._key, self._sum, self._mac = key, "", ""
        self._clock, self._sat, self._sat_down = clock, 0.0, clock()
        try:
            _lock(file)
        except BlockingIOError:
            file.close()
            raise BadInput(f"{path}: another search is writing this trace; wait for it") from None

    @classmethod
    def create(
        cls, folder: Path, header: RunHeader, key: bytes, clock: TraceClock = time.monotonic
    ) -> Self:
        """A new `folder`/<time>-<problem>-<method>-<seed>.jsonl; `ToolError` where it cannot be."""
        when = header.created.translate({ord(mark): None for mark in "-:"})
        stem = f"{when}-{header.problem}-{header.method}-{header.seed}"
        try:
            make_folder(folder)
            trace = cls(*_new_file(folder, stem), key, clock)
        except OSError as error:
            raise ToolError(f"{folder}: {error.strerror}; choose another folder: --runs") from None
        trace._append("header", "", _HEADER, header)
        return trace

    @classmethod
    def resume(
        cls, path: Path, header: RunHeader, key: bytes, clock: TraceClock = time.monotonic
    ) -> Self:
        """The trace of an earlier run with the same header; its torn last line is cut off.

        Raises `BadInput` naming the first difference, or the line that is not ours, and for a trace
        that was not written with `key`.
        """
        refuse_differences(path, read_header(path), header)
        try:
            trace = cls(path, path.open("r+b", buffering=0), key, clock)
        except OSError as error:
            raise ToolError(
                f"{path}: {error.strerror}; make it writable, or start a new run"
            ) from None
        content = read(path, key)
        if not content.ours:
            trace.close()
            raise BadInput(
                f"{path}: not written by this installation, so that its times are not believed:"
                " start a new run, or have its codes judged again with regraph learn"
            )
        for line in content.lines[1:]:
            if line.event in ("reply", "report"):
                trace._came_in.append(line)
            else:
                trace._memory[line.event, line.key].append(line.value)
        last = content.lines[-1]
        trace._sum, trace._mac, trace._sat = last.sum, last.mac, last.at
        trace.torn = content.torn
        trace._file.truncate(content.size)
        trace._file.seek(content.size)
        return trace

    def world(self, live: World) -> World:
        """`live`, with this trace as memory in front of what is asked at once, and as its record.

        Replies and verdicts go by `executor`.
        """
        return World(
            neighbours=lambda technique: self._recall(
                "neighbours", technique, _NEIGHBOURS, lambda: live.neighbours(technique)
            ),
            examples=partial(self._examples, live),
            nearest=lambda code: self._recall(
                "nearest", code_hash(code), _EXAMPLES, lambda: live.nearest(code)
            ),
            failures=lambda source, target: self._recall(
                "failures", f"{source} {target}", _FAILURES, lambda: live.failures(source, target)
            ),
            complete=live.complete,
            evaluate=live.evaluate,
            free=lambda: self._recall("free", "", _FREE, live.free),
            pooled=lambda: self._recall("pooled", "", _POOLED, live.pooled),
            evaluate_final=lambda candidate: self._recall(
                "final", code_hash(candidate.code), _REPORT, lambda: live.evaluate_final(candidate)
            ),
        )

    def executor(self, live: Executor) -> Executor:
        """`live`, behind what has come in before: that comes in again first, in its order."""
        return _Again(self, live, self._came_in)

    def append_result(self, effect: Effect, result: Result) -> float:
        """Note what an effect came to; the run's active seconds."""
        event, key = address(effect)
        if isinstance(result, EvalReport):
            return self._append(event, key, _REPORT, result)
        return self._append(event, key, _REPLY, result)

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

    def stop(self, why: Stopped) -> None:
        """Append that the search is over, or see that the file says so already."""
        said = self._memory["stop", ""]
        if not said or said[-1] != why:
            self._append("stop", "", _STOPPED, why)
        said.clear()

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

    def seconds(self) -> float:
        """Active seconds of the run, earlier sittings included; the clock of the wall may jump."""
        return self._sat + self._clock() - self._sat_down

    def _append(self, event: Event, key: str, adapter: TypeAdapter[V], value: V) -> float:
        at = round(self.seconds(), 3)
        head = f'{{"event":{json.dumps(event)},"key":{json.dumps(key)},"value":'
        body = head.encode() + adapter.dump_json(value) + f',"at":{at}'.encode()
        total, mac = checksum(self._sum, body), mac_of(self._key, self._mac, body)
        line = body + ending(total, mac) + b"\n"
        end = self._file.tell()
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            with suppress(OSError):  # if half a line stays, the next reader drops it
                self._file.truncate(end)
                self._file.seek(end)
            raise ToolError(f"{self.path}: {error.strerror} while tracing; make room") from None
        self._sum, self._mac = total, mac
        return at


class _Again:
    """An executor whose first results are those of a trace."""

    def __init__(self, trace: Trace, live: Executor, came_in: deque[TraceLine]) -> None:
        self._trace, self._live, self._came_in = trace, live, came_in
        self._known = Counter((line.event, line.key) for line in came_in)
        self._held: dict[tuple[str, str], list[Effect]] = defaultdict(list)
        self._at = 0.0

    def start(self, effect: Effect) -> None:
        """Begin an effect, unless the trace knows its result."""
        where = address(effect)
        if self._known[where] > 0:
            self._known[where] -= 1
            self._held[where].append(effect)
        else:
            self._live.start(effect)

    def finish(self) -> Finished:
        """The next result of the trace, after its last one the next of the live executor."""
        if self._came_in:
            return self._remembered(self._came_in.popleft())
        finished = self._live.finish()
        if finished.result is not None:
            self._at = self._trace.append_result(finished.effect, finished.result)
        return finished

    def seconds(self) -> float:
        """The run's active seconds when the last effect ended."""
        return self._at

    def _remembered(self, line: TraceLine) -> Finished:
        held = self._held[line.event, line.key]
        if not held:
            raise BadInput(
                f"{self._trace.path}: the search asks for something else than it did: the trace"
                " was changed or is of another version; start a new run"
            )
        self._at = line.at
        adapter: TypeAdapter[Any] = _REPLY if line.event == "reply" else _REPORT
        return Finished(held.pop(0), adapter.validate_python(line.value))


def address(effect: Effect) -> tuple[Event, str]:
    """Event and key of an effect's line."""
    if isinstance(effect, ModelRequest):
        return "reply", effect.prompt.key.model_dump_json()
    return "report", code_hash(effect.candidate.code)


def refuse_differences(path: Path, was: RunHeader, now: RunHeader) -> None:
    """Raise `BadInput` naming the first thing in which a run would differ from its trace.

    It may be more patient, or reach nearer to the roof: then it goes on where it ended.
    """
    old, new = _flat(was), _flat(now)
    free = {"created", *_later(was.limits, now.limits)}
    for name in old | new:
        if name not in free and old.get(name) != new.get(name):
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
        self.known = frozenset(self._reports)
        """Hashes of the codes that it has a report of."""

    def __call__(self, candidate: Candidate, _: float | None = None) -> EvalReport:
        """The report; `ToolError` for code that this trace has none for."""
        key = code_hash(candidate.code)
        if key not in self._reports:
            raise ToolError(
                f"{self._path}: no verdict for code {key}; evaluate it: leave out run.judge"
            )
        return _REPORT.validate_python(self._reports[key])


def _later(was: SearchLimits, now: SearchLimits) -> Iterator[str]:
    """The fields that end a run no earlier than they did."""
    ends = {
        "patience": (was.patient_calls, now.patient_calls),
        "stop_at_roof": (was.stop_at_roof, now.stop_at_roof),
    }
    for name, (old, new) in ends.items():
        if old is not None and (new is None or new >= old):
            yield f"limits.{name}"


def _flat(header: RunHeader) -> dict[str, object]:
    """Every field by its dotted name."""
    nested = header.model_dump()
    found: dict[str, object] = {}
    for name, value in nested.items():
        parts = value if isinstance(value, dict) else {"": value}
        found |= {f"{name}.{part}".rstrip("."): one for part, one in parts.items()}
    return found


def _new_file(folder: Path, stem: str) -> tuple[Path, BinaryIO]:
    """`folder`/`stem`.jsonl, numbered where another search began in the same second."""
    path, number = folder / f"{stem}.jsonl", 1
    while True:
        try:
            return path, open(path, "xb", buffering=0, opener=opener)
        except FileExistsError:
            number += 1
            path = folder / f"{stem}.{number}.jsonl"


@retry(
    retry=retry_if_exception_type(BlockingIOError),
    stop=stop_after_delay(_LOOKED_AT),
    wait=wait_fixed(_LOOKED_AT / 50),
    reraise=True,
)
def _lock(file: BinaryIO) -> None:
    """Whoever asks whether a trace is being written (overview.py) has it for an instant."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
