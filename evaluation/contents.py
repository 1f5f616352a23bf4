"""What the arrays of timed calls hold: as many different inputs as calls, from a few drawings.

A `Content` names inputs: the same name, the same arrays. Its version 0 is pieced together from a
few drawings of the problem's first distribution: segments of random length from random places,
their values changed a little, at the speed of copying. Small arrays are drawn for themselves.
Version n is version n-1 with a few elements, secret ones and far from both ends, set to large
values of the same distribution: so many that the outputs show it (session.py finds how many).

Not covered: values of which there are few (small integers, whole numbers that are sorted or
sparse): what is looked up by value there is right, and fast; arrays of inputs.py, which are valid
as a whole only: a dozen drawings of those, which recur, and are not changed; nor are sorted arrays,
whose pieces move within one drawing.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.evaluation.inputs import distributions, draw, generate
from regraph_kg.evaluation.problem import Argument, Problem

Array = NDArray[Any]

_DRAWINGS, _CUSTOM_DRAWINGS = 3, 12
_LARGE_BYTES = 64 * 2**20
"""Above this, of all arrays, one drawing has to do."""
_SMALL = 2**12
"""Arrays of at most so many elements are drawn for themselves."""
_SEGMENTS = 12
_SHRINK = 0.05
_MOST_SPAN = 2**62
_REACH = 16
"""Segments of a sorted drawing move by up to this part of it."""
_LOUD = 16
_SAMPLE = 2**16


@dataclass(frozen=True, slots=True)
class Content:
    """Name of inputs at the timing shape."""

    seed: int
    version: int = 0
    """How often a few of its elements have changed."""

    @property
    def next(self) -> "Content":
        """The same with a few elements changed."""
        return Content(self.seed, self.version + 1)


class Contents:
    """Makes inputs of one problem at its timing shape by name. `seed` is secret.

    `changed` is how many elements of an array differ from one version to the next; 0: none can.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._sizes = problem, problem.sizes.time
        self._seed = seed
        self._drawn: list[Mapping[str, Array]] = []
        self._loud: dict[str, Array] = {}
        self._kinds = distributions(problem, 0)
        self._sorted = {name for name, kind in self._kinds.items() if kind == "sorted"}
        self.changeable = changeable(problem, 0)
        self.changed = 16 if self.changeable else 0

    @property
    def sizes(self) -> list[int]:
        """Elements of each array that can change."""
        args = (arg for arg in self._problem.inputs if arg.name in self.changeable)
        return [int(np.prod(arg.dimensions(self._sizes), dtype=np.int64)) for arg in args]

    def write(self, content: Content, views: Mapping[str, Array]) -> None:
        """Fill arrays, by argument name, with a content."""
        for arg in self._problem.inputs:
            self._piece(arg, content, views[arg.name].reshape(-1))
        for version in range(1, content.version + 1):
            self.change(Content(content.seed, version), views)

    def change(self, content: Content, views: Mapping[str, Array]) -> None:
        """Turn the version before into this one, in place."""
        for name, (at, values) in self.changes(content).items():
            views[name].reshape(-1)[at] = values

    def changes(self, content: Content) -> dict[str, tuple[Array, Array]]:
        """Flat indices and new values of each array that differs from the version before."""
        seed = [self._seed, content.seed, content.version]
        drawn = self._drawings()[0]
        return {
            name: _elements(drawn[name].size, self.changed, self._largest(name), [*seed, index])
            for index, name in enumerate(self.changeable)
        }

    def arrays(self, content: Content) -> dict[str, Array]:
        """A content in memory of its own."""
        made = {
            arg.name: np.empty(arg.dimensions(self._sizes), arg.type)
            for arg in self._problem.inputs
        }
        self.write(content, made)
        return made

    def _piece(self, arg: Argument, content: Content, flat: Array) -> None:
        rng = random.Random(f"{self._seed} {content.seed} {arg.name}")
        drawings = [made[arg.name].reshape(-1) for made in self._drawings()]
        if arg.is_custom:
            flat[:] = drawings[content.seed % len(drawings)]
        elif flat.size <= _SMALL:
            kind, seed = arg.values[0], rng.getrandbits(64)
            flat[:] = draw(arg, kind, arg.dimensions(self._sizes), [seed]).reshape(-1)
        elif arg.name in self._sorted:
            _stretch(rng, rng.choice(drawings), flat)
            if flat.dtype.kind == "f":
                _shrunk(arg.range[0] if arg.range else 0.0, rng, flat, flat)
        else:
            _patch(rng, drawings, flat, _other(arg, self._kinds[arg.name]))

    def _drawings(self) -> Sequence[Mapping[str, Array]]:
        if not self._drawn:
            few = 1 if self._problem.nbytes(self._sizes) > _LARGE_BYTES else _DRAWINGS
            custom = any(arg.is_custom for arg in self._problem.inputs)
            for number in range(_CUSTOM_DRAWINGS if custom else few):
                seed = self._seed + number
                self._drawn.append(generate(self._problem, self._sizes, 0, seed))
        return self._drawn

    def _largest(self, name: str) -> Array:
        """Some of the largest values: changes all go one way, and show in sums."""
        if name not in self._loud:
            self._loud[name] = _largest(self._drawings()[0][name])
        return self._loud[name]


