"""The figures of arms: means over problems with their intervals, and differences in pairs.

Formulas: docs/dev/method.md section 5. Problems are the sample: a figure is a mean over problems
of one value each. Few problems have no interval.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

from benchmarks.bench.record import BenchRun
from regraph_kg.models.run import Cost

RESAMPLES = 10_000
LEVEL = 0.95
FEWEST = 5  # fewest problems of an interval: a bootstrap of less says nothing
START = "the start alone"  # an arm without a model: its answer is what the others begin with

Measure = Callable[[BenchRun], float]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems and its 95 % interval."""

    value: float
    interval: tuple[float, float] | None  # none below `FEWEST` problems
    problems: int


def mean_of(values: Iterable[float]) -> Mean | None:
    """The mean of one value a problem; None without any."""
    known = list(values)
    if not known:
        return None
    interval = _bootstrapped(known) if len(known) >= FEWEST else None
    return Mean(fmean(known), interval, len(known))


def mean_share(shares: Iterable[float]) -> Mean | None:
    """The mean of shares with Wilson's interval."""
    found = mean_of(shares)
    if found is None or found.interval is None:
        return found
    # A bootstrap of equal shares has no width, whatever else could have been drawn.
    return Mean(found.value, wilson(found.value, found.problems), found.problems)


def mean_ratio(logs: Iterable[float]) -> Mean | None:
    """The geometric mean of ratios, given as logarithms, with its interval carried back."""
    found = mean_of(logs)
    if found is None:
        return None
    low_high = found.interval
    interval = (math.exp(low_high[0]), math.exp(low_high[1])) if low_high else None
    return Mean(math.exp(found.value), interval, found.problems)


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `n`."""
    z = NormalDist().inv_cdf(0.975)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return max(0.0, middle - half), min(1.0, middle + half)


def _bootstrapped(values: Sequence[float]) -> tuple[float, float]:
    """Percentiles of resamples, further out the fewer there are (Hesterberg 2015, section 5.3)."""
    import numpy as np  # noqa: PLC0415 (half a second with scipy, and only a bench needs them)
    from scipy import stats  # noqa: PLC0415

    n = len(values)
    # Plain percentiles of five problems hold the truth in 83 of 100 samples, not in 95.
    tail = stats.norm.cdf(-stats.t.isf((1 - LEVEL) / 2, n - 1) * math.sqrt(n / (n - 1)))
    found = stats.bootstrap(
        (np.array(values),),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=1 - 2 * tail,
        method="percentile",
        # One seed: equal values have an equal interval.
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


def by_problem(runs: Iterable[BenchRun], measure: Measure) -> dict[tuple[str, str], float]:
    """One value for each problem and target: the mean over its seeds."""
    by_key: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        by_key.setdefault((run.problem, run.target), []).append(measure(run))
    return {problem: fmean(values) for problem, values in by_key.items()}


def built(run: BenchRun) -> float:
    """Share of answers that compile: build@1. A search without any had its budget for nothing."""
    return fmean(answer.built for answer in run.answers) if run.answers else 0.0


def right(run: BenchRun) -> float:
    """Share of answers that are right: pass@1."""
    return fmean(answer.right for answer in run.answers) if run.answers else 0.0


def solved(run: BenchRun) -> float:
    """1 where something is verified and surely faster."""
    return float(run.improved)


def log_speedup(run: BenchRun) -> float:
    """Log speedup of the answer, with the serial code as fallback."""
    return math.log(run.speedup)


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
                "cost": Cost(),
            }
        )
        for run in by_key.values()
    ]


def differences(
    arm: Sequence[BenchRun], beside: Sequence[BenchRun], measure: Measure
) -> list[float]:
    """`arm` less `beside`, for each problem that they share."""
    ours, theirs = by_problem(arm, measure), by_problem(beside, measure)
    # Sorted, so that the seeded bootstrap does not hang on the order of the runs.
    return sorted(ours[problem] - theirs[problem] for problem in ours.keys() & theirs.keys())
