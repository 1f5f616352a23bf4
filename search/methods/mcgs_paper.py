"""The paper's MCGS, with the least that makes it run: every step of every walk is a new call.

Counters W and N are per technique, whatever the path. Nothing is cached: every step, those of the
selected path too, is a call for a new sample. Added, because the text does not run without:

- The first rollout step takes one of the unvisited successors and ends the selected path. Else
  backprop would reach no new technique, and selection would never leave the start.
- The reward is the largest from that step on. With the steps before it, a failure under a good
  prefix would go on earning the prefix's reward: the stall that method.md describes.
- A step that fails on the selected path ends the iteration there with -1, as in a rollout. At the
  cap, or where a technique has no successor, the last step's reward counts.
- Q(s,a) in the rollout is the mean of a's technique, the only mean there is; N(s,a) is per pair.
- A successor for which a recorded model has no answer is closed on its path, and so is one that a
  model says does not apply, in whose place another is taken; a start with all successors closed
  ends the search.
- Several iterations under way know nothing of each other: the paper has no virtual loss.
- A step counts as what it was asked for, whatever it did: the paper checks nothing. If another
  technique were credited, one that the model never applies would be expanded for ever.
"""

import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.reward import paper_reward
from regraph_kg.search.walk import Walks

T = TypeVar("T")


class PaperSettings(MethodSettings):
    """The paper's MCGS, method.md 3.1."""

    method: Literal["mcgs-paper"] = "mcgs-paper"
    exploration: float = Field(default=1.0, ge=0)
    """c: weight of the bonus for what was tried little."""
    visit_penalty: float = Field(default=0.1, ge=0)
    """lambda: penalty for each visit, in rollouts."""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """epsilon: share of random rollout steps."""
    steps: int = Field(default=8, ge=1)
    """L: steps of selection and rollout together."""


@dataclass(slots=True)
class Counters:
    """W(t) and N(t) of each technique, N(s,a) of each pair."""

    total: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    visits: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    traversals: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def mean(self, technique: str) -> float:
        """Q = W / N; 0 where unvisited."""
        visits = self.visits[technique]
        return self.total[technique] / visits if visits else 0.0

    def backpropagate(self, selected: Sequence[str], reward: float) -> None:
        """Every arrival on the selected path, the start included, learns the reward."""
        for technique in selected:
            self.visits[technique] += 1
            self.total[technique] += reward


class Paper:
    """One search; `counters` learn in place."""

    def __init__(
        self, context: Context, settings: PaperSettings, counters: Counters | None = None
    ) -> None:
        self._context, self._settings = context, settings
        self._counters = Counters() if counters is None else counters
        self._steps = Walks(context)

    def iteration(self) -> Effects[Iteration] | None:
        """Begin a walk, unless all that the start leads to is closed (see `Method`)."""
        start = start_id(self._context.task.target)
        open_ = self._steps.successors((), start, self._context.task.start)
        return self._walk(start) if open_ else None

    def _walk(self, start: str) -> Effects[Iteration]:
        """Selection, expansion and rollout from the serial code, a call at every step."""
        technique, code, rolling = start, self._context.task.start, False
        path: tuple[str, ...] = ()
        selected, steps = [start], list[StepRecord]()
        while len(steps) < self._settings.steps and self._context.ledger.left > 0:
            successors = self._steps.successors(path, technique, code)
            if not successors:
                break
            unvisited = [
                successor for successor in successors if not self._counters.visits[successor.id]
            ]
            if rolling or unvisited:
                chosen = self._roll(technique, successors if rolling else unvisited)
            else:
                chosen = self._select(technique, successors)
            step = yield from self._steps.sample(path, technique, chosen, code)
            steps.append(step)
            self._counters.traversals[technique, chosen.id] += step.tried
            if step.tried and not rolling:
                selected.append(chosen.id)
            if step.declined:
                continue
            if step.speedup is None or step.code is None:
                break
            rolling = rolling or bool(unvisited)
            technique, path, code = chosen.id, step.path, step.code
        return self._learned(selected, steps)

    def _learned(self, selected: list[str], steps: list[StepRecord]) -> Iteration:
        """Backprop of the largest reward from the selected path's last step on."""
        paid = [paper_reward(step.speedup) for step in steps if step.tried]
        reward = max(paid[len(selected) - 2 :]) if paid else None
        if reward is not None:
            self._counters.backpropagate(selected, reward)
        return Iteration(steps[0].path if steps else (), tuple(steps), reward)

    def _select(self, technique: str, successors: Sequence[Technique]) -> Technique:
        """The largest P-UCB; all of `successors` are visited."""
        counters = self._counters
        return max(
            successors,
            key=lambda successor: paper_bound(
                counters.mean(successor.id),
                counters.visits[successor.id],
                counters.visits[technique],
                self._settings.exploration,
            ),
        )

    def _roll(self, technique: str, successors: Sequence[Technique]) -> Technique:
        """The rollout policy: the largest Q(s,a) - lambda N(s,a), or any."""
        counters = self._counters
        return policy(
            successors,
            lambda successor: (
                counters.mean(successor.id)
                - self._settings.visit_penalty * counters.traversals[technique, successor.id]
            ),
            self._settings.epsilon,
            self._context.rng,
        )


def policy(
    choices: Sequence[T], score: Callable[[T], float], epsilon: float, rng: random.Random
) -> T:
    """The choice with the largest score, or with probability `epsilon` any of them."""
    if rng.random() < epsilon:
        return rng.choice(choices)
    return max(choices, key=score)


def paper_bound(mean: float, visits: int, parent_visits: int, exploration: float) -> float:
    """P-UCB: Q(s) + c sqrt(2 ln N(s') / N(s)), s' the parent on this path."""
    return mean + exploration * math.sqrt(2 * math.log(parent_visits) / visits)


METHOD = MethodKind(PaperSettings, Paper, needs="graph")
