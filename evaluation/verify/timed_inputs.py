"""Inputs of timed calls: as many different ones as calls, from a few drawings.

A `TimedInputs` names inputs: the same name, the same arrays. Its version 0 is pieced together from
a few drawings of the problem's first distribution: segments of random length from random places,
their values changed a little, at the speed of copying, block by block. Small arrays are drawn for
themselves, those of inputs.py by that, for each content anew (draws.py): a `Supply` sees to it
that no worker gets one twice.
Version n is version n-1 with a few elements, secret ones and far from both ends, set to large
values of the same distribution: so many that the outputs show it (session.py finds how many).

Not covered: values of which there are few (small integers, whole numbers that are sorted, sparse
or drawn around a middle): what is looked up by value there is right, and fast. Arrays of inputs.py,
valid as a whole only, do not change in place; nor do sorted arrays, whose pieces move within one
drawing.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from regraph_kg.evaluation.problem.draws import Drawings
from regraph_kg.evaluation.problem.inputs import distributed, distributions, draw
from regraph_kg.evaluation.problem.problem import Argument, Array, Problem
from regraph_kg.evaluation.problem.types import bits, parts
from regraph_kg.evaluation.verify.large_outputs import thinning

_DRAWINGS = 3
_LARGE_BYTES = 16 * 2**20  # above this, of all arrays, one drawing has to do
_BLOCK = 2**18  # elements written at once where they have to be made somewhere else
_CHANGED = 16
_SMALL = 2**12  # arrays of at most so many elements are drawn for themselves
_SEGMENTS = 12
_SHRINK = 0.05
_REACH = 16  # segments of a sorted drawing move by up to this part of it
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
    """Makes inputs of one problem at its timing shape by name. `seed` is secret.

    `changed` is how many elements of an array differ from one version to the next; 0: none can.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._sizes = problem.at(problem.sizes.time), problem.sizes.time
        self._seed = seed
        self._drawn: list[Mapping[str, Array]] = []
        self._custom = Drawings(problem, seed) if problem.inputs_code is not None else None
        self._loud: dict[str, Array] = {}
        self._kinds = distributions(problem, 0)
        self._sorted = {name for name, kind in self._kinds.items() if kind == "sorted"}
        self.changeable = changeable(problem, 0)
        self.changed = self._first_changed() if self.changeable else 0

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
            self._custom.close()

    def write(self, content: TimedInputs, views: Mapping[str, Array]) -> None:
        """Fill arrays, by argument name, with a content; they may be wider than declared."""
        for arg in self._problem.inputs:
            flat = views[arg.name].reshape(-1)
            for start, source, turn in self._segments(arg, content):
                _write(source, turn, flat[start : start + source.size])
        for version in range(1, content.version + 1):
            self.change(TimedInputs(content.seed, version), views)

    def change(self, content: TimedInputs, views: Mapping[str, Array]) -> None:
        """Turn the version before into this one, in place."""
        for name, (at, values) in self.changes(content).items():
            views[name].reshape(-1)[at] = values

    def changes(self, content: TimedInputs) -> dict[str, tuple[Array, Array]]:
        """Flat indices and new values of each array that differs from the version before."""
        seed = [self._seed, content.seed, content.version]
        drawn = self._drawings()[0]
        return {
            name: _elements(drawn[name].size, self.changed, self._largest(name), [*seed, index])
            for index, name in enumerate(self.changeable)
        }

    def altered(self, content: TimedInputs, views: Mapping[str, Array]) -> str | None:
        """Name of the first input that differs from version 0 in some byte."""
        for arg in self._problem.inputs:
            if arg.name in views and not self._holds(arg, content, views[arg.name].reshape(-1)):
                return arg.name
        return None

    def _holds(self, arg: Argument, content: TimedInputs, flat: Array) -> bool:
        for start, source, turn in self._segments(arg, content):
            for at in range(0, source.size, _BLOCK):
                expected = np.empty(source[at : at + _BLOCK].size, arg.dtype)
                turn(source[at : at + _BLOCK], expected)
                actual = flat[start + at : start + at + expected.size]
                if not np.array_equal(bits(actual), bits(expected)):
                    return False
        return True

    def arrays(self, content: TimedInputs) -> dict[str, Array]:
        """A content in memory of its own."""
        arrays = {
            arg.name: np.empty(arg.dimensions(self._sizes), arg.dtype)
            for arg in self._problem.inputs
        }
        self.write(content, arrays)
        return arrays

    def _segments(self, arg: Argument, content: TimedInputs) -> "Iterator[Segment]":
        """Segments of a content's array, in order."""
        rng = random.Random(f"{self._seed} {content.seed} {arg.name}")
        shape = arg.dimensions(self._sizes)
        size = arg.elements(self._sizes)
        if arg.is_custom:
            assert self._custom
            yield 0, self._custom.get(content.seed)[arg.name].reshape(-1), _unchanged
        elif size <= _SMALL:
            drawing = draw(arg, arg.values[0], shape, [rng.getrandbits(64)])
            yield 0, drawing.reshape(-1), _unchanged
        else:
            drawings = [drawing[arg.name].reshape(-1) for drawing in self._drawings()]
            other = _other(arg, self._kinds[arg.name])
            pieces = _stretch if arg.name in self._sorted else _patch
            yield from pieces(rng, drawings, other)

    def _drawings(self) -> Sequence[Mapping[str, Array]]:
        if not self._drawn:
            few = 1 if self._problem.nbytes(self._sizes) > _LARGE_BYTES else _DRAWINGS
            for number in range(few):
                self._drawn.append(distributed(self._problem, self._sizes, 0, self._seed + number))
        return self._drawn

    def _first_changed(self) -> int:
        """Count of changes that a sample of the outputs may show."""
        return max(_CHANGED, min(_CHANGED * thinning(self._problem), min(self.sizes) // 4))

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


Turn = Callable[[Array, Array], None]
"""Writes elements of a drawing so that their values are others, of the same distribution."""
Other = Callable[[random.Random], Turn]
Segment = tuple[int, Array, Turn]  # the first place, the elements it is made of, and how


def _write(source: Array, turn: Turn, flat: Array) -> None:
    if flat.dtype == source.dtype:
        turn(source, flat)
        return
    narrow = np.empty(min(source.size, _BLOCK), source.dtype)
    for at in range(0, source.size, _BLOCK):
        part = source[at : at + _BLOCK]
        turn(part, narrow[: part.size])
        flat[at : at + part.size] = narrow[: part.size]


def _patch(rng: random.Random, drawings: Sequence[Array], other: Other) -> Iterator[Segment]:
    """Segments of random length from random places of the drawings, their values changed."""
    size = drawings[0].size
    cuts = sorted(rng.randrange(size) for _ in range(_SEGMENTS - 1))
    for start, end in zip([0, *cuts], [*cuts, size], strict=True):
        source = rng.choice(drawings)
        at = rng.randrange(size - (end - start) + 1)
        yield start, source[at : at + end - start], other(rng)


def _other(arg: Argument, kind: str) -> Other:
    """A change of an argument's values, so that looking results up by value does not help.

    Floats shrink a little towards the lower end of their range, or zero; integers drawn from a
    whole range move along it and come in again at its other end. Small integers stay: they are few.
    """
    if arg.fields:
        return partial(_by_field, {name: _other(leaf, kind) for name, leaf in arg.leaves.items()})
    if arg.is_inexact and kind != "small-int":
        low = arg.limits[0] if arg.limits and kind in ("uniform", "sorted") else 0.0
        return lambda rng: partial(_shrunk, low, 1 - _SHRINK * rng.random())
    if not arg.is_inexact and kind in ("uniform", "large-range"):
        info = np.iinfo(arg.dtype)
        low, high = map(int, arg.bounds or (info.min, info.max))
        return lambda rng: partial(_shift, low, high, rng.randrange(high - low + 1))
    return lambda _: _unchanged


def _by_field(others: Mapping[str, "Other"], rng: random.Random) -> "Turn":
    """A turn of a struct: one for each of its fields."""
    turns = {name: other(rng) for name, other in others.items()}

    def turn(source: Array, flat: Array) -> None:
        for name, field_turn in turns.items():
            field_turn(source[name], flat[name])

    return turn


def _shrunk(low: float, factor: float, source: Array, flat: Array) -> None:
    source, flat = parts(source), parts(flat)
    np.multiply(source, flat.dtype.type(factor), out=flat)
    if low:
        flat += flat.dtype.type(low * (1 - factor))
        np.maximum(flat, flat.dtype.type(low), out=flat)


def _shift(low: int, high: int, step: int, source: Array, flat: Array) -> None:
    """Move integers `step` up their range; in 64 bits that wrap around, whatever their own type."""
    info, start = np.iinfo(flat.dtype), np.uint64(low % 2**64)
    if (low, high) == (info.min, info.max):
        words = bits(flat)
        np.add(bits(source), words.dtype.type(step), out=words)
        return
    up, down = np.uint64(step), np.uint64(high - low + 1 - step)
    for at in range(0, flat.size, _BLOCK):
        place = source[at : at + _BLOCK].astype(np.uint64) - start
        moved = np.where(place < down, place + up, place - down) + start
        flat[at : at + _BLOCK] = moved.astype(flat.dtype)


def _unchanged(source: Array, flat: Array) -> None:
    flat[:] = source


def _stretch(rng: random.Random, drawings: Sequence[Array], other: Other) -> Iterator[Segment]:
    """A sorted drawing of which pieces are left out and others repeated: sorted as well."""
    turn, drawing = other(rng), rng.choice(drawings)
    size = drawing.size
    reach = size // _REACH
    cuts = sorted(rng.randrange(size) for _ in range(_SEGMENTS - 1))
    moves = sorted(rng.randint(-reach, reach) for _ in range(_SEGMENTS))
    for start, end, step in zip([0, *cuts], [*cuts, size], moves, strict=True):
        low = min(max(start, -step), end)
        high = max(min(end, size - step), low)
        yield start, np.repeat(drawing[:1], low - start), turn
        yield low, drawing[low + step : high + step], turn
        yield high, np.repeat(drawing[-1:], end - high), turn


class Supply:
    """New contents for one worker's calls: those whose arrays lie ready first, none twice."""

    def __init__(
        self, custom: Drawings | None, rng: random.Random, is_used: Callable[[int], bool]
    ) -> None:
        self._custom, self._rng, self._known = custom, rng, is_used
        self._ready: list[int] | None = None

    def next(self) -> TimedInputs:
        """A content that this worker has never had."""
        numbers = self._shuffled()
        return TimedInputs(numbers.pop() if numbers else self._rng.getrandbits(128))

    @property
    def recurs(self) -> bool:
        """Whether other workers may get the same."""
        return self._custom is not None

    def most(self, count: int) -> int:
        """Most calls of a batch, at most `count`, so that there can be a dozen batches."""
        numbers = self._shuffled()
        if not self._custom:
            return count
        more = _MORE_SECONDS / max(self._custom.seconds, 1e-6)
        return max(1, min(count, int((len(numbers) + more) / _BATCHES)))

    def _shuffled(self) -> list[int]:
        if self._ready is None:
            numbers = self._custom.ready(self._rng.getrandbits(127)) if self._custom else []
            self._ready = [number for number in numbers if not self._known(number)]
            self._rng.shuffle(self._ready)
        return self._ready
