"""The default search before mcgs.py: upper confidence bounds over gains learned per edge.

Statistics live on graph edge and path, code lives on the path. An edge met twice on a way learns
the gain of its last occurrence, the one nearest to what was bought; a rollout's n is the edge's. A
step that did something else than the technique it was asked for teaches its path, and the edge of
what it did where that is known, else none; its state goes on with that technique's successors. What
is under way (o) spreads the iterations, and teaches nothing before it has ended.
"""

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, Self

from pydantic import Field, model_validator

from benchmarks.rivals.prior import prior
from benchmarks.rivals.ucb_select import PathStep, gains, rollout_action, select
from benchmarks.rivals.ucb_tree import Action, Edge, State, Tree
from regraph_kg.models.graph import Successor
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.technique import start_id
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.methods import MethodKind


class UcbSettings(MethodSettings):
    """Weights of bounds and values (ucb_select.py). Defaults were never swept."""

    method: Literal["ucb"] = "ucb"
    failure_gain: float = -0.3
    """f: log gain of a failed step."""
    prior_weight: float = Field(default=2.0, gt=0)
    """k0: what the graph's prior weighs against this run's counts of an edge."""
    edge_weight: float = Field(default=2.0, gt=0)
    """k1: what the edge's value weighs against the path's own counts."""
    best_weight: float = Field(default=0.5, ge=0, le=1)
    """w: share of the best gain in an action's value."""
    exploration: float = Field(default=0.5, ge=0)
    """c: weight of the bonus for what was tried little."""
    samples: int = Field(default=3, ge=1)
    """m: samples of one step, at most."""
    repairs: int = Field(default=1, ge=0)
    """r: repair calls after a failed answer, at most."""
    rollout: int = Field(default=0, ge=0)
    """Lr: further new samples below a new one, at most."""
    visit_penalty: float = Field(default=0.01, ge=0)
    """lambda: penalty for each visit, in rollouts."""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """epsilon: share of random rollout steps."""
    depth: int = Field(default=8, ge=1)
    """D_max: steps of a path, at most."""
    gain_low: float = -1.0
    """Log gains are clipped here."""
    gain_high: float = 3.0
    """Log gains are clipped here."""
    other_devices: float = Field(default=0.5, ge=0, le=1)
    """What a try on another device of the target counts in the prior (ours)."""

    @model_validator(mode="after")
    def _gains_have_room(self) -> Self:
        if self.gain_low >= self.gain_high:
            raise ValueError("gain_low must lie below gain_high")
        return self


class Ucb:
    """One search; `tree` is grown in place."""

    def __init__(self, context: Context, settings: UcbSettings, tree: Tree | None = None) -> None:
        self._context, self._settings = context, settings
        self._growth = _Growth(context, settings, Tree() if tree is None else tree)
        self._start = self._growth.plant(context.task)

    def iteration(self) -> Effects[Iteration] | None:
        """Begin one, if anything is open (see `Method`)."""
        if not self._start.open:
            return None
        way = select(self._start, self._settings)
        for step in way:
            step.action.under_way += 1
        return self._run(way, self._growth.begin(way[-1]))

    def _run(self, way: list[PathStep], attempt: int) -> Effects[Iteration]:
        """Sample the way's end, roll out below it, learn."""
        path = way[-1].path(attempt)
        bought = [(yield from self._growth.sample(way[-1], attempt))]
        while self._goes_on(way[-1], bought):
            end = way[-1].open_end
            assert end is not None
            step = PathStep(end, rollout_action(end, self._settings, self._context.rng))
            step.action.under_way += 1
            way.append(step)
            bought.append((yield from self._growth.sample(step, self._growth.begin(step))))
        for step in way:
            step.action.under_way -= 1
        steps = learn(way, bought, self._settings)
        return Iteration(path, tuple(steps), steps[0].gain)

    def _goes_on(self, last: PathStep, bought: Sequence[StepRecord]) -> bool:
        rolls = len(bought) <= self._settings.rollout
        return rolls and self._context.ledger.left > 0 and last.open_end is not None


