"""The figures of arms: estimates over answers, intervals over problems, differences in pairs.

Formulas: docs/dev/method.md section 5. Problems are the sample: every figure is a mean over
problems of one value each, with an interval over problems. Few problems have no interval.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np

from regraph_kg.models.bench import BenchRun
from regraph_kg.models.run import Cost

RESAMPLES = 10_000
LEVEL = 0.95
FEWEST = 5
"""Fewest problems of an interval: a bootstrap of less says nothing."""
START = "the start alone"
"""An arm without a model: its answer is the program that the others begin with."""

ProblemKey = tuple[str, str]
"""A name and a target."""


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `n`."""
    z = NormalDist().inv_cdf(0.975)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems and its 95 % interval; for ratios, of logarithms, carried back."""

    value: float
    interval: tuple[float, float] | None
    """None below `FEWEST` problems."""
    problems: int
    """Problems with a known value."""

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean | None":
        """The mean of known values; None without any. One seed: equal values, equal interval."""
        finite = np.array([value for value in values if not math.isnan(value)])
        if not len(finite):
            return None
        interval = _bootstrapped(finite) if len(finite) >= FEWEST else None
        return cls(float(finite.mean()), interval, len(finite))

    @classmethod
    def of_shares(cls, shares: Iterable[float]) -> "Mean | None":
        """The mean of shares with Wilson's interval, which has a width where all problems agree."""
        values = list(shares)
        if not values:
            return None
        # A bootstrap of equal shares has no width, whatever else could have been drawn.
        mean, n = fmean(values), len(values)
        interval = wilson(mean, n) if n >= FEWEST else None
        return cls(mean, interval, n)

    @classmethod
    def of_ratios(cls, ratios: Iterable[float]) -> "Mean | None":
        """A geometric mean."""
        mean = cls.of(math.log(ratio) for ratio in ratios)
        if mean is None:
            return None
        low_high = mean.interval
        interval = (math.exp(low_high[0]), math.exp(low_high[1])) if low_high else None
        return cls(math.exp(mean.value), interval, mean.problems)


def _bootstrapped(values: "np.typing.NDArray[np.float64]") -> tuple[float, float]:
    """Percentiles of resamples, further out the fewer there are (Hesterberg 2015, section 5.3)."""
    from scipy import stats  # noqa: PLC0415 (half a second, and only a bench needs it)

    n = len(values)
    # Plain percentiles of five problems hold the truth in 83 of 100 samples, not in 95.
    tail = stats.norm.cdf(-stats.t.isf((1 - LEVEL) / 2, n - 1) * math.sqrt(n / (n - 1)))
    found = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=1 - 2 * tail,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


Measure = Callable[[BenchRun], float]


def by_problem(runs: Iterable[BenchRun], measure: Measure) -> dict[ProblemKey, float]:
    """One value a problem: the mean over its seeds, where known; else NaN."""
    by_key: dict[ProblemKey, list[float]] = {}
    for run in runs:
        values = by_key.setdefault((run.problem, run.target), [])
        if not math.isnan(value := measure(run)):
            values.append(value)
    return {problem: fmean(values) if values else math.nan for problem, values in by_key.items()}


def built(run: BenchRun) -> float:
    """Share of answers that compile: build@1. A search without any had its budget for nothing."""
    return fmean(answer.built for answer in run.answers) if run.answers else 0.0


def right(run: BenchRun) -> float:
    """Share of answers that are right: pass@1."""
    return fmean(answer.right for answer in run.answers) if run.answers else 0.0


def answer_speedup(run: BenchRun) -> float:
    """Mean speedup of an answer, as screened; a failed one counts 0: speedup@1."""
    return fmean(answer.speedup or 0.0 for answer in run.answers) if run.answers else 0.0


def solved(run: BenchRun) -> float:
    """1 where something is verified and surely faster."""
    return float(run.improved)


def log_speedup(run: BenchRun) -> float:
    """Log speedup of the answer, with the serial code as fallback."""
    return math.log(run.speedup)


def share_of_roof(run: BenchRun) -> float:
    """The fastest code's share of the roof; NaN where it is not known."""
    return math.nan if run.roof is None else min(1.0, run.roof.share)


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """The figures of one arm on its problems."""

    arm: str
    runs: int
    early: int
    """Runs that ended before their budget was spent."""
    problems: int
    build: Mean | None
    passed: Mean | None
    speedup: Mean | None
    """Three means over answers; None for the start alone, which has none."""
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
    """Energy of the GPU while it judged; None where a run's is not known."""


def figures(arm: str, runs: Sequence[BenchRun]) -> ArmFigures:
    """Figures of the runs of one arm."""

    def mean(measure: Measure) -> Mean | None:
        return Mean.of(by_problem(runs, measure).values())

    def of_answers(measure: Measure) -> Mean | None:
        return None if arm == START else mean(measure)

    # One unknown makes the sum unknown: a part of it would look like the whole.
    joules = [run.cost.joules for run in runs]
    logs = by_problem(runs, log_speedup).values()
    return ArmFigures(
        arm=arm,
        runs=len(runs),
        early=sum(run.stopped != "calls" for run in runs),
        problems=len(by_problem(runs, solved)),
        build=of_answers(built),
        passed=of_answers(right),
        speedup=of_answers(answer_speedup),
        solved=Mean.of_shares(by_problem(runs, solved).values()),
        gain=Mean.of_ratios(math.exp(log) for log in logs),
        roof=mean(share_of_roof),
        calls=sum(run.cost.calls for run in runs),
        thoughts=sum(run.cost.thoughts for run in runs),
        tokens=sum(run.cost.prompt_tokens + run.cost.output_tokens for run in runs),
        model_seconds=sum(run.cost.model_seconds for run in runs),
        judge_seconds=sum(run.cost.judge_seconds for run in runs),
        joules=None if None in joules else math.fsum(joule or 0.0 for joule in joules),
    )


def starts(runs: Iterable[BenchRun]) -> list[BenchRun]:
    """Runs whose answer is the start: one for each problem with a generated first program."""
    by_key = {(run.problem, run.target): run for run in runs if run.start is not None}
    return [
        run.model_copy(
            update={
                "arm": START,
                "answers": (),
                "improved": (sure := run.start_interval is not None and run.start_interval.low > 1),
                "speedup": run.start if sure else 1.0,
                "roof": None,
                "cost": Cost(),
            }
        )
        for run in by_key.values()
    ]


Differences = tuple[Mean | None, Mean | None, Mean | None]
"""Solved problems, right first answers (None beside the start alone), and the ratio of speedups."""


def paired(arm: Sequence[BenchRun], beside: Sequence[BenchRun]) -> Differences | None:
    """`arm` less or over `beside`, problem by problem; None where no problem is shared."""

    def differences(measure: Measure) -> list[float]:
        ours, theirs = by_problem(arm, measure), by_problem(beside, measure)
        return sorted(ours[problem] - theirs[problem] for problem in ours.keys() & theirs.keys())

    logs = differences(log_speedup)
    if not logs:
        return None
    without_model = START in (arm[0].arm, beside[0].arm)
    passed = None if without_model else Mean.of(differences(right))
    return Mean.of(differences(solved)), passed, Mean.of_ratios(map(math.exp, logs))
