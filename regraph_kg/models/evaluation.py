"""The judge's verdict: Outcome, Candidate, EvalReport."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen, Metric
from regraph_kg.models.target import Target
from regraph_kg.models.text import PlainText, digits, seconds, times

MOST_SPAN = 2.0  # an interval of a wider ratio tells nothing that may be built on
MOST_SPEEDUP = 1e6  # the fastest kernel seen is 7,000 times the serial code
LEAST_SECONDS = 1e-8  # no call of a function that does anything is shorter


def possible_speedup(speedup: float | None) -> float | None:
    """A ratio of times; None where it is none, or one that only a broken clock gives."""
    return speedup if speedup is not None and 0 < speedup <= MOST_SPEEDUP else None


Grade = Literal["glance", "screening", "full"]
"""How thoroughly a candidate was judged (evaluate.py)."""

_Right = Literal["faster", "not faster", "unchanged", "untimed"]
_Failed = Literal["wrong", "crashed", "too slow", "suspicious", "CPU code", "does not compile"]
_Unjudged = Literal["refused", "declined", "no entry point", "several codes", "bare code"]
AnswerKind = Literal[_Right, _Failed, _Unjudged, "cut", "prose"]
"""Kinds of answers, the best first. "unchanged": token by token the code that it was to change, or
the serial code: it is not judged, and it is no right answer, as it changes nothing; "untimed":
right, but timed too unevenly; "CPU code": it compiles, but starts no kernel where one is asked for;
"refused": by the source rules; "declined": it says that the technique does not apply, true or not;
"no entry point": code, but not of the function; "bare code": no fence around it; "cut": at the
length limit; "prose": no code at all."""


class Outcome(StrEnum):
    """How an answer ended. Closed; all but PASSED and DECLINED is a failure for the reward.

    UNSTABLE_TIMING is the machine's fault: the code is timed once more, then the interval's lower
    end is the reward, if that is known, and it is never a final answer (docs/dev/method.md section
    3.2). DECLINED and UNCHANGED are no verdicts, as nothing was tried: the model said that the
    technique does not apply to the code, or gave the code back. NO_KERNEL: a CUDA candidate
    launched nothing.
    """

    _value_: str
    words: str  # words that follow a number: "14 right, 3 did not compile"
    kind: AnswerKind  # the kind of answers that ended so, where no more is known of them

    def __new__(cls, value: str, words: str = "", kind: AnswerKind | None = None) -> Self:
        if not words or kind is None:  # only looking one up does without
            raise TypeError(f"outcome {value}: needs its words and a kind")
        outcome = str.__new__(cls, value)
        outcome._value_, outcome.words, outcome.kind = value, words, kind
        return outcome

    @property
    def is_right(self) -> bool:
        """Whether the code's results are right, however well it was timed."""
        return self in (Outcome.PASSED, Outcome.UNSTABLE_TIMING)

    PARSE_FAILED = "parse_failed", "without code", "prose"
    REJECTED_SOURCE = "rejected_source", "with refused code", "refused"
    COMPILE_FAILED = "compile_failed", "did not compile", "does not compile"
    CRASHED = "crashed", "crashed", "crashed"
    TIMED_OUT = "timed_out", "took too long", "too slow"
    WRONG_ANSWER = "wrong_answer", "wrong", "wrong"
    MUTATED_INPUT = "mutated_input", "changed an input", "wrong"
    NONDETERMINISTIC = "nondeterministic", "differed between runs", "wrong"
    SUSPICIOUS = "suspicious", "suspicious", "suspicious"
    NO_KERNEL = "no_kernel", "launched no kernel", "CPU code"
    UNSTABLE_TIMING = "unstable_timing", "timed too unevenly", "untimed"
    PASSED = "passed", "right", "not faster"
    DECLINED = "declined", "said that the technique does not apply", "declined"
    UNCHANGED = "unchanged", "gave the code back unchanged", "unchanged"


RIGHT_BUT_SLOW = "its answers at the check shapes were right"
"""A diagnosis of TIMED_OUT says so where only the timing shape took too long."""


def code_hash(code: str) -> str:
    """Identity of a source text: "sha256:<hex>" of its UTF-8 bytes (of any text, valid or not)."""
    return "sha256:" + hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One source text for one target; exports the problem's entry point with its signature."""

    target: Target
    code: str
    rival: str | None = None  #: code that has passed, with which this one is compared in turn


