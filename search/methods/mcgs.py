"""Monte Carlo graph search: walks over verified codes, whose selection rule is an argument.

Every verified code is a state; its actions are the techniques that the graph knows to follow the
one that led to it. An iteration is a walk: the rule says where it begins and which action comes
next, the model is asked for that step, and the rule learns what came of it.

    mcgs         ExpectedImprovement: ours, and the default (method.md 3.2)
    mcgs-paper   PaperBound: the paper's selection, expansion and rollout (method.md 3.1)
    regrapht     Uniform: the paper's random walks, begun again after a failure

Not here: asking for a step and judging it (sample.py), beliefs about an edge (beliefs.py).
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import Field

from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.models.technique import Technique, free_id, start_id
from regraph_kg.search import beliefs
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.sample import Request
from regraph_kg.search.transform.apart import Result
from regraph_kg.search.world import Effects


class McgsSettings(MethodSettings):
    """Expected improvement of the best code, method.md 3.2."""

    method: Literal["mcgs"] = "mcgs"
    samples: int = Field(default=3, ge=1)
    """m: samples of one step, at most."""
    depth: int = Field(default=8, ge=1)
    """D_max: steps of a path, at most."""
    transforms: bool = True
    """Whether the graph's transforms carry steps out: no model is asked for those."""
    free: bool = True
    """Whether the model may also be asked to make the code faster as it sees fit."""


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


class ReGraphTSettings(MethodSettings):
    method: Literal["regrapht"] = "regrapht"
    steps: int = Field(default=8, ge=1)
    """L: steps of a walk, at most."""
    attempts: int | None = Field(default=None, ge=1)
    """Walks, at most; the paper has a row with 5."""


@dataclass(slots=True, eq=False)
class NextStep:
    """An action at a state: one of the techniques that follow, or the free choice."""

    technique: Technique | None  # None: the model is free to choose
    leads: str  # the technique whose successors follow it
    ready: tuple[Result, ...] = ()  # what transforms made: its first samples, without a model
    taken: int = 0  # samples begun
    failed: int = 0
    idle: int = 0  # samples that did nothing
    under_way: int = 0
    best: float | None = None  # level of its best right sample
    answered: bool = True  # False once there was no answer: no further samples

    @property
    def next_ready(self) -> Result | None:
        """What a transform made for the next sample; None where a model is to write it."""
        return self.ready[self.taken] if self.taken < len(self.ready) else None


@dataclass(slots=True, eq=False)
class State:
    """Verified code; `level` is the log of its speedup, `used` are the techniques of its path."""

    technique: str
    path: tuple[str, ...]
    code: str
    level: float = 0.0
    used: frozenset[str] = frozenset()
    actions: tuple[NextStep, ...] = ()
    right: int = 0  # samples that passed and did what they were asked for
    idle: int = 0  # samples that did nothing: other actions may not apply either


@dataclass(slots=True, eq=False)
class Walk:
    """An iteration: steps one after the other, from a state on."""

    here: State
    first: NextStep | None = None  # the only step, chosen with the state; None: each when due
    steps: list[StepRecord] = field(default_factory=list)
    over: bool = False
    selected: list[str] = field(default_factory=list)  # the techniques of the paper's selected path
    unvisited: bool = False  # whether the last choice was the first of an unvisited technique
    rolling: bool = False  # whether the paper's rollout has begun


