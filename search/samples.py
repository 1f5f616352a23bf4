"""Samples of one prompt from the serial code: the iterations of the methods that do not search.

standard.py, cot.py and rag.py differ in the advice they give. Not here: the text of an advice
(render.py), the cost and the repair of a sample (propose.py).
"""

from regraph_kg.search.ask import Request
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.prompts.parts import Advice


class Samples:
    """One search; its iterations are independent of each other, the best of n counts.

    An iteration's reward is the speedup of its sample, 0 for a failure.
    """

    def __init__(self, context: Context, advice: Advice, *, repairs: int = 0) -> None:
        """Every sample is asked for along `advice`, and mended in up to `repairs` calls."""
        self._context, self._advice, self._repairs = context, advice, repairs
        self._begun = 0
        self._answered = True

    def iteration(self) -> Effects[Iteration] | None:
        """Begin one sample (see `Method`); none once a recorded model had no answer."""
        if not self._answered:
            return None
        self._begun += 1
        return self._sample(self._begun - 1)

    def _sample(self, attempt: int) -> Effects[Iteration]:
        request = Request((), None, attempt, self._context.task.start, self._advice)
        step = yield from self._context.proposer.sample(request, repairs=self._repairs)
        if step.outcome is None:
            self._answered = False
            return Iteration((), (step,), None)
        return Iteration((), (step,), step.speedup or 0.0)