def changeable(problem: Problem, variant: int) -> tuple[str, ...]:
    """Inputs that stay valid when single elements change: no sorted ones, none of inputs.py."""
    kinds = distributions(problem, variant)
    return tuple(a.name for a in problem.inputs if kinds[a.name] not in ("sorted", "custom"))


def with_changes(
    problem: Problem, made: Mapping[str, Array], variant: int, seed: int
) -> dict[str, Array]:
    """Inputs of any shape with a few elements changed: 16 of each array, or a 64th of it."""
    changed = {name: array.copy() for name, array in made.items()}
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


Other = Callable[[random.Random, Array, Array], None]
"""Writes a segment of a drawing so that its values are others, of the same distribution."""


def _patch(rng: random.Random, drawings: Sequence[Array], flat: Array, other: Other) -> None:
    """Segments of random length from random places of the drawings, their values changed."""
    cuts = sorted(rng.randrange(flat.size) for _ in range(_SEGMENTS - 1))
    for start, end in zip([0, *cuts], [*cuts, flat.size], strict=True):
        source = rng.choice(drawings)
        at = rng.randrange(flat.size - (end - start) + 1)
        other(rng, source[at : at + end - start], flat[start:end])


def _other(arg: Argument, kind: str) -> Other:
    """What turns an argument's values into others: a result looked up by value is of no use then.

    Floats shrink a little towards the lower end of their range, or zero; integers drawn from a
    whole range move along it and come in again at its other end. Small integers stay: they are few.
    """
    if arg.type.startswith("float") and kind != "small-int":
        low = arg.range[0] if arg.range and kind == "uniform" else 0.0
        return partial(_shrunk, low)
    if not arg.type.startswith("float") and kind in ("uniform", "large-range"):
        info = np.iinfo(arg.type)
        ends = arg.range or (info.min, info.max)
        return partial(_along, int(ends[0]), int(ends[1]))
    return _as_it_is


def _shrunk(low: float, rng: random.Random, source: Array, flat: Array) -> None:
    factor, lowest = 1 - _SHRINK * rng.random(), flat.dtype.type(low)
    np.multiply(source, flat.dtype.type(factor), out=flat)
    if low:
        flat += flat.dtype.type(low * (1 - factor))
        np.maximum(flat, lowest, out=flat)


def _along(low: int, high: int, rng: random.Random, source: Array, flat: Array) -> None:
    info, span = np.iinfo(flat.dtype), high - low + 1
    by = rng.randrange(span)
    if (low, high) == (info.min, info.max):
        bits = f"u{flat.itemsize}"  # which wrap around
        np.add(source.view(bits), np.dtype(bits).type(by), out=flat.view(bits))
    elif span < _MOST_SPAN and flat.itemsize < np.dtype(np.uint64).itemsize:
        flat[:] = (source.astype(np.int64) - low + by) % span + low
    else:
        flat[:] = source


def _as_it_is(_: random.Random, source: Array, flat: Array) -> None:
    flat[:] = source


def _stretch(rng: random.Random, drawing: Array, flat: Array) -> None:
    """A sorted drawing of which pieces are left out and others repeated: sorted as well."""
    size, reach = flat.size, flat.size // _REACH
    cuts = sorted(rng.randrange(size) for _ in range(_SEGMENTS - 1))
    moves = sorted(rng.randint(-reach, reach) for _ in range(_SEGMENTS))
    for start, end, by in zip([0, *cuts], [*cuts, size], moves, strict=True):
        low = min(max(start, -by), end)
        high = max(min(end, size - by), low)
        flat[start:low] = drawing[0]
        flat[low:high] = drawing[low + by : high + by]
        flat[high:end] = drawing[-1]