class Interval(Frozen):
    """A 95 % confidence interval."""

    low: float
    high: float

    @property
    def as_times(self) -> str:
        """The bounds of a ratio of times: "2x to 3x"."""
        return f"{times(self.low)} to {times(self.high)}"

    @property
    def is_narrow(self) -> bool:
        """Whether a ratio in it is known to within a factor of `MOST_SPAN`."""
        return self.low > 0 and self.high <= MOST_SPAN * self.low


class Timing(Frozen):
    """Seconds per call: all samples, their median and its order-statistic 95 % interval."""

    samples: tuple[float, ...]
    median: float
    interval: Interval


class Rivalry(Frozen):
    """Times of two codes that were taken in turn, in one session."""

    code_hash: str  #: the other code's
    ratio: float  #: its seconds over this one's: above 1 where this one is faster
    interval: Interval
    verdict: Literal["faster", "slower", "same", "unknown"]  #: what this code is (compare.py)
    pairs: int = 0  #: pairs of workers timed in turn; 0: their levels told without that

    def __str__(self) -> str:
        way = f"{self.pairs} pairs of fresh workers in turn" if self.pairs else "by their times"
        return f"{self.verdict}: {times(self.ratio)} (95 %: {self.interval.as_times}), {way}"


Bound = Literal["memory", "compute", "transfer"]
"""Limits of a call: memory of the device, its arithmetic, copies to and from the host."""
PEAKS: Mapping[Bound, str] = {
    "memory": "peak memory bandwidth",
    "compute": "peak compute",
    "transfer": "peak transfer",
}
"""Each peak in words."""
_PROVES_LESS = ": a few shapes and calls only; a screening proves more"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))


class Roof(Frozen, extra="ignore"):  # older reports have fields more
    """The shortest time that the device's measured peaks allow, and a call's distance from it."""

    bound: Bound  #: the limit that takes longest
    seconds: float  #: a call's duration at the peak; what the device does beside it overlaps
    share: float  #: `seconds` over the measured ones. Above 1: caches, a better algorithm.
    reached: float  #: rate of the bounding resource: byte/s, or flop/s for "compute"
    peak: float  #: the measured peak of that resource, in the same unit
    shares: dict[Bound, float] = Field(default_factory=dict)
    """The reached share of each peak; the largest is `share`. Older reports have none."""

    def __str__(self) -> str:
        return f"{100 * self.share:.0f} % of {PEAKS[self.bound]}"


class WorkAccount(Frozen, extra="ignore"):  # older reports have fields more
    """The declared work of one call, compared with the device's peaks."""

    seconds: float  #: median duration of the call
    flop: int | None  #: declared floating-point operations of a call; None: none declared
    bytes: int  #: declared bytes of a call; else each array once, inout ones twice
    intensity: float | None  #: flop per byte
    roof: Roof | None  #: None where the device's peaks have not been measured

    def __str__(self) -> str:
        """How near the peak: "61 % of peak memory bandwidth (1.23 of 2.02 TB/s; ..)"."""
        roof = self.roof
        if roof is None:
            return "unknown: nothing measured here yet (regraph doctor measures)"
        unit = "flop/s" if roof.bound == "compute" else "B/s"
        size, prefix = next(entry for entry in _PREFIXES if roof.peak >= entry[0] or entry[0] == 1)
        text = f"{digits(roof.reached / size)} of {digits(roof.peak / size)} {prefix}{unit}"
        if self.intensity is not None:
            text += f"; {digits(self.intensity)} flop/byte"
        return f"{roof} ({text})"


