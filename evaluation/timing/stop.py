"""Order statistics of a series of samples: its median's interval, when warm, when long enough.

Pure functions of numbers: the tables in tests/evaluation/timing/test_stop.py are worked
out by hand. Not covered: taking samples (timing.py) and comparing two series (compare.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from regraph_kg.models.evaluation import Interval, Timing

_PATIENCE = 4  # a series still wider than `acceptable` may take this many times its seconds

Decision = Literal["continue", "stop", "censored"]


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a series of samples is long enough.

    Ends once the half-width of the median's interval is `half_width` of the median, or after
    `seconds` in timed calls (up to 4 times that while the half-width is above `acceptable`); never
    before `least` samples (below 6 their range stands for a 95 % interval), except after 3 that
    are all slower than `give_up_above` seconds: censored. 200 samples are always enough.
    """

    seconds: float
    half_width: float
    acceptable: float = math.inf
    give_up_above: float = math.inf
    least: int = 6
    most: int = 200
    least_censored: int = 3

    def decide(self, samples: Sequence[float], spent: float) -> Decision:
        """Decision after these samples (seconds a call), `spent` seconds of timed calls."""
        if len(samples) >= self.least_censored and min(samples) > self.give_up_above:
            return "censored"
        if len(samples) < self.least:
            return "continue"
        if len(samples) >= self.most:
            return "stop"
        width = half_width(summarise(samples))
        allowed = self.seconds if width <= self.acceptable else _PATIENCE * self.seconds
        return "stop" if spent >= allowed or width <= self.half_width else "continue"


@dataclass(frozen=True, slots=True)
class WarmUp:
    """When calls have become steady: `least` batches, two successive ones within `change`.

    The GPU's clock must be on its plateau as well; nothing is waited for beyond `seconds`.
    """

    seconds: float = 0.2
    least: int = 3
    change: float = 0.02

    def done(self, batches: Sequence[float], passed: float, *, clock_steady: bool) -> bool:
        """Whether to end after these batches (seconds a call), `passed` seconds since the first."""
        if passed >= self.seconds:
            return True
        if len(batches) < max(self.least, 2):
            return False
        return clock_steady and abs(batches[-1] - batches[-2]) <= self.change * batches[-2]


def summarise(samples: Sequence[float]) -> Timing:
    """Median and its order-statistic 95 % interval (all of the range below 6 samples)."""
    ordered, count = sorted(samples), len(samples)
    # left out at either end: the most k with P(Binomial(count, 1/2) < k) <= 2.5 %
    cut, outside = 0, 1
    while (outside := outside + math.comb(count, cut + 1)) * 40 <= 2**count:
        cut += 1
    return Timing(
        samples=tuple(samples),
        median=median(ordered),
        interval=Interval(low=ordered[cut], high=ordered[-1 - cut]),
    )


def half_width(timing: Timing) -> float:
    """Half-width of the interval as a fraction of the median."""
    return (timing.interval.high - timing.interval.low) / (2 * timing.median)
