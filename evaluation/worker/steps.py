"""When the calls of a batch began and ended, and what getting them ready costs. In seconds.

The worker counts a step as each call begins and as it is over, and the judge's stopwatch sees the
count change (harness/clock.cpp): so a call's time is known by the judge's clock, without what came
before it. Metric "device": before each call its inputs are unmasked and the cache is swept, which
takes longer than many a kernel. A kernel that does nothing is taken off: how long it takes to
launch one, and to wait for it. Before the first call one more sweep wakes the device.

A candidate could move the count, or do its work where none is counted: docs/evaluation.md (metric
"device") says what must hold. What a call leaves in the cache does make the next sweep
longer, on an H100 by up to 12 us: what is dirty is written back. And now and then readying is
disturbed: so the last few batches decide.

Not covered: work moved there that takes a tenth of the calls' time, or a third of what readying
takes; more, in place of the sweep, by a candidate that finds and changes the harness's memory.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median, median_low

import numpy as np

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.handshake import MOVED, Elapsed
from regraph_kg.evaluation.worker.sealing import Seal
from regraph_kg.models.evaluation import Outcome

_OF_CALLS, _OF_READYING, _SECONDS = 0.1, 1 / 3, 5e-6
"""How much longer than before what is not counted may take: of the calls' time; of its own; for
each call."""
_DECIDE = 5  # batches of which the median decides
_MOST = 0.1, 0.9  # most batches lie between these quantiles
_TICK = 1e-7  # no call is known better than this, in seconds: what the stopwatch is off by


@dataclass(frozen=True, slots=True)
class Costs:
    """What it takes to get one call ready, and to launch a kernel that does nothing."""

    sweep: float = 0.0  # of the cache alone
    whole: float = 0.0  # with all of the inputs unsealed before it
    changed: float = 0.0  # with a few elements
    launch: float = 0.0
    start: float = 0.0  # what a batch takes before that, beyond the round trip of an empty one
    least: float = 0.0  # the shortest sweep when it was measured
    around: float = 0.0  # before the first call is made ready, and after the last one
    error: float = _TICK  # how far off what is taken off one call may be
    late: tuple[deque[float], deque[float]] = field(
        default_factory=lambda: (deque(maxlen=_DECIDE), deque(maxlen=_DECIDE)),
        init=False,
        compare=False,
    )
    """How much longer it took in each of the last batches (with all inputs new: the second): 1 is
    as much as may be."""

    def of(self, calls: int, seal: Seal | None) -> float:
        """What it takes to get so many calls in a row ready."""
        whole, changed = (
            int(np.count_nonzero(seal.parts[kind])) if seal else 0
            for kind in ("arrays", "elements")
        )
        plain = calls - whole - changed
        return plain * self.sweep + whole * self.whole + changed * self.changed

    def taken_off(
        self, elapsed: Elapsed, round_trip: float, calls: int, seal: Seal | None
    ) -> Elapsed:
        """The time of the calls alone; `round_trip`: that of a batch without any. Or `Failure`."""
        if elapsed.steps is MOVED:
            raise Failure(Outcome.SUSPICIOUS, "moved the harness's count of calls")
        whole, ready = max(elapsed.ours - round_trip, 0.0), self.of(calls, seal)
        seconds, is_late = whole - min(self.start + ready, whole), False
        if elapsed.steps.size:
            took = float(np.sum(elapsed.steps[2::2]))
            expected = ready + (self.around or round_trip)
            most = max(_OF_CALLS * took, _OF_READYING * expected, calls * _SECONDS)
            late = self.late[bool(seal and np.any(seal.parts["arrays"]))]
            late.append((float(np.sum(elapsed.steps)) - took - expected) / most)
            is_late = median_low(late) > 1
            seconds = seconds if is_late else took
        aside, seconds = whole - seconds, seconds - calls * self.launch
        least = max(calls, 1) * self.error
        return replace(
            elapsed,
            ours=max(seconds, least),
            aside=aside,
            is_whole=is_late,
            is_short=bool(calls) and seconds < least,
        )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Batches of so many kernels that do nothing.

    Without a stopwatch nothing tells their steps apart: all of it is getting ready. Where somebody
    moved the count it is believed to take no time.
    """

    batches: Sequence[Elapsed]
    calls: int

    @property
    def ready(self) -> float:
        """What it takes to get a call ready."""
        return median(self._each(1))

    @property
    def least(self) -> float:
        """Seconds of a step in the quickest of the batches."""
        return min(self._each(1))

    @property
    def launch(self) -> float:
        return median(self._each(2)) if self._seen else 0.0

    @property
    def error(self) -> float:
        """How far off that is in most batches; where nothing tells it apart, that of all of it."""
        each = self._each(2) if self._seen else self._each(1)
        low, high = np.quantile(each, _MOST)
        return max(_TICK, float(high - low) / 2)

    @property
    def start(self) -> float:
        """What a batch takes besides, its round trip included."""
        each = [batch.ours - float(batch.steps[1:-1].sum()) for batch in self._seen]
        return median(each or [0.0])

    @property
    def around(self) -> float:
        """How much of that the stopwatch saw."""
        return median([float(b.steps[0] + b.steps[-1]) for b in self._seen] or [0.0])

    @property
    def _seen(self) -> list[Elapsed]:
        return [batch for batch in self.batches if batch.steps.size]

    def _each(self, first: int) -> list[float]:
        if any(batch.steps is MOVED for batch in self.batches):
            return [0.0]
        seen = [float(np.median(batch.steps[first:-1:2])) for batch in self._seen]
        return seen or [batch.ours / self.calls for batch in self.batches]
