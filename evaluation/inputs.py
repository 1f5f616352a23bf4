"""Arrays of a named distribution, from a secret seed. Made in the judge, never in the worker."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.evaluation.problem import Argument, Problem, Sizes

Array = NDArray[Any]

_DENSITY = 0.1
"""Share of elements of a sparse array that are not zero."""
_SIGNS = 65537
"""Random signs repeat after this many (a prime): drawing more costs more than the reference."""


def generate(problem: Problem, sizes: Sizes, variant: int, seed: int) -> dict[str, Array]:
    """Inputs by argument name; argument i takes the `variant`-th of its `values`, cyclically."""
    made = {}
    for arg in problem.inputs:
        values = arg.values[variant % len(arg.values)]
        key = zlib.crc32(repr((arg.name, variant, sorted(sizes.items()))).encode())
        rng = np.random.default_rng([seed, key])
        made[arg.name] = _draw(rng, arg, values, arg.dimensions(sizes))
    return made


def variants(problem: Problem) -> int:
    """How many variants it takes to see every distribution of every argument."""
    return max((len(arg.values) for arg in problem.inputs), default=1)


def describe(problem: Problem, variant: int) -> str:
    """Name of a variant: "A normal, B normal"."""
    return ", ".join(
        f"{arg.name} {arg.values[variant % len(arg.values)]}" for arg in problem.inputs
    )


def moved_by_one_ulp(made: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """Every floating-point element one unit of its own precision up or down, at random, in fp64.

    Integer arrays are exact and stay as they are.
    """
    rng = np.random.default_rng(seed)
    moved = {}
    for name, array in made.items():
        if array.dtype.kind != "f":
            moved[name] = array
            continue
        eps = float(np.finfo(array.dtype).eps)
        signs = rng.choice([1 - eps, 1 + eps], min(array.size, _SIGNS))
        moved[name] = array * np.resize(signs, array.shape)
    return moved


def _draw(rng: np.random.Generator, arg: Argument, values: str, shape: tuple[int, ...]) -> Array:
    dtype = np.dtype(arg.type)
    if dtype.kind == "f":
        return _draw_float(rng, arg, values, shape).astype(dtype)
    return _draw_int(rng, arg, values, shape).astype(dtype)


def _draw_float(
    rng: np.random.Generator, arg: Argument, values: str, shape: tuple[int, ...]
) -> Array:
    low, high = arg.range or (0.0, 1.0)
    match values:
        case "normal":
            return rng.standard_normal(shape, dtype=np.float32)
        case "uniform":
            return rng.uniform(low, high, shape)
        case "sorted":
            return np.sort(rng.uniform(low, high, shape), axis=None).reshape(shape)
        case "sparse":
            keep = rng.random(shape, dtype=np.float32) < _DENSITY
            return rng.standard_normal(shape, dtype=np.float32) * keep
        case "large-range":
            return rng.standard_normal(shape) * 10.0 ** rng.uniform(-4, 4, shape)
    return rng.integers(-4, 5, shape)  # small-int


def _draw_int(
    rng: np.random.Generator, arg: Argument, values: str, shape: tuple[int, ...]
) -> Array:
    info = np.iinfo(arg.type)
    low, high = (int(arg.range[0]), int(arg.range[1])) if arg.range else (info.min, info.max)
    match values:
        case "uniform" | "large-range":
            return rng.integers(low, high, shape, dtype=arg.type, endpoint=True)
        case "sorted":
            flat = rng.integers(low, high, shape, dtype=arg.type, endpoint=True)
            return np.sort(flat, axis=None).reshape(shape)
        case "normal":
            middle, spread = (low + high) / 2, min((high - low) / 6, 1e6)
            drawn = np.rint(middle + spread * rng.standard_normal(shape))
            return np.clip(drawn, low, min(high, 2**62))
        case "sparse":
            drawn = rng.integers(low, high, shape, dtype=arg.type, endpoint=True)
            return np.where(rng.random(shape) < _DENSITY, drawn, min(max(0, low), high))
    return rng.integers(max(low, -4), min(high, 4), shape, endpoint=True)  # small-int
