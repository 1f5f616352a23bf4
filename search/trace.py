"""The trace of a run: its reads, questions, answers and records, one JSON object a line.

A resumed run is the same search again with the trace as memory in front of the outside world: the
file answers earlier questions, in the order of their answers, and new questions are asked and
appended. Every line is written at once; a line torn by a kill is dropped on resuming. Not covered:
a power failure.

One process at a time writes a trace (flock). Not here: its lines, and how it is read
(run_record.py).
"""

import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self

from regraph_kg import locks, regular
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.evaluation import code_hash
from regraph_kg.models.prompt import Prompt
from regraph_kg.models.run import RunHeader, SimulationRecord, Stopped
from regraph_kg.private import make_folder, opener
from regraph_kg.search import run_record
from regraph_kg.search.driver import Executor, Finished
from regraph_kg.search.world import Effect, ModelRequest, Result, World

TraceClock = Callable[[], float]

_LOOKED_AT = 0.5  # seconds that a look at a trace's lock may take


class Trace(AbstractContextManager["Trace"]):
    """An open trace file: memory and record of a world, keeper of the run's records."""

    def __init__(
        self, path: Path, file: BinaryIO, key: bytes, clock: TraceClock = time.monotonic
    ) -> None:
        """Use `create` or `resume`. Takes the file's lock: `BadInput` if another process has it.

        `key` is this installation's; `clock` gives seconds, and never goes back.
        """
        self.path = path
        self._memory: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        self._results: deque[run_record.TraceLine] = deque()
        self.torn = False  # whether half a line was dropped on resuming
        self._file = file
        self._key, self._sum, self._mac = key, "", ""
        self._clock, self._earlier, self._opened = clock, 0.0, clock()
        # two writers would mix their lines, and neither could be resumed
        if not locks.take(file, seconds=_LOOKED_AT):  # who looks (`locks.is_held`) has it, too
            file.close()
            raise BadInput(f"{path}: another search is writing this trace; wait for it")

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
        trace._append("header", "", header)
        return trace

    @classmethod
    def resume(
        cls, path: Path, header: RunHeader, key: bytes, clock: TraceClock = time.monotonic
    ) -> Self:
        """The trace of an earlier run with the same header; its torn last line is cut off.

        Raises `BadInput` naming the first difference, or the line that is not ours, and for a trace
        that was not written with `key`.
        """
        _refuse_differences(path, run_record.read_header(path), header)
        try:
            file = open(path, "r+b", buffering=0, opener=regular.opener)  # noqa: SIM115
            trace = cls(path, file, key, clock)
        except OSError as error:
            raise ToolError(
                f"{path}: {error.strerror}; make it writable, or start a new run"
            ) from None
        try:
            trace._go_on(run_record.TraceReader(path, key))
        except BaseException:
            trace.close()
            raise
        return trace

    def _go_on(self, reader: run_record.TraceReader) -> None:
        """Remember what the file holds, and stand behind its last whole line."""
        lines = tuple(reader)
        if not reader.ours:
            raise BadInput(
                f"{self.path}: not written by this installation, so that its times are not"
                " believed: start a new run"
            )
        for line in lines[1:]:
            if line.event in ("reply", "report"):
                # these came in one by one: their order is the course of the search
                self._results.append(line)
            else:
                self._memory[line.event, line.key].append(line.value)
        last = lines[-1]
        self._sum, self._mac, self._earlier = last.sum, last.mac, last.at
        self.torn = reader.torn
        # what stands behind the last whole line was never answered for
        self._file.truncate(reader.size)
        self._file.seek(reader.size)

    def record(self, record: SimulationRecord) -> None:
        """Append `record`, or see it come out as before where the file already holds it."""
        if self._recall("record", "", lambda: record) != record:
            raise BadInput(
                f"{self.path}: iteration {record.iteration} comes out otherwise than it did:"
                " the trace was changed or is of another version; start a new run"
            )

    def stop(self, why: Stopped) -> None:
        """Append that the search is over, unless the file says so already."""
        self._recall("stop", "", lambda: why)

    def close(self) -> None:
        """Close the file; idempotent."""
        self._file.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def seconds(self) -> float:
        """Active seconds of the run, earlier sittings included; the clock of the wall may jump."""
        return self._earlier + self._clock() - self._opened

    def world(self, live: World) -> World:
        """`live`, with this trace as memory and record; replies and verdicts go by `executor`."""
        return World(
            neighbours=lambda technique: self._recall(
                "neighbours", technique, lambda: live.neighbours(technique)
            ),
            complete=live.complete,
            evaluate=live.evaluate,
            pooled=lambda: self._recall("pooled", "", live.pooled),
            transforms=lambda: self._recall("transforms", "", live.transforms),
            evaluate_final=lambda candidate: self._recall(
                "final", code_hash(candidate.code), lambda: live.evaluate_final(candidate)
            ),
        )

    def executor(self, live: Executor) -> Executor:
        """`live`, behind what has come in before: that comes in again first, in its order."""
        return _Replay(self, live, self._results)

    def append_result(self, effect: Effect, result: Result) -> float:
        """Note what an effect came to, with the prompt of a call; the run's active seconds."""
        prompt = effect.prompt if isinstance(effect, ModelRequest) else None
        return self._append(*address(effect), result, prompt)

    def _recall(self, event: str, key: str, ask: Callable[[], Any]) -> Any:
        """The recorded k-th answer to the k-th equal question; else ask."""
        remembered = self._memory[event, key]
        if remembered:
            return run_record.VALUES[event].validate_python(remembered.popleft())
        value = ask()
        self._append(event, key, value)
        return value

    def _append(self, event: str, key: str, value: object, prompt: Prompt | None = None) -> float:
        """Write a line; the run's active seconds."""
        at = round(self.seconds(), 3)
        head = f'{{"event":{json.dumps(event)},"key":{json.dumps(key)},"value":'
        body = head.encode() + run_record.VALUES[event].dump_json(value)
        if prompt is not None:
            asked = run_record.AskedPrompt(system=prompt.system, user=prompt.user)
            body += b',"prompt":' + asked.model_dump_json().encode()
        body += f',"at":{at}'.encode()
        total, mac = (
            run_record.checksum(self._sum, body),
            run_record.mac_of(self._key, self._mac, body),
        )
        line = body + run_record.ending(total, mac) + b"\n"
        end = self._file.tell()
        # a write may take a part only; half a line would be read as a torn end
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


