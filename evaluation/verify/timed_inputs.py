"""Inputs of timed calls: as many different ones as calls, each drawn as a whole.

A `TimedInputs` names inputs: the same name, the same arrays. Its version 0 is a drawing of the
problem's first distribution under a key of its own, so that nothing which a call worked out for one
content, or for a piece of it, serves another. Version n is version n-1 with a few elements, secret
ones and far from both ends, set to large values of the same distribution: so many that the outputs
show it (session.py finds how many).

Not covered: values of which there are few (bytes, small integers): what is looked up by value there
is right, and fast. Arrays of inputs.py, valid as a whole only, and sorted arrays do not change in
place.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.custom_inputs import Drawings, rest
from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.inputs import distributions, draw
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.verify.large_outputs import thinning

_CHANGED = 16
_LOUD = 16
_MORE_SECONDS, _BATCHES = 0.3, 12
"""What drawings for one worker may take, and for how many batches they and the others must do."""
_SAMPLE = 2**16


@dataclass(frozen=True, slots=True)
class TimedInputs:
    """Name of inputs at the timing shape."""

    seed: int
    version: int = 0  # count of changes of a few of its elements

    @property
    def next(self) -> "TimedInputs":
        """The same with a few elements changed."""
        return TimedInputs(self.seed, self.version + 1)


class Contents:
    """Makes inputs of one problem at its timing shape by name. `seed` is secret."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._sizes = problem.at(problem.sizes.time), problem.sizes.time
        self._seed = seed
        self._custom = Drawings(problem, seed) if problem.inputs_code is not None else None
        self._loud: dict[str, Array] = {}
        self._kinds = distributions(problem, 0)
        self.changeable = changeable(problem, 0)
        self.changed = 0  # elements of an array that differ from one version to the next
        if self.changeable:  # so many that a sample of the outputs may show it
            self.changed = max(_CHANGED, min(_CHANGED * thinning(problem), min(self.sizes) // 4))

    @property
    def sizes(self) -> list[int]:
        """Elements of each array that can change."""
        args = (arg for arg in self._problem.inputs if arg.name in self.changeable)
        return [arg.elements(self._sizes) for arg in args]

    def supply(self, rng: random.Random, is_used: Callable[[int], bool]) -> "Supply":
        """Contents for one worker; `is_used` tells seeds that it gets for other reasons."""
        return Supply(self._custom, rng, is_used)

    def retire(self, content: TimedInputs) -> None:
        """Retire a content that a diagnosis revealed: the next candidate could know it."""
        if self._custom:
            self._custom.drop(content.seed)

    def close(self) -> None:
        """End the process that runs inputs.py."""
        if self._custom:
            rest()

    def write(self, content: TimedInputs, views: Mapping[str, Array]) -> None:
        """Fill arrays, by argument name, with a content; they may be wider than declared."""
        for arg in self._problem.inputs:
            self._write(arg, content, views[arg.name])
        for version in range(1, content.version + 1):
            self.change(TimedInputs(content.seed, version), views)

    def _write(self, arg: Argument, content: TimedInputs, view: Array) -> None:
        if self._custom and arg.is_custom:
            arrays.copy(self._custom.get(content.seed)[arg.name], view)
        else:
            seed = [self._seed, content.seed, *arg.name.encode()]
            draw(arg, self._kinds[arg.name], view.shape, seed, view)

    def change(self, content: TimedInputs, views: Mapping[str, Array]) -> None:
        """Turn the version before into this one, in place."""
        for name, (at, values) in self.changes(content).items():
            views[name].reshape(-1)[at] = values

    def changes(self, content: TimedInputs) -> dict[str, tuple[Array, Array]]:
        """Flat indices and new values of each array that differs from the version before."""
        seed = [self._seed, content.seed, content.version]
        args = [arg for arg in self._problem.inputs if arg.name in self.changeable]
        return {
            arg.name: _elements(
                arg.elements(self._sizes), self.changed, self._largest(arg), [*seed, index]
            )
            for index, arg in enumerate(args)
        }

    def altered(self, content: TimedInputs, views: Mapping[str, Array]) -> str | None:
        """Name of the first input that differs from version 0 in some byte."""
        for arg in self._problem.inputs:
            if arg.name in views:
                expected = np.empty(arg.dimensions(self._sizes), arg.dtype)
                self._write(arg, content, expected)
                if not arrays.equal(views[arg.name], expected):
                    return arg.name
        return None

    def arrays(self, content: TimedInputs) -> dict[str, Array]:
        """A content in memory of its own."""
        made = {
            arg.name: np.empty(arg.dimensions(self._sizes), arg.dtype)
            for arg in self._problem.inputs
        }
        self.write(content, made)
        return made

    def _largest(self, arg: Argument) -> Array:
        """Some of the largest values: changes all go one way, and show in sums."""
        if arg.name not in self._loud:
            count = min(arg.elements(self._sizes), _SAMPLE)
            self._loud[arg.name] = _largest(
                draw(arg, self._kinds[arg.name], (count,), [self._seed])
            )
        return self._loud[arg.name]


def changeable(problem: Problem, variant: int) -> tuple[str, ...]:
    """Inputs that stay valid when single elements change: no sorted ones, none of inputs.py."""
    kinds = distributions(problem, variant)
    return tuple(a.name for a in problem.inputs if kinds[a.name] not in ("sorted", "custom"))


def with_changes(
    problem: Problem, inputs: Mapping[str, Array], variant: int, seed: int
) -> dict[str, Array]:
    """Inputs of any shape with a few elements changed: 16 of each array, or a 64th of it."""
    changed = {name: array.copy() for name, array in inputs.items()}
    for index, name in enumerate(changeable(problem, variant)):
        flat = changed[name].reshape(-1)
        if flat.size:
            count = max(16, flat.size // 64)
            at, values = _elements(flat.size, count, _largest(flat), [seed, index])
            flat[at] = values
    return changed


def _largest(array: Array) -> Array:
    return np.sort(array.reshape(-1)[:_SAMPLE])[-_LOUD:]


def _elements(size: int, count: int, values: Array, seed: Sequence[int]) -> tuple[Array, Array]:
    """Flat indices far from both ends, and new values for them."""
    rng = np.random.default_rng(seed)
    at = rng.integers(size // 8, size - size // 8, min(count, size))
    return at, rng.choice(values, at.size)


class Supply:
    """New contents for one worker's calls: those whose arrays lie ready first, none twice."""

    def __init__(
        self, custom: Drawings | None, rng: random.Random, is_used: Callable[[int], bool]
    ) -> None:
        self._custom, self._rng, self._known = custom, rng, is_used

    def next(self) -> TimedInputs:
        """A content that this worker has never had."""
        return TimedInputs(self._ready.pop() if self._ready else self._rng.getrandbits(128))

    @property
    def recurs(self) -> bool:
        """Whether other workers may get the same."""
        return self._custom is not None

    def most(self, count: int) -> int:
        """Most calls of a batch, at most `count`, so that there can be a dozen batches."""
        if not self._custom:
            return count
        more = _MORE_SECONDS / max(self._custom.seconds, 1e-6)
        return max(1, min(count, int((len(self._ready) + more) / _BATCHES)))

    @cached_property
    def _ready(self) -> list[int]:
        """Numbers of the drawings that lie ready, in an order of its own."""
        numbers = self._custom.ready(self._rng.getrandbits(127)) if self._custom else []
        ready = [number for number in numbers if not self._known(number)]
        self._rng.shuffle(ready)
        return ready
