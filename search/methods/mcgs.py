"""Monte Carlo graph search: the step of the largest expected improvement, looking ahead, is next.

Every verified code is a state, equal codes are one; its actions are the techniques that the graph
knows to follow the one that led to it. Where the paper selects by an upper confidence bound on a
technique's mean reward (mcgs_paper.py), this takes what a sample is expected to add to the best
code so far, which needs no rollout (method.md 3.2):

    worth = p E max(0, x + m + a - x* + s Z)

p, m and s are what beliefs.py says of the edge, x and x* the levels (log speedups) of the state and
of the best code, a the look-ahead: what the best steps after it may still gain, by the graph, along
as many as the calls left will pay for. So a search with few calls left takes the best next step,
and one with many goes where much may follow. Calls at once go to different steps: at a state those
without a sample under way come first, and a sample under way counts as one that failed.

A failed sample makes the next one of that action less likely to pass, a right one leaves little to
gain by another; both stay possible, and come when nothing else is worth more. A technique that the
path has already is believed to gain nothing, unless steps are those of a small model, which change
one place. Steps by rule are known before they are taken: one that leads to a code that was judged
already is left out. Besides the graph's techniques the model may be asked for what it sees fit;
such a step is followed by what followed the code before it. No first technique waits for ever:
after enough calls one that has not passed is asked for whatever its worth. A step that did nothing,
or something else, counts as a failed sample of what it was asked for; its code is a state of what
it did, and teaches that edge. After a failed sample a technique that has smaller steps is asked for
in part: what comes of that is a state of what led there, where the whole may follow. Nothing is
drawn: the same answers make the same search. Ties go to the state found first, then to the action
that the neighbourhood lists first.
"""

import heapq
import math
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.search.ahead import Ahead, Edges
from regraph_kg.search.ask import Request
from regraph_kg.search.beliefs import Beliefs, BelievedEdge, expected_improvement
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.prompts.by_rule import BY_RULE, carried_out


class McgsSettings(MethodSettings):
    """Expected improvement with a look ahead along the graph, method.md 3.2."""

    method: Literal["mcgs"] = "mcgs"
    tries: float = Field(default=8.0, ge=0)
    """Of the graph's tries of an edge, so many count at most."""
    weight: float = Field(default=1.0, gt=0)
    """k: what the graph's gain weighs at most, in gains of this run."""
    gain: float = 0.15
    """mu0: log gain of an edge of which nothing is known."""
    spread: float = Field(default=0.8, gt=0)
    """sigma0: standard deviation of a log gain around what was believed."""
    horizon: int = Field(default=4, ge=0)
    """H: steps of the look-ahead, at most."""
    discount: float = Field(default=0.8, ge=0, le=1)
    """gamma: share of what may follow that counts, for each step."""
    step_calls: float = Field(default=3.0, gt=0)
    """Calls that are left for a step of the look-ahead."""
    fairness: float = Field(default=3.0, ge=1)
    """A first technique waits for so many calls times the number of first techniques, at most."""
    samples: int = Field(default=3, ge=1)
    """m: samples of one step, at most."""
    repairs: int = Field(default=1, ge=0)
    """r: repair calls after a failed answer, at most."""
    depth: int = Field(default=8, ge=1)
    """D_max: steps of a path, at most."""
    other_devices: float = Field(default=0.5, ge=0, le=1)
    """What a try on another device of the target counts."""
    free: bool = True
    """Whether the model may also be asked to make the code faster as it sees fit."""


WAITING_SHARE = 0.1
"""Share of the calls for first techniques that have waited too long."""
LOCAL_WEIGHT, SMALL_WEIGHT = 2.0, 0.5
"""Weight of the edge's pass rate against failures of the action itself; the second is that of a
small model, right in 17 % of samples after a failure, in 54 % of first ones (docs/results.md)."""
UNBEGUN = 0.3
"""Share of the graph's pass rate that a small model keeps where no new code begins its answer: it
was right in 0.2 to 0.4 of such samples, in 0.8 of others (docs/results.md)."""
IDLE_WEIGHT = 3.0
"""Idle answers at a state that halve the belief in its other actions."""
ROUNDS = 2
"""Answers to be waited for at a step of the look-ahead: the first one, and a repair."""
KNOWN_TRIES = 4.0
"""Tries in the graph that let a first technique wait twice as long."""
AGAIN_GAIN, AGAIN_SPREAD = -0.1, 0.1
"""Gain of another sample over a passed step's best one, and its spread."""
REPEAT_GAIN, REPEAT_SPREAD = 0.0, 0.05
"""Gain of a technique that the path has already, and its spread."""


@dataclass(slots=True, eq=False)
class NextStep:
    """An action at a state: one of the techniques that follow, or the free choice."""

    technique: Technique | None
    """None: the model is free to choose."""
    edge: BelievedEdge
    leads: str
    """The technique whose successors follow it."""
    taken: int = 0
    """Samples begun."""
    failed: int = 0
    idle: int = 0
    """Samples that did nothing."""
    under_way: int = 0
    best: float | None = None
    """Level of its best right sample."""
    begun: bool = True
    """Whether the answer begins with the step's new code, where the model is a small one."""
    answered: bool = True
    """False once there was no answer, or it does not apply: no further samples."""


