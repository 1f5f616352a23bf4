"""Is code a faster than code b? The decision over the series of fresh workers of each.

Every worker has an offset of its own (address layout, page placement, which L2 slices its memory
falls into) that no number of calls within it averages out: the unit of evidence is the worker, not
the call. So each worker counts with the logarithm of its median, and

1. the difference of the means of these must be larger than t * s * sqrt(1/ka + 1/kb): s is the
   scatter pooled over both sides, t Student's quantile of ka + kb - 2 degrees of freedom for 0.1 %
   (both sides). Its reach is the interval that is reported. Heavy tails widen s: they make a
   verdict "unknown", not wrong;
2. the two intervals must be apart: of each code, the hull of its workers' medians and of the
   order-statistic 95 % interval of all its samples;
3. the difference must be at least 4 % with 3 or 4 workers a side, 3 % with 5, 2 % with 6 or 7,
   1 % with more. Scatter often has two modes. Three workers of one mode against three of the other
   look like a certain difference without scatter, and do so in 3 % of trials: no test on the same
   numbers can tell. Five against five do so in 0.2 %.

Workers are to be started in turn (a b, b a, a b, ...), so that drift falls on both alike.
"same" means: a difference of 5 % or more is ruled out (by 1), and none of 1 % or more is certain.
"unknown" asks for more workers; `LOOKS` says after how many rounds to look.

Not covered: modes further apart than 4 % with 3 workers: whoever accepts a winner measures it a
second time; differences below 1 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, variance
from typing import Literal

from regraph_kg.evaluation.timing.estimate import student
from regraph_kg.evaluation.timing.stop import summarise
from regraph_kg.models.evaluation import Interval

SpeedVerdict = Literal["faster", "slower", "same", "unknown"]

LEAST_WORKERS = 3
LOOKS = (3, 5, 8)
"""Rounds (workers a side) after which to compare; on "unknown" go on to the next."""
_DIFFERENCE_SOUGHT = 0.05
_LEAST_DIFFERENCE = {3: 0.04, 4: 0.04, 5: 0.03, 6: 0.02, 7: 0.02}
_LEAST_WITH_MORE = 0.01
_TAIL = 0.0005
"""Of a 99.9 % interval, a side."""
_TIMES = 2.0
"""From this ratio on a difference is said in times."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison. `ratio` = time of b / time of a: above 1 where a is faster."""

    verdict: SpeedVerdict
    ratio: float
    interval: Interval
    """99.9 % interval of the ratio."""
    reason: str
    """In words, one line."""


def compare(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> Comparison:
    """Whether a is faster than b; each is a list of series (seconds a call), one a fresh worker.

    Fewer than 3 workers a side, or an empty series, give "unknown".
    """
    if not (_usable(a) and _usable(b)):
        text = f"fewer than {LEAST_WORKERS} workers a side"
        return Comparison("unknown", 1.0, Interval(low=0.0, high=math.inf), text)
    difference, reach = _difference(a, b)
    ratio = math.exp(difference)
    interval = Interval(low=math.exp(difference - reach), high=math.exp(difference + reach))
    verdict, reason = _decide(a, b, difference, reach)
    return Comparison(verdict, ratio, interval, reason)


def _usable(series: Sequence[Sequence[float]]) -> bool:
    return len(series) >= LEAST_WORKERS and all(series)


def _difference(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Difference of the mean log medians (b - a), and its reach."""
    logs_a, logs_b = _logs(a), _logs(b)
    freedom = len(logs_a) + len(logs_b) - 2
    squares = variance(logs_a) * (len(logs_a) - 1) + variance(logs_b) * (len(logs_b) - 1)
    error = math.sqrt(squares / freedom * (1 / len(logs_a) + 1 / len(logs_b)))
    return fmean(logs_b) - fmean(logs_a), student(freedom, _TAIL) * error


def _logs(series: Sequence[Sequence[float]]) -> list[float]:
    return [math.log(median(samples)) for samples in series]


def _decide(
    a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], difference: float, reach: float
) -> tuple[SpeedVerdict, str]:
    workers = min(len(a), len(b))
    threshold = _LEAST_DIFFERENCE.get(workers, _LEAST_WITH_MORE)
    percent = _difference_text(abs(difference))
    certain = abs(difference) > reach
    if certain and abs(difference) >= math.log1p(threshold) and _are_disjoint(_hull(a), _hull(b)):
        verdict: SpeedVerdict = "faster" if difference > 0 else "slower"
        return verdict, f"{percent} {verdict}, {workers} fresh workers a side"
    negligible = not certain or abs(difference) < math.log1p(_LEAST_WITH_MORE)
    if negligible and abs(difference) + reach < math.log1p(_DIFFERENCE_SOUGHT):
        return "same", f"a difference of {_DIFFERENCE_SOUGHT:.0%} is ruled out; {percent} was seen"
    width = f"{math.expm1(reach):.1%}"
    return "unknown", (
        f"{percent} was seen, give or take {width}, by {workers} fresh workers a side: take them as"
        " alike, or compare again on a quieter machine"
    )


def _difference_text(difference: float) -> str:
    """A difference of logarithms in words: "3.1 %", "49.5 times"."""
    ratio = math.exp(difference)
    return f"{ratio:.3g} times" if ratio >= _TIMES else f"{ratio - 1:.1%}"


def _hull(series: Sequence[Sequence[float]]) -> Interval:
    """Interval around the workers' medians and the interval of all samples."""
    medians = [median(samples) for samples in series]
    pooled = summarise([sample for samples in series for sample in samples]).interval
    return Interval(low=min(*medians, pooled.low), high=max(*medians, pooled.high))


def _are_disjoint(first: Interval, second: Interval) -> bool:
    return first.high < second.low or second.high < first.low
