"""A run as its trace records it, read once: steps, answers, verdicts, and its state.

Whoever looks at a run looks at this: what it teaches (harvest.py), pages, tables, agents. It
holds answers and codes, and nothing of the graph.

A trace's lines are {"event": .., "key": .., "value": .., "at": .., "sum": .., "mac": ..}; the first
is the header (`RunHeader`). `at` are the run's active seconds, `sum` is a checksum of the line and
all before it, `mac` the same with this installation's key: who lacks the key can write a trace, but
not one of ours. Not here: writing one, and going on with a run (trace.py).
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter, ValidationError

from regraph_kg import jsonl, locks, regular
from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import EvalReport, code_hash
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.prompt import PromptKey, PromptText, Reply
from regraph_kg.models.run import Cost, RunHeader, RunSummary, SimulationRecord, StepRecord, Stopped
from regraph_kg.search import final_answer
from regraph_kg.search.ledger import Ledger, price
from regraph_kg.search.methods import read_settings

SCHEMA: int = RunHeader.model_fields["schema_version"].default
# What a header holds of a choice as it is.
OF_CHOICE = ("settings", "prompting", "limits", "parallel", "final", "seed", "graph")
VALUES: dict[str, TypeAdapter[Any]] = {
    "header": TypeAdapter(RunHeader),
    "neighbours": TypeAdapter(Neighbourhood),
    "pooled": TypeAdapter(tuple[Successor, ...]),
    "transforms": TypeAdapter(dict[str, tuple[str, ...]]),
    "reply": TypeAdapter(Reply),
    "report": TypeAdapter(EvalReport),
    "final": TypeAdapter(EvalReport),
    "record": TypeAdapter(SimulationRecord),
    "stop": TypeAdapter(Stopped),
}
"""The type of a line's value, by its event."""
# Events that only a search that has come to its end leaves; none where calls ran out, and nothing
# was faster than the serial code.
ENDS = ("final", "stop")
RunState = Literal["finished", "running", "measuring the best again", "not finished"]

_ANY: TypeAdapter[object] = TypeAdapter(object)
_READ = ("reply", "report", "final", "record", "stop")
_TIMED = ("reply", "report", "record")
# The remedy for an unreadable trace.
AS_WRITTEN = "give a trace as this version's regraph optimize wrote it"
# Bytes; a file with a longer one is no trace, and is not read into memory to find that out.
LONGEST_LINE = 1 << 26


class AskedPrompt(Frozen):
    system: PromptText
    user: PromptText


class TraceLine(Frozen):
    """One line of a trace; `value` is validated by who reads that kind of event."""

    event: str
    key: str
    value: Any
    prompt: AskedPrompt | None = None  # the question that a "reply" answers
    at: float
    sum: str
    mac: str


def checksum(before: str, body: bytes) -> str:
    """Checksum of a line and all lines before it."""
    return hashlib.sha256(before.encode() + body).hexdigest()[:12]


def mac_of(key: bytes, before: str, body: bytes) -> str:
    """The seal of a line and all lines before it under `key`."""
    return hmac.digest(key, before.encode() + body, "sha256").hex()


def ending(total: str, mac: str) -> bytes:
    """The end of a line, behind its body."""
    return f',"sum":"{total}","mac":"{mac}"}}'.encode()


class TraceReader:
    """The whole lines of a trace one by one, in the memory that one of them takes.

    What it says of the file (`size`, `torn`, `ours`) holds of what was read so far.
    """

    def __init__(self, path: Path, key: bytes | None = None) -> None:
        """`key`: this installation's, to know whether the trace is `ours`; else it is not."""
        self.path, self.size, self.torn, self.ours = path, 0, False, key is not None
        self._key = key or b""

    def __iter__(self) -> Iterator[TraceLine]:
        """Its lines; `BadInput` names the one that is none, or was changed."""
        total = mac = ""
        for number, text in enumerate(self._texts(), start=1):
            body = text.rpartition(b',"sum":')[0]
            total, mac = checksum(total, body), mac_of(self._key, mac, body)
            # constant time: how much of a forged seal is right must not show
            self.ours = self.ours and hmac.compare_digest(text, body + ending(total, mac))
            # a changed line is refused, one sealed by others is only not ours
            line = _line(self.path, number, text)
            if line.sum != total:
                raise BadInput(f"{self.path}:{number}: the trace was changed here; {AS_WRITTEN}")
            self.size += len(text) + 1
            yield line
        if self.size == 0:
            _line(self.path, 1, b"")

    def _texts(self) -> Iterator[bytes]:
        """Whole lines without their ends; half a line is cut off where the file ends in it."""
        try:
            with open(self.path, "rb", opener=regular.opener) as file:
                for line in jsonl.raw_lines(file, LONGEST_LINE):
                    self.torn = not line.whole
                    if line.whole:
                        yield line.content
                    elif len(line.content) > LONGEST_LINE:
                        raise BadInput(f"{self.path}: a line is too long; {AS_WRITTEN}")
        except OSError as error:
            raise BadInput(f"{self.path}: {error.strerror}; {AS_WRITTEN}") from None