class EvalReport(Frozen, extra="ignore"):
    """The judge's verdict on one candidate. Our own failures raise instead.

    `speedup` = baseline median / candidate median (serial code, g++ -O3 -march=native, one thread,
    same metric, same session); None unless the candidate was timed. Reports whose `device`,
    `toolchain`, `evaluator`, `metric` or `grade` differ must not be compared.
    History: 1 (2026-11) first version; later in 1: `account`, `load`, `rivalry`,
    absent from older reports; older ones may have `guarantee`, which is not read.
    """

    schema_version: Literal[1] = 1
    problem: str
    target: Target
    metric: Metric
    code_hash: str
    outcome: Outcome
    diagnosis: PlainText = ""
    """Why it failed, fit for a repair prompt; at most 1,500 characters. Empty when passed."""
    device: PlainText  #: statistics key: GPU model for cuda, CPU model and thread count for openmp
    toolchain: PlainText
    evaluator: str  #: version of the judge's rules
    grade: Grade
    timing: Timing | None = None
    baseline: Timing | None = None
    speedup: float | None = None
    speedup_interval: Interval | None = None
    rivalry: Rivalry | None = None
    """Against the rival that was asked for; None where none was, or one of the two failed."""
    account: WorkAccount | None = None
    """Work per second against the device's peaks; None unless the candidate was timed."""
    stages: dict[str, float] = Field(default_factory=dict)
    """Wall seconds of each stage that happened: compile, verify, time, total."""
    load: PlainText = ""
    """Other load during the timing, in words; "" where it was quiet. It is no evidence then."""
    facts: dict[PlainText, PlainText] = Field(default_factory=dict)
    """Machine facts: driver, clocks, temperature, kernel, ... as text."""

    @property
    def compared(self) -> Rivalry:
        """How it did against its rival. Raises `BadInput` where nobody knows."""
        if self.rivalry is None:
            why = self.diagnosis or "its rival does not pass, or such times are not compared"
            raise BadInput(f"problem {self.problem}: {why}")
        return self.rivalry

    @property
    def passed(self) -> bool:
        """True only for a verified, stably timed candidate."""
        return self.outcome is Outcome.PASSED

    @property
    def is_possible(self) -> bool:
        """Whether it is of right code, and no clock broke: old traces hold such times, too."""
        seconds = self.timing.median if self.timing else 1.0
        possible = possible_speedup(self.speedup) is not None and seconds > LEAST_SECONDS
        return self.outcome.is_right and possible

    @property
    def is_known(self) -> bool:
        """Whether its times tell how fast the code is, whatever its outcome says of them."""
        interval = self.speedup_interval
        return self.is_possible and interval is not None and interval.is_narrow

    @property
    def sure_speedup(self) -> float | None:
        """The speedup that may be compared, shown as best, averaged; None where none is known.

        A glance and an unstable timing are worth the surely reached end of their interval.
        """
        if not self.is_known or self.speedup_interval is None:
            return None
        sure = self.passed and self.grade != "glance"
        return self.speedup if sure else self.speedup_interval.low

    def __str__(self) -> str:
        noisy = self.outcome is Outcome.UNSTABLE_TIMING
        outcome = f"right; too noisy to time here ({self.outcome})" if noisy else self.outcome
        lines = [f"{self.problem} ({self.target}): {outcome}", *self._figures()]
        if self.diagnosis:
            lines.append(self.diagnosis)
        if self.stages:
            lines.append(f"time       {self._course()}")
        grade = f"{self.grade}{_PROVES_LESS if self.grade == 'glance' else ''}"
        return "\n".join((*lines, f"on {self.device}, {self.toolchain}, grade {grade}"))

    def _figures(self) -> Iterator[str]:
        """Lines with what was measured."""
        if self.timing and self.baseline and self.speedup and self.speedup_interval:
            spread = f"95 %: {self.speedup_interval.as_times}"
            known = times(self.speedup) if self.is_known else "unknown"
            yield f"speedup    {known}  ({spread})"
            yield f"candidate  {seconds(self.timing.median)} a call"
            yield f"serial     {seconds(self.baseline.median)} a call"
        if self.rivalry:
            yield f"against    {self.rivalry}"
        if self.load:
            yield f"load       {self.load}: these times are no evidence"
        if self.account:
            yield f"roofline   {self.account}"
        if "profile" in self.facts:
            yield f"profile    {self.facts['profile']}"

    def _course(self) -> str:
        """The course of the time: "7.3 s: open 6.1, compile 0.6, verify 0.3, time 0.2"."""
        parts = {name: spent for name, spent in self.stages.items() if name != "total"}
        total = self.stages.get("total", sum(parts.values()))
        text = ", ".join(f"{name} {spent:.1f}" for name, spent in parts.items())
        return f"{total:.1f} s: {text}" if text else f"{total:.1f} s"
