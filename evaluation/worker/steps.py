"""When the calls of a batch began and ended, and what getting them ready costs. In seconds.

Metric "device": before each call its inputs are unmasked and the cache is swept, which takes longer
than many a kernel. The worker counts a step as each call begins and as it is over, and the judge's
stopwatch sees the count change (harness/clock.cpp): so a call's time is known by the judge's clock,
without what came before it. A kernel that does nothing is taken off: how long it takes to launch
one, and to wait for it.

A candidate could move the count, and call its own work readying. So that must take no longer than
it did before the candidate was loaded: else the whole batch counts, less what readying took then.

Not covered: work of less than a tenth of a call's time, or 5 us, that is moved so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from regraph_kg.evaluation.problem.problem import Array
from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.sealing import Seal

_SHARE, _SECONDS = 0.1, 5e-6
"""By how much readying may take longer than before: of the calls' time; for each call."""
_LEAST = 1e-9
"""No batch takes less."""


@dataclass(frozen=True, slots=True)
class Readied:
    """What it takes to get a call ready: the first of a batch, and each other."""

    first: float = 0.0
    other: float = 0.0


@dataclass(frozen=True, slots=True)
class Costs:
    """What it takes to get one call ready, and to launch a kernel that does nothing.

    The sweep of the cache alone; with it unsealed before: all of the inputs, or a few elements.
    """

    sweep: Readied = Readied()
    whole: Readied = Readied()
    changed: Readied = Readied()
    launch: float = 0.0
    least: float = 0.0
    """The shortest sweep when it was measured."""

    def of(self, calls: int, seal: Seal | None) -> float:
        """What it takes to get so many calls of a batch ready."""
        kinds = [self._kind(seal, index) for index in range(calls)]
        first = kinds[0].first - kinds[0].other if kinds else 0.0
        return first + sum(kind.other for kind in kinds)

    def taken_off(
        self, elapsed: Elapsed, round_trip: float, calls: int, seal: Seal | None
    ) -> Elapsed:
        """The time of the calls alone; `round_trip`: that of a batch without any."""
        whole = max(elapsed.ours - round_trip, _LEAST)
        aside, steps = min(self.of(calls, seal), whole), elapsed.steps
        seconds = whole - aside
        if self.least and steps.size == 2 * calls:
            took = float(np.sum(steps[1::2]))
            if float(np.sum(steps[::2])) - aside <= max(_SHARE * took, calls * _SECONDS):
                seconds, aside = took, max(whole - took, 0.0)
        return replace(elapsed, ours=max(seconds - calls * self.launch, _LEAST), aside=aside)

    def _kind(self, seal: Seal | None, index: int) -> Readied:
        if seal and seal.parts[index]["arrays"]:
            return self.whole
        return self.changed if seal and seal.parts[index]["elements"] else self.sweep


def readied(batches: Sequence[Elapsed], calls: int) -> tuple[Readied, float, float]:
    """What batches of empty kernels took: to get a call ready, the least of that, to launch one.

    Without a stopwatch nothing tells these apart: all of it is getting ready.
    """
    if any(batch.steps.size != 2 * calls for batch in batches):
        each = [batch.ours / calls for batch in batches]
        return Readied(median(each), median(each)), min(each), 0.0
    ready, launches = (np.array([b.steps[k::2] for b in batches]) for k in (0, 1))
    others: Array = np.median(ready[:, 1:], axis=1)
    first = float(np.median(ready[:, 0]))
    return Readied(first, float(np.median(others))), float(others.min()), float(np.median(launches))
