"""Samples -> median and interval; when to stop; what is called while the clock runs.

The judge's clock spans each batch of calls, less the round trip of an empty batch. On a busy
machine it also counts the wait until the judge is woken, so the worker's own figure is used for a
batch where the two agree: within 5 % or 0.5 ms, batches being about 10 ms. Elsewhere ours is used,
so a worker whose clock lies gains nothing. Where most batches claim less than half of what passed,
and long batches do too, by more than waking can take, the candidate is suspicious.

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
_CONFIRM_BATCHES, _CONFIRM_SECONDS, _WAKING_SECONDS = 3, 0.25, 0.1
_TICK = 1e-7
"""The shortest call believed when batches are sized, in seconds."""


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a series of samples is long enough.

    Ends once the half-width of the median's interval is `half_width` of the median, or after
    `seconds` in timed calls (up to 4 times that while the half-width is above `acceptable`); never
    before 6 samples (fewer cannot give a 95 % interval), except after 3 that are all slower than
    `give_up_above` seconds: censored. 200 samples are always enough.
    """

    seconds: float
    half_width: float
    acceptable: float = math.inf
    give_up_above: float = math.inf
    least: int = 6
    most: int = 200
    least_censored: int = 3

    def stop(self, samples: Sequence[float], spent: float) -> bool:
        """Whether to end after these samples (seconds a call), `spent` seconds of timed calls."""
        if len(samples) >= self.least_censored and min(samples) > self.give_up_above:
            return True
        if not self.least <= len(samples) < self.most:
            return len(samples) >= self.most
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
    while (outside := outside + math.comb(count, cut + 1)) * 40 <= 2**count:
        cut += 1
    return cut


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished series; `first` is the cold first call, in seconds."""

    samples: tuple[float, ...]
    first: float
    censored: bool
    distrusted: bool
    """The worker's clock disagreed with ours now and then: ours was used there."""


def measure(
    worker: Worker, bench: Bench, rule: StopRule, call_seconds: float, check_clock: bool
) -> Measured | Failure:
    """Time calls until `rule` is content; a call may take `call_seconds`."""
    failure = bench.begin(worker) or worker.settle()
    measured = failure or _Series(worker, bench, rule, call_seconds, check_clock).run()
    if isinstance(measured, Failure):
        return Failure(measured.outcome, f"at the timing shape: {measured.diagnosis}")
    return bench.end(worker) or measured


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some calls in a row, in seconds: by the judge's clock (net), by the worker's."""

    calls: int
    ours: float
    own: float

    @property
    def agrees(self) -> bool:
        """Whether the worker's figure is near ours."""
        return self.ours - self.own <= max(_CLOCK_SLACK_SECONDS, _CLOCK_SLACK * self.ours)

    @property
    def lies(self) -> bool:
        """Whether the worker claims less than half of what passed."""
        return self.own < self.ours / 2 and not self.agrees


@dataclass(frozen=True, slots=True)
class _Series:
    """One series of batches on one worker."""

    worker: Worker
    bench: Bench
    rule: StopRule
    call_seconds: float
    check_clock: bool

    def run(self) -> Measured | Failure:
        """Warm up, calibrate, sample."""
        warm = self._warm_up()
        if isinstance(warm, Failure):
            return warm
        empty = _empty_batch(self.worker)
        if isinstance(empty, Failure):
            return empty
        first, most = warm
        batches = self._batches(most, empty)
        if isinstance(batches, Failure):
            return batches
        lies = [batch for batch in batches if batch.lies]
        if self.check_clock and len(lies) > len(batches) / 2:
            failure = self._confirmed_lie(batches, empty)
            if failure:
                return failure
        samples = tuple(map(self._seconds, batches))
        distrusted = self.check_clock and not all(batch.agrees for batch in batches)
        return Measured(samples, first, min(samples) > self.rule.give_up_above, distrusted)

    def _seconds(self, batch: _Batch) -> float:
        """Seconds a call: the worker's figure where it agrees with ours, else ours."""
        believed = batch.agrees or not self.check_clock
        return (batch.own if believed else batch.ours) / batch.calls

    def _call(self, most: int, empty: float = 0.0, *, closing: bool = False) -> _Batch | Failure:
        rows = self.bench.draw(most, closing=closing)
        patience = self.call_seconds * math.ceil(len(rows) / most) + most * BATCH_SECONDS
        done = self.worker.call(rows, patience)
        if isinstance(done, Failure):
            return done
        return _Batch(len(rows), max(done.ours - empty, 0.0), done.own)

    def _warm_up(self) -> tuple[float, int] | Failure:
        """Call until two successive batches agree: seconds of the first call, calls of a batch."""
        first, before, most = 0.0, 0.0, 1
        start = time.perf_counter()
        for batches in itertools.count(1):
            done = self._call(most)
            if isinstance(done, Failure):
                return done
            first = first or done.ours
            now = done.own / done.calls
            steady = batches >= _WARM_UP_BATCHES and abs(now - before) <= _WARM_UP_CHANGE * before
            late = time.perf_counter() - start >= _WARM_UP_SECONDS
            short = done.own < BATCH_SECONDS / 2 and done.ours < _GROWTH * BATCH_SECONDS
            if short and not late and most < self.bench.largest_batch:
                growth = min(_GROWTH, BATCH_SECONDS / max(done.own, _TICK))
                most = min(self.bench.largest_batch, math.ceil(most * growth))
            elif steady or late:
                break
            before = now
        return first, most

    def _batches(self, most: int, empty: float) -> list[_Batch] | Failure:
        """Batches until the rule is content, and one more, before which inputs change place.

        Only then: of two sets, one more turn would bring each back to where it was first seen.
        """
        batches: list[_Batch] = []
        ended = False
        while True:
            failure = self.bench.turn(self.worker) if ended else None
            done = failure or self._call(most, empty, closing=ended)
            if isinstance(done, Failure):
                return done
            batches.append(done)
            if ended:
                return batches
            samples = [self._seconds(batch) for batch in batches]
            ended = self.rule.stop(samples, sum(batch.ours for batch in batches))

    def _confirmed_lie(self, batches: Sequence[_Batch], empty: float) -> Failure | None:
        """Long batches, where waking up late cannot explain the difference."""
        claimed = median(batch.own / batch.calls for batch in batches)
        most = math.ceil(_CONFIRM_SECONDS / max(claimed, _TICK))
        for _ in range(_CONFIRM_BATCHES):
            done = self._call(min(self.bench.largest_batch, most), empty, closing=True)
            if isinstance(done, Failure):
                return done
            if not done.lies or done.ours - done.own < _WAKING_SECONDS:
                return None
        passed = median(batch.ours / batch.calls for batch in batches)
        return Failure(
            Outcome.SUSPICIOUS,
            f"the worker's clock claims {claimed:.3g} s a call, {passed:.3g} s passed",
        )


def _empty_batch(worker: Worker) -> float | Failure:
    """Median seconds of a batch without calls: what the round trip itself costs."""
    seen = []
    for _ in range(_EMPTY_BATCHES):
        done = worker.call([], _EMPTY_SECONDS)
        if isinstance(done, Failure):
            return done
        seen.append(done.ours)
    return median(seen)