class ExpectedImprovement:
    """The action that is worth most, of all states; a walk is one step.

        worth = p E max(0, x + m - x* + s Z)

    p, m and s are what beliefs.py says of the edge, x and x* the levels of the state and of the
    best code. Ties go to the state found first, then to the action that is listed first. Calls at
    once go to different steps: a sample under way counts as one that failed, and at a state those
    without one come first. Nothing is drawn: the same answers make the same search.
    """

    # Weight of an edge's pass rate against an action's failures: small models repeat theirs.
    LOCAL_WEIGHT, SMALL_WEIGHT = 2.0, 0.5
    # Share of the pass rate that a small model has where no transform makes the step.
    UNBEGUN = 0.3
    IDLE_WEIGHT = 3.0  # idle answers at a state that halve the belief in its other actions
    # Another sample over a passed step's best one: what it gains, and how surely.
    AGAIN_GAIN, AGAIN_SPREAD = -0.1, 0.1
    # A technique that the path has already gains nothing more.
    REPEAT_GAIN, REPEAT_SPREAD = 0.0, 0.05

    def __init__(self, context: Context, settings: McgsSettings) -> None:
        self._context, self._settings = context, settings
        self._small = context.graph.small
        self.beliefs = beliefs.Beliefs()
        self._free_name = free_id(context.task.target)
        self._foretellings = dict[str, beliefs.Foretelling]()
        self._edges = dict[tuple[str, str, bool], beliefs.BelievedEdge]()
        self.states: dict[str, State] = {}  # states by normalized code, oldest first
        self._judged = {normalized(context.task.start)}  # normalized codes of all samples
        self._best = 0.0
        self._reach(State(start_id(context.task.target), (), context.task.start))

    def begin(self) -> Walk | None:
        """The action that is worth most; None: nothing before one of those under way ends."""
        while True:
            worths = [
                (self._worth(state, action), state, action)
                for state in self.states.values()
                for action in self._open(state)
            ]
            if not worths:
                return None
            _, state, action = max(worths, key=lambda one: one[0])
            if not self._is_judged(action.next_ready):
                return Walk(state, action)
            action.taken += 1

    def choose(self, walk: Walk) -> NextStep | None:
        return None if walk.steps else walk.first

    def reward(self, walk: Walk) -> float | None:
        """The step's speedup, 0 for a failure."""
        return None if walk.over else walk.steps[0].speedup or 0.0

    def learn(self, walk: Walk, action: NextStep, step: StepRecord) -> StepRecord:
        """The edge that was taken learns the step's gain; its code becomes a state.

        The step, with its gain.
        """
        state = walk.here
        if step.code:
            self._judged.add(normalized(step.code))
        if step.outcome is None:
            action.answered = False
            walk.over = True
            return step
        return step.model_copy(update={"gain": self._gain(state, action, step)})

    def _gain(self, state: State, action: NextStep, step: StepRecord) -> float | None:
        edge = self._edge(state.technique, action.leads, ruled=bool(step.transform))
        if step.speedup is None or step.code is None:
            action.failed += 1
            action.idle += step.outcome is Outcome.UNCHANGED  # most that follow are, too
            self.beliefs.fail(edge)
            return None
        level = math.log(step.speedup)
        gain = level - state.level
        taken: beliefs.BelievedEdge | None = edge
        if step.applied == "asked":
            state.right += 1
            action.best = level if action.best is None else max(level, action.best)
        else:
            action.failed += 1
            taken = self._edge(state.technique, step.did) if step.did else None
        if step.applied == "nothing":
            # this edge, and other actions here, are less likely to pass
            action.idle += 1
            state.idle += 1
            self.beliefs.fail(edge)
            return gain
        did = step.did or action.leads
        new = State(did, step.path, step.code, level, state.used | {did})
        if taken is not None and not self._is_repeated(state, taken.target):
            self.beliefs.learn(taken, gain)
        self._reach(new)
        return gain

    def take_back(self, walk: Walk, step: StepRecord) -> None:
        """Code that was only glanced at failed its screening (`step`): it is no state any more."""
        del step
        state, walk.over = walk.here, True
        state.actions = ()

    def _open(self, state: State) -> list[NextStep]:
        """The actions that may be sampled: where there is a choice, those without one under way.

        An action that did nothing is had one time less often. A small model writes no step that a
        transform has.
        """
        choices = [
            action
            for action in state.actions
            if action.answered and (self._has_made(state, action) or self._has_more(action))
        ]
        return [action for action in choices if not action.under_way] or choices

    def _has_made(self, state: State, action: NextStep) -> bool:
        """Whether a transform made a next sample; after m without a gain the others are left."""
        gained = action.best is not None and action.best > state.level
        return bool(action.next_ready) and (gained or action.taken < self._settings.samples)

    def _has_more(self, action: NextStep) -> bool:
        """Whether a model may be asked for another sample."""
        asked, has_call = action.taken - len(action.ready), self._context.ledger.calls_left > 0
        is_written = self._small and bool(action.ready)
        return has_call and not is_written and asked + action.idle < self._settings.samples

    def _worth(self, state: State, action: NextStep) -> float:
        """Expected gain of a sample over the best code so far."""
        edge = self._edge(state.technique, action.leads, ruled=action.next_ready is not None)
        believed = self.beliefs.outlook(edge)
        failed = action.failed + action.under_way
        weight = self.SMALL_WEIGHT if self._small else self.LOCAL_WEIGHT
        applies = (self.IDLE_WEIGHT + state.right) / (self.IDLE_WEIGHT + state.right + state.idle)
        passes = weight * believed.passes / (weight + failed) * applies
        by_model = self._small and not edge.ruled
        passes *= edge.foretold.chosen * (self.UNBEGUN if by_model else 1.0)
        if action.best is not None:
            gain, spread = action.best - state.level + self.AGAIN_GAIN, self.AGAIN_SPREAD
        elif self._is_repeated(state, action.leads):
            gain, spread = self.REPEAT_GAIN, self.REPEAT_SPREAD
        else:
            gain, spread = believed.gain, believed.spread
        return passes * beliefs.expected_improvement(state.level + gain - self._best, spread)

    def _is_repeated(self, state: State, technique: str) -> bool:
        """Whether the path has the technique already; a small step may have another place."""
        return technique in state.used and not self._small

    def _is_judged(self, ready: Result | None) -> bool:
        """Whether a transform made code that was judged already."""
        return ready is not None and (
            normalized(self._context.task.whole(ready.code)) in self._judged
        )

    def _reach(self, state: State) -> None:
        """Note a verified code: a new state, unless it is known; at full depth without actions."""
        self._best = max(self._best, state.level)
        is_new = self.states.setdefault(normalized(state.code), state) is state
        if is_new and len(state.path) < self._settings.depth:
            state.actions = tuple(self._actions(state))

    def _actions(self, state: State) -> Iterator[NextStep]:
        """The actions at a state; the free one is last, at the start and after free ones alone."""
        source = state.technique
        for successor in self._context.successors(self._context.walks_from(source), state.code):
            technique = successor.technique
            made = self._context.graph.made(technique, self._context.task.shown(state.code))
            yield NextStep(technique, technique.id, made)
        # what is built on one is of no transition, and teaches the graph nothing
        if self._settings.free and source in (start_id(self._context.task.target), self._free_name):
            name = self._free_name
            # nothing is known of a model's own choice before it was made
            told = beliefs.Foretold(0.5, beliefs.UNKNOWN_GAIN)
            self._edges[source, name, False] = beliefs.BelievedEdge(source, name, told)
            yield NextStep(None, name)

    def _edge(self, source: str, target: str, *, ruled: bool = False) -> beliefs.BelievedEdge:
        """The edge between two techniques, with what the graph tells of it.

        Where a transform makes the step it is another edge: a rule fails and passes as no model.
        """
        if (source, target, ruled) not in self._edges:
            graph, walked = self._context.graph, self._context.walks_from(source)
            if source not in self._foretellings:
                followers = graph.neighbours(walked).successors
                self._foretellings[source] = beliefs.Foretelling(graph.pooled(), followers)
            told = self._foretellings[source].of(target, ruled=ruled)
            if source == self._free_name:  # which leaves less than the start's edges gained
                told = replace(told, gain=beliefs.UNKNOWN_GAIN)
            self._edges[source, target, ruled] = beliefs.BelievedEdge(source, target, told, ruled)
        return self._edges[source, target, ruled]


