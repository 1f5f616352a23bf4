"""Where the next call is spent: values, bounds and choices of method.md 3.2 and 3.1.

Ties go to the action that the neighbourhood lists first: most given examples, then most learned
ones, then by id.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from regraph_kg.models.graph import EFFECT_SCALE, Successor
from regraph_kg.search.state import Action, Edge, State, element

T = TypeVar("T")


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


class PriorSettings(Protocol):
    """What a prior needs of a method's settings."""

    @property
    def failure_gain(self) -> float:
        """f: the gain of a failed step."""

    @property
    def other_devices(self) -> float:
        """What one try on another device counts."""


class SelectionSettings(Protocol):
    """What the choice of the next call needs of a method's settings (3.2)."""

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


def prior(successor: Successor, settings: PriorSettings) -> float:
    """q0 = P D / (verified + 1) + (1 - P) f, with P = (verified + 1) / (tried + 2).

    D is the sum of ln effect. A try on another device counts `settings.other_devices` of one here.
    """
    other = settings.other_devices
    share = other if successor.statistics == "other-devices" else 1.0
    verified = share * successor.verified + other * successor.verified_elsewhere
    tried = share * successor.tried + other * successor.tried_elsewhere
    log2_effects = share * successor.sum_log2_effect + other * successor.sum_log2_elsewhere
    log_effects = log2_effects / EFFECT_SCALE * math.log(2)
    passes = (verified + 1) / (tried + 2)
    return passes * log_effects / (verified + 1) + (1 - passes) * settings.failure_gain


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


def policy(
    choices: Sequence[T], score: Callable[[T], float], epsilon: float, rng: random.Random
) -> T:
    """The choice with the largest score, or with probability `epsilon` any of them."""
    if rng.random() < epsilon:
        return rng.choice(choices)
    return max(choices, key=score)


def paper_bound(mean: float, visits: int, parent_visits: int, exploration: float) -> float:
    """P-UCB of 3.1: Q(s) + c sqrt(2 ln N(s') / N(s)), s' the parent on this path."""
    return mean + exploration * math.sqrt(2 * math.log(parent_visits) / visits)
