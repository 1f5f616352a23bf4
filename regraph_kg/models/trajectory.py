"""Trajectory JSONL, version 1: one object a line (graph.md section 1).

History: 1 (2026-11) first version; later in 1: `source.learned` and a measurement's `roofline`,
absent from older files; the outcome "declined" of a failure; `ruled_out`; `transform`.
"""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, StringConstraints, model_validator

from regraph_kg.models.base import Frozen, Metric
from regraph_kg.models.evaluation import (
    LEAST_SECONDS,
    MOST_SPAN,
    MOST_SPEEDUP,
    Outcome,
    WorkAccount,
    possible_speedup,
)
from regraph_kg.models.target import Target
from regraph_kg.models.technique import TechniqueId, start_id

Text = Annotated[str, StringConstraints(min_length=1, max_length=200_000, pattern=r"^[^\x00]*$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]
NoteText = Annotated[str, StringConstraints(max_length=200_000, pattern=r"^[^\x00]*$")]
PER_THREAD = 64  # most that a step gains for each thread of a processor; 20 was measured
MOST_EFFECT = 2**16  # most that a step gains elsewhere; 13,100 was measured
MOST_SHARE = 1.5  # of the measured rate of memory, which may be a little low
TransformId = Annotated[str, StringConstraints(max_length=300, pattern=r"^[a-z0-9/-]*$")]
"""The transform that made a step, which says nothing of a model; "" where a model or person did."""
Seconds = Annotated[float, Field(ge=1e-12, le=1e12)]  # bounded so that a ratio of two stays finite


class Source(Frozen):
    """A trajectory's origin; outside its identity."""

    model: NoteText = ""
    run: NoteText = ""
    prompt_hash: NoteText = ""
    created: NoteText = ""
    licence: NoteText = ""
    learned: bool = False
    """A search of ours found it (`regraph learn`), with the model named here; nobody gave it."""

    @property
    def learner(self) -> str | None:
        """The model that it was learned from; None for a given one."""
        return self.model if self.learned else None


class RooflinePosition(Frozen):
    """A call's shares of its device's measured peaks (evaluation/timing/roofline.py)."""

    memory: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  #: of memory's peak rate
    compute: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Share of its peak arithmetic; 0 where the problem declares no operations."""

    @classmethod
    def of(cls, account: WorkAccount | None) -> "RooflinePosition | None":
        """The position that the judge measured; None where the device's peaks are unknown."""
        roof = account.roof if account else None
        if roof is None or not roof.shares:
            return None
        return cls(memory=roof.shares.get("memory", 0.0), compute=roof.shares.get("compute", 0.0))


class Measurement(Frozen):
    """One step's code measured once; keyed by device, toolchain, evaluator, run and metric.

    A `run` begins with its time (UTC, ISO 8601): of several, the latest tells what a step does.
    `serial_seconds / seconds` is the step's speedup, `before_seconds / seconds` its effect; both
    only where the outcome is "passed".
    """

    device: Name
    toolchain: NoteText
    evaluator: NoteText
    run: NoteText
    outcome: Outcome
    metric: Metric = "call"
    seconds: Seconds | None = None
    before_seconds: Seconds | None = None
    serial_seconds: Seconds | None = None
    effect_interval: tuple[PositiveFloat, PositiveFloat] | None = None
    """95 % interval of the effect; None in older files."""
    pairs: int = Field(default=0, ge=0)
    """Pairs of workers that the effect comes from, one of the code before and one of that after;
    0: not timed in turn, since workers' levels told."""
    diagnosis: NoteText = ""  # why the step failed
    roofline: RooflinePosition | None = None
    """The position of the code after the step; None where the device's peaks were unmeasured."""
    ruled_out: bool = False
    """Whether the technique's preconditions rule out the code before the step: it tells nothing of
    codes that they admit, and no measurement of the step is a try."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Identity of a measurement within its step."""
        return (self.device, self.toolchain, self.evaluator, self.run, self.metric)

    @property
    def time(self) -> float:
        """The time at the beginning of `run`, in seconds since 1970; -inf where it has none."""
        try:
            start = datetime.fromisoformat(self.run.partition(" ")[0])
        except ValueError:
            return -math.inf
        return (start if start.tzinfo else start.replace(tzinfo=UTC)).timestamp()

    @property
    def speedup(self) -> float | None:
        """Serial time / time after the step."""
        return _ratio(self.serial_seconds, self.seconds, self.outcome)

    @property
    def effect(self) -> float | None:
        """Time before the step / time after it; None where it is not known to within a factor 2."""
        low, high = self.effect_interval or (1.0, 1.0)
        if high > MOST_SPAN * low:
            return None
        return _ratio(self.before_seconds, self.seconds, self.outcome)


def judge_version(measurement: Measurement) -> int:
    """The judge's number; 0, the oldest, where it has none."""
    return int(measurement.evaluator) if measurement.evaluator.isdecimal() else 0


def is_beyond(measured: Measurement) -> bool:
    """Whether no device gives its figures."""
    seconds, roof = measured.seconds or math.inf, measured.roofline or RooflinePosition()
    threads = re.search(r"x(\d+) threads$", measured.device)
    most = PER_THREAD * int(threads[1]) if threads else MOST_EFFECT
    faster = (measured.before_seconds or 0.0) > most * seconds
    faster |= (measured.serial_seconds or 0.0) > MOST_SPEEDUP * seconds
    return faster or roof.memory > MOST_SHARE  # tensor cores pass the peak of arithmetic


def is_claim(measured: Measurement) -> bool:
    """Whether it is no judge's measurement: none is named for it, or no device gives its figures.

    A claim is shown and counted apart; it moves no mean and no order of what was measured.
    """
    return not judge_version(measured) or is_beyond(measured)


def standing(measured: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """A step's measurements that count: those of the newest judge on each device, by one metric.

    Claims do not. Transfers hide a kernel's gain: times on the device count where the step passed
    by them (decisions/0023) and they give an effect, or no call does.
    """
    measured = [m for m in measured if not is_claim(m)]
    newest: dict[str, int] = {}
    for m in measured:
        newest[m.device] = max(newest.get(m.device, 0), judge_version(m))
    counted = [m for m in measured if judge_version(m) == newest[m.device]]
    passed = {m.device for m in counted if m.metric == "device" and m.outcome is Outcome.PASSED}
    effects = {(m.device, m.metric) for m in counted if m.effect is not None}
    by_device = {d for d in passed if (d, "device") in effects or (d, "call") not in effects}
    by_call = {m.device for m in counted if m.metric == "call"} - by_device
    return tuple(m for m in counted if (m.metric == "call") is (m.device in by_call))


class Step(Frozen):
    """One optimization step: its technique, its reason, and the code after it."""

    label: Name  # the technique's name as the model wrote it
    technique: TechniqueId | None = None  # resolved technique id, once relabelled
    reasoning: NoteText = ""
    detail: NoteText = ""
    code: Text  #: the whole code after it
    transform: TransformId = ""
    measurements: tuple[Measurement, ...] = ()


class FailedStep(Frozen):
    """A step that was tried after `after_step` steps and failed: evidence, never an example.

    With the outcome "declined" the model said that the technique does not apply, and `diagnosis` is
    why; with "unchanged" it gave back the code before the step. Nothing was tried: neither counts.
    """

    after_step: int = Field(ge=0)
    label: Name
    technique: TechniqueId | None = None
    outcome: Outcome
    diagnosis: NoteText = ""
    code_hash: NoteText = ""
    code: NoteText = ""  #: the tried code; a store keeps it for a few failures of a pair
    device: Name | None = None  # where it failed; None = unknown, counted under "unmeasured"
    ruled_out: bool = False  # as of a measurement; outside the identity
    transform: TransformId = ""

    @property
    def key(self) -> str:
        """Identity of a failure within its trajectory; its resolved technique is no part of it."""
        what = (self.after_step, self.label, self.outcome.value, self.code_hash)
        identity = (*what, self.device, self.diagnosis)
        return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


class Trajectory(Frozen):
    """Serial code and the steps that made it fast."""

    schema_version: Literal[1] = Field(alias="schema")
    ref: Name | None = None  #: the sender's own name; the same with other content is refused
    target: Target
    problem: Name
    serial: Text
    source: Source = Source()
    steps: tuple[Step, ...] = Field(min_length=1, max_length=100)
    failures: tuple[FailedStep, ...] = ()

    def line(self) -> str:
        """Its line in a file of trajectories."""
        return self.model_dump_json(by_alias=True, exclude_defaults=True) + "\n"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for number, failure in enumerate(self.failures):
            if failure.after_step > len(self.steps):
                after = f"failures[{number}].after_step is {failure.after_step}"
                raise ValueError(f"{after}, but there are {len(self.steps)} steps")
        ids = [step.technique for step in self.steps]
        ids += [failure.technique for failure in self.failures]
        for technique in filter(None, ids):
            if not technique.startswith(f"{self.target}/"):
                raise ValueError(f"technique {technique} does not belong to target {self.target}")
            if technique == start_id(self.target):
                raise ValueError(f"no step leads to the initial state {technique}")
        return self

    @property
    def id(self) -> str:
        """SHA-256 (hex) of the canonical target, problem, serial code and steps' texts."""
        texts = {"__all__": {"label", "reasoning", "detail", "code"}}
        named = self.model_dump(include={"target": True, "problem": True, "serial": True})
        content = named | self.model_dump(include={"steps": texts})
        return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(content: object) -> str:
    """Canonical JSON text: NFC strings with LF line ends, sorted keys, no spaces, UTF-8."""
    return json.dumps(_plain(content), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value.replace("\r\n", "\n").replace("\r", "\n"))
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return value


def _ratio(over: float | None, under: float | None, outcome: Outcome) -> float | None:
    if outcome is not Outcome.PASSED or over is None or under is None:
        return None
    # what a broken clock measured stays in its file, and tells nothing
    return possible_speedup(over / under) if min(over, under) > LEAST_SECONDS else None
