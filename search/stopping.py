"""Patience: when a search has had enough, though its limits would let it go on.

So many calls in a row brought no best that is better by more than noise, and the last sample did
not promise one either, where the method knows what a sample promises (`Iteration.expected`). The
figures are in docs/methods.md, with what they keep and what they save.

It is decided on results alone, in their order: the same answers make the same end. Calls under way
then still end and count. The other way to have enough is to stand at the roof: roof.py.
"""

import math

from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.context import Iteration
from regraph_kg.search.ledger import Ledger

GAIN = 0.05
"""Log gain of a best that ends a row of calls in vain; less may be noise of a screening."""
PROMISE = 0.1
"""Expected log gain of a sample that is worth a call beyond patience."""


class Patience:
    """Counts the calls of a run that came to nothing since the last that did not."""

    def __init__(self, ledger: Ledger, promise: float = PROMISE) -> None:
        self._ledger, self._promise = ledger, promise
        self._best = 0.0
        self._since = 0

    def see(self, ended: Iteration, record: SimulationRecord) -> None:
        """An iteration has ended; settles the search where that was enough."""
        if ended.reward is None:  # it bought no call, and kept no promise
            return
        level = math.log(record.best_speedup)
        if level > self._best + GAIN:
            self._best, self._since = level, record.spent
        patient = self._ledger.limits.patient_calls
        in_vain = record.spent - self._since
        promised = ended.expected is not None and ended.expected >= self._promise
        if patient is not None and in_vain >= patient and not promised:
            self._ledger.settle("patience")
