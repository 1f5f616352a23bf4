"""Random walks on the graph, begun again after a failure, at the last step, or at a dead end.

A walk begins at the serial code and takes a successor at random, each as likely as the others; the
model applies it with the edge's examples. It ends with the first failure, at the cap of L steps, or
where no successor is; then the next walk begins, until the budget is spent. `attempts` ends the
search after so many walks: the paper's "at most 5 attempts" is a row of its own. Where a step is
known to have applied another technique than it was asked for, the walk goes on from that one.

Nothing is cached: every step is a call for a new sample, on a known path, too. Nothing is learned,
but prompts warn of what failed (known_failures.py). Added, because recorded models have holes, and
models may decline a technique: what they have no answer for, or say does not apply, is closed on
its path (in place of the latter another is taken), a walk that tried nothing is no attempt, and a
start with all closed ends the search. Not here: choosing by what was measured (mcgs.py,
mcgs_paper.py).
"""

from typing import Literal

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.models.technique import start_id
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.walk import Walks


class ReGraphTSettings(MethodSettings):
    """Random walks on the graph."""

    method: Literal["regrapht"] = "regrapht"
    steps: int = Field(default=8, ge=1)
    """L: steps of a walk, at most."""
    attempts: int | None = Field(default=None, ge=1)
    """Walks, at most; the paper has a row with 5."""


class ReGraphT:
    """One search; its iterations are walks."""

    def __init__(self, context: Context, settings: ReGraphTSettings) -> None:
        self._context, self._settings = context, settings
        self._walks = 0
        self._steps = Walks(context)

    def iteration(self) -> Effects[Iteration] | None:
        """Begin a walk, unless all were made or all that the start leads to is closed."""
        start = start_id(self._context.task.target)
        if self._walks == self._settings.attempts:
            return None
        if not self._steps.successors((), start, self._context.task.start):
            return None
        self._walks += 1
        return self._walk(start)

    def _walk(self, technique: str) -> Effects[Iteration]:
        """A step, and then the next; the fastest code on the way is the reward, 0 if none is."""
        path: tuple[str, ...] = ()
        code, steps = self._context.task.start, list[StepRecord]()
        while len(steps) < self._settings.steps and self._context.ledger.left > 0:
            successors = self._steps.successors(path, technique, code)
            if not successors:
                break
            chosen = self._context.rng.choice(successors)
            step = yield from self._steps.sample(path, technique, chosen, code)
            steps.append(step)
            if step.declined:
                continue
            if step.speedup is None or step.code is None:
                break
            technique, path, code = step.did or chosen.id, step.path, step.code
        return self._ended(steps)

    def _ended(self, steps: list[StepRecord]) -> Iteration:
        paid = [step.speedup or 0.0 for step in steps if step.tried]
        if not paid:
            self._walks -= 1
        return Iteration(steps[0].path if steps else (), tuple(steps), max(paid, default=None))


METHOD = MethodKind(ReGraphTSettings, ReGraphT, needs="graph")
