"""MCGS as the paper has it (method.md 3.1), with what had to be added to make it run.

Counters W and N are per technique, whatever the path. Nothing is cached: every step, those of the
selected path too, is a call for a new sample. Added, because the text does not run without:

- The first rollout step takes one of the unvisited successors and ends the selected path. Else
  backprop would reach no new technique, and selection would never leave the start.
- The reward is the largest from that step on. With the steps before it, a failure under a good
  prefix would go on earning the prefix's reward: the stall that method.md describes.
- A step that fails on the selected path ends the iteration there with -1, as in a rollout. At the
  cap, or where a technique has no successor, the last step's reward counts.
- Q(s,a) in the rollout is the mean of a's technique, the only mean there is; N(s,a) is per pair.
- A successor for which a recorded model has no answer is closed on its path; a start with all
  successors closed ends the search.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from regraph_kg.errors import AnswersPending
from regraph_kg.models.run import PaperSettings, SimulationRecord, StepRecord, Task
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.search.prompt import Adviser
from regraph_kg.search.propose import Proposer, Request
from regraph_kg.search.record import Recorder
from regraph_kg.search.reward import paper_reward
from regraph_kg.search.select import paper_bound, policy
from regraph_kg.search.state import Budget
from regraph_kg.search.world import World


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


def search(
    task: Task,
    world: World,
    settings: PaperSettings,
    *,
    budget: Budget,
    rng: random.Random,
    counters: Counters | None = None,
) -> Iterator[SimulationRecord]:
    """Iterations until the budget is spent or the start is closed; `counters` learn in place.

    Raises what the callables of `world` raise; the records so far stay good. Where an answer is to
    come by file (`AnswersPending`), it first asks for what it may want next, as `mcgs` does.
    """
    counters = Counters() if counters is None else counters
    proposer = Proposer(task, world, budget, run=rng.getrandbits(32), repairs=0)
    walker = _Walker(world, settings, proposer, counters, rng)
    recorder = Recorder()
    start = start_id(task.target)
    pending: AnswersPending | None = None
    while budget.left and walker.successors((), start):
        try:
            selected, steps = walker.walk(start, task.serial, budget)
        except AnswersPending as missing:
            pending = pending or missing
            budget.spent += 1
            continue
        reward = _reward(selected, steps)
        if reward is not None:
            counters.backpropagate(selected, reward)
        if pending is None:
            yield recorder.record(steps, reward, budget.spent)
    if pending is not None:
        raise pending


def _reward(selected: Sequence[str], steps: Sequence[StepRecord]) -> float | None:
    """The largest reward from the selected path's last step on; None if nothing was bought."""
    paid = [paper_reward(step.speedup) for step in steps if step.outcome is not None]
    return max(paid[len(selected) - 2 :]) if paid else None


class _Walker:
    """Selection, expansion and rollout: one walk from the serial code, a call at every step."""

    def __init__(
        self,
        world: World,
        settings: PaperSettings,
        proposer: Proposer,
        counters: Counters,
        rng: random.Random,
    ) -> None:
        self._neighbours = cache(world.neighbours)  # fixed for the run
        self._settings = settings
        self._proposer = proposer
        self._advice = Adviser(world.examples, settings.examples, settings.retrieval)
        self._counters = counters
        self._rng = rng
        self._attempts: dict[tuple[tuple[str, ...], str], int] = defaultdict(int)
        self._closed: set[tuple[tuple[str, ...], str]] = set()

    def successors(self, path: tuple[str, ...], technique: str) -> list[Technique]:
        """Successors of `technique` that are not closed on `path`."""
        return [
            one.technique
            for one in self._neighbours(technique).successors
            if (path, one.technique.id) not in self._closed
        ]

    def walk(self, start: str, code: str, budget: Budget) -> tuple[list[str], list[StepRecord]]:
        """The selected path (techniques, start included) and all steps that were asked for."""
        technique, path, rolling = start, tuple[str, ...](), False
        selected, steps = [start], list[StepRecord]()
        while budget.left and len(steps) < self._settings.steps:
            successors = self.successors(path, technique)
            if not successors:
                break
            unvisited = [one for one in successors if not self._counters.visits[one.id]]
            if rolling or unvisited:
                chosen = self._roll(technique, successors if rolling else unvisited)
            else:
                chosen = self._select(technique, successors)
            step = self._sample(path, technique, chosen, code)
            steps.append(step)
            if step.outcome is None:
                break
            if not rolling:
                selected.append(chosen.id)
            if step.speedup is None or step.code is None:
                break
            rolling = rolling or bool(unvisited)
            technique, path, code = chosen.id, step.path, step.code
        return selected, steps

    def _select(self, technique: str, successors: Sequence[Technique]) -> Technique:
        """The largest P-UCB; all of `successors` are visited."""
        counters = self._counters
        return max(
            successors,
            key=lambda one: paper_bound(
                counters.mean(one.id),
                counters.visits[one.id],
                counters.visits[technique],
                self._settings.exploration,
            ),
        )

    def _roll(self, technique: str, successors: Sequence[Technique]) -> Technique:
        """The rollout policy: the largest Q(s,a) - lambda N(s,a), or any."""
        counters = self._counters
        return policy(
            successors,
            lambda one: (
                counters.mean(one.id)
                - self._settings.visit_penalty * counters.traversals[technique, one.id]
            ),
            self._settings.epsilon,
            self._rng,
        )

    def _sample(
        self, path: tuple[str, ...], technique: str, chosen: Technique, code: str
    ) -> StepRecord:
        """Apply `chosen` to `code` once more; it is closed on `path` if there is no answer."""
        here = (path, chosen.id)
        request = Request(
            path=path,
            technique=chosen.id,
            attempt=self._attempts[here],
            code=code,
            advice=self._advice(technique, chosen, code),
        )
        try:
            step = self._proposer.sample(request)
        except AnswersPending:
            self._closed.add(here)
            raise
        if step.outcome is None:
            self._closed.add(here)
        else:
            self._attempts[here] += 1
            self._counters.traversals[technique, chosen.id] += 1
        return step
