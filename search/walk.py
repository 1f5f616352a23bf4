"""Steps of walks on the graph that cache nothing: attempts are numbered, holes are closed.

mcgs_paper.py and regrapht.py differ in the successor they choose. Not here: that choice.
"""

from collections import defaultdict

from regraph_kg.models.run import StepRecord
from regraph_kg.models.technique import Technique
from regraph_kg.search.context import Context
from regraph_kg.search.effects import Effects

_Action = tuple[tuple[str, ...], str]
"""A path and the technique that is applied at its end."""


class Walks:
    """The state shared by the walks of one search."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._taken: dict[_Action, int] = defaultdict(int)
        self._closed: set[_Action] = set()

    def successors(self, path: tuple[str, ...], technique: str, code: str) -> list[Technique]:
        """Successors of `technique` that may apply to `code` and are not closed on `path`."""
        return [
            successor.technique
            for successor in self._context.successors(technique, code)
            if (path, successor.technique.id) not in self._closed
        ]

    def sample(
        self, path: tuple[str, ...], technique: str, chosen: Technique, code: str
    ) -> Effects[StepRecord]:
        """Apply `chosen` to `code` once more; it is closed on `path` if it was not tried."""
        here = (path, chosen.id)
        attempt = self._taken[here]
        self._taken[here] += 1
        request = self._context.request(technique, path, chosen, attempt, code)
        step = yield from self._context.proposer.sample(request)
        if step.closes:
            self._closed.add(here)
        return step
