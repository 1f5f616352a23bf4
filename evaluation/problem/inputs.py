"""Arrays of a named distribution, from a secret seed. Made in the judge, never in the worker.

A variant is a number that says which distribution each argument takes: its digits are the places
in their `values`, the first argument changing fastest, and last the kind asked of inputs.py.

Arguments whose values are "custom" come from the problem's inputs.py (custom_inputs.py).
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.custom_inputs import custom
from regraph_kg.evaluation.problem.declaration import Argument, Sizes
from regraph_kg.evaluation.problem.problem import KEPT_INPUTS_BYTES, Problem
from regraph_kg.evaluation.problem.types import Array, parts

_SMALL = 4  #: largest of "small-int"
_KEPT_BYTES = KEPT_INPUTS_BYTES


class Inputs:
    """Inputs of one problem by case, read-only: drawn once, kept while memory allows."""

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
        made = generate(self._problem, sizes, variant, seed)
        nbytes = sum(array.nbytes for array in made.values())
        for array in made.values():
            array.flags.writeable = False
        if nbytes <= min(self._free, _KEPT_BYTES // 4):  # larger ones are drawn anew each time
            self._free -= nbytes
            self._kept[key] = made
        return made


def generate(problem: Problem, sizes: Sizes, variant: int, seed: int) -> dict[str, Array]:
    """Inputs by argument name. Raises `BadInput` where the problem's inputs.py fails."""
    kinds, made = distributions(problem, variant), dict[str, Array]()
    for arg in (arg for arg in problem.inputs if not arg.is_custom):
        seeds = [seed, _key(arg.name, variant, sizes)]
        made[arg.name] = draw(arg.at(sizes), kinds[arg.name], arg.dimensions(sizes), seeds)
    if problem.inputs_code is None:
        return made
    kind = levels(problem, variant)[-1]
    return made | custom(problem, sizes, kind, [seed, _key("", variant, sizes)])


def factors(problem: Problem) -> tuple[int, ...]:
    """How many distributions each input has, in order; inputs.py comes last, as one factor."""
    counts = tuple(len(arg.values) for arg in problem.inputs if not arg.is_custom)
    return counts if problem.inputs_code is None else (*counts, problem.custom_variants)


def levels(problem: Problem, variant: int) -> tuple[int, ...]:
    """The place each factor takes in a variant."""
    return tuple(map(int, np.unravel_index(variant, factors(problem), order="F")))


def variant_of(problem: Problem, places: Sequence[int]) -> int:
    """The variant in which the factors take these places."""
    return int(np.ravel_multi_index(tuple(places), factors(problem), order="F"))


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
    """Every float one unit of its own precision up or down, at random, in place."""
    # the unit is eps of the declared type, not below `least`; `views` may be wider
    each = (
        (leaf, views[arg.name][field] if field else views[arg.name])
        for arg in problem.inputs
        for field, leaf in (arg.leaves or {"": arg}).items()
    )
    for number, (arg, view) in enumerate(each):
        flat = parts(view)
        if flat.dtype.kind == "f":
            eps = max(float(np.finfo(arg.dtype).eps), least)
            arrays.move(flat, eps, arrays.secret([seed, number]))


def _key(name: str, variant: int, sizes: Sizes) -> int:
    return zlib.crc32(repr((name, variant, sorted(sizes.items()))).encode())


def draw(
    arg: Argument, values: str, shape: tuple[int, ...], seed: list[int], to: Array | None = None
) -> Array:
    """One argument's array of this distribution, drawn into `to` if that is given."""
    array = np.empty(shape, arg.dtype) if to is None else to
    if arg.fields:
        for number, (field, leaf) in enumerate(arg.leaves.items()):
            draw(leaf, values, shape, [*seed, number], array[field])
        return array
    fill, key = _filling_floats if arg.is_inexact else _filling_integers, arrays.secret(seed)
    kind, limits = fill(arg, values)
    narrow = parts(np.empty(0, arg.dtype)).dtype.str[1:]
    arrays.draw(parts(array), kind, key, narrow, **limits)
    return array


def _filling_floats(arg: Argument, values: str) -> tuple[arrays.Kind, dict[str, float]]:
    """How floats are drawn: kind, and limits of an `arrays.Drawing`."""
    low, high = arg.limits or (0.0, 1.0)
    if values == "large-range":
        low, high = (-2, 2) if arg.type == "float16" else (-4, 4)  # whose largest number is 65504
    kinds: dict[str, arrays.Kind] = {kind: kind for kind in get_args(arrays.Kind)}
    return kinds.get(values, "small-int"), {"low": low, "high": high}


def _filling_integers(arg: Argument, values: str) -> tuple[arrays.Kind, dict[str, float]]:
    """How integers are drawn, likewise."""
    info = np.iinfo(arg.dtype)
    low, high = map(int, arg.bounds or (info.min, info.max))
    limits: dict[str, float] = {"start": low, "range": high - low + 1}
    if values == "normal":
        middle, half = divmod(low + high, 2)
        # fp64 has no neighbours near 2^63: the middle is added as an integer, which wraps around
        near = {"least": max(low - middle, -(2**31)), "most": min(high - middle, 2**31)}
        spread = min((high - low) / 6, 1e6)
        return "normal", {"start": middle, "mean": half / 2, "spread": spread, **near}
    if values == "sparse":
        return "sparse", {**limits, "rest": min(max(0, low), high)}
    if values == "small-int":
        least, most = max(low, -_SMALL), min(high, _SMALL)
        if least > most:  # the range has none of them: the nearest ones
            nearest = (low, min(high, low + _SMALL)), (max(low, high - _SMALL), high)
            least, most = nearest[0] if low > 0 else nearest[1]
        limits = {"start": least, "range": most - least + 1}
    return "sorted" if values == "sorted" else "uniform", limits
