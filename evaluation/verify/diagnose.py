"""Compares an output with its truth, and diagnoses a difference in words for a repair prompt.

The comparison is !(|d| <= tolerance): NaN fails unless the truth has it. Where a complex truth is
not finite each of its parts that is not must be the same, and the other one near.

A diagnosis tells the first wrong element, their count, the shape, patterns of their values and
of their places (patterns.py, one of each at most), and three more elements.

Not covered: patterns of arrays above 2^22 elements and of samples: they take seconds, or are lost.
"""

from dataclasses import dataclass, replace

import numpy as np

from regraph_kg.evaluation.problem.problem import RESULT, Array
from regraph_kg.evaluation.problem.types import is_rounded, parts, wide
from regraph_kg.evaluation.verify import large_outputs
from regraph_kg.evaluation.verify.patterns import PLACES, VALUES, Wrong, number

LENGTH = 1500
"""Characters of a whole diagnosis at most."""
_EXAMPLES = 3
_NEAR = 2.0**-10
"""How far off, relative to itself, a finite part is beside one that is not."""
_LARGE = 2**22
_CHUNK = 2**16
"""Elements compared at once: what is computed of them stays in the cache."""


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """Expected output (fp64, or the exact integers) and the tolerance of its elements.

    With `at`, both are known at these flat indices only, and `blocks` of all.
    """

    values: Array
    tolerance: Array | float
    at: Array | None = None
    blocks: large_outputs.Blocks | None = None

    def of(self, output: "Array | large_outputs.Sampled") -> Array:
        """The elements of an output whose truth is known."""
        if isinstance(output, large_outputs.Sampled):
            return output.elements
        if self.at is None:
            return output
        return output.reshape(-1)[self.at]

    def within(self, share: float) -> "ExpectedOutput":
        """The same, with this share of the tolerance of its elements."""
        return self if share == 1 else replace(self, tolerance=share * self.tolerance)


Expected = ExpectedOutput | large_outputs.Product | large_outputs.Arranged
"""What an output is compared with; `values` of each is constant only where the output is."""


def mismatch(
    name: str,
    output: large_outputs.KeptOutput,
    truth: Expected,
    poison: int,
    nan_fails: bool = True,
) -> str | None:
    """None where the output is right; else where and how it is wrong.

    `poison` is the byte that the output was filled with. Without `nan_fails` the comparison is
    |d| > tolerance, which a NaN passes: for tests of that defence.
    """
    if not isinstance(truth, ExpectedOutput):
        return truth.fault(name, output)
    assert isinstance(output, np.ndarray | large_outputs.Sampled)
    actual = truth.of(output)
    bad = None if _agrees(actual, truth) else wrong_elements(actual, truth, nan_fails)
    if bad is None or not bad.any():
        return truth.blocks.fault(name, output) if truth.blocks else None
    if truth.at is not None:
        return _of_sample(name, actual, truth, bad)
    return explain(name, Wrong(actual, truth.values, bad, truth.tolerance, poison))


def _agrees(output: Array, truth: ExpectedOutput) -> bool:
    """Whether all is right and finite: the quick way, a piece that fits the cache at a time."""
    flat, values = output.reshape(-1), truth.values.reshape(-1)
    if not is_rounded(output):
        return not wrong_elements(output, truth, nan_fails=True).any()
    allowed = np.asarray(truth.tolerance)
    spread = np.broadcast_to(allowed, output.shape).reshape(-1) if allowed.ndim else None
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            off = np.abs(np.subtract(wide(flat[part]), values[part]))
            if not (off <= (allowed if spread is None else spread[part])).all():
                return False
    return True


def wrong_elements(output: Array, truth: ExpectedOutput, nan_fails: bool = True) -> Array:
    """Mask of elements that are off by more than the tolerance."""
    if not is_rounded(output):
        if isinstance(truth.tolerance, float) and truth.tolerance > 0:
            return np.asarray(_distances(output, truth.values) > truth.tolerance)
        return np.asarray(output != truth.values)
    actual = wide(output)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(actual - truth.values)
        bad = ~(difference <= truth.tolerance) if nan_fails else difference > truth.tolerance
    special = ~np.isfinite(truth.values)
    return np.where(special, ~_equal_specials(actual, truth.values), bad)


def _equal_specials(actual: Array, values: Array) -> Array:
    """Whether elements that are not finite are equal, part by part."""
    output, truth = parts(actual), parts(values)
    same: Array = np.asarray((np.isnan(output) & np.isnan(truth)) | (output == truth))
    if actual.dtype.kind != "c":
        return same.reshape(actual.shape)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(truth) & (np.abs(output - truth) <= _NEAR * np.abs(truth))
    same = np.logical_or(same, near)
    return np.asarray(same.reshape(*actual.shape, 2).all(axis=-1))


def _distances(output: Array, values: Array) -> Array:
    """Distances of integers of one type, exact for 64 bits too."""
    unsigned = np.uint64
    return np.maximum(output, values).astype(unsigned) - np.minimum(output, values).astype(unsigned)


def _of_sample(name: str, actual: Array, truth: ExpectedOutput, bad: Array) -> str:
    assert truth.at is not None
    first = int(np.argmax(bad))
    return (
        f"{name}, flat index {int(truth.at[first])}, is {number(actual[first])}, expected"
        f" {number(truth.values[first])}; {np.count_nonzero(bad)} of {bad.size} sampled"
        " elements are wrong"
    )


def explain(name: str, wrong: Wrong) -> str:
    """At most 1,500 characters: the first wrong element, how many, the pattern, other elements."""
    flat = np.flatnonzero(wrong.bad)
    shape = list(wrong.bad.shape)
    text = (
        f"{_element(name, wrong, int(flat[0]))} (tolerance {_allowed(wrong, int(flat[0])):.3g});"
        f" {flat.size} of {wrong.bad.size} elements are wrong, shape {shape}"
    )
    if wrong.bad.size <= _LARGE:
        for table in (VALUES, PLACES):
            remark = next(filter(None, (pattern(wrong) for pattern in table)), None)
            text += f"; {remark}" if remark else ""
    if flat.size > 1:
        chosen = flat[np.linspace(1, flat.size - 1, _EXAMPLES).astype(int)]
        examples = [_element(name, wrong, int(index)) for index in dict.fromkeys(chosen.tolist())]
        text += f"; also {'; '.join(examples)}"
    return text[:LENGTH]


def _element(name: str, wrong: Wrong, flat: int) -> str:
    index = tuple(int(i) for i in np.unravel_index(flat, wrong.bad.shape))
    at = f"[{', '.join(map(str, index))}]"
    actual, right = number(wrong.output[index]), number(wrong.expected[index])
    array, dot, field = name.partition(".")  # of a struct
    label = "the returned value" if name == RESULT else f"{array}{at}{dot}{field}"
    return f"{label} is {actual}, expected {right}"


def _allowed(wrong: Wrong, flat: int) -> float:
    return float(np.broadcast_to(wrong.tolerance, wrong.bad.shape).flat[flat])
