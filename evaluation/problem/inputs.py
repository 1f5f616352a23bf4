"""Arrays of a named distribution, from a secret seed. Made in the judge, never in the worker.

A variant is a number that says which distribution each argument takes: its digits are the places
in their `values`, the first argument changing fastest, and last the kind asked of inputs.py.

Arguments whose values are "custom" come from the problem's inputs.py (custom_inputs.py).
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from regraph_kg.evaluation.problem.custom_inputs import custom
from regraph_kg.evaluation.problem.problem import (
    KEPT_INPUTS_BYTES,
    Argument,
    Array,
    Problem,
    Sizes,
)
from regraph_kg.evaluation.problem.types import parts

_SMALL = 4  #: largest of "small-int"
_DENSITY = 0.1  #: share of elements of a sparse array that are not zero
_SIGNS = 65537  #: random signs repeat after this many (a prime): more cost more than the reference
_KEPT_BYTES = KEPT_INPUTS_BYTES
_BLOCK = 2**20  #: elements drawn at once


class Inputs:
    """Inputs of one problem by case, read-only: drawn once, kept while memory allows.

    A case above a quarter of that is drawn anew each time.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._kept: dict[tuple[object, ...], Mapping[str, Array]] = {}
        self._free = _KEPT_BYTES

    def get(self, sizes: Sizes, variant: int, seed: int) -> Mapping[str, Array]:
        """Arrays as `generate` makes them, kept."""
        key = (tuple(sizes.items()), variant, seed)
        cached = self._kept.get(key)
        if cached is not None:
            return cached
        arrays = generate(self._problem, sizes, variant, seed)
        nbytes = sum(array.nbytes for array in arrays.values())
        for array in arrays.values():
            array.flags.writeable = False
        if nbytes <= min(self._free, _KEPT_BYTES // 4):
            self._free -= nbytes
            self._kept[key] = arrays
        return arrays


def generate(problem: Problem, sizes: Sizes, variant: int, seed: int) -> dict[str, Array]:
    """Inputs by argument name. Raises `BadInput` where the problem's inputs.py fails."""
    arrays = distributed(problem, sizes, variant, seed)
    if problem.inputs_code is None:
        return arrays
    kind = levels(problem, variant)[-1]
    return arrays | custom(problem, sizes, kind, [seed, _key("", variant, sizes)])


def distributed(problem: Problem, sizes: Sizes, variant: int, seed: int) -> dict[str, Array]:
    """The inputs that inputs.py does not make."""
    chosen = iter(levels(problem, variant))
    arrays = {}
    for arg in problem.inputs:
        if not arg.is_custom:
            kind, shape = arg.values[next(chosen)], arg.dimensions(sizes)
            arrays[arg.name] = draw(
                arg.at(sizes), kind, shape, [seed, _key(arg.name, variant, sizes)]
            )
    return arrays


def factors(problem: Problem) -> tuple[int, ...]:
    """How many distributions each input has, in order; inputs.py comes last, as one factor."""
    counts = tuple(len(arg.values) for arg in problem.inputs if not arg.is_custom)
    return counts if problem.inputs_code is None else (*counts, problem.custom_variants)


def levels(problem: Problem, variant: int) -> tuple[int, ...]:
    """The place each factor takes in a variant."""
    places = []
    for count in factors(problem):
        variant, place = divmod(variant, count)
        places.append(place)
    return tuple(places)


def variant_of(problem: Problem, places: Sequence[int]) -> int:
    """The variant in which the factors take these places."""
    variant = 0
    for count, place in zip(reversed(factors(problem)), reversed(places), strict=True):
        variant = variant * count + place
    return variant


def distributions(problem: Problem, variant: int) -> dict[str, str]:
    """Name of each input's distribution in a variant."""
    chosen = iter(levels(problem, variant))
    return {
        arg.name: "custom" if arg.is_custom else arg.values[next(chosen)] for arg in problem.inputs
    }


def describe(problem: Problem, variant: int) -> str:
    """Name of a variant: "A normal, B normal"."""
    return ", ".join(f"{name} {kind}" for name, kind in distributions(problem, variant).items())


def move_by_one_ulp(
    problem: Problem, views: Mapping[str, Array], seed: int, least: float = 0.0
) -> None:
    """Every floating-point element one unit of its own precision up or down, at random, in place.

    The unit is eps of the declared type, not below `least`; `views` may be wider. Integer arrays
    are exact and stay as they are.
    """
    rng = np.random.default_rng(seed)
    for arg, view in _numbers(problem, views):
        flat = parts(view)
        if flat.dtype.kind != "f":
            continue
        eps = max(float(np.finfo(arg.dtype).eps), least)
        signs = rng.choice([1 - eps, 1 + eps], min(flat.size, _SIGNS))
        for start in range(0, flat.size, _SIGNS):  # a piece that fits the cache at a time
            part = flat[start : start + _SIGNS]
            np.multiply(part, signs[: part.size], out=part, casting="unsafe")


def _numbers(problem: Problem, views: Mapping[str, Array]) -> Iterator[tuple[Argument, Array]]:
    """Inputs, and each field of structs."""
    for arg in problem.inputs:
        for field, leaf in arg.leaves.items():
            yield leaf, views[arg.name][field]
        if not arg.fields:
            yield arg, views[arg.name]


def _key(name: str, variant: int, sizes: Sizes) -> int:
    return zlib.crc32(repr((name, variant, sorted(sizes.items()))).encode())


def draw(arg: Argument, values: str, shape: tuple[int, ...], seed: list[int]) -> Array:
    """One argument's array of this distribution, as are the fields of a struct."""
    if arg.fields:
        record = np.empty(shape, arg.dtype)
        for number, (field, leaf) in enumerate(arg.leaves.items()):
            record[field] = draw(leaf, values, shape, [*seed, number])
        return record
    rng, array = np.random.default_rng(seed), np.empty(shape, arg.dtype)
    flat = parts(array)
    of_kind = _draw_float if arg.is_inexact else _draw_int
    for start in range(0, flat.size, _BLOCK):  # what is drawn may be wider than what is wanted
        part = flat[start : start + _BLOCK]
        part[:] = of_kind(rng, arg, values, part.size)
    if values == "sorted":
        flat.sort()
    return array


def _draw_float(rng: np.random.Generator, arg: Argument, values: str, count: int) -> Array:
    low, high = arg.limits or (0.0, 1.0)
    # of fp64 every bit varies, so that a candidate loses some where it takes inputs for fp32
    kind = np.float64 if arg.type in ("float64", "complex128") else np.float32
    match values:
        case "normal":
            return rng.standard_normal(count, dtype=kind)
        case "uniform" | "sorted":
            return rng.uniform(low, high, count)
        case "sparse":
            keep = rng.random(count, dtype=np.float32) < _DENSITY
            return rng.standard_normal(count, dtype=kind) * keep
        case "large-range":
            decades = 2 if arg.type == "float16" else 4  # whose largest number is 65504
            return rng.standard_normal(count) * 10.0 ** rng.uniform(-decades, decades, count)
    return rng.integers(-_SMALL, _SMALL + 1, count)  # small-int


def _draw_int(rng: np.random.Generator, arg: Argument, values: str, count: int) -> Array:
    info = np.iinfo(arg.dtype)
    low, high = map(int, arg.bounds or (info.min, info.max))
    match values:
        case "uniform" | "large-range" | "sorted":
            return rng.integers(low, high, count, dtype=arg.dtype, endpoint=True)
        case "normal":
            middle, half = divmod(low + high, 2)
            spread = min((high - low) / 6, 1e6)
            drawn = np.rint(half / 2 + spread * rng.standard_normal(count))
            near = np.clip(drawn, max(low - middle, -(2**31)), min(high - middle, 2**31))
            # fp64 has no neighbours near 2^63: added as integers, which wrap around
            moved: Array = near.astype(np.int64).astype(arg.dtype) + arg.dtype.type(middle)
            return moved
        case "sparse":
            drawn = rng.integers(low, high, count, dtype=arg.dtype, endpoint=True)
            return np.where(rng.random(count) < _DENSITY, drawn, min(max(0, low), high))
    least, most = max(low, -_SMALL), min(high, _SMALL)
    if least > most:  # the range has none of them: the nearest ones
        least, most = (low, min(high, low + _SMALL)) if low > 0 else (max(low, high - _SMALL), high)
    return rng.integers(least, most, count, endpoint=True)  # small-int