def _line(path: Path, number: int, text: bytes) -> TraceLine:
    try:
        line = TraceLine.model_validate_json(text)
    except ValidationError:
        line = None
    if line is None or line.event not in VALUES:
        raise BadInput(f"{path}:{number}: not a line of a trace; {AS_WRITTEN}")
    return line


def read_header(path: Path) -> RunHeader:
    """The header of a trace; `BadInput` where it is not a trace, or of another schema."""
    return header_of(path, next(iter(TraceReader(path))))


def header_of(path: Path, first: TraceLine) -> RunHeader:
    """The header in the first line of the trace `path`; `BadInput` names what is not ours."""
    value = first.value if isinstance(first.value, dict) else {}
    raw, schema = value.get("settings"), value.get("schema_version")
    # before anything else is looked at: an old header fails in fields that its user never set
    if isinstance(schema, int) and schema < SCHEMA:
        raise BadInput(
            f"{path}: a trace of regraph-kg {value.get('version', '?')} (schema {schema}), of which"
            f" this one (schema {SCHEMA}) reads none; finish and learn from it with that version"
        )
    wrong, where = "settings", "settings."
    if isinstance(raw, dict) and "method" in raw:
        try:
            settings = read_settings(raw)
            where = ""
            return RunHeader.model_validate(value | {"settings": settings})
        except BadInput as error:
            raise BadInput(f"{path}:1: {error}; {AS_WRITTEN}") from None
        except ValidationError as error:
            wrong = where + ".".join(map(str, error.errors()[0]["loc"]))
    raise BadInput(f"{path}:1: header field {wrong!r} is not ours; {AS_WRITTEN}")


@dataclass(frozen=True, slots=True, eq=False)
class TracedStep:
    step: StepRecord
    call: int  # calls that had ended when it was recorded
    at: float  # active seconds then


