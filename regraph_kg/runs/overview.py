"""A trace as an overview of its run: what came of it, and where in the file each thing stands.

It is read once and line by line, and what is long (codes, prompts, answers) stays in the file: a
trace of 500 MB takes a few hundred bytes for each of its steps. What stands there is fetched
afterwards, for the steps that are shown (steps_shown.py).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from regraph_kg import locks
from regraph_kg.errors import BadInput
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import (
    CommonFailure,
    Cost,
    RunHeader,
    RunSummary,
    SimulationRecord,
    StepRecord,
    Stopped,
)
from regraph_kg.search.answer import FINALISTS, surely_faster
from regraph_kg.search.harvest import ENDS
from regraph_kg.search.roof import RoofWatch
from regraph_kg.search.trace_lines import AS_WRITTEN, TraceLine, TraceReader, header_of

DIAGNOSIS = 200
"""Characters of a diagnosis by which failures are counted as the same."""

_NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]?\d+)?")
_RECORD = TypeAdapter(SimulationRecord)
_REPORT = TypeAdapter(EvalReport)
_REPLY = TypeAdapter(Reply)
_STOPPED: TypeAdapter[Stopped] = TypeAdapter(Stopped)

Place = tuple[tuple[str, ...], int]
"""Which sample of a step: its path without sample marks at the end, and its number."""


@dataclass(frozen=True, slots=True)
class TracedStep:
    """A step of the run without its texts."""

    path: tuple[str, ...]
    technique: str | None
    did: str | None
    sample: int
    outcome: Outcome
    speedup: float | None
    code: str
    """Hash; "" where the answer held none."""
    call: int
    """Calls that had ended when it was recorded."""
    at: float
    """Active seconds then."""
    line: int
    """Where its record's line begins, in bytes."""
    index: int
    """Of the steps of that record."""

    @property
    def name(self) -> str:
        """Its technique in words; its number, where it is not the first sample."""
        asked = self.technique or "".join(self.path[-1:])
        words = asked.partition("#")[0].partition("/")[2].replace("-", " ") or "answer"
        return f"{words[:DIAGNOSIS]} #{self.sample}" if self.sample else words[:DIAGNOSIS]

    @property
    def place(self) -> Place:
        """What its prompts are known by: of a free choice from the serial code, no path."""
        if self.technique is None and len(self.path) == 1:
            return (), self.sample
        return place_of(self.path, self.sample)


@dataclass(frozen=True, slots=True)
class FailureCount:
    """How often something went wrong in the same way, whatever the numbers in its diagnosis."""

    outcome: Outcome
    diagnosis: str
    """The latest."""
    count: int
    technique: str
    """The one that it happened to most."""


