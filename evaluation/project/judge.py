"""Judges a candidate by its project's own commands: build, test, then the bench in pairs.

A pair is one run of the bench with the project as it stands and one with the candidate, in turn,
with the same secret seed; its ratio of times is one piece of evidence (timing/estimate.py, with
pairs in the place of workers). The output of each run is compared before its time counts.
Not covered: cuda (commands see no GPU); work that the bench leaves out unseen.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from regraph_kg.evaluation.gpu.device import machine_facts, openmp_device, turn
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.evaluation.project.session import ProjectSession
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.load import LoadWatch
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome, code_hash
from regraph_kg.models.target import TARGETS, Target

_CENSORED_ABOVE = 3.0
"""Two first runs that take so many times as long as the best so far (else the project as it
stands) end the timing."""


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
_Pairs = list[tuple[float, float]]
"""Seconds of the project as it stands and of the candidate, run by run."""


class CommandJudge:
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
        begun, stages = time.perf_counter(), dict[str, float]()
        with turn("cpu", self._tell):
            session = self._session(problem)
            watch = LoadWatch()
            steps: dict[str, Callable[[], Failure | None]] = {
                "compile": lambda: session.build(candidate.code),
                "verify": session.test,
            }
            failure = None
            stages["open"] = time.perf_counter() - begun
            for name, step in steps.items():
                start = time.perf_counter()
                failure = failure or step()
                stages[name] = time.perf_counter() - start
            start = time.perf_counter()
            pairs = failure or _timed(session, _RULES[grade], candidate.target, incumbent)
            stages["time"] = time.perf_counter() - start
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
            stages=stages | {"total": time.perf_counter() - begun},
            facts=machine_facts() | {"sandbox": session.sandbox},
            guarantee=problem.guarantee,
        )
        if isinstance(pairs, Failure):
            fields = {"outcome": pairs.outcome, "diagnosis": pairs.diagnosis[:1500]}
            return report.model_copy(update=fields)
        return report.model_copy(update=_times(pairs, candidate.target) | {"load": load})

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


def _timed(
    session: ProjectSession, rule: _PairRule, target: Target, incumbent: float | None
) -> Failure | _Pairs:
    """Pairs of runs, each checked.

    The first pair warms caches up, and counts only where it ends the timing, with the second one.
    """
    for second in (False, True):
        first = session.pair(candidate_first=second)
        if isinstance(first, Failure):
            return first
        if first[1] <= _CENSORED_ABOVE * (incumbent or first[0]):
            break
        if second:
            return [first]
    pairs: _Pairs = []
    end = time.monotonic() + rule.seconds
    while len(pairs) < rule.most:
        pair = session.pair(candidate_first=bool(len(pairs) % 2))
        if isinstance(pair, Failure):
            return pair
        pairs.append(pair)
        late = time.monotonic() > end
        if len(pairs) >= rule.least and (late or _ratio(pairs, target).reach <= rule.reach):
            break
    return pairs


def _ratio(pairs: _Pairs, target: Target) -> TimeEstimate:
    """The candidate's speedup."""
    return level([[serial / own] for serial, own in pairs], target, "call")


def _times(pairs: _Pairs, target: Target) -> dict[str, object]:
    """Times of a report, and its outcome where they mean nothing."""
    ratio = _ratio(pairs, target)
    serial, own = (
        level([[seconds] for seconds in side], target, "call").timing()
        for side in zip(*pairs, strict=True)
    )
    fields: dict[str, object] = {
        "timing": own,
        "baseline": serial,
        "speedup": ratio.seconds,
        "speedup_interval": ratio.timing().interval,
    }
    is_censored = len(pairs) == 1  # far slower: how much is not asked
    if not is_censored and ratio.reach > TARGETS[target].unstable:
        message = f"right, but the ratio of times is known to within {ratio.reach:.0%} only"
        fields |= {"outcome": Outcome.UNSTABLE_TIMING, "diagnosis": message}
    return fields