@dataclass(slots=True, eq=False)
class FoundCode:
    """Verified code; `level` is the log of its speedup, `used` are the techniques of its path."""

    technique: str
    path: tuple[str, ...]
    used: frozenset[str]
    code: str
    level: float
    actions: tuple[NextStep, ...] = ()
    right: int = 0
    """Samples that passed and did what they were asked for."""
    idle: int = 0
    """Samples that did nothing or were declined: other actions may not apply either."""

    @property
    def applies(self) -> float:
        """The share of the pass rates of its actions that is left."""
        return (IDLE_WEIGHT + self.right) / (IDLE_WEIGHT + self.right + self.idle)


class Mcgs:
    """One search; an iteration is one sample, its reward the speedup, 0 for a failure."""

    def __init__(self, context: Context, settings: McgsSettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        start = start_id(context.task.target)
        self.beliefs = Beliefs(start, settings)
        self._edges = Edges(context, self.beliefs)
        self._small = context.graph.small
        self.states: dict[str, FoundCode] = {}
        """By normalized code, oldest first."""
        self._judged = {normalized(context.task.start)}
        """Normalized codes of all samples."""
        self._best = 0.0
        self._expected: float | None = None
        """Worth of the last sample that was begun for its worth."""
        self._calls = self._waited = 0
        self._start = self._grow(FoundCode(start, (), frozenset(), context.task.start, 0.0))

    def iteration(self) -> Effects[Iteration] | None:
        """Begin a sample of the action that is worth most (see `Method`)."""
        while True:
            waiting = self._waiting()
            chosen = waiting or self._worthiest()
            if chosen is None:
                return None
            state, action = chosen
            if not self._leads_back(state, action):
                break
            action.answered = False
        if waiting:
            self._waited += 1
        action.taken += 1
        action.under_way += 1
        return self._sample(state, action, action.taken - 1)

    def _leads_back(self, state: FoundCode, action: NextStep) -> bool:
        """Whether a rule would carry out the step, and write code that was judged already."""
        task, technique = self._context.task, action.technique
        recipe = technique.recipe if technique is not None and self._small else ""
        ready = carried_out(task.shown(state.code), recipe)
        return bool(ready) and normalized(task.whole(ready)) in self._judged

    def _waiting(self) -> tuple[FoundCode, NextStep] | None:
        """A first technique that has waited for too long; few calls go to such ones."""
        if self._calls * WAITING_SHARE < self._waited:
            return None
        share = self._settings.fairness * len(self._start.actions)
        for action in self._start.actions:
            patience = share * (1 + action.edge.tried / KNOWN_TRIES)
            if action.best is None and self._open(action) and self._calls >= patience:
                return self._start, action
        return None

    def _worthiest(self) -> tuple[FoundCode, NextStep] | None:
        """The largest worth; bounds that need no look at the path come first, and spare most."""
        ahead = Ahead(self._edges, self._horizon, self._settings.discount)
        pairs = [
            (state, action) for state in self.states.values() for action in self._choices(state)
        ]
        heap = [(-self._worth(*pair, ahead, exact=False), n) for n, pair in enumerate(pairs)]
        heapq.heapify(heap)
        exact = set[int]()
        while heap:
            worth, number = heap[0]
            if number in exact:
                self._expected = -worth
                return pairs[number]
            exact.add(number)
            heapq.heapreplace(heap, (-self._worth(*pairs[number], ahead, exact=True), number))
        return None

    def _choices(self, state: FoundCode) -> list[NextStep]:
        """The open actions: where there is a choice, those without a sample under way."""
        choices = [action for action in state.actions if self._open(action)]
        return [action for action in choices if not action.under_way] or choices

    @property
    def _horizon(self) -> int:
        """Steps that the calls left pay for; beside calls under way, each waits for its rounds."""
        ledger, settings = self._context.ledger, self._settings
        step = max(settings.step_calls, ROUNDS * (1 + ledger.under_way))
        return min(settings.horizon, int(ledger.left / step))

    def _open(self, action: NextStep) -> bool:
        """Whether it may be sampled: one that did nothing is had one time less often.

        A right step that was begun for a small model would come out the same again.
        """
        same = self._small and action.begun and action.best is not None
        return action.answered and not same and action.taken + action.idle < self._settings.samples

    def _worth(self, state: FoundCode, action: NextStep, ahead: Ahead, *, exact: bool) -> float:
        """Expected gain of a sample over the best; not exact: an upper bound."""
        believed = self.beliefs.outlook(action.edge)
        failed = action.failed + action.under_way
        weight = SMALL_WEIGHT if self._small else LOCAL_WEIGHT
        passes = weight * believed.passes / (weight + failed) * state.applies
        passes *= 1.0 if action.begun else UNBEGUN
        following = 0.0
        if action.best is not None:  # what follows is open already
            gain, spread = action.best - state.level + AGAIN_GAIN, AGAIN_SPREAD
        elif self._is_repeated(state, action.edge):
            gain, spread = REPEAT_GAIN, REPEAT_SPREAD
        else:
            gain, spread = believed.gain, believed.spread
            following = self._settings.discount * self._following(state, action, ahead, exact)
        mean = state.level + gain + following - self._best
        return passes * expected_improvement(mean, spread)

    def _is_repeated(self, state: FoundCode, edge: BelievedEdge) -> bool:
        """Whether the path has the technique already; a small step may have another place."""
        return edge.target in state.used and not self._small

    def _following(self, state: FoundCode, action: NextStep, ahead: Ahead, exact: bool) -> float:
        steps = max(0, min(ahead.horizon, self._settings.depth - len(state.path) - 1))
        leads, used = action.leads, state.used | {action.leads}
        return ahead.gain(leads, used, steps) if exact else ahead.bound(leads, steps)

    def _sample(self, state: FoundCode, action: NextStep, attempt: int) -> Effects[Iteration]:
        expected, request = self._expected, self._request(state, action, attempt)
        step = yield from self._context.proposer.sample(request, repairs=self._settings.repairs)
        action.under_way -= 1
        self._calls += step.cost.calls
        self._judged |= {normalized(step.code)} if step.code else set()
        action.answered &= BY_RULE not in step.mended  # it would come out the same again
        unchanged = step.outcome is Outcome.UNCHANGED
        if step.closes and not (unchanged and self._has_parts(action) and not request.part):
            action.answered = False
            if step.declined:
                self._idle(state, action)
            return Iteration(step.path, (step,), None)
        gain = self._learn(state, action, step, part=request.part)
        step = step.model_copy(update={"gain": gain})
        return Iteration(step.path, (step,), step.speedup or 0.0, expected)

    def _request(self, state: FoundCode, action: NextStep, attempt: int) -> Request:
        context, path, technique = self._context, state.path, action.technique
        source = self._edges.source(state.technique)
        if technique is None:
            return context.free_request(source, path, attempt, state.code)
        part = self._has_parts(action) and action.failed > 0
        return context.request(source, path, technique, attempt, state.code, part=part)

    def _has_parts(self, action: NextStep) -> bool:
        """Whether it can be asked for in smaller steps: lean prompts tell one, others no recipe."""
        lean = self._context.prompting.words == "lean"
        return lean and action.technique is not None and bool(action.technique.steps)

    def _learn(
        self, state: FoundCode, action: NextStep, step: StepRecord, *, part: bool = False
    ) -> float | None:
        """The step's gain, learned by the edge it took; its code becomes a state."""
        if step.speedup is None or step.code is None:
            action.failed += 1
            action.idle += step.outcome is Outcome.UNCHANGED  # most that follow are, too
            self.beliefs.fail(action.edge)
            return None
        level = math.log(step.speedup)
        gain = level - state.level
        if part and step.applied == "other" and not step.did:  # the technique is still to come
            self._best = max(self._best, level)
            self._grow(FoundCode(state.technique, step.path, state.used, step.code, level))
            return gain
        edge: BelievedEdge | None = action.edge
        if step.applied == "asked":
            state.right += 1
            action.best = level if action.best is None else max(level, action.best)
        else:
            action.failed += 1
            edge = self._edges.find(state.technique, step.did) if step.did else None
        if step.applied == "nothing":
            self._idle(state, action)
            return gain
        if edge is not None and not self._is_repeated(state, edge):
            self.beliefs.learn(edge, gain)
        self._best = max(self._best, level)
        did = step.did or action.leads
        self._grow(FoundCode(did, step.path, state.used | {did}, step.code, level))
        return gain

    def _idle(self, state: FoundCode, action: NextStep) -> None:
        """Note an idle sample: this edge, and other actions here, are less likely to pass."""
        action.idle += 1
        state.idle += 1
        self.beliefs.fail(action.edge)

    def _grow(self, state: FoundCode) -> FoundCode:
        """A new state, unless its code is known; without actions where the depth ends."""
        existing = self.states.setdefault(normalized(state.code), state)
        if existing is state and len(state.path) < self._settings.depth:
            state.actions = self._actions(state)
        return existing

    def _actions(self, state: FoundCode) -> tuple[NextStep, ...]:
        """The actions at a state; the free choice is last.

        It stands at the serial code and at what came of free choices alone: what is built on one
        is of no transition, and teaches the graph nothing.
        """
        edges, technique = self._edges, state.technique
        offered = edges.offered(technique, state.code)
        steps = [
            NextStep(offer, edge, edge.target, begun=not self._small or "$begin" in offer.recipe)
            for offer, edge in offered
        ]
        if self._settings.free and technique in (self.beliefs.start, edges.free_name):
            free = edges.free_edge(technique, len(edges.after(technique)))
            steps.append(NextStep(None, free, edges.free_name, begun=not self._small))
        return tuple(steps)


METHOD = MethodKind(McgsSettings, Mcgs, needs="graph")
