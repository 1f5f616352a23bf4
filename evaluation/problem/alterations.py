"""Values that a problem's distributions rarely have: drawn inputs, altered as a whole.

    small, large     floats times 0.001 or 1000 (float16: 0.1 or 10); in a range, nearer to its end
    tiny             floats times 1e-12, but for float16
    coarse           floats rounded to quarters: there are ties, and 0, 0.5 or 1 exactly
    equal            one value in each array
    ascending        sorted
    extremes         the ends of a range, and nothing between them
    skewed           integers of a range mostly at its lower end; floats with a heavy tail
    negative zeros   a quarter of the floats

An array stays as it is where an alteration does not fit its type or its range, and where it comes
from inputs.py. Not covered: whether the function is made for such values: the serial code is asked
(further.py); a problem that excludes some says so (`excludes`).
"""

from collections.abc import Callable, Mapping

import numpy as np

from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.inputs import distributions
from regraph_kg.evaluation.problem.problem import Array, Problem, Sizes
from regraph_kg.evaluation.problem.types import Alteration, parts

_FACTOR, _HALF_FACTOR, _TINY = 1e3, 10.0, 1e-12
_SMALL_BITS = 16
_TAIL = 8  #: exponent of what is skewed: half of the values lie in the lowest 1/256 of a range


def altered(
    problem: Problem, sizes: Sizes, inputs: Mapping[str, Array], kind: Alteration, seed: int
) -> dict[str, Array]:
    """Inputs of a shape with one alteration."""
    rng = np.random.default_rng([seed, len(kind)])
    kinds = distributions(problem, 0)
    arrays = {name: array.copy() for name, array in inputs.items()}
    for arg in problem.inputs:
        if arg.is_custom:
            continue
        for leaf, view in _leaves(arg.at(sizes), arrays[arg.name]):
            _ALTERATIONS[kind](rng, leaf, parts(view))
            if kinds[arg.name] == "sorted":
                parts(view).sort()
    return arrays


def _leaves(arg: Argument, array: Array) -> list[tuple[Argument, Array]]:
    return [(leaf, array[field]) for field, leaf in arg.leaves.items()] or [(arg, array)]


def _scaled(arg: Argument, flat: Array, factor: float) -> None:
    if flat.dtype.kind == "f" and not (factor > 1 and arg.limits):
        low = flat.dtype.type(arg.limits[0] if arg.limits else 0)
        flat[:] = low + (flat - low) * flat.dtype.type(factor)


def _small(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    _scaled(arg, flat, 1 / (_HALF_FACTOR if arg.type == "float16" else _FACTOR))


def _large(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    _scaled(arg, flat, _HALF_FACTOR if arg.type == "float16" else _FACTOR)


def _tiny(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    if arg.type != "float16":
        _scaled(arg, flat, _TINY)


def _coarse(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    if flat.dtype.kind == "f":
        low, high = arg.limits or (-np.inf, np.inf)
        flat[:] = np.clip(np.rint(flat * 4) / 4, low, high)


def _equal(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    if flat.size:
        flat[:] = flat[rng.integers(flat.size)]


def _ascending(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    flat.sort()


def _extremes(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    if bounds := _bounds(arg):
        flat[:] = rng.choice(np.array(bounds).astype(flat.dtype), flat.size)


def _skewed(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    share = rng.random(flat.size)
    if flat.dtype.kind == "f" and arg.limits is None:
        flat *= (1 / np.sqrt(np.fmax(share, 1e-6))).astype(flat.dtype)
    elif flat.dtype.kind != "f" and (bounds := _bounds(arg)):
        low, high = bounds
        above = np.fmin(share**_TAIL * (high - low + 1), high - low)
        flat[:] = (low + above).astype(flat.dtype)


def _negative_zeros(rng: np.random.Generator, arg: Argument, flat: Array) -> None:
    if flat.dtype.kind == "f" and (arg.limits is None or arg.limits[0] <= 0 <= arg.limits[1]):
        flat[rng.random(flat.size) < 1 / 4] = -0.0


def _bounds(arg: Argument) -> tuple[float, float] | None:
    """A range, or that of a small integer type whose values are drawn from all of it."""
    info = np.iinfo(arg.dtype) if arg.dtype.kind in "iu" else None
    if arg.bounds or info is None or info.bits > _SMALL_BITS:
        return arg.bounds
    return float(info.min), float(info.max)


_ALTERATIONS: Mapping[Alteration, Callable[[np.random.Generator, Argument, Array], None]] = {
    "small": _small,
    "large": _large,
    "tiny": _tiny,
    "coarse": _coarse,
    "equal": _equal,
    "ascending": _ascending,
    "extremes": _extremes,
    "skewed": _skewed,
    "negative zeros": _negative_zeros,
}
