"""Where `ucb` spends the next call: gains, values, bounds and choices.

Ties go to the action that the neighbourhood lists first: most given examples, then most learned
ones, then by id.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from benchmarks.rivals.ucb_tree import Action, Edge, State
from regraph_kg.models.prompt import element
from regraph_kg.search.methods.mcgs import policy


@dataclass(slots=True)
class PathStep:
    """An action taken in a state; `child` is where it led, None before and where it failed."""

    state: State
    action: Action
    child: State | None = None

    def path(self, attempt: int) -> tuple[str, ...]:
        """Path elements up to this step, taken as sample `attempt`."""
        return (*self.state.path, element(self.action.technique.id, attempt))

    @property
    def open_end(self) -> State | None:
        """Where the step led, if the way can go on from there."""
        return self.child if self.child is not None and self.child.open else None


class SelectionSettings(Protocol):
    """What the choice of the next call needs of a method's settings."""

    @property
    def prior_weight(self) -> float:
        """k0: what the prior weighs against the edge's counts."""

    @property
    def edge_weight(self) -> float:
        """k1: what the edge's value weighs against the path's counts."""

    @property
    def best_weight(self) -> float:
        """w: the share of the best gain in a value."""

    @property
    def exploration(self) -> float:
        """c: the weight of the bonus."""

    @property
    def samples(self) -> int:
        """m: samples of one action at most."""

    @property
    def visit_penalty(self) -> float:
        """lambda: for each visit, in rollouts."""

    @property
    def epsilon(self) -> float:
        """The share of random rollout steps."""


class GainSettings(Protocol):
    """What log gains need of a method's settings."""

    @property
    def failure_gain(self) -> float:
        """f: the gain of a failed step."""

    @property
    def gain_low(self) -> float:
        """Gains are clipped to this, below."""

    @property
    def gain_high(self) -> float:
        """And here."""


def gains(
    before: Sequence[float], after: Sequence[float | None], settings: GainSettings
) -> list[float]:
    """g_i of every step of a way: clip(max{x_k : k >= i, verified} - x_{i-1}), f if it failed.

    `before[i]` and `after[i]` are log speedups around step i; only the last step can have failed.
    """
    found: list[float] = []
    best = -math.inf
    for x_before, x_after in zip(reversed(before), reversed(after), strict=True):
        if x_after is None:
            found.append(settings.failure_gain)
            continue
        best = max(best, x_after)
        found.append(min(max(best - x_before, settings.gain_low), settings.gain_high))
    return found[::-1]


def edge_value(edge: Edge, settings: SelectionSettings) -> float:
    """q_e = (W_e + k0 q0) / (n_e + k0)."""
    weight = settings.prior_weight
    return (edge.total + weight * edge.prior) / (edge.n + weight)


def value(action: Action, settings: SelectionSettings) -> float:
    """Q = (1 - w) q + w max(q, M), with q = (W + k1 q_e) / (n + k1)."""
    weight = settings.edge_weight
    mean = (action.total + weight * edge_value(action.edge, settings)) / (action.n + weight)
    return (1 - settings.best_weight) * mean + settings.best_weight * max(mean, action.best)


def upper_bound(state: State, action: Action, settings: SelectionSettings) -> float:
    """Q + c sqrt(ln(1 + n(p) + o(p)) / (1 + n(p,a) + o(p,a))); o is what is under way."""
    visits = 1 + state.n + state.under_way
    bonus = math.sqrt(math.log(visits) / (1 + action.n + action.under_way))
    return value(action, settings) + settings.exploration * bonus


def takes_new_sample(action: Action, limit: int) -> bool:
    """The sample rule, for an open action at `limit` (m) samples.

    A new sample where no child is open, or where there are fewer than m and than 1 + sqrt(n) / 2,
    those under way included; else the best open child is entered.
    """
    if not action.may_sample(limit):
        return False
    return not action.open_children() or action.taken < 1 + math.sqrt(action.n) / 2


def best_child(action: Action) -> State:
    """The open child with the fastest code, the earliest sample among equals."""
    return max(action.open_children(), key=lambda state: state.log_speedup)


def select(start: State, settings: SelectionSettings) -> list[PathStep]:
    """The way from an open start to the next new sample: the last step is to be sampled."""
    way: list[PathStep] = []
    state = start
    while True:
        bound = partial(upper_bound, state, settings=settings)
        action = max(state.open_actions(settings.samples), key=bound)
        way.append(PathStep(state, action))
        if takes_new_sample(action, settings.samples):
            return way
        state = way[-1].child = best_child(action)


def rollout_action(state: State, settings: SelectionSettings, rng: random.Random) -> Action:
    """The largest Q - lambda n among open actions, uniform with probability epsilon.

    n is the edge's count: a rollout step leaves a new state, where every n(p,a) is 0.
    """
    actions = state.open_actions(settings.samples)
    return policy(
        actions,
        lambda action: value(action, settings) - settings.visit_penalty * action.edge.n,
        settings.epsilon,
        rng,
    )
