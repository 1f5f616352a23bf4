"""Values that a problem's distributions rarely have: drawn inputs, altered as a whole.

An array stays as it is where an alteration does not fit its type or its range, and where it comes
from inputs.py. Not covered: whether the function is made for such values: the serial code is asked
(further.py); a problem that excludes some says so (`excludes`).

A sentinel (no path: 1e9; empty: -1) is hardly ever drawn by chance: code that forgets it passes.
One that lies beyond a declared range counts where the element itself is compared with it, as the
code's author then meant it; its neighbours count within a range only. In fp64 a sentinel is the
number that the code spells, as the reference is spelled so, too, and it is not moved: what lies one
unit beside it is another value, not the same one rounded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from regraph_kg.evaluation.problem.declaration import Argument, Sizes
from regraph_kg.evaluation.problem.inputs import distributions
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Alteration, Array, parts

_MANY = 3 / 4
_TINY = 1e-12
_EXPONENTS = (24, 36), (10, 14)  #: of outliers and huge values, as squares leave fp32 from 1e19 on
_OUTLIERS = 1 / 1000
_SMALL_BITS = 16
_SHIFT = 1000
_APART = 2.0**24  #: beside it 1 is lost in fp32
_WHOLE = 2**11, 2**12  #: whole numbers that 11 bits do not hold, if they are odd
_TAIL = 8  #: exponent of what is skewed: half of the values lie in the lowest 1/256 of a range
Number = int | float


@dataclass(frozen=True, slots=True)
class _Lot:
    """What one alteration of all arrays draws."""

    rng: np.random.Generator
    factor: float  # of huge values
    is_wild: bool  # the more daring of two tries, which fewer functions stand
    place: int = 0  # of this array among those of floats
    sentinels: tuple[Number, ...] = ()  # of this array


def altered(
    problem: Problem, sizes: Sizes, inputs: Mapping[str, Array], kind: Alteration, seed: int
) -> dict[str, Array]:
    """Inputs of a shape with one alteration."""
    rng = np.random.default_rng([seed, len(kind)])
    # one factor for all arrays: the smaller would vanish in a sum beside the larger
    lot = _Lot(rng, 10.0 ** rng.uniform(*_EXPONENTS[seed % 2]), seed % 2 == 0)
    kinds = distributions(problem, 0)
    arrays = {name: array.copy() for name, array in inputs.items()}
    drawn = [arg for arg in problem.inputs if not arg.is_custom]
    floats = [arg for arg in drawn if arg.is_inexact]
    for arg in drawn:
        own = replace(lot, place=floats.index(arg) if arg in floats else 0)
        at, array = arg.at(sizes), arrays[arg.name]
        leaves = [(name, leaf, array[name]) for name, leaf in at.leaves.items()]
        for name, leaf, view in leaves or [("", at, array)]:
            if kind == "sentinels":
                told = sentinels(problem).get((arg.name, name), {})
                own = replace(own, sentinels=drawable(leaf, told))
            _ALTERATIONS[kind](own, leaf, parts(view))
            if kinds[arg.name] == "sorted":
                parts(view).sort()
    return arrays


def fitting(problem: Problem) -> list[Alteration]:
    """Alterations that a problem does not exclude."""
    excluded = set(problem.excludes)
    for kind in problem.excludes:
        excluded |= _IMPLIED.get(kind, set())
    return [kind for kind in _ALTERATIONS if kind not in excluded]


def _with_sentinels(lot: _Lot, arg: Argument, flat: Array) -> None:
    if lot.sentinels:
        chosen = lot.rng.random(flat.size) < (_MANY if lot.is_wild else 1 - _MANY)
        values = np.array(lot.sentinels).astype(flat.dtype)
        flat[chosen] = lot.rng.choice(values, np.count_nonzero(chosen))


def _scaled(lot: _Lot, arg: Argument, flat: Array, factor: float, half: float) -> None:
    """`half`: the factor of float16, which has no room for more."""
    by = half if arg.type == "float16" else factor
    if flat.dtype.kind == "f" and by != 1 and not (by > 1 and arg.limits):
        low = flat.dtype.type(arg.limits[0] if arg.limits else 0)
        flat[:] = low + (flat - low) * flat.dtype.type(by)


def _small(lot: _Lot, arg: Argument, flat: Array) -> None:
    _scaled(lot, arg, flat, 1e-3, 0.1)
    if flat.dtype.kind in "iu" and arg.bounds is None:
        flat %= flat.dtype.type(2 ** int(lot.rng.integers(1, 8 * flat.dtype.itemsize - 1)))


def _coarse(lot: _Lot, arg: Argument, flat: Array) -> None:
    if flat.dtype.kind == "f":
        low, high = arg.limits or (-np.inf, np.inf)
        flat[:] = np.clip(np.rint(flat * 4) / 4, low, high)


def _equal(lot: _Lot, arg: Argument, flat: Array) -> None:
    if flat.size:
        flat[:] = flat[lot.rng.integers(flat.size)]


def _nearly_ascending(lot: _Lot, arg: Argument, flat: Array) -> None:
    flat.sort()
    if flat.size > 1:
        at = int(lot.rng.integers(flat.size - 1))
        flat[at : at + 2] = flat[at : at + 2][::-1].copy()


def _shifted(lot: _Lot, arg: Argument, flat: Array) -> None:
    if _is_free(arg, flat):
        flat += _SHIFT * np.abs(flat).max()


def _extremes(lot: _Lot, arg: Argument, flat: Array) -> None:
    if bounds := _bounds(arg):
        flat[:] = lot.rng.choice(np.array(bounds).astype(flat.dtype), flat.size)


def _skewed(lot: _Lot, arg: Argument, flat: Array) -> None:
    share = lot.rng.random(flat.size)
    if flat.dtype.kind == "f" and arg.limits is None:
        flat *= (1 / np.sqrt(np.fmax(share, 1e-6))).astype(flat.dtype)
    elif flat.dtype.kind != "f" and (bounds := _bounds(arg)):
        low, high = bounds
        above = np.fmin(share**_TAIL * (high - low + 1), high - low)
        flat[:] = (low + above).astype(flat.dtype)


def _negative_zeros(lot: _Lot, arg: Argument, flat: Array) -> None:
    if flat.dtype.kind == "f" and (arg.limits is None or arg.limits[0] <= 0 <= arg.limits[1]):
        flat[lot.rng.random(flat.size) < 1 / 4] = -0.0


def _huge(lot: _Lot, arg: Argument, flat: Array) -> None:
    if _is_free(arg, flat):
        flat[:] = 1 + np.abs(flat)
        single = 0.99 * float(np.finfo(np.float32).max)  # of doubles, too: one may hold them so
        flat *= flat.dtype.type(single / float(flat.max()) if lot.is_wild else lot.factor)


def _huge_negative(lot: _Lot, arg: Argument, flat: Array) -> None:
    if flat.dtype.kind == "f":
        _huge(lot, arg, flat)
        _negative(lot, arg, flat)


def _outliers(lot: _Lot, arg: Argument, flat: Array) -> None:
    if _is_free(arg, flat):
        chosen = lot.rng.random(flat.size) < _OUTLIERS
        chosen[[0, -1]] = True  # where sums begin, and what all else is compared with
        flat[chosen] *= flat.dtype.type(lot.factor)


def _negative(lot: _Lot, arg: Argument, flat: Array) -> None:
    low = arg.bounds[0] if arg.bounds else -np.inf
    if flat.dtype.kind in "fi" and low < 0:
        # the least integer has no positive twin: it stays what it is
        below = np.minimum(flat, -flat)
        flat[:] = below if np.isinf(low) else np.maximum(below, flat.dtype.type(low))


def _ends(lot: _Lot, arg: Argument, flat: Array) -> None:
    # a range that nobody meant is left: codes that are right within it only are wrong
    if flat.dtype.kind in "iu" and (arg.bounds is None or arg.limits_guessed):
        info = np.iinfo(flat.dtype)
        ends = np.array([info.min, info.max, 0, max(info.min, -1)], dtype=flat.dtype)
        flat[:] = lot.rng.choice(ends[:2])
        if lot.is_wild:  # whole rows of one value remain in the first half
            quarter = flat.size // 4
            flat[:quarter], flat[quarter : 2 * quarter] = ends[:2]
            flat[2 * quarter :] = lot.rng.choice(ends, flat.size - 2 * quarter)


def _uneven(lot: _Lot, arg: Argument, flat: Array) -> None:
    if _is_free(arg, flat):
        value = np.exp2(np.floor(np.log2(np.abs(lot.rng.choice(flat)) + flat.dtype.type(_TINY))))
        flat[:] = np.where(lot.rng.integers(2, size=flat.size), value, value / _APART)


def _whole(lot: _Lot, arg: Argument, flat: Array) -> None:
    if _is_free(arg, flat):
        flat[:] = lot.rng.choice(np.array([-1, 1]).astype(flat.dtype), flat.size)
        if lot.place % 2 == lot.is_wild:
            odd = lot.rng.integers(*_WHOLE, size=flat.size) | 1
            flat *= odd.astype(flat.dtype)


def _is_free(arg: Argument, flat: Array) -> bool:
    """Whether there are floats here, without a range; the largest of float16 is 65504 only."""
    return bool(flat.size and flat.dtype.kind == "f" and not arg.limits and arg.type != "float16")


def _bounds(arg: Argument) -> tuple[float, float] | None:
    """A range, or that of a small integer type whose values are drawn from all of it."""
    info = np.iinfo(arg.dtype) if arg.dtype.kind in "iu" else None
    if arg.bounds or info is None or info.bits > _SMALL_BITS:
        return arg.bounds
    return float(info.min), float(info.max)


TWICE: frozenset[Alteration] = frozenset(
    {"sentinels", "small", "huge", "huge negative", "outliers", "ends", "whole"}
)
"""Alterations of which there are two, by the seed's last bit."""
_ALTERATIONS: Mapping[Alteration, Callable[[_Lot, Argument, Array], None]] = {
    "sentinels": _with_sentinels,  # the first: trusted programs are asked as long as there is time
    "small": _small,
    "large": partial(_scaled, factor=1e3, half=10.0),
    "tiny": partial(_scaled, factor=_TINY, half=1.0),
    "coarse": _coarse,  # ties, and 0, 0.5 or 1 exactly
    "equal": _equal,  # one value in each array
    "ascending": lambda lot, arg, flat: flat.sort(),
    "extremes": _extremes,  # the ends of a range, and nothing between them
    "skewed": _skewed,  # integers mostly at a range's lower end; floats with a heavy tail
    "negative zeros": _negative_zeros,
    "huge": _huge,  # above 1e10, or up to the largest: neither 1e9 nor 1e38 is an identity
    "huge negative": _huge_negative,
    "outliers": _outliers,  # the first, the last and one float of 1,000
    "negative": _negative,
    "ends": _ends,  # of integers' type; half of them any of these, 0 and -1 with an even seed
    "descending": lambda lot, arg, flat: flat[::-1].sort(),
    "nearly ascending": _nearly_ascending,  # but for one pair
    "shifted": _shifted,  # what is a small difference of large sums is noise in fp32
    "uneven": _uneven,  # two values far apart: additions are always lost the same way; clusters
    "whole": _whole,  # +-1, and odd numbers of 12 bits: exact in fp32 in any order, not in fp16
}
_IMPLIED: Mapping[Alteration, set[Alteration]] = {
    "large": {"huge", "huge negative", "outliers", "whole"},
    "extremes": {"ends"},
    "ascending": {"descending", "nearly ascending"},
}
"""Who excludes the milder alteration excludes the stronger one, too."""


