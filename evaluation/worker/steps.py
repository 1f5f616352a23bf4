"""When the calls of a batch began and ended, and what getting them ready costs. In seconds.

The worker counts a step as each call begins and as it is over, and the judge's stopwatch sees the
count change (harness/clock.cpp): so a call's time is known by the judge's clock, without what came
before it. Metric "device": before each call its inputs are unmasked and the cache is swept, which
takes longer than many a kernel. A kernel that does nothing is taken off: how long it takes to
launch one, and to wait for it. Before the first call one more sweep wakes the device.

A candidate could move the count, and call its own work readying. So that must take no longer than
it did before the candidate was loaded: else the whole batch counts, less what readying took then.

Not covered: work of less than a tenth of a call's time, or 5 us, that is moved so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.sealing import Seal

_SHARE, _SECONDS = 0.1, 5e-6
"""By how much readying may take longer than before: of the calls' time; for each call."""
_LEAST = 1e-9
"""No batch takes less."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What it takes to get one call ready, and to launch a kernel that does nothing.

    The sweep of the cache alone; with it unsealed before: all of the inputs, or a few elements.
    """

    sweep: float = 0.0
    whole: float = 0.0
    changed: float = 0.0
    launch: float = 0.0
    start: float = 0.0
    """What a batch takes before that, beyond the round trip of an empty one."""
    least: float = 0.0
    """The shortest sweep when it was measured."""

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
        """The time of the calls alone; `round_trip`: that of a batch without any."""
        whole = max(elapsed.ours - round_trip, _LEAST)
        ready, steps = self.of(calls, seal), elapsed.steps
        seconds = whole - min(self.start + ready, whole)
        if steps.size == 2 * calls + 1:
            took = float(np.sum(steps[2::2]))
            if float(np.sum(steps[1::2])) - ready <= max(_SHARE * took, calls * _SECONDS):
                seconds = min(took, whole)
        seconds, aside = max(seconds - calls * self.launch, _LEAST), whole - seconds
        return replace(elapsed, ours=seconds, aside=aside)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Batches of so many kernels that do nothing.

    Without a stopwatch nothing tells their steps apart: all of it is getting ready.
    """

    batches: Sequence[Elapsed]
    calls: int

    @property
    def ready(self) -> float:
        """What it takes to get a call ready."""
        return median(self._each(1))

    @property
    def least(self) -> float:
        """In the quickest of the batches."""
        return min(self._each(1))

    @property
    def launch(self) -> float:
        return median(self._each(2)) if self._seen else 0.0

    @property
    def start(self) -> float:
        """What a batch takes besides, its round trip included."""
        return (
            median(b.ours - float(b.steps[1:].sum()) for b in self.batches) if self._seen else 0.0
        )

    @property
    def _seen(self) -> bool:
        return all(batch.steps.size == 2 * self.calls + 1 for batch in self.batches)

    def _each(self, first: int) -> list[float]:
        if not self._seen:
            return [batch.ours / self.calls for batch in self.batches]
        return [float(np.median(batch.steps[first::2])) for batch in self.batches]
