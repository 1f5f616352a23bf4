"""Is code a faster than code b? The decision over pairs of workers that ran in turn.

The unit of evidence is the pair of fresh workers, one of each code, not the call (estimate.py says
why). Each pair counts with one number, the median of the logarithms of its batches' ratios, and

1. the mean of these must be larger than t * s / sqrt(k): s is their scatter, t Student's quantile
   of k - 1 degrees of freedom for 0.2 % (both sides). Heavy tails widen s: they make a verdict
   "unknown", not wrong. The interval that is reported is that for 5 %;
2. the difference must be at least `_LEAST_DIFFERENCE`: scatter often has two modes, and three pairs
   of one mode look like a certain difference.

"same" means: a difference of 5 % or more is ruled out (by 1), and none of 1 % or more is certain.

Times of metric "device" are compared by the levels of both codes' workers first (`by_levels`): how
often those intervals hold is not measured.

Not covered: modes further apart than 4 % with 3 pairs: whoever accepts a winner measures it a
second time; differences below 1 %.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev
from typing import Literal

from regraph_kg.evaluation.timing.estimate import TimeEstimate, around, ratio, student
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Interval, Rivalry, code_hash

SpeedVerdict = Literal["faster", "slower", "same", "unknown"]

LEAST_PAIRS = 3
LOOKS = (3, 5, 8)  #: pairs of workers after which to compare; on "unknown" go on to the next
_DIFFERENCE_SOUGHT = 0.05
_LEAST_DIFFERENCE = {3: 0.04, 4: 0.04, 5: 0.03, 6: 0.02, 7: 0.02}
_LEAST_WITH_MORE = 0.01
_CERTAIN = 0.001  #: share of a 99.8 % interval's misses on one side
_FAR = 1.2  #: a ratio beyond what a machine drifts by within a minute


def by_levels(rival: str, level: TimeEstimate, own: TimeEstimate, metric: Metric) -> Rivalry | None:
    """A code against its rival by their times in one session; None where only turns can tell."""
    times, interval = ratio(level, own)
    # A CPU drifts and copies to a GPU scatter, so times of metric "call" must be far apart. A GPU's
    # own time does not: what workers' levels scatter by is in the interval.
    if metric == "call" and not (interval.low > _FAR or interval.high < 1 / _FAR):
        return None
    difference = math.log(times)
    verdict = _decide(LEAST_PAIRS, difference, math.log(interval.high) - difference)
    return Rivalry(code_hash=code_hash(rival), ratio=times, interval=interval, verdict=verdict)


def compare(rival: str, a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> Rivalry:
    """Whether a is faster than its rival b: samples (seconds a call) of fresh workers of each.

    The k-th workers are a pair: their n-th samples were taken next to each other. Fewer than 3
    pairs, or an empty series, give "unknown".
    """
    code, nothing = code_hash(rival), Interval(low=0.0, high=math.inf)
    if len(a) != len(b) or len(a) < LEAST_PAIRS or not all((*a, *b)):
        return Rivalry(code_hash=code, ratio=1.0, interval=nothing, verdict="unknown")
    logs = [
        # of samples that were taken next to each other
        median(math.log(two / one) for one, two in zip(ours, theirs, strict=False))
        for ours, theirs in zip(a, b, strict=True)
    ]
    difference, error = fmean(logs), stdev(logs) / math.sqrt(len(logs))
    return Rivalry(
        code_hash=code,
        ratio=math.exp(difference),
        interval=around(difference, student(len(logs) - 1) * error),
        verdict=_decide(len(logs), difference, student(len(logs) - 1, _CERTAIN) * error),
        pairs=len(logs),
    )


def _decide(pairs: int, difference: float, reach: float) -> SpeedVerdict:
    certain = abs(difference) > reach
    if certain and abs(difference) >= math.log1p(_LEAST_DIFFERENCE.get(pairs, _LEAST_WITH_MORE)):
        return "faster" if difference > 0 else "slower"
    negligible = not certain or abs(difference) < math.log1p(_LEAST_WITH_MORE)
    ruled_out = abs(difference) + reach < math.log1p(_DIFFERENCE_SOUGHT)
    return "same" if negligible and ruled_out else "unknown"
