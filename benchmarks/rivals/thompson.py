"""Best first: gains are drawn from what is believed of each edge; the best drawn end is taken.

For the edge of every open pair (state, action) a gain is drawn from what is believed of it; the
pair with the largest log speedup of the state + drawn gain is sampled. The gains of an edge, logs,
are taken as normal with unknown mean mu and variance s2, under the conjugate normal-inverse-gamma
prior (K. Murphy, Conjugate Bayesian analysis of the Gaussian distribution, 2007):

    s2 ~ InvGamma(a0, b0), mu | s2 ~ N(q0, s2 / k0), q0 of prior.py
    after n gains of mean m and sum of squared deviations S:
    k = k0 + n, q = (k0 q0 + n m) / k, a = a0 + n / 2, b = b0 + S / 2 + k0 n (m - q0)^2 / (2 k)
    drawn: s2 = b / Gamma(a, 1), then mu ~ N(q, s2 / k)

What is drawn is the mean gain, as Thompson sampling has it, not a single next gain. q is the edge
value of ucb_select.py. a0 = 2 is the smallest whole shape with a finite mean of s2, b0 / (a0 - 1),
here half a log unit squared; both were never swept. All pairs of one edge share its draw: with
draws of their own the largest of many would decide.

A gain is of its own step, clipped, and f where the step failed: what lies below a state
teaches the edges below. A step that did something else than it was asked for teaches the edge of
what it did, where that is known, else none, and its state is one of that technique, as in ucb.py;
it is a sample of the pair that was asked for. A step under way counts among its action's samples,
and teaches nothing; the draws alone spread what is under way at once. Not here: buying the sample
(propose.py), the prior (prior.py).
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from benchmarks.rivals.prior import prior
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.methods import MethodKind


class ThompsonSettings(MethodSettings):
    """Best first, gains drawn from each edge's posterior."""

    method: Literal["thompson"] = "thompson"
    failure_gain: float = -0.3
    """f: log gain of a failed step."""
    prior_weight: float = Field(default=2.0, gt=0)
    """k0: what the graph's prior weighs against this run's gains."""
    other_devices: float = Field(default=0.5, ge=0, le=1)
    """What a try on another device of the target counts in the prior."""
    samples: int = Field(default=3, ge=1)
    """Samples of one step, at most."""
    repairs: int = Field(default=1, ge=0)
    """Repair calls after a failed answer, at most."""
    depth: int = Field(default=8, ge=1)
    """Steps of a path, at most."""


SHAPE = 2.0
"""a0"""
SCALE = 0.25
"""b0, in squared log units."""
GAIN_LOW, GAIN_HIGH = -1.0, 3.0


@dataclass(frozen=True, slots=True)
class Posterior:
    """A normal-inverse-gamma distribution: q, k, a, b of the module's formulas."""

    mean: float
    weight: float
    shape: float
    scale: float

    def draw(self, rng: random.Random) -> float:
        """A mean gain, in log units."""
        variance = self.scale / rng.gammavariate(self.shape, 1.0)
        return rng.gauss(self.mean, math.sqrt(variance / self.weight))


@dataclass(slots=True, eq=False)
class Belief:
    """What is believed of the gains of an edge: the prior mean q0, and n, m and S of those seen."""

    prior: float
    n: int = 0
    mean: float = 0.0
    deviations: float = 0.0

    def learn(self, gain: float) -> None:
        """One more gain (Welford's update)."""
        self.n += 1
        off = gain - self.mean
        self.mean += off / self.n
        self.deviations += off * (gain - self.mean)

    def posterior(self, prior_weight: float) -> Posterior:
        """After all gains seen, with `prior_weight` k0."""
        weight = prior_weight + self.n
        off = self.mean - self.prior
        return Posterior(
            mean=(prior_weight * self.prior + self.n * self.mean) / weight,
            weight=weight,
            shape=SHAPE + self.n / 2,
            scale=SCALE + self.deviations / 2 + prior_weight * self.n * off * off / (2 * weight),
        )


@dataclass(frozen=True, slots=True)
class _State:
    """Verified code at the end of a path; `level` is the log of its speedup."""

    technique: str
    path: tuple[str, ...]
    code: str
    level: float


@dataclass(slots=True, eq=False)
class _Pair:
    """A technique that may be applied to a state, `asked` times so far, those under way too."""

    state: _State
    technique: Technique
    belief: Belief
    asked: int = 0


class Thompson:
    """One search; an iteration is one sample, its reward the step's gain."""

    def __init__(self, context: Context, settings: ThompsonSettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        self.beliefs: dict[tuple[str, str], Belief] = {}
        """Of edges, by source and target id."""
        self._open: list[_Pair] = []
        self._grow(_State(start_id(context.task.target), (), context.task.start, 0.0))

    def iteration(self) -> Effects[Iteration] | None:
        """A sample of the pair with the best draw (see `Method`)."""
        if not self._open:
            return None
        best = max(self._open, key=self._drawn())
        attempt = best.asked
        best.asked += 1
        if best.asked == self._settings.samples:
            self._open.remove(best)
        return self._take(best, attempt)

    def _drawn(self) -> Callable[[_Pair], float]:
        """The log speedup to which a pair may lead, by one draw for each edge."""
        weight, rng = self._settings.prior_weight, self._context.rng
        beliefs = dict.fromkeys(pair.belief for pair in self._open)
        gains = {belief: belief.posterior(weight).draw(rng) for belief in beliefs}
        return lambda pair: pair.state.level + gains[pair.belief]

    def _take(self, pair: _Pair, attempt: int) -> Effects[Iteration]:
        state = pair.state
        step = yield from self._context.proposer.sample(
            self._context.request(state.technique, state.path, pair.technique, attempt, state.code),
            repairs=self._settings.repairs,
        )
        if step.closes:  # no answer, or it does not apply: no further sample of this pair either
            if pair in self._open:
                self._open.remove(pair)
            return Iteration(step.path, (step,), None)
        gain = self._learn(pair, step)
        return Iteration(step.path, (step.model_copy(update={"gain": gain}),), gain)

    def _learn(self, pair: _Pair, step: StepRecord) -> float:
        """The step's gain, learned by the edge it took; grows the state that it led to."""
        did = step.did or pair.technique.id
        if step.speedup is None or step.code is None:
            gain = self._settings.failure_gain
        else:
            level = math.log(step.speedup)
            gain = min(max(level - pair.state.level, GAIN_LOW), GAIN_HIGH)
            if step.applied != "nothing":
                self._grow(_State(did, step.path, step.code, level))
        if step.applied == "asked" or step.did is not None:
            self.beliefs[pair.state.technique, did].learn(gain)
        return gain

    def _grow(self, state: _State) -> None:
        """Open the pairs of a state that is not at the depth's end."""
        if len(state.path) >= self._settings.depth:
            return
        for successor in self._context.successors(state.technique, state.code):
            edge = (state.technique, successor.technique.id)
            if edge not in self.beliefs:
                self.beliefs[edge] = Belief(prior(successor, self._settings))
            self._open.append(_Pair(state, successor.technique, self.beliefs[edge]))


METHOD = MethodKind(ThompsonSettings, Thompson, needs="graph")
