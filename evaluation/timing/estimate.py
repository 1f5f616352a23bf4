"""Estimate of a call's time from a few workers, and the interval of a speedup.

Every worker has a level of its own (address layout, page placement, neighbours on the host) that no
number of calls within it averages out, so the unit of evidence is the worker: each counts with the
logarithm of its median. Of k workers

    variance   s2 = (p s0^2 + sum (y_i - mean y)^2) / (p + k - 1)       scatter of levels
    of mean    v  = (s2 + e2) / k + c2  e: standard error of one worker's median, by its samples
                                        c: what the clock is off by, which all workers share

s0 is the scatter that workers of this target and metric were seen to have, worth p = 6 workers
(a conjugate prior: Gelman et al., Bayesian Data Analysis, 3.3). The 95 % interval of a speedup is
that of the difference of two such means, Student's with Welch's degrees of freedom. It is meant to
hold the next measurement of the same code; docs/results.md says how often it does.

Not covered: a machine that changes while the workers of one side run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from regraph_kg.evaluation.timing.stop import summarise
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Interval, Timing
from regraph_kg.models.target import Target, scatter

_PRIOR_WORKERS = 6
_NORMAL = 1.96
_TAIL = 0.025  # share of a 95 % interval's misses on one side


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Seconds a call, and how well they are known."""

    log: float  # mean logarithm of the workers' medians
    variance: float  # variance of that mean
    freedom: int  # degrees of freedom of the variance
    samples: tuple[float, ...]  # seconds of all workers' samples

    @property
    def seconds(self) -> float:
        """Geometric mean of the workers' medians."""
        return math.exp(self.log)

    @property
    def reach(self) -> float:
        """Half-width of the 95 % interval of `log`."""
        return student(self.freedom) * math.sqrt(self.variance)

    def timing(self) -> Timing:
        """The estimate in the form of reports."""
        interval = around(self.log, self.reach)
        return Timing(samples=self.samples, median=self.seconds, interval=interval)


def level(
    workers: Sequence[Sequence[float]], target: Target, metric: Metric, error: float = 0.0
) -> TimeEstimate:
    """Estimate from workers' samples (seconds a call); at least one worker, one sample each.

    `error`: seconds a call that the clock may be off by, taken for two standard deviations.
    """
    timings = [summarise(samples) for samples in workers]
    logs = [math.log(timing.median) for timing in timings]
    mean, s0 = fmean(logs), scatter(target, metric)
    squares = _PRIOR_WORKERS * s0**2 + sum((log - mean) ** 2 for log in logs)
    freedom = _PRIOR_WORKERS + len(logs) - 1
    # the standard errors of the logarithms of medians, by their order-statistic intervals
    errors = (math.log(t.interval.high / t.interval.low) / (2 * _NORMAL) for t in timings)
    within = fmean(error**2 for error in errors)
    clock = error / 2 / math.exp(mean)
    variance = (squares / freedom + within) / len(logs) + clock**2
    return TimeEstimate(mean, variance, freedom, tuple(s for samples in workers for s in samples))


def ratio(slow: TimeEstimate, fast: TimeEstimate) -> tuple[float, Interval]:
    """How many times as long as `fast` takes `slow`, and its 95 % interval."""
    difference = slow.log - fast.log
    variance = slow.variance + fast.variance
    freedom = variance**2 / (slow.variance**2 / slow.freedom + fast.variance**2 / fast.freedom)
    return math.exp(difference), around(difference, student(int(freedom)) * math.sqrt(variance))


def around(log: float, reach: float) -> Interval:
    """The interval of a number whose logarithm is known to within `reach`."""
    return Interval(low=math.exp(log - reach), high=math.exp(log + reach))


def student(freedom: int, tail: float = _TAIL) -> float:
    """Student's t, beyond which `tail` lies on one side; of 1 degree of freedom at least."""
    # The import takes 0.2 s, and most commands estimate nothing.
    from scipy.special import stdtrit  # noqa: PLC0415

    return float(stdtrit(freedom, 1 - tail))