@dataclass(slots=True)
class Overview:
    """A run as far as its trace goes."""

    path: Path
    header: RunHeader
    steps: list[TracedStep] = field(default_factory=list)
    bests: list[TracedStep] = field(default_factory=list)
    """Those that were faster than all before them."""
    replies: dict[Place, list[int]] = field(default_factory=dict)
    """Where the lines of a step's answers begin."""
    reports: dict[str, int] = field(default_factory=dict)
    """By a code's hash, where the line of its last verdict begins."""
    finals: dict[str, EvalReport] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
    outcomes: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    failures: tuple[FailureCount, ...] = ()
    commonest: CommonFailure | None = None
    declined: str = ""
    stopped: Stopped | None = None
    seconds: float = 0.0
    over: bool = False
    """Whether the search came to its end; the best may not be measured again yet."""
    torn: bool = False
    ours: bool = True
    size: int = 0
    iterations: int = 0
    unrecorded: int = 0
    """Steps that a recorded model had no answer for; they are not among `steps`."""
    relabelled: int = 0
    roof: RoofWatch = field(default_factory=RoofWatch)
    """How near the fastest code comes to what the device allows."""

    @property
    def finalists(self) -> list[TracedStep]:
        """As `search.answer.finalists`."""
        first: dict[str, TracedStep] = {}
        for step in self.steps:
            if step.code and (step.speedup or 0) > 1:
                first.setdefault(step.code, step)
        return sorted(first.values(), key=lambda step: -(step.speedup or 0))[:FINALISTS]

    @property
    def finished(self) -> bool:
        """Whether it is over, and the best were measured again."""
        return self.over and all(step.code in self.finals for step in self.finalists)

    @property
    def best(self) -> TracedStep | None:
        """The answer's step; while there is none, the fastest so far."""
        return self.answer[0] if self.answer else next(reversed(self.bests), None)

    @property
    def answer(self) -> tuple[TracedStep, EvalReport] | None:
        """The fastest that is surely faster than the serial code, measured again."""
        found = [
            (step, self.finals[step.code])
            for step in self.finalists
            if step.code in self.finals and surely_faster(self.finals[step.code])
        ]
        return max(found, key=lambda one: one[1].speedup or 0, default=None)

    def summary(self) -> RunSummary:
        """As `regraph optimize` tells it at its end."""
        header, answer = self.header, self.answer
        return RunSummary(
            problem=header.problem,
            target=header.target,
            method=header.method,
            model=header.model,
            judge=header.judge,
            seed=header.seed,
            limits=header.limits,
            parallel=header.parallel,
            active_seconds=self.seconds,
            final=header.final,
            iterations=self.iterations,
            cost=self.cost,
            unrecorded=self.unrecorded,
            outcomes=dict(self.outcomes),
            failure=self.commonest,
            applied=dict(self.applied),
            relabelled=self.relabelled,
            best_path=answer[0].path if answer else (),
            best_code="",
            speedup=(answer[1].speedup or 1.0) if answer else 1.0,
            speedup_interval=answer[1].speedup_interval if answer else None,
            improved=answer is not None,
            device=header.device,
            toolchain=header.toolchain,
            excluded=header.excluded,
            guarantee=header.guarantee,
            stopped=self.stopped or "calls",
            roof=self.roof.reached,
            declined=self.declined,
        )


def place_of(path: tuple[str, ...], sample: int) -> Place:
    """The place of sample `sample` of the last element of `path`."""
    last = tuple(one.partition("#")[0] for one in path[-1:])
    return (*path[:-1], *last), sample


def read_overview(path: Path, key: bytes) -> Overview:
    """The run in the trace `path`, read with this installation's key.

    `BadInput` where it is no trace, names the line; half a line at its end is left out.
    """
    reader = TraceReader(path, key)
    lines = iter(reader)
    try:
        found = Overview(path, header_of(next(lines)))
    except BadInput as error:
        raise BadInput(str(error) if str(path) in str(error) else f"{path}:1: {error}") from None
    reading = _Reading(found)
    for number, line in enumerate(lines, start=2):
        try:
            reading.take(line, reader.start)
        except ValidationError:
            raise BadInput(f"{path}:{number}: no search writes such a line; {AS_WRITTEN}") from None
    found.torn, found.ours, found.size = reader.torn, reader.ours, reader.size
    reading.end()
    return found


RunState = Literal["finished", "running", "measuring the best again", "not finished"]


def run_state(found: Overview) -> RunState:
    """Where a run stands."""
    if found.finished:
        return "finished"
    if locks.is_held(found.path):
        return "measuring the best again" if found.over else "running"
    return "not finished"