class Uniform:
    """Each successor is equally likely; at most `attempts` walks that tried anything.

    Nothing is cached: every step is a call for a new sample, on a known path, too. A walk ends with
    the first failure, at the cap of `steps`, or where no successor is. What there is no answer for
    is closed on its path.
    """

    def __init__(self, context: Context, settings: ReGraphTSettings | PaperSettings) -> None:
        self._context, self._most = context, settings.steps
        self._attempts, self._begun = getattr(settings, "attempts", None), 0
        self._start = self._state(start_id(context.task.target), (), context.task.start)

    def begin(self) -> Walk | None:
        """A walk, unless all were made, or all that the start leads to is closed."""
        closed = not any(action.answered for action in self._start.actions)
        if closed or self._begun == self._attempts or self._context.ledger.calls_left <= 0:
            return None
        self._begun += 1
        return Walk(self._start, selected=[self._start.technique])

    def choose(self, walk: Walk) -> NextStep | None:
        """One of the open actions, while the walk may go on and calls are left."""
        actions = [action for action in walk.here.actions if action.answered]
        over = walk.over or len(walk.steps) >= self._most or self._context.ledger.calls_left <= 0
        return None if over or not actions else self._pick(walk, actions)

    def learn(self, walk: Walk, action: NextStep, step: StepRecord) -> StepRecord:
        """Go on to the step's code."""
        action.answered &= step.outcome is not None
        if step.speedup is not None and step.code is not None:
            walk.here = self._state(self._counts_as(action, step), step.path, step.code)
        else:
            walk.over = True
        return step

    def take_back(self, walk: Walk, step: StepRecord) -> None:
        """The step that the walk has come to failed its screening: `step` is the record of that."""
        failed = {"outcome": step.outcome, "diagnosis": step.diagnosis, "speedup": None}
        walk.steps = [
            one.model_copy(update=failed) if one.code == step.code else one for one in walk.steps
        ]
        walk.over = True

    def reward(self, walk: Walk) -> float | None:
        """The fastest code on the way, 0 if none is; a walk that tried nothing is no attempt."""
        paid = [step.speedup or 0.0 for step in walk.steps if step.tried]
        self._begun -= not paid
        return max(paid, default=None)

    def _pick(self, walk: Walk, actions: Sequence[NextStep]) -> NextStep:
        del walk
        return self._context.rng.choice(actions)

    def _counts_as(self, action: NextStep, step: StepRecord) -> str:
        """The technique whose successors follow a step."""
        return step.did or action.leads

    def _state(self, technique: str, path: tuple[str, ...], code: str) -> State:
        successors = self._context.successors(technique, code)
        actions = (NextStep(one.technique, one.technique.id) for one in successors)
        return State(technique, path, code, actions=tuple(actions))


