"""Judges a candidate by its project's own commands: build, test, then the bench in pairs.

A pair is one run of the bench with the project as it stands and one with the candidate, in turn,
with the same secret seed; its ratio of times is one piece of evidence (timing/estimate.py, with
pairs in the place of workers). The output of each run is compared before its time counts.
Not covered: cuda (commands see no GPU); work that the bench leaves out unseen.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.gpu.device import machine_facts, openmp_device, turn
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.evaluation.project.session import ProjectSession
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.load import LoadWatch
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Grade,
    Interval,
    Outcome,
    code_hash,
)
from regraph_kg.models.target import TARGETS, Target

_CENSORED_ABOVE = 3.0
"""Two first runs that take so many times as long as the best so far (else the project as it
stands) end the timing: `censored`."""


@dataclass(frozen=True, slots=True)
class _PairRule:
    """The count of timed pairs: until the ratio is known, or time is up."""

    least: int
    most: int
    reach: float
    """Half-width of the 95 % interval of the ratio's logarithm that is enough."""
    seconds: float


_RULES: dict[Grade, _PairRule] = {
    "screening": _PairRule(3, 7, 0.04, 30.0),
    "full": _PairRule(7, 21, 0.02, 180.0),
}


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Seconds of the project as it stands and of the candidate, run by run."""

    target: Target
    serial: tuple[float, ...]
    own: tuple[float, ...]
    censored: bool

    def ratio(self) -> TimeEstimate:
        """The candidate's speedup."""
        return _ratio([*zip(self.serial, self.own, strict=True)], self.target)


def _ratio(pairs: Sequence[tuple[float, float]], target: Target) -> TimeEstimate:
    return level([[serial / candidate] for serial, candidate in pairs], target, "call")


class ProjectJudge:
    """Keeps a session for each project; one thread at a time. Close it."""

    def __init__(self, limits: JudgeLimits, evaluator: str, tell: Callable[[str], None]) -> None:
        self._limits, self._evaluator, self._tell = limits, evaluator, tell
        self._sessions: dict[str, ProjectSession] = {}

    def close(self) -> None:
        """Remove all copies; idempotent."""
        while self._sessions:
            self._sessions.popitem()[1].close()

    def evaluate(
        self,
        candidate: Candidate,
        problem: ProjectProblem,
        grade: Grade,
        incumbent: float | None = None,
    ) -> EvalReport:
        """A report, whatever the candidate does. `BadInput`: the project itself is at fault."""
        problem.require(candidate.target)
        stages = _Stages()
        with turn("cpu", self._tell):
            with stages.stage("open"):
                session = self._session(problem)
            watch = LoadWatch()
            result = _judged(session, candidate, _RULES[grade], incumbent, stages)
            load = watch.found()
        report = EvalReport(
            problem=problem.name,
            target=candidate.target,
            metric=problem.metric,
            code_hash=code_hash(candidate.code),
            outcome=Outcome.PASSED,
            device=openmp_device(),
            toolchain=problem.toolchain,
            evaluator=self._evaluator,
            grade=grade,
            stages=stages.seconds | {"total": stages.total},
            facts=machine_facts() | {"sandbox": session.sandbox},
            guarantee=problem.guarantee,
        )
        if isinstance(result, Failure):
            fields = {"outcome": result.outcome, "diagnosis": result.diagnosis[:1500]}
            return report.model_copy(update=fields)
        return report.model_copy(update=_fields(result) | {"load": load})

    def _session(self, problem: ProjectProblem) -> ProjectSession:
        key = problem.model_dump_json()
        if key not in self._sessions:
            session = ProjectSession(problem, self._limits)
            try:
                session.open(self._tell)
            except BaseException:
                session.close()
                raise
            self._sessions[key] = session
        return self._sessions[key]


class _Stages:
    def __init__(self) -> None:
        self._start = time.perf_counter()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - start

    @property
    def total(self) -> float:
        return time.perf_counter() - self._start


def _judged(
    session: ProjectSession,
    candidate: Candidate,
    rule: _PairRule,
    incumbent: float | None,
    stages: _Stages,
) -> Failure | _Pairs:
    with stages.stage("compile"):
        failure = session.build(candidate.code)
    if failure is None:
        with stages.stage("verify"):
            failure = session.test()
    if failure:
        return failure
    with stages.stage("time"):
        pairs = _timed(session, candidate.target, rule, incumbent)
    return pairs if isinstance(pairs, Failure) else _Pairs(candidate.target, *pairs)


def _timed(
    session: ProjectSession, target: Target, rule: _PairRule, incumbent: float | None
) -> Failure | tuple[tuple[float, ...], tuple[float, ...], bool]:
    """Seconds of pairs of runs, each checked, and whether they were ended early.

    The first pair warms caches up, and counts only where it ends the timing, with the second one.
    """
    for second in (False, True):
        first = _pair(session, candidate_first=second)
        if isinstance(first, Failure):
            return first
        if first[1] <= _CENSORED_ABOVE * (incumbent or first[0]):
            break
        if second:
            return (first[0],), (first[1],), True
    pairs = list[tuple[float, float]]()
    start = time.monotonic()
    while len(pairs) < rule.most:
        pair = _pair(session, candidate_first=bool(len(pairs) % 2))
        if isinstance(pair, Failure):
            return pair
        pairs.append(pair)
        late = time.monotonic() - start > rule.seconds
        if len(pairs) >= rule.least and (late or _ratio(pairs, target).reach <= rule.reach):
            break
    serial, measured = zip(*pairs, strict=True)
    return serial, measured, False


def _pair(session: ProjectSession, *, candidate_first: bool) -> Failure | tuple[float, float]:
    """Seconds of the project as it stands and of the candidate, which print the same."""
    seed = secrets.randbits(31)
    order = (True, False) if candidate_first else (False, True)
    runs = {}
    for candidate in order:
        run = session.bench(candidate=candidate, seed=seed)
        if isinstance(run, Failure):
            if candidate:
                return run
            raise BadInput(
                f"problem {session.problem.name}: the bench of the project as it stands fails now"
                f" and then: {run.diagnosis[:300]}"
            )
        runs[candidate] = run
    difference = session.differs(runs[True][1], runs[False][1])
    return difference or (runs[False][0], runs[True][0])


def _fields(pairs: _Pairs) -> dict[str, object]:
    """Times of a report, and its outcome where they mean nothing."""
    ratio = pairs.ratio()
    serial, candidate = (
        level([[seconds] for seconds in side], pairs.target, "call")
        for side in (pairs.serial, pairs.own)
    )
    timing = ratio.timing()
    fields: dict[str, object] = {
        "timing": candidate.timing(),
        "baseline": serial.timing(),
        "speedup": ratio.seconds,
        "speedup_interval": Interval(low=timing.interval.low, high=timing.interval.high),
    }
    if not pairs.censored and ratio.reach > TARGETS[pairs.target].unstable:
        message = f"right, but the ratio of times is known to within {ratio.reach:.0%} only"
        fields |= {"outcome": Outcome.UNSTABLE_TIMING, "diagnosis": message}
    return fields
