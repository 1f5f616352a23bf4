"""Methods that do not search: samples of one prompt from the serial code, the best of n counts.

standard   the model makes the code faster as it likes
cot        the prompt first asks where the time goes, what depends on what, and what to change;
reasoning and code come in one answer, which is one call
rag        the prompt shows the examples nearest to the serial code, steps of other code
whatever their transition; without embeddings it asks as `standard` does
"""

from typing import Literal

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.prompts.parts import Advice
from regraph_kg.search.sample import Request
from regraph_kg.search.world import Effects


class StandardSettings(MethodSettings):
    """One prompt a sample: nothing to set."""

    method: Literal["standard"] = "standard"


class CotSettings(MethodSettings):
    """Step by step in one prompt, without a graph: nothing to set."""

    method: Literal["cot"] = "cot"


class RagSettings(MethodSettings):
    """The nearest examples to the code, without a walk."""

    method: Literal["rag"] = "rag"
    repairs: int = Field(default=1, ge=0)
    """Repair calls after a failed answer, at most."""


class Samples:
    """One search; an iteration is a sample, its reward the speedup, 0 for a failure."""

    def __init__(self, context: Context, advice: Advice, *, repairs: int = 0) -> None:
        """Every sample is asked for along `advice`, and mended in up to `repairs` calls."""
        self._context, self._advice, self._repairs = context, advice, repairs
        self._begun = 0
        # a recorded model that ran dry has no other answer to this prompt either
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


def rag(context: Context, settings: RagSettings) -> Samples:
    """Samples beside the nearest examples; the graph is read once."""
    # near to the serial code: all samples begin there
    advice = context.nearest_advice(context.task.start)
    return Samples(context, advice, repairs=settings.repairs)