class PaperBound(Uniform):
    """The paper's MCGS, with the least that makes it run: method.md 3.1 says what, and why.

    Counters W and N are per technique, whatever the path; N(s,a) is per pair.
    """

    def __init__(self, context: Context, settings: PaperSettings) -> None:
        super().__init__(context, settings)
        self._settings = settings
        self.total: dict[str, float] = defaultdict(float)  # W(t)
        self.visits: dict[str, int] = defaultdict(int)  # N(t)
        self.traversals: dict[tuple[str, str], int] = defaultdict(int)  # N(s,a)

    def learn(self, walk: Walk, action: NextStep, step: StepRecord) -> StepRecord:
        """Count the pair; the path is selected as long as no rollout has begun."""
        before = walk.here
        self.traversals[before.technique, action.leads] += step.tried
        if step.tried and not walk.rolling:
            walk.selected.append(action.leads)
        step = super().learn(walk, action, step)
        if walk.here is not before:
            # the first rollout step ends the selected path: else no new technique is ever counted
            walk.rolling = walk.rolling or walk.unvisited
        return step

    def reward(self, walk: Walk) -> float | None:
        """Backprop of the largest reward from the selected path's last step on."""
        paid = [paper_reward(step.speedup) for step in walk.steps if step.tried]
        if not paid:
            return None
        # with the steps before it, a failure would go on earning a good prefix's reward
        reward = max(paid[len(walk.selected) - 2 :])
        for technique in walk.selected:
            self.visits[technique] += 1
            self.total[technique] += reward
        return reward

    def mean(self, technique: str) -> float:
        """Q = W / N; 0 where unvisited."""
        visits = self.visits[technique]
        return self.total[technique] / visits if visits else 0.0

    def bound(self, technique: str, parent: int) -> float:
        """P-UCB: Q(s) + c sqrt(2 ln N(s') / N(s)), `parent` is N(s') on this path."""
        bonus = math.sqrt(2 * math.log(parent) / self.visits[technique])
        return self.mean(technique) + self._settings.exploration * bonus

    def _counts_as(self, action: NextStep, step: StepRecord) -> str:
        """A step counts as asked for: else what the model never applies is expanded for ever."""
        del step
        return action.leads

    def _pick(self, walk: Walk, actions: Sequence[NextStep]) -> NextStep:
        source = walk.here.technique
        unvisited = [action for action in actions if not self.visits[action.leads]]
        walk.unvisited = bool(unvisited)
        if not walk.rolling and not unvisited:
            parent = self.visits[source]
            return max(actions, key=lambda action: self.bound(action.leads, parent))
        choices = actions if walk.rolling else unvisited
        rng = self._context.rng
        if rng.random() < self._settings.epsilon:
            return rng.choice(choices)

        def policy(action: NextStep) -> float:
            """Q(s,a) - lambda N(s,a)."""
            walked = self.traversals[source, action.leads]
            return self.mean(action.leads) - self._settings.visit_penalty * walked

        return max(choices, key=policy)