class _Replay:
    """An executor whose first results are those of a trace."""

    def __init__(self, trace: Trace, live: Executor, results: deque[run_record.TraceLine]) -> None:
        self._trace, self._live, self._results = trace, live, results
        self._known = Counter((line.event, line.key) for line in results)
        self._started: dict[tuple[str, str], list[Effect]] = defaultdict(list)

    def start(self, effect: Effect) -> None:
        """Begin an effect, unless the trace knows its result."""
        where = address(effect)
        # the k-th equal question gets the k-th recorded result
        if self._known[where] > 0:
            self._known[where] -= 1
            self._started[where].append(effect)
        else:
            self._live.start(effect)

    def finish(self) -> Finished:
        """The next result of the trace, after its last one the next of the live executor."""
        if self._results:
            return self._remembered(self._results.popleft())
        finished = self._live.finish()
        if finished.result is None:
            return finished
        return replace(finished, at=self._trace.append_result(finished.effect, finished.result))

    def _remembered(self, line: run_record.TraceLine) -> Finished:
        effects = self._started[line.event, line.key]
        if not effects:
            raise BadInput(
                f"{self._trace.path}: the search asks for something else than it did: the trace"
                " was changed or is of another version; start a new run"
            )
        value = run_record.VALUES[line.event].validate_python(line.value)
        return Finished(effects.pop(0), value, line.at)


def address(effect: Effect) -> tuple[str, str]:
    """Event and key of an effect's line."""
    if isinstance(effect, ModelRequest):
        return "reply", effect.prompt.key.model_dump_json()
    return "report", code_hash(effect.candidate.code)


def _refuse_differences(path: Path, was: RunHeader, now: RunHeader) -> None:
    """Raise `BadInput` naming the first thing in which a run would differ from its trace."""
    old, new = was.model_dump(exclude={"created"}), now.model_dump(exclude={"created"})
    for group, value in new.items():
        # settings, prompting and limits are named by their fields
        before, after = {"": old[group]}, {"": value}
        if isinstance(value, dict):
            before, after = old[group], value
        for name in after | before:
            if before.get(name) != after.get(name):
                raise BadInput(
                    f"{path}: {f'{group}.{name}'.rstrip('.')} was {before.get(name)!r}, now it is"
                    f" {after.get(name)!r}; resume with what it was, or start a new run"
                )


def _new_file(folder: Path, stem: str) -> tuple[Path, BinaryIO]:
    """`folder`/`stem`.jsonl, numbered where another search began in the same second."""
    path, number = folder / f"{stem}.jsonl", 1
    while True:
        try:
            return path, open(path, "xb", buffering=0, opener=opener)
        except FileExistsError:
            number += 1
            path = folder / f"{stem}.{number}.jsonl"
