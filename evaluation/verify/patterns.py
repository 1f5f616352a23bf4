"""Patterns of wrong elements of an output: of their values, of their places.

A pattern is a guess at the mistake. It is named only where it explains at least 99 % of the wrong
elements and, of the elements it predicts to be wrong, at least 99 % are: right ones do not fit it.

Not covered: two mistakes at once, unless one is 1 % of the other; which line is to blame.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regraph_kg.evaluation.problem.problem import Array
from regraph_kg.evaluation.problem.types import is_rounded, wide

Pattern = Callable[["Wrong"], str | None]

_MOST = 0.99
_FEW = 3
"""Fewer wrong elements than this fit almost any pattern."""
_CLOSE = 1e-3
_BLOCKS = (1024, 512, 256, 128, 64, 32, 16, 8, 4)
_MATRIX = 2


@dataclass(frozen=True, slots=True)
class Wrong:
    """One output with its wrong elements. Arrays have one shape; `bad` says which are wrong."""

    output: Array
    expected: Array
    bad: Array
    tolerance: Array | float
    poison: int

    @property
    def got(self) -> Array:
        """Wrong values, in order."""
        return self.output[self.bad]

    @property
    def right(self) -> Array:
        """Expected values, in order."""
        return self.expected[self.bad]

    def predicts(self, guess: Array, slack: float = 0.0) -> bool:
        """Whether the wrong elements hold what `guess` (of the same shape) says, 99 % of them.

        NaN predicts nothing, for half of them at most; at least 3 must be predicted, not all alike.
        A right element holds the guess only where guess and truth are the same.
        """
        values = guess[self.bad]
        finite = np.isfinite(values)
        if np.count_nonzero(finite) < max(_FEW, finite.size / 2):
            return False
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(wide(self.got) - values)[finite]
            near = np.broadcast_to(self.tolerance, self.bad.shape)[self.bad][finite]
            close = off <= np.fmax(near, slack * np.abs(values[finite]))
        varied = np.any(values[finite] != values[finite][0])
        return bool(varied and np.mean(close) >= _MOST)


def number(value: Any) -> str:
    """An element as text: integers exactly, floats to 9 digits."""
    return str(int(value)) if isinstance(value, np.integer | int) else f"{value:.9g}"


def never_written(wrong: Wrong) -> str | None:
    """The wrong elements hold the poison that outputs are filled with."""
    unwritten = np.frombuffer(bytes([wrong.poison]) * wrong.output.dtype.itemsize, np.uint8)
    actual = np.ascontiguousarray(wrong.got).view(np.uint8).reshape(-1, unwritten.size)
    return "they were never written" if np.all(actual == unwritten) else None


def not_a_number(wrong: Wrong) -> str | None:
    """All NaN."""
    return "they are NaN" if np.isnan(wrong.got).all() else None


def infinite(wrong: Wrong) -> str | None:
    """All infinite: overflow, or a division by zero."""
    return "they are infinite (overflow?)" if np.isinf(wrong.got).all() else None


def all_alike(wrong: Wrong) -> str | None:
    """All zero, or all one number."""
    actual = wrong.got
    if actual.size < _FEW or np.any(actual != actual.flat[0]):
        return None
    return "all are 0" if actual.flat[0] == 0 else f"all are {number(actual.flat[0])}"


def sign_flipped(wrong: Wrong) -> str | None:
    """Minus the right value."""
    return "their sign is flipped" if _guess(wrong, lambda e: -e) else None


def conjugated(wrong: Wrong) -> str | None:
    """The sign of the imaginary part, or the two parts exchanged."""
    if wrong.output.dtype.kind != "c":
        return None
    if _guess(wrong, np.conj):
        return "they are the complex conjugates of the right values"
    exchanged = _guess(wrong, lambda e: e.imag + 1j * e.real)
    return "real and imaginary parts are exchanged" if exchanged else None


def scaled(wrong: Wrong) -> str | None:
    """The right values times one factor."""
    if wrong.got.dtype.kind == "c":
        return None
    actual, right = wrong.got.astype(np.float64), wrong.right.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = float(np.median((actual / right)[right != 0])) if np.any(right) else np.nan
    usable = np.isfinite(factor) and factor != 0 and abs(factor - 1) > _CLOSE
    if usable and _guess(wrong, lambda e: e * factor, _CLOSE):
        return f"all by the factor {factor:.4g}"
    return None


def offset(wrong: Wrong) -> str | None:
    """The right values plus one number."""
    if wrong.output.dtype.kind == "c":
        return None
    if not is_rounded(wrong.output):
        return _whole_offset(wrong)
    with np.errstate(invalid="ignore", over="ignore"):
        added = float(np.median(wrong.got.astype(np.float64) - wrong.right))
    if np.isfinite(added) and _guess(wrong, lambda e: e + added):
        return f"all are too {'high' if added > 0 else 'low'} by {abs(added):.6g}"
    return None


def _whole_offset(wrong: Wrong) -> str | None:
    """Integers plus one number, exactly: fp64 would lose the last digits of 64 bits."""
    width = f"i{wrong.output.dtype.itemsize}"
    off = wrong.got.view(width) - wrong.right.view(width)  # wraps as the machine does
    varied = off.size >= _FEW and np.any(wrong.right != wrong.right.flat[0])
    added = int(np.median(off)) if varied else 0
    if added == 0 or np.mean(off == added) < _MOST:
        return None
    return f"all are too {'high' if added > 0 else 'low'} by {abs(added)}"


def wrapped(wrong: Wrong) -> str | None:
    """Integer overflow: off by multiples of 2^8, 2^16 or 2^32."""
    if wrong.output.dtype.kind == "c":
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        off = wrong.right.astype(np.float64) - wrong.got.astype(np.float64)
    if off.size < _FEW or not np.isfinite(off).all():
        return None
    for bits in (64, 32, 16, 8):
        if bits < 8 * wrong.output.dtype.itemsize or wrong.output.dtype.kind == "f":
            multiples = np.rint(off / 2.0**bits)
            remainder = np.abs(off - multiples * 2.0**bits)
            near = np.fmin(np.broadcast_to(wrong.tolerance, wrong.bad.shape)[wrong.bad], 1.0)
            if np.all(multiples != 0) and np.mean(remainder <= near) >= _MOST and np.ptp(off) > 0:
                return f"off by multiples of 2^{bits}: an integer overflow wrapped"
    return None


def truncated(wrong: Wrong) -> str | None:
    """The right values cut to whole numbers."""
    if wrong.output.dtype.kind != "c" and _guess(wrong, np.trunc):
        return "they are the right values cut to whole numbers (integer division or conversion?)"
    return None


def transposed(wrong: Wrong) -> str | None:
    """Rows and columns exchanged."""
    if wrong.bad.ndim != _MATRIX or min(wrong.bad.shape) < _MATRIX:
        return None
    swapped = wide(wrong.expected).T.reshape(wrong.bad.shape)
    return "the matrix is transposed" if wrong.predicts(swapped) else None


def shifted(wrong: Wrong) -> str | None:
    """Each element is its neighbour's: off by one element, row or column."""
    expected = wide(wrong.expected)
    for axis in reversed(range(expected.ndim)):
        for step in (1, -1):
            moved = np.roll(expected, step, axis)
            edge = [slice(None)] * expected.ndim
            edge[axis] = slice(0, 1) if step > 0 else slice(-1, None)
            moved[tuple(edge)] = np.nan
            if wrong.predicts(moved):
                axis_name = _axis_name(axis, expected.ndim)
                side = "previous" if step > 0 else "next"
                return f"each holds what belongs to the {side} {axis_name} (off by one)"
    return None


