"""One candidate's evaluation: a value to which each stage adds what it found."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level, ratio
from regraph_kg.evaluation.timing.timing import MeasuredSeries
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Candidate, Grade, Outcome, Rivalry
from regraph_kg.models.target import TARGETS, Target, TargetTraits

WHOLE = "counted"  # a fact of reports: what was counted, if it was more than the calls


@dataclass(frozen=True, slots=True)
class Times:
    """Measured times: series of the candidate's workers, and the serial code's level."""

    own: tuple[MeasuredSeries, ...]
    serial: TimeEstimate
    target: Target
    metric: Metric
    is_glance: bool = False  # so few calls that nothing is made of how they scatter

    @property
    def level(self) -> TimeEstimate:
        samples = [series.samples for series in self.own]
        error = max(series.error for series in self.own)
        return level(samples, self.target, self.metric, error)

    def fields(self) -> dict[str, object]:
        """Fields of the report; the outcome only where the times mean nothing."""
        times, interval = ratio(self.serial, self.level)
        fields: dict[str, object] = {
            "timing": self.level.timing(),
            "baseline": self.serial.timing(),
            "speedup": times,
            "speedup_interval": interval,
        }
        doubt = self.doubt
        if doubt:
            fields |= {"outcome": Outcome.UNSTABLE_TIMING, "diagnosis": doubt}
        return fields

    @property
    def doubt(self) -> str:
        """Why the times mean nothing, in words; "" where they do."""
        if self.censored or self.is_glance:
            return ""
        if any(series.short for series in self.own):
            return (
                f"right, but a call takes less than the {self.level.seconds:.2g} s that the clock"
                " can tell: larger timing sizes would say more"
            )
        if any(series.uneven for series in self.own):
            return "right, but a tenth of its calls takes more than twice as long as the others"
        for whose, estimate in (("its", self.level), ("the serial code's", self.serial)):
            if estimate.reach > TARGETS[self.target].unstable:
                return f"right, but {whose} times are known to within {estimate.reach:.0%} only"
        return ""

    @property
    def whole(self) -> bool:
        """Whether what passed between calls counts (`MeasuredSeries.whole`)."""
        return any(series.whole for series in self.own)

    @property
    def seconds(self) -> float:
        return self.level.seconds

    @property
    def censored(self) -> bool:
        """Ended early: far slower than the serial code."""
        return any(series.censored for series in self.own)

    @property
    def means_little(self) -> bool:
        """Whether the code should be timed once more."""
        return bool(self.doubt) or self.whole

    def facts(self) -> dict[str, str]:
        censored = {"censored": str(self.censored).lower()}
        whole = {WHOLE: "whole batches"} if self.whole else {}
        return self.own[0].facts() | censored | whole | {"workers": str(len(self.own))}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is known of one candidate so far."""

    candidate: Candidate
    problem: Problem
    grade: Grade  # what is asked for
    incumbent: float | None = None  # seconds of a call of the best code so far
    program: Program | None = None
    differs: bool = False  # whether right outputs differ from run to run
    times: Times | None = None
    failure: Failure | None = None
    ended_at_glance: bool = False  # the glance told enough: what comes after it was left out
    rivalry: Rivalry | None = None
    load: str = ""
    profile: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[str, float] = field(default_factory=dict)  # seconds of each

    @property
    def traits(self) -> TargetTraits:
        return TARGETS[self.candidate.target]

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be found out."""
        return self.failure is not None or self.ended_at_glance

    def then(self, stage: str, step: "Step") -> "Evaluation":
        """The evaluation after one more stage, if it is not over; a failure there ends it."""
        if self.is_over:
            return self
        start = time.perf_counter()
        try:
            after = step(self)
        except Failure as failure:
            after = self.failed(failure)
        return after.spent(stage, time.perf_counter() - start)

    def spent(self, stage: str, seconds: float) -> "Evaluation":
        before = self.stages.get(stage, 0.0)
        return replace(self, stages={**self.stages, stage: before + seconds})

    def failed(self, failure: Failure | None) -> "Evaluation":
        # a traceback's frames hold a worker's memory
        return replace(self, failure=failure.with_traceback(None)) if failure else self

    def facts(self) -> dict[str, str]:
        """Facts of its report besides the machine's."""
        flagged = {"flagged": "nondeterministic within tolerance"} if self.differs else {}
        if self.failure or self.times is None:
            return {}
        return self.times.facts() | dict(self.profile) | flagged


Step = Callable[[Evaluation], Evaluation]