class _Failures:
    """Counts failures; diagnoses to which `name` gives one name are of one way."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        self._count: Counter[tuple[Outcome, str]] = Counter()
        self._latest: dict[tuple[Outcome, str], tuple[int, str]] = {}
        self._of: defaultdict[tuple[Outcome, str], Counter[str]] = defaultdict(Counter)

    def take(self, number: int, outcome: Outcome, step: StepRecord) -> None:
        """The `number`-th step failed."""
        said = step.diagnosis.partition("\n")[0][:DIAGNOSIS]
        key = (outcome, self._name(said))
        self._count[key] += 1
        self._latest[key] = (number, said)
        self._of[key][step.technique or ""] += 1

    def ways(self) -> tuple[FailureCount, ...]:
        """Most first; of equals the latest."""
        order = sorted(self._count, key=lambda key: (-self._count[key], -self._latest[key][0]))
        return tuple(
            FailureCount(
                key[0], self._latest[key][1], self._count[key], self._of[key].most_common(1)[0][0]
            )
            for key in order
        )


class _Reading:
    """Takes the lines of a trace into an overview."""

    def __init__(self, found: Overview) -> None:
        self._found = found
        self._best, self._last = 1.0, ""
        self._paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._exact, self._alike = _Failures(str), _Failures(lambda said: _NUMBER.sub("0", said))
        self._declined: Counter[str] = Counter()

    def take(self, line: TraceLine, start: int) -> None:
        """A line after the header, and where it begins."""
        found = self._found
        if line.event in ("reply", *ENDS):
            self._last = line.event
        if line.event in ("reply", "report", "record"):
            found.seconds = line.at
        if line.event == "reply":
            self._reply(line, start)
        elif line.event == "report":
            report = _REPORT.validate_python(line.value)
            found.reports[line.key] = start
            if report.passed:
                found.roof.see(report.account)
        elif line.event == "final":
            found.finals[line.key] = _REPORT.validate_python(line.value)
        elif line.event == "stop":
            found.stopped = _STOPPED.validate_python(line.value)
        elif line.event == "record":
            self._record(_RECORD.validate_python(line.value), line.at, start)

    def end(self) -> None:
        """What is known after the last line."""
        found = self._found
        found.over = self._last in ENDS or found.cost.calls >= found.header.limits.calls
        found.failures = self._alike.ways()
        for one in self._exact.ways()[:1]:  # as search.answer.commonest_failure
            found.commonest = CommonFailure(
                outcome=one.outcome, diagnosis=one.diagnosis, count=one.count
            )
        found.declined = next((why for why, _ in self._declined.most_common(1)), "")

    def _reply(self, line: TraceLine, start: int) -> None:
        found, reply = self._found, _REPLY.validate_python(line.value)
        key = PromptKey.model_validate_json(line.key)
        found.replies.setdefault(place_of(key.path, key.attempt), []).append(start)
        if reply.finish in ("stop", "length"):
            found.cost += Cost(
                calls=key.ask == "code",
                thoughts=key.ask != "code",
                prompt_tokens=reply.prompt_tokens,
                output_tokens=reply.output_tokens,
                model_seconds=reply.seconds,
            )

    def _record(self, record: SimulationRecord, at: float, start: int) -> None:
        found = self._found
        found.iterations += record.reward is not None
        for index, step in enumerate(record.steps):
            outcome = step.outcome
            if outcome is None:  # a recorded model had no answer: nothing was tried
                found.unrecorded += 1
                continue
            cost = step.cost
            found.cost += Cost(
                evaluations=cost.evaluations, judge_seconds=cost.judge_seconds, joules=cost.joules
            )
            seen = TracedStep(
                self._paths.setdefault(step.path, step.path),
                step.technique,
                step.did,
                step.sample,
                outcome,
                step.speedup,
                code_hash(step.code) if step.code else "",
                record.spent,
                at,
                start,
                index,
            )
            found.steps.append(seen)
            if (step.speedup or 0) > self._best:
                self._best = step.speedup or 0
                found.bests.append(seen)
            self._count(step, outcome)

    def _count(self, step: StepRecord, outcome: Outcome) -> None:
        found = self._found
        found.outcomes[outcome.value] += 1
        if step.speedup is not None:
            found.applied[step.applied] += 1
        found.relabelled += step.did is not None
        if step.declined:
            self._declined[step.diagnosis[:DIAGNOSIS]] += 1
        elif outcome is not Outcome.UNSTABLE_TIMING and step.speedup is None:
            for counted in (self._exact, self._alike):
                counted.take(len(found.steps), outcome, step)