def misplaced(wrong: Wrong) -> str | None:
    """The right values in the wrong places."""
    actual, right = wrong.got, wide(wrong.right)
    if actual.size < 2 * _FEW or np.unique(right).size < actual.size // 2:
        return None
    order, other = np.sort(wide(actual)), np.sort(right)
    near = np.max(np.broadcast_to(wrong.tolerance, wrong.bad.shape)[wrong.bad])
    spacing = abs(other[-1] - other[0]) / other.size
    if near < spacing / 4 and np.mean(np.abs(order - other) <= near) >= _MOST:
        return "they are the right values in the wrong places"
    return None


def imprecise(wrong: Wrong) -> str | None:
    """Near the right values, but not near enough: precision, or an error that grows."""
    if not is_rounded(wrong.output) or wrong.got.size < _FEW:
        return None
    finite = wrong.expected[np.isfinite(wrong.expected)]
    scale = float(np.sqrt(np.mean(np.square(np.abs(finite))))) if finite.size else 0.0
    error = np.abs(wide(wrong.got) - wrong.right)
    if not (scale > 0 and np.isfinite(error).all() and np.max(error) <= _CLOSE * 10 * scale):
        return None
    text = f"all within {np.max(error) / scale:.1g} of the output's RMS: too low a precision?"
    if error.size >= 64 * _FEW:
        rising = [float(np.median(part)) for part in np.array_split(error, 4)]
        if rising == sorted(rising) and rising[-1] > 3 * rising[0]:
            text += " The error grows along the array"
    return text


def last_only(wrong: Wrong) -> str | None:
    """Just the last element."""
    flat = np.flatnonzero(wrong.bad)
    return "only the last element" if flat.size == 1 and flat[0] == wrong.bad.size - 1 else None


