"""The judge's verdict: Outcome, Candidate, EvalReport."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from pydantic import Field

from regraph_kg.models.base import Frozen, Metric, Target


class Outcome(StrEnum):
    """How a candidate ended. Closed; everything but PASSED is a failure for the reward.

    UNSTABLE_TIMING is our machine's fault: timed once more, then the interval's lower bound is the
    reward, and it is never a final answer (evaluation.md section 1).
    """

    PARSE_FAILED = "parse_failed"
    REJECTED_SOURCE = "rejected_source"
    COMPILE_FAILED = "compile_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    WRONG_ANSWER = "wrong_answer"
    MUTATED_INPUT = "mutated_input"
    NONDETERMINISTIC = "nondeterministic"
    SUSPICIOUS = "suspicious"
    UNSTABLE_TIMING = "unstable_timing"
    PASSED = "passed"


def code_hash(code: str) -> str:
    """Identity of a source text: "sha256:<hex>" of its UTF-8 bytes (of any text, valid or not)."""
    return "sha256:" + hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One source text for one target; exports the problem's entry point with its signature."""

    target: Target
    code: str


class Interval(Frozen):
    """A 95 % confidence interval."""

    low: float
    high: float


class Timing(Frozen):
    """Seconds per call: all samples, their median and its order-statistic 95 % interval."""

    samples: tuple[float, ...]
    median: float
    interval: Interval


class EvalReport(Frozen):
    """What the judge says of one candidate. Always a report; our own failures raise instead.

    `speedup` = baseline median / candidate median (serial code, g++ -O3 -march=native, one thread,
    same metric, same session); None unless the candidate was timed. Reports whose `device`,
    `toolchain`, `evaluator`, `metric` or `grade` differ must not be compared.
    """

    schema_version: Literal[1] = 1
    problem: str
    target: Target
    metric: Metric
    code_hash: str
    outcome: Outcome
    diagnosis: str = ""
    """Why it failed, fit for a repair prompt; at most 1,500 characters. Empty when passed."""
    device: str
    """Statistics key: GPU model for cuda, CPU model and thread count for openmp."""
    toolchain: str
    evaluator: str
    """Version of the judge's rules."""
    grade: Literal["screening", "full"]
    timing: Timing | None = None
    baseline: Timing | None = None
    speedup: float | None = None
    speedup_interval: Interval | None = None
    stages: dict[str, float] = Field(default_factory=dict)
    """Wall seconds of each stage that happened: compile, verify, time, total."""
    facts: dict[str, str] = Field(default_factory=dict)
    """Machine facts: driver, clocks, temperature, kernel, ... as text."""

    @property
    def passed(self) -> bool:
        """True only for a verified, stably timed candidate."""
        return self.outcome is Outcome.PASSED
