"""Values that the serial code compares elements of its inputs with, as elements of those inputs.

A sentinel (no path: 1e9; empty: -1) is hardly ever drawn by chance: code that forgets it passes.
One that lies beyond a declared range counts where the element itself is compared with it, as the
code's author then meant it; its neighbours count within a range only. A person who does not mean
it excludes "sentinels".

In fp64 a sentinel is the number that the code spells, as the reference is spelled so, too, and it
is not moved: what lies one unit beside it is another value, not the same one rounded.
"""

from collections.abc import Mapping

import numpy as np

from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.problem import Array, Problem

Number = int | float
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