def paper_reward(reached: float | None) -> float:
    """-1 for a failure, speedup - 1 where slower than the serial code, else the speedup."""
    if reached is None:
        return -1.0
    return reached - 1 if reached < 1 else reached


Rule = ExpectedImprovement | Uniform  # with what it has learned; `PaperBound` is one, too


class Mcgs:
    """One search with a selection rule; its iterations are walks."""

    def __init__(self, context: Context, rule: Rule) -> None:
        self._context, self.rule = context, rule

    def iteration(self) -> Effects[Iteration] | None:
        walk = self.rule.begin()
        return None if walk is None else self._walk(walk)

    def _walk(self, walk: Walk) -> Effects[Iteration]:
        while (action := self.rule.choose(walk)) is not None:
            context, here, technique = self._context, walk.here, action.technique
            source = context.walks_from(here.technique)
            if technique is None:
                # the model chooses how to make the code faster
                name = free_id(context.task.target)
                request = Request(here.path, None, action.taken, here.code, free=name)
            else:
                place = source, here.path, technique, action.taken, here.code
                request = context.request(*place, action.next_ready)
            # taken before the first effect: another walk must not get the same number
            action.taken += 1
            action.under_way += 1
            step = yield from context.proposer.sample(request)
            # learned at once, in this thread, so that the next choice knows of it
            action.under_way -= 1
            if step.fell:
                self.rule.take_back(walk, step)
                walk.steps.append(step)
                break
            # a screening on the way may have told more than the glance before it
            if known := context.proposer.verdicts.speedup(here.code):
                here.level = math.log(known)
            walk.steps.append(self.rule.learn(walk, action, step))
        path = walk.steps[0].path if walk.steps else ()
        return Iteration(path, tuple(walk.steps), self.rule.reward(walk))
