"""Time to prepare a call on a device: measured before a candidate, checked after it.

Judges take turns to time on a device, but workers that another judge starts make their contexts
meanwhile, and all that is done on the device takes longer then. Too much taken off a candidate's
time would make that too short. So it is measured until it agrees with the least that was seen, and
anew where the same takes less after a candidate was timed. Where it does so again, the candidate
has changed it (`shrunk`).

Not covered: a device that is disturbed all the time.
"""

import math
from dataclasses import replace

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.timing.batches import Bench
from regraph_kg.evaluation.worker.steps import Costs
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

_AGREES, _TRIES = 1.2, 4  # times the least sweep that was seen; measured so often at most
_OFF, _SHRUNK = 1.1, 1.5
"""A sweep that was so many times as long before the candidate: measured anew; by the candidate."""


class Readying:
    """Time to prepare a call on one device for one problem; not thread-safe."""

    def __init__(self) -> None:
        self._costs: Costs | None = None
        self._least = math.inf
        self.was_off = False  # whether what was taken off the last candidate's time was too much

    def costs(self, bench: Bench, worker: Worker) -> Costs:
        """Costs on a worker without a candidate. Raises `ToolError` where that fails."""
        self.was_off = False
        if not worker.on_device:
            return Costs()
        if self._costs is None:
            self._costs = self._measured(bench, worker)
        return replace(self._costs)  # of this candidate nothing was late yet

    def forget(self) -> None:
        """Measure it anew for the next worker."""
        self._costs = None

    def shrunk(self, bench: Bench, worker: Worker) -> Failure | None:
        """After a candidate was timed: whether a sweep takes much less time now than before it."""
        before = worker.costs.least
        if not before:
            return None
        after = bench.sweep(worker)
        if isinstance(after, Failure) or after >= before / _OFF:
            return None
        self.was_off = True
        self.forget()
        if after >= before / _SHRUNK:
            return None
        message = f"a sweep of the cache takes {after:.3g} s, {before:.3g} s before it came"
        return Failure(Outcome.SUSPICIOUS, message)

    def _measured(self, bench: Bench, worker: Worker) -> Costs:
        for _ in range(_TRIES):
            costs, least = bench.costs(worker), self._least
            self._least = min(least, costs.least)
            if costs.sweep <= _AGREES * least < math.inf:
                break
        return costs
