"""One prompt a sample until the budget is spent, no graph, no repair: the best of n counts."""

from regraph_kg.models.method import StandardSettings
from regraph_kg.search.effects import Work
from regraph_kg.search.parts import Iteration, Parts
from regraph_kg.search.prompt import free_advice
from regraph_kg.search.propose import Request


class Standard:
    """One search; it ends early where a recorded model has no further answer."""

    def __init__(self, parts: Parts, settings: StandardSettings) -> None:
        del settings
        self._parts = parts
        self._begun = 0
        self._answered = True

    def iteration(self) -> Work[Iteration] | None:
        """Begin one sample (see `Method`)."""
        if not self._answered:
            return None
        self._begun += 1
        return self._run(self._begun - 1)

    def _run(self, attempt: int) -> Work[Iteration]:
        request = Request((), None, attempt, self._parts.task.serial, free_advice())
        step = yield from self._parts.proposer.sample(request)
        if step.outcome is None:
            self._answered = False
        return Iteration((), (step,), None if step.outcome is None else step.speedup or 0.0)
