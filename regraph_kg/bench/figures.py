"""The figures of arms: estimates over answers, intervals over problems, differences in pairs.

Formulas: docs/dev/method.md section 5. Problems are what is drawn: every figure is a mean over
problems of one value each, its interval a bootstrap over them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from regraph_kg.models.bench import BenchAnswer, BenchRun

RESAMPLES = 10_000
LEVEL = 0.95
INDEPENDENT = frozenset({"standard", "cot"})
"""Methods whose answers know nothing of each other: figures at k > 1 are of these alone."""

ProblemKey = tuple[str, str]
"""A name and a target."""


def at_least_one(answers: int, good: int, k: int) -> float:
    """Chance that one of `k` answers is good, of `answers` drawn: 1 - C(n-c, k) / C(n, k).

    NaN where there are fewer than `k` answers: nothing is known then.
    """
    if not 0 < k <= answers:
        return math.nan
    return 1 - math.comb(answers - good, k) / math.comb(answers, k)


def speedup_at(speedups: Sequence[float], k: int) -> float:
    """Expected best speedup of `k` answers: sum_j s_j C(j-1, k-1) / C(n, k), s_j ascending.

    A failed answer has speedup 0. NaN where there are fewer than `k`.
    """
    if not 0 < k <= len(speedups):
        return math.nan
    ways = math.comb(len(speedups), k)
    return math.fsum(
        speedup * (math.comb(rank, k - 1) / ways) for rank, speedup in enumerate(sorted(speedups))
    )


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems and its 95 % interval; for ratios, of logarithms, carried back."""

    value: float
    low: float
    high: float
    problems: int

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean | None":
        """None where no value is known. Resamples are drawn from one seed: equal in, equal out."""
        known = np.array([one for one in values if not math.isnan(one)])
        if not len(known):
            return None
        drawn = np.random.default_rng(0).choice(known, (RESAMPLES, len(known))).mean(axis=1)
        ends = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return cls(float(known.mean()), float(ends[0]), float(ends[1]), len(known))

    @classmethod
    def of_ratios(cls, ratios: Iterable[float]) -> "Mean | None":
        """A geometric mean."""
        found = cls.of(math.log(one) for one in ratios)
        if found is None:
            return None
        return cls(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.problems)


Measure = Callable[[BenchRun], float]


def by_problem(runs: Iterable[BenchRun], measure: Measure) -> dict[ProblemKey, float]:
    """One value a problem: the mean over its seeds."""
    found: dict[ProblemKey, list[float]] = {}
    for run in runs:
        found.setdefault((run.problem, run.target), []).append(measure(run))
    return {problem: fmean(values) for problem, values in found.items()}


def build_at(k: int) -> Measure:
    """Chance that one of `k` answers compiles."""
    return lambda run: at_least_one(len(run.answers), sum(a.built for a in run.answers), k)


def pass_at(k: int) -> Measure:
    """Chance that one of `k` answers is right."""
    return lambda run: at_least_one(len(run.answers), sum(a.right for a in run.answers), k)


def speedup_at_k(k: int) -> Measure:
    """Expected best speedup of `k` answers, as screened."""
    return lambda run: speedup_at([_worth(answer) for answer in run.answers], k)


def _worth(answer: BenchAnswer) -> float:
    return answer.speedup or 0.0


def solved(run: BenchRun) -> float:
    """1 where something is verified and surely faster."""
    return float(run.improved)


def log_speedup(run: BenchRun) -> float:
    """Of the answer, with the serial code as fallback."""
    return math.log(run.speedup)


def share_of_roof(run: BenchRun) -> float:
    """How near the fastest code comes to what the device allows; NaN where that is not known."""
    return math.nan if run.roof is None else min(1.0, run.roof.share)


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """What one arm came to on the problems that it was run on."""

    arm: str
    runs: int
    early: int
    """Runs that ended before their budget was spent."""
    answers: int
    build: Mapping[int, Mean | None]
    passed: Mapping[int, Mean | None]
    speedup: Mapping[int, Mean | None]
    """Each by k."""
    solved: Mean | None
    gain: Mean | None
    """Geometric mean of the answers' speedups, 1 where there is none."""
    roof: Mean | None
    calls: int
    thoughts: int
    tokens: int
    model_seconds: float
    judge_seconds: float
    joules: float | None
    """Of the GPU while it judged; None where that is not known of every run."""


def figures(arm: str, runs: Sequence[BenchRun], ks: Sequence[int]) -> ArmFigures:
    """Of the runs of one arm. At k > 1 nothing is said of answers that hang on each other."""
    several = [k for k in ks if k == 1 or arm in INDEPENDENT]

    def mean(measure: Measure) -> Mean | None:
        return Mean.of(by_problem(runs, measure).values())

    joules = [run.cost.joules for run in runs]
    logs = by_problem(runs, log_speedup).values()
    return ArmFigures(
        arm=arm,
        runs=len(runs),
        early=sum(run.stopped != "calls" for run in runs),
        answers=sum(len(run.answers) for run in runs),
        build={k: mean(build_at(k)) for k in several},
        passed={k: mean(pass_at(k)) for k in several},
        speedup={k: mean(speedup_at_k(k)) for k in several},
        solved=mean(solved),
        gain=Mean.of_ratios(math.exp(one) for one in logs),
        roof=mean(share_of_roof),
        calls=sum(run.cost.calls for run in runs),
        thoughts=sum(run.cost.thoughts for run in runs),
        tokens=sum(run.cost.prompt_tokens + run.cost.output_tokens for run in runs),
        model_seconds=sum(run.cost.model_seconds for run in runs),
        judge_seconds=sum(run.cost.judge_seconds for run in runs),
        joules=None if None in joules else math.fsum(one or 0.0 for one in joules),
    )


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How an arm does beside another one, on the problems that both were run on."""

    arm: str
    beside: str
    problems: int
    passed: Mean | None
    """Of pass@1: arm less beside."""
    solved: Mean | None
    gain: Mean | None
    """Of speedups: arm over beside."""


def paired(arm: Sequence[BenchRun], beside: Sequence[BenchRun]) -> PairedDifference | None:
    """The differences, problem by problem; None where no problem is shared."""

    def differences(measure: Measure) -> list[float]:
        ours, theirs = by_problem(arm, measure), by_problem(beside, measure)
        return [ours[problem] - theirs[problem] for problem in ours.keys() & theirs.keys()]

    logs = differences(log_speedup)
    if not logs:
        return None
    return PairedDifference(
        arm=arm[0].arm,
        beside=beside[0].arm,
        problems=len(logs),
        passed=Mean.of(sorted(differences(pass_at(1)))),
        solved=Mean.of(sorted(differences(solved))),
        gain=Mean.of_ratios(sorted(map(math.exp, logs))),
    )
