"""The fastest verified code is extended by the successor that was tried least.

Of all verified states, the serial code among them, the fastest one that is open is extended; of its
successors, the one with the fewest tries, and of these the first in the order of the prior q0
of prior.py. A try is a sample, failed ones and those under way too; m of them close a successor,
a state without open successors or at depth D_max is closed, and the next best one is extended.
Equals: the state found first; the successor that the neighbourhood lists first.

Nothing of a run is learned but which code is fastest: q0 is the graph's, the order stays. A step
that is known to have applied another technique is a try of the one it was asked for, and its state
is one of the other. A successor that a recorded model has no answer for is closed, and so is one
that a model says does not apply. Not here:
exploring on purpose (ucb.py does by counts, thompson.py by drawing).
"""

import math
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from benchmarks.rivals.prior import prior
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.methods import MethodKind


class GreedySettings(MethodSettings):
    """The best verified state, extended by its least-tried successor."""

    method: Literal["greedy-graph"] = "greedy-graph"
    failure_gain: float = -0.3
    """f: log gain of a failure, in the prior."""
    other_devices: float = Field(default=0.5, ge=0, le=1)
    """What a try on another device of the target counts in the prior."""
    samples: int = Field(default=3, ge=1)
    """m: samples of one step, at most."""
    repairs: int = Field(default=1, ge=0)
    """Repair calls after a failed answer, at most."""
    depth: int = Field(default=8, ge=1)
    """Steps of a path, at most."""


@dataclass(slots=True, eq=False)
class _Choice:
    """A technique that may be applied to a state, tried so often."""

    technique: Technique
    tries: int = 0
    answered: bool = True
    """False once a recorded model had no answer, or one said that it does not apply."""


@dataclass(slots=True, eq=False)
class _State:
    """Verified code at the end of a path; its open choices, in the prior's order."""

    technique: str
    path: tuple[str, ...]
    code: str
    level: float
    """Log speedup."""
    choices: list[_Choice]

    def open_choices(self, samples: int) -> list[_Choice]:
        """Those with fewer than `samples` tries, none of them unanswered."""
        return [choice for choice in self.choices if choice.answered and choice.tries < samples]


class Greedy:
    """One search; an iteration is one sample, its reward the speedup, 0 for a failure."""

    def __init__(self, context: Context, settings: GreedySettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        self._states: list[_State] = []
        self._grow(start_id(context.task.target), (), context.task.start, 0.0)

    def iteration(self) -> Effects[Iteration] | None:
        """Extend the best state (see `Method`); None while, or once, none is open."""
        samples = self._settings.samples
        self._states = [one for one in self._states if one.open_choices(samples)]
        if not self._states:
            return None
        state = max(self._states, key=lambda one: one.level)
        choice = min(state.open_choices(samples), key=lambda one: one.tries)
        choice.tries += 1
        return self._extend(state, choice, choice.tries - 1)

    def _extend(self, state: _State, choice: _Choice, attempt: int) -> Effects[Iteration]:
        request = self._context.request(
            state.technique, state.path, choice.technique, attempt, state.code
        )
        step = yield from self._context.proposer.sample(request, repairs=self._settings.repairs)
        if step.closes:
            choice.answered = False
            return Iteration(step.path, (step,), None)
        if step.speedup is not None and step.code is not None and step.applied != "nothing":
            technique = step.did or choice.technique.id
            self._grow(technique, step.path, step.code, math.log(step.speedup))
        return Iteration(step.path, (step,), step.speedup or 0.0)

    def _grow(self, technique: str, path: tuple[str, ...], code: str, level: float) -> None:
        """A new state, unless it stands where the depth ends."""
        if len(path) >= self._settings.depth:
            return
        successors = self._context.successors(technique, code)
        ordered = sorted(successors, key=lambda successor: -prior(successor, self._settings))
        choices = [_Choice(one.technique) for one in ordered]
        self._states.append(_State(technique, path, code, level, choices))


METHOD = MethodKind(GreedySettings, Greedy, needs="graph")