_BESIDE = 1 / 16  # of a float: nearer, rounding would decide on which side it lies
_TIMES = 5  # how often a sentinel itself is drawn for each of its neighbours


def sentinels(problem: Problem) -> Mapping[tuple[str, str], Mapping[Number, bool]]:
    """By argument and field, numbers and whether elements themselves are compared with them."""
    from regraph_kg.cpp.compared import compared  # noqa: PLC0415 (loads a parser)

    return compared(problem.serial_code, problem.entry)


def drawable(arg: Argument, told: Mapping[Number, bool]) -> tuple[Number, ...]:
    """What is drawn of them, each as often as it is to be likely."""
    if arg.type == "bool" or arg.dtype.kind == "c":
        return ()
    values: list[Number] = []
    for spelled, is_own in told.items():
        number = _stored(arg, spelled)
        if number is None or not (is_own or _is_within(arg, number)):
            continue
        values += [number] * _TIMES
        beside = [number * (1 - _BESIDE), number * (1 + _BESIDE)]
        if arg.dtype.kind in "iu":
            beside = [number - 1, number + 1]
        near = [value for value in beside if _stored(arg, value) == value]
        values += [value for value in near if _is_within(arg, value)]
    return tuple(values)


def _stored(arg: Argument, number: Number) -> Number | None:
    """The number as an element holds it; None where it is none of the type's."""
    if arg.dtype.kind == "f":
        return number if np.isinf(number) or abs(number) <= np.finfo(arg.dtype).max else None
    if np.isinf(number) or number != int(number):
        return None
    info, number = np.iinfo(arg.dtype), int(number)
    wrapped = number + info.max + 1 if info.min == 0 and number < 0 else number
    return wrapped if info.min <= wrapped <= info.max else None


def _is_within(arg: Argument, number: Number) -> bool:
    return arg.bounds is None or arg.bounds[0] <= number <= arg.bounds[1]


def restore(problem: Problem, given: Mapping[str, Array], views: Mapping[str, Array]) -> None:
    """Make elements that are sentinels in `given` those in `views`, which may be wider."""
    for arg in problem.inputs:
        for field, leaf in (arg.leaves or {"": arg}).items():
            if leaf.dtype.kind != "f":
                continue
            plain, wide = ((a[arg.name][field] if field else a[arg.name]) for a in (given, views))
            for spelled in sentinels(problem).get((arg.name, field), {}):
                with np.errstate(over="ignore"):
                    wide[plain == leaf.dtype.type(spelled)] = spelled