def first_only(wrong: Wrong) -> str | None:
    """Just the first element."""
    flat = np.flatnonzero(wrong.bad)
    alone = flat.size == 1 and flat[0] == 0 and wrong.bad.size > 1
    return "only the first element" if alone else None


def everything(wrong: Wrong) -> str | None:
    """All elements; no other place need be looked for."""
    return "every element" if wrong.bad.size > 1 and np.mean(wrong.bad) >= _MOST else None


def edges(wrong: Wrong) -> str | None:
    """First or last row or column, the whole border, both ends of a vector."""
    if wrong.bad.ndim == 1 and wrong.bad.size >= _FEW:
        ends = np.zeros_like(wrong.bad)
        ends[[0, -1]] = True
        return "only the first and the last element" if _covers(wrong, ends) else None
    if wrong.bad.ndim != _MATRIX or min(wrong.bad.shape) < _FEW:
        return None
    sides = {"first row": (0,), "last row": (-1,)}
    columns = {"first column": (slice(None), 0), "last column": (slice(None), -1)}
    border = np.zeros_like(wrong.bad)
    for name, place in {**sides, **columns}.items():
        only = np.zeros_like(wrong.bad)
        only[place] = border[place] = True
        if _covers(wrong, only):
            return f"only the {name}"
    return "only the border (first and last rows and columns)" if _covers(wrong, border) else None


def lines(wrong: Wrong) -> str | None:
    """One whole row or column."""
    if wrong.bad.ndim != _MATRIX or min(wrong.bad.shape) < _FEW:
        return None
    for axis, kind in ((1, "row"), (0, "column")):
        touched = np.flatnonzero(wrong.bad.any(axis=axis))
        if touched.size == 1:
            only = np.zeros_like(wrong.bad)
            only[(touched[0],) if axis else (slice(None), touched[0])] = True
            if _covers(wrong, only):
                return f"only {kind} {touched[0]}"
    return None


def tail(wrong: Wrong) -> str | None:
    """Everything from one element on."""
    first = int(np.argmax(wrong.bad))
    only = np.arange(wrong.bad.size).reshape(wrong.bad.shape) >= first
    if first == 0 or not _covers(wrong, only):
        return None
    block = next((b for b in _BLOCKS if first % b == 0 and wrong.bad.size - first < b), None)
    remark = f" (the remainder of blocks of {block}?)" if block else " (a remainder?)"
    return f"everything from flat index {first} on{remark}"


def strided(wrong: Wrong) -> str | None:
    """Every s-th element."""
    flat = np.flatnonzero(wrong.bad)
    if flat.size < _FEW:
        return None
    step = math.gcd(*np.unique(np.diff(flat)).tolist())
    if step == 1:
        return None
    residue = int(flat[0]) % step
    only = np.arange(wrong.bad.size).reshape(wrong.bad.shape) % step == residue
    if not _covers(wrong, only):
        return None
    return f"one element in {step} (flat index % {step} == {residue})"


def tile(wrong: Wrong) -> str | None:
    """One block: a range, or a rectangle of rows and columns."""
    where = np.argwhere(wrong.bad)
    low, high = where.min(axis=0), where.max(axis=0) + 1
    extent = high - low
    if where.shape[0] < _FEW or bool(np.all(extent == wrong.bad.shape)):
        return None
    only = np.zeros_like(wrong.bad)
    only[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
    box = ", ".join(f"{a}:{b}" for a, b in zip(low, high, strict=True))
    if _covers(wrong, only):
        return f"all of one block, [{box}]"
    if np.prod(extent) <= wrong.bad.size / 4:
        return f"all lie within [{box}]"
    return None


VALUES: Sequence[Pattern] = (
    never_written,
    not_a_number,
    infinite,
    all_alike,
    sign_flipped,
    conjugated,
    wrapped,
    offset,
    scaled,
    truncated,
    transposed,
    shifted,
    imprecise,
    misplaced,
)
"""What wrong values can have in common, in the order in which it is looked for."""
PLACES: Sequence[Pattern] = (
    first_only,
    last_only,
    everything,
    edges,
    lines,
    tail,
    strided,
    tile,
)
"""Patterns of where wrong elements lie."""


def _guess(wrong: Wrong, rule: Callable[[Array], Array], slack: float = 0.0) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        return wrong.predicts(rule(wide(wrong.expected)), slack)


def _covers(wrong: Wrong, only: Array) -> bool:
    """Whether the wrong elements are these, both ways, 99 %; and some others are right."""
    common = np.count_nonzero(wrong.bad & only)
    count, size = np.count_nonzero(wrong.bad), np.count_nonzero(only)
    return bool(common >= _MOST * count and common >= _MOST * size and count < wrong.bad.size)


def _axis_name(axis: int, dimensions: int) -> str:
    if dimensions == _MATRIX:
        return ("row", "column")[axis]
    return "element" if dimensions == 1 else f"index of axis {axis}"
