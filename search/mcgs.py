"""MCGS, our version (method.md 3.2): select, propose, evaluate, reward, backprop, record.

Statistics live on graph edge and path, code lives on the path. One iteration at a time, so o, the
counts in flight, is 0. What 3.2 leaves open is decided so: an edge met twice on a way learns the
gain of its last occurrence, the one nearest to what was bought; a rollout's n is the edge's.
"""

import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest

from regraph_kg.errors import AnswersPending
from regraph_kg.models.graph import Successor
from regraph_kg.models.run import McgsSettings, SimulationRecord, StepRecord, Task
from regraph_kg.models.technique import start_id
from regraph_kg.search.prompt import Adviser
from regraph_kg.search.propose import Proposer, Request
from regraph_kg.search.record import Recorder
from regraph_kg.search.reward import gains
from regraph_kg.search.select import Step, prior, rollout_action, select
from regraph_kg.search.state import Action, Budget, Edge, State, Tree
from regraph_kg.search.world import World


def search(
    task: Task,
    world: World,
    settings: McgsSettings,
    *,
    budget: Budget,
    rng: random.Random,
    tree: Tree | None = None,
) -> Iterator[SimulationRecord]:
    """Iterations until the budget is spent or the start is closed; `tree` is grown in place.

    Raises what the callables of `world` raise; the records so far stay good. Where an answer is to
    come by file, it first goes on without, to ask for what it may want next: nothing of that is
    yielded, but `tree` shows it.
    """
    proposer = Proposer(task, world, budget, run=rng.getrandbits(32), repairs=settings.repairs)
    growth = _Growth(world, settings, proposer, Tree() if tree is None else tree)
    start = growth.plant(task)
    recorder = Recorder()
    pending: AnswersPending | None = None
    while budget.left and start.open:
        way = select(start, settings)
        try:
            bought = [growth.sample(way[-1])]
            while budget.left and len(bought) <= settings.rollout and (end := way[-1].open_end):
                way.append(Step(end, rollout_action(end, settings, rng)))
                bought.append(growth.sample(way[-1]))
        except AnswersPending as missing:
            pending = pending or missing
            growth.close(way[-1])
            budget.spent += 1
            continue
        steps = learn(way, bought, settings)
        if pending is None:
            yield recorder.record(steps, reward=steps[0].gain, spent=budget.spent)
    if pending is not None:
        raise pending


def learn(
    way: Sequence[Step], bought: Sequence[StepRecord], settings: McgsSettings
) -> list[StepRecord]:
    """Reward and backprop: the gains of `way` go up it, those of its `bought` end into the records.

    An answer that was not recorded teaches nothing; if nothing was bought, nothing is learned.
    """
    if bought[0].outcome is None:
        return list(bought)
    taken = way if bought[-1].outcome is not None else way[:-1]
    found = gains(
        [step.state.log_speedup for step in taken],
        [None if step.child is None else step.child.log_speedup for step in taken],
        settings,
    )
    backpropagate(taken, found)
    new = found[len(way) - len(bought) :]
    return [record.model_copy(update={"gain": gain}) for record, gain in zip_longest(bought, new)]


def backpropagate(way: Sequence[Step], found: Sequence[float]) -> None:
    """Every (p_i, a_i) of `way` learns its gain, every graph edge its last one, once."""
    last: dict[Edge, float] = {}
    for step, gain in zip(way, found, strict=True):
        step.state.n += 1
        step.action.n += 1
        step.action.total += gain
        step.action.best = max(step.action.best, gain)
        last[step.action.edge] = gain
    for edge, gain in last.items():
        edge.n += 1
        edge.total += gain


class _Growth:
    """Grows the tree: a new sample's state with its actions, each with its edge's prior."""

    def __init__(
        self, world: World, settings: McgsSettings, proposer: Proposer, tree: Tree
    ) -> None:
        self._neighbours = cache(world.neighbours)  # fixed for the run
        self._settings = settings
        self._proposer = proposer
        self._advice = Adviser(world.examples, settings.examples, settings.retrieval)
        self._tree = tree

    def plant(self, task: Task) -> State:
        """The start: the serial code, nothing applied."""
        start = State(technique=start_id(task.target), path=(), code=task.serial, log_speedup=0.0)
        self._open(start)
        self._tree.start = start
        return start

    def sample(self, step: Step) -> StepRecord:
        """Take `step` anew: propose, evaluate, and grow the state it leads to."""
        state, action = step.state, step.action
        record = self._proposer.sample(
            Request(
                path=state.path,
                technique=action.technique.id,
                attempt=len(action.samples),
                code=state.code,
                advice=self._advice(state.technique, action.technique, state.code),
            )
        )
        if record.outcome is None:
            self.close(step)
        else:
            step.child = self._child(state, action, record)
            action.samples.append(step.child)
            state.close_upwards(self._settings.samples)
        return record

    def close(self, step: Step) -> None:
        """Take no further sample of `step`: there is no answer, or none yet."""
        step.action.answered = False
        step.state.close_upwards(self._settings.samples)

    def _child(self, state: State, action: Action, record: StepRecord) -> State | None:
        if record.speedup is None or record.code is None:
            return None
        child = State(
            technique=action.technique.id,
            path=record.path,
            code=record.code,
            log_speedup=math.log(record.speedup),
            parent=state,
        )
        if len(child.path) < self._settings.depth:
            self._open(child)
        return child

    def _open(self, state: State) -> None:
        """Give `state` its actions; without any it stays closed."""
        state.actions = tuple(
            Action(successor.technique, self._edge(state.technique, successor))
            for successor in self._neighbours(state.technique).successors
        )
        state.open = bool(state.actions)

    def _edge(self, source: str, successor: Successor) -> Edge:
        key = (source, successor.technique.id)
        if key not in self._tree.edges:
            self._tree.edges[key] = Edge(prior(successor, self._settings))
        return self._tree.edges[key]