def learn(
    way: Sequence[PathStep], bought: Sequence[StepRecord], settings: UcbSettings
) -> list[StepRecord]:
    """Reward and backprop: the gains of `way` go up it, those of its `bought` end into the records.

    What was not tried teaches nothing: an answer that was not recorded, or one that declined.
    """
    if not bought[0].tried:
        return list(bought)
    taken = way if bought[-1].tried else way[:-1]
    found = gains(
        [step.state.log_speedup for step in taken],
        [None if step.child is None else step.child.log_speedup for step in taken],
        settings,
    )
    backpropagate(taken, found)
    new = found[len(way) - len(bought) :]
    return [record.model_copy(update={"gain": gain}) for record, gain in zip_longest(bought, new)]


def backpropagate(way: Sequence[PathStep], found: Sequence[float]) -> None:
    """Every (p_i, a_i) of `way` learns its gain, every graph edge taken its last one, once."""
    last: dict[Edge, float] = {}
    for step, gain in zip(way, found, strict=True):
        step.state.n += 1
        step.action.n += 1
        step.action.total += gain
        step.action.best = max(step.action.best, gain)
        edge = step.action.edge if step.child is None else step.child.edge
        if edge is not None:
            last[edge] = gain
    for edge, gain in last.items():
        edge.n += 1
        edge.total += gain


class _Growth:
    """Grows the tree: a new sample's state with its actions, each with its edge's prior."""

    def __init__(self, context: Context, settings: UcbSettings, tree: Tree) -> None:
        self._context, self._settings, self._tree = context, settings, tree

    def plant(self, task: Task) -> State:
        """The start: the serial code, nothing applied."""
        start = State(technique=start_id(task.target), path=(), code=task.start, log_speedup=0.0)
        self._open(start)
        self._tree.start = start
        return start

    def begin(self, step: PathStep) -> int:
        """Take the next sample's number."""
        attempt = step.action.taken
        step.action.taken += 1
        step.state.refresh_upwards(self._settings.samples)
        return attempt

    def sample(self, step: PathStep, attempt: int) -> Effects[StepRecord]:
        """Take sample `attempt` of `step`: propose, evaluate, and grow the state it leads to."""
        state, action = step.state, step.action
        request = self._context.request(
            state.technique, state.path, action.technique, attempt, state.code
        )
        record = yield from self._context.proposer.sample(request, repairs=self._settings.repairs)
        if record.closes:
            action.answered = False
        else:
            step.child = self._child(state, action, record)
            action.samples[attempt] = step.child
        state.refresh_upwards(self._settings.samples)
        return record

    def _child(self, state: State, action: Action, record: StepRecord) -> State | None:
        if record.speedup is None or record.code is None:
            return None
        did = record.did or action.technique.id
        known = record.applied == "asked" or record.did is not None
        child = State(
            technique=did,
            path=record.path,
            code=record.code,
            log_speedup=math.log(record.speedup),
            parent=state,
            edge=self._tree.edges[state.technique, did] if known else None,
        )
        if len(child.path) < self._settings.depth and record.applied != "nothing":
            self._open(child)
        return child

    def _open(self, state: State) -> None:
        """Give `state` its actions; without any it stays closed."""
        state.actions = tuple(
            Action(successor.technique, self._edge(state.technique, successor))
            for successor in self._context.successors(state.technique, state.code)
        )
        state.open = bool(state.actions)

    def _edge(self, source: str, successor: Successor) -> Edge:
        key = (source, successor.technique.id)
        if key not in self._tree.edges:
            self._tree.edges[key] = Edge(prior(successor, self._settings))
        return self._tree.edges[key]


METHOD = MethodKind(UcbSettings, Ucb, needs="graph")