@dataclass(frozen=True)
class RunRecord:
    id: str  # independent of the file's place and name, and of later fields
    header: RunHeader
    records: tuple[SimulationRecord, ...]
    reports: Mapping[str, EvalReport]  # the last one of each code, by its hash; screening grade
    finals: Mapping[str, EvalReport]  # the finalists' reports, likewise; full grade
    ended: bool  # whether the search came to its end; the best may not be measured again yet
    ours: bool = True  # whether this installation wrote it; else what it measured is a claim
    replies: tuple[tuple[PromptKey, Reply], ...] = ()
    prompts: Mapping[PromptKey, AskedPrompt] = field(default_factory=dict)  # the replies' questions
    times: tuple[float, ...] = ()  # active seconds at each record
    stopped: Stopped | None = None
    seconds: float = 0.0  # active ones
    torn: bool = False  # whether half a line at its end was left out
    size: int = 0  # bytes of its whole lines
    path: Path = field(default=Path(), compare=False)

    @classmethod
    def read(cls, path: Path, key: bytes | None = None) -> Self:
        """The run in the trace `path`; `BadInput` where it is no trace, names the line.

        `key`: this installation's, to know whether it wrote it.
        """
        reader = TraceReader(path, key)
        lines = iter(reader)
        first = next(lines)
        header = header_of(path, first)
        values: dict[str, dict[str, Any]] = {"report": {}, "final": {}}
        prompts: dict[PromptKey, AskedPrompt] = {}
        replies, records = list[tuple[PromptKey, Reply]](), list[SimulationRecord]()
        times, last, seconds, stopped = list[float](), "", 0.0, None
        for number, line in enumerate(lines, start=2):
            if line.event not in _READ:
                continue
            try:
                value = VALUES[line.event].validate_python(line.value)
                asked = PromptKey.model_validate_json(line.key) if line.event == "reply" else None
            except ValidationError:
                raise BadInput(
                    f"{path}:{number}: no search writes such a line; {AS_WRITTEN}"
                ) from None
            if asked is not None:
                replies.append((asked, value))
                prompts |= {asked: line.prompt} if line.prompt is not None else {}
            elif line.event == "record":
                records.append(value)
                times.append(line.at)
            elif line.event == "stop":
                stopped = value
            else:
                values[line.event][line.key] = value
            last = line.event if line.event in ("reply", *ENDS) else last
            # final measurements are outside all limits, so their time is no search time
            seconds = line.at if line.event in _TIMED else seconds
        about = f"{header.created} {header.problem} {header.method} {header.seed}"
        spent = sum(step.cost.verdicts for record in records for step in record.steps)
        return cls(
            # the header as it was written: fields that come later make no other run of it
            id=f"{about} {code_hash(_ANY.dump_json(first.value).decode())[7:19]}",
            header=header,
            records=tuple(records),
            reports=values["report"],
            finals=values["final"],
            ended=last in ENDS or spent >= header.limits.verdicts,
            ours=reader.ours,
            replies=tuple(replies),
            prompts=prompts,
            times=tuple(times),
            stopped=stopped,
            seconds=seconds,
            torn=reader.torn,
            size=reader.size,
            path=path,
        )

    @cached_property
    def steps(self) -> tuple[TracedStep, ...]:
        """The tried steps: for the others a recorded model had no answer."""
        return tuple(
            TracedStep(step, record.spent, at)
            for record, at in zip(self.records, self.times, strict=True)
            for step in record.steps
            if step.outcome is not None
        )

    @cached_property
    def bests(self) -> tuple[TracedStep, ...]:
        """The steps that were faster than the serial code and all before them."""
        best, steps = 1.0, list[TracedStep]()
        for step in self.steps:
            if (step.step.speedup or 0) > best:
                best = step.step.speedup or 0
                steps.append(step)
        return tuple(steps)

    @property
    def best(self) -> StepRecord | None:
        """The answer's step; while there is none, the fastest so far."""
        return self.answer[0] if self.answer else self.bests[-1].step if self.bests else None

    @cached_property
    def finalists(self) -> list[StepRecord]:
        """The best, which are measured again at the end."""
        return final_answer.finalists(self.records)

    @cached_property
    def answer(self) -> final_answer.Final | None:
        """The fastest that is surely faster than the serial code, measured again."""
        again = ((step, self.finals.get(code_hash(step.code or ""))) for step in self.finalists)
        return reduce(final_answer.better, ((step, final) for step, final in again if final), None)

    @property
    def finished(self) -> bool:
        """Whether it has ended, and the best were measured again."""
        finals = [self.finals.get(code_hash(one.code or "")) for one in self.finalists]
        right = sum(final is not None and final.outcome.is_right for final in finals)
        return self.ended and (right == final_answer.FINALISTS or None not in finals)

    def state(self) -> RunState:
        """The run's state: a search may be writing its trace."""
        if self.finished:
            return "finished"
        # who writes a trace holds its lock, however long nothing is written
        if locks.is_held(self.path):
            return "measuring the best again" if self.ended else "running"
        return "not finished"

    @cached_property
    def cost(self) -> Cost:
        spent = Cost()
        for reply in (reply for _, reply in self.replies if reply.finish in ("stop", "length")):
            spent += price(reply)
        judged = {"by_rule", "evaluations", "judge_seconds"}
        for step in self.steps:
            spent += Cost(**step.step.cost.model_dump(include=judged))
        return spent

    def summary(self) -> RunSummary:
        """The summary that `regraph optimize` prints; no code where there is no answer."""
        ledger = Ledger(self.header.limits)
        ledger.spent, ledger.seconds = self.cost, self.seconds
        answer = final_answer.Answer((), "", None)
        if self.answer is not None:
            step, measured = self.answer
            answer = final_answer.Answer(step.path, step.code or "", measured)
        # where verdicts ran out the search wrote no reason
        return final_answer.summarise(
            self.header, self.records, answer, ledger, self.stopped or "verdicts"
        )


def place_of(step: StepRecord) -> tuple[tuple[str, ...], int]:
    """Path and attempt of the prompts that asked for a step."""
    here = step.path[-1].partition("#")[0] if step.path else ""
    named = here and (step.technique is not None or len(step.path) > 1)
    return (*step.path[:-1], *((here,) if named else ())), step.sample
