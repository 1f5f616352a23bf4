"""Plain prompting: samples of one prompt from the serial code, the best of n counts.

The model makes the code faster as it likes.
"""

from typing import Literal

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.sample import Request
from regraph_kg.search.world import Effects


class StandardSettings(MethodSettings):
    """One prompt a sample: nothing to set."""

    method: Literal["standard"] = "standard"


class Samples:
    """One search; an iteration is a sample, its reward the speedup, 0 for a failure."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._begun = 0
        # a recorded model that ran dry has no other answer to this prompt either
        self._answered = True

    def iteration(self) -> Effects[Iteration] | None:
        """Begin one sample (see `Method`); none once a recorded model had no answer."""
        if not self._answered or self._context.ledger.calls_left <= 0:
            return None
        self._begun += 1
        return self._sample(self._begun - 1)

    def _sample(self, attempt: int) -> Effects[Iteration]:
        request = Request((), None, attempt, self._context.task.start)
        step = yield from self._context.proposer.sample(request)
        if step.outcome is None:
            self._answered = False
            return Iteration((), (step,), None)
        return Iteration((), (step,), step.speedup or 0.0)
