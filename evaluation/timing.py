"""Samples -> median and interval; when to stop; what is called while the clock runs.

The judge's clock spans each batch of calls, less the round trip of an empty batch. The worker's own
figures are less noisy and are used, but only while they agree with ours: within 5 % or 0.5 ms of
the median batch, batches being at least 10 ms. Otherwise ours are used, and where the worker claims
less than half of what passed, the candidate is suspicious.

Not covered: cache flushes (metric "device"), pinned cores, clock and temperature readings.
"""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from regraph_kg.evaluation.bench import Bench
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.supervisor import Worker
from regraph_kg.models.evaluation import Interval, Outcome, Timing

BATCH_SECONDS = 0.01
_WARM_UP_SECONDS = 0.2
_WARM_UP_BATCHES = 3
_WARM_UP_CHANGE = 0.02
_GROWTH = 16.0
_PATIENCE = 4
_EMPTY_BATCHES = 7
_EMPTY_SECONDS = 10.0
_CLOCK_SLACK_SECONDS = 0.0005
_CLOCK_SLACK = 0.05


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a series of samples is long enough.

    Ends once the half-width of the median's interval is `half_width` of the median, or after
    `seconds` in timed calls, or up to 4 times that while it is above `acceptable`; never before 6 samples (fewer cannot give a 95 % interval), except
    after 3 that are all slower than `give_up_above` seconds: censored.
    """

    seconds: float
    half_width: float
    acceptable: float = math.inf
    give_up_above: float = math.inf
    least: int = 6
    least_censored: int = 3

    def stop(self, samples: Sequence[float], spent: float) -> bool:
        """Whether to end after these samples (seconds a call), `spent` seconds of timed calls."""
        if len(samples) >= self.least_censored and min(samples) > self.give_up_above:
            return True
        if len(samples) < self.least:
            return False
        width = half_width(summarise(samples))
        allowed = self.seconds if width <= self.acceptable else _PATIENCE * self.seconds
        return spent >= allowed or width <= self.half_width


def summarise(samples: Sequence[float]) -> Timing:
    """Median and its order-statistic 95 % interval (all of the range below 6 samples)."""
    ordered = sorted(samples)
    cut = _order_statistic(len(ordered))
    return Timing(
        samples=tuple(samples),
        median=median(ordered),
        interval=Interval(low=ordered[cut], high=ordered[-1 - cut]),
    )


def half_width(timing: Timing) -> float:
    """Half-width of the interval as a fraction of the median."""
    return (timing.interval.high - timing.interval.low) / (2 * timing.median)


def _order_statistic(count: int) -> int:
    """Samples left out at either end: the most k with P(Binomial(count, 1/2) < k) <= 2.5 %."""
    cut, outside = 0, 1
    while (outside := outside + math.comb(count, cut + 1)) <= 0.025 * 2**count:
        cut += 1
    return cut


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished series; `first` is the cold first call, in seconds."""

    samples: tuple[float, ...]
    first: float
    censored: bool
    distrusted: bool
    """The worker's clock disagreed with ours: these are ours."""


def measure(
    worker: Worker, bench: Bench, rule: StopRule, call_seconds: float, check_clock: bool
) -> Measured | Failure:
    """Time calls until `rule` is content; a call may take `call_seconds`."""
    failure = bench.begin(worker) or worker.settle()
    series = failure or _series(worker, bench, rule, call_seconds)
    if isinstance(series, Failure):
        return Failure(series.outcome, f"at the timing shape: {series.diagnosis}")
    return bench.end(worker) or _believed(series, rule, check_clock)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some calls in a row, in seconds: by the judge's clock, by the worker's."""

    calls: int
    ours: float
    own: float


@dataclass(frozen=True, slots=True)
class _Series:
    """All batches; `empty` is what a batch without calls takes, in seconds."""

    first: float
    empty: float
    batches: Sequence[_Batch]


def _series(worker: Worker, bench: Bench, rule: StopRule, call_seconds: float) -> _Series | Failure:
    warm = _warm_up(worker, bench, call_seconds)
    if isinstance(warm, Failure):
        return warm
    empty = _empty_batch(worker)
    if isinstance(empty, Failure):
        return empty
    first, most = warm
    batches = _batches(worker, bench, rule, most, call_seconds)
    return batches if isinstance(batches, Failure) else _Series(first, empty, batches)


def _believed(series: _Series, rule: StopRule, check_clock: bool) -> Measured | Failure:
    """The worker's times where they agree with ours, else ours."""
    own = [batch.own / batch.calls for batch in series.batches]
    ours = [max(batch.ours - series.empty, 0) / batch.calls for batch in series.batches]
    calls = min(batch.calls for batch in series.batches)
    distrusted = check_clock and not _agree(median(ours) * calls, median(own) * calls)
    if distrusted and median(own) < median(ours) / 2:
        return Failure(
            Outcome.SUSPICIOUS,
            f"the worker's clock claims {median(own):.3g} s a call, {median(ours):.3g} s passed",
        )
    samples = ours if distrusted else own
    return Measured(tuple(samples), series.first, min(samples) > rule.give_up_above, distrusted)


def _agree(ours: float, own: float) -> bool:
    """Whether the worker's figure for a batch is near ours, in seconds."""
    return ours - own <= max(_CLOCK_SLACK_SECONDS, _CLOCK_SLACK * ours)


def _call(worker: Worker, bench: Bench, most: int, call_seconds: float) -> _Batch | Failure:
    rows = bench.draw(most)
    done = worker.call(rows, call_seconds + most * BATCH_SECONDS)
    return done if isinstance(done, Failure) else _Batch(len(rows), done.ours, done.own)


def _warm_up(worker: Worker, bench: Bench, call_seconds: float) -> tuple[float, int] | Failure:
    """Call until two successive batches agree: seconds of the first call, calls of a batch."""
    first, before, most = 0.0, 0.0, 1
    start = time.perf_counter()
    for batches in itertools.count(1):
        done = _call(worker, bench, most, call_seconds)
        if isinstance(done, Failure):
            return done
        first = first or done.ours
        now = done.ours / done.calls
        steady = batches >= _WARM_UP_BATCHES and abs(now - before) <= _WARM_UP_CHANGE * before
        late = time.perf_counter() - start >= _WARM_UP_SECONDS
        if done.ours < BATCH_SECONDS / 2 and most < bench.largest_batch and not late:
            growth = min(_GROWTH, BATCH_SECONDS / done.ours)
            most = min(bench.largest_batch, math.ceil(most * growth))
        elif steady or late:
            break
        before = now
    return first, most


def _empty_batch(worker: Worker) -> float | Failure:
    """Median seconds of a batch without calls: what the round trip itself costs."""
    seen = []
    for _ in range(_EMPTY_BATCHES):
        done = worker.call([], _EMPTY_SECONDS)
        if isinstance(done, Failure):
            return done
        seen.append(done.ours)
    return median(seen)


def _batches(
    worker: Worker, bench: Bench, rule: StopRule, most: int, call_seconds: float
) -> list[_Batch] | Failure:
    """Batches until `rule` is content, and one more: inputs change place before and after."""
    batches: list[_Batch] = []
    ended = False
    while True:
        failure = bench.turn(worker) if ended or not batches else None
        done = failure or _call(worker, bench, most, call_seconds)
        if isinstance(done, Failure):
            return done
        batches.append(done)
        if ended:
            return batches
        samples = [batch.own / batch.calls for batch in batches]
        ended = rule.stop(samples, sum(batch.ours for batch in batches))
