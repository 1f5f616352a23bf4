"""Compares an output with its truth, and diagnoses a difference in words for a repair prompt.

The comparison is !(|d| <= tolerance): NaN fails unless the truth has it. Where a complex truth is
not finite each of its parts that is not must be the same, and the other one near.

A diagnosis tells the first wrong element, their count, the shape, how many were never written and
how many are NaN or infinite, and three more elements.

Not covered: what the mistake is. Patterns of values and places were named once; with them, repairs
brought no more (docs/results.md).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.problem import RESULT, Array
from regraph_kg.evaluation.problem.types import is_rounded, parts, wide
from regraph_kg.evaluation.verify import large_outputs

LENGTH = 1500  # characters of a whole diagnosis at most
_EXAMPLES = 3
_NEAR = 2.0**-10  # how far off, relative to itself, a finite part is beside one that is not


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """Expected output (fp64, or the exact integers) and the tolerance of its elements.

    With `at`, both are known at these flat indices only, and `blocks` of all. Of integers that
    floats decide, as the place of a largest one, `others` are what rounding makes of them.
    """

    values: Array
    tolerance: Array | float
    at: Array | None = None
    blocks: large_outputs.Blocks | None = None
    others: tuple[Array, ...] = ()

    def of(self, output: large_outputs.KeptOutput) -> Array:
        """The elements of an output whose truth is known."""
        if isinstance(output, large_outputs.Sampled):
            return output.elements
        if self.at is None:
            return output
        return output.reshape(-1)[self.at]

    def within(self, share: float) -> "ExpectedOutput":
        """The same, with this share of the tolerance of its elements."""
        return self if share == 1 else replace(self, tolerance=share * self.tolerance)


def mismatch(
    name: str,
    output: large_outputs.KeptOutput,
    truth: ExpectedOutput,
    poison: int,
    nan_fails: bool = True,
) -> str | None:
    """None where the output is right; else where and how it is wrong.

    `poison` is the byte that the output was filled with. Without `nan_fails` the comparison is
    |d| > tolerance, which a NaN passes: for tests of that defence.
    """
    actual = truth.of(output)
    bad = wrong_elements(actual, truth, nan_fails)
    if not bad.any():
        return truth.blocks.fault(name, output) if truth.blocks else None
    if truth.at is not None:
        return _of_sample(name, actual, truth, bad)
    return _explained(name, actual, truth, bad, poison)


def wrong_elements(output: Array, truth: ExpectedOutput, nan_fails: bool = True) -> Array:
    """Mask of elements that are off by more than the tolerance."""
    if not is_rounded(output):
        if isinstance(truth.tolerance, float) and truth.tolerance > 0:
            return np.asarray(_distances(output, truth.values) > truth.tolerance)
        bad = np.asarray(output != truth.values)
        for values in truth.others:
            bad &= output != values
        return bad
    if output.dtype.kind == "f":
        return arrays.wrong(output, truth.values, truth.tolerance, nan_fails=nan_fails)
    actual = wide(output)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(actual - truth.values)
        bad = ~(difference <= truth.tolerance) if nan_fails else difference > truth.tolerance
    special = ~np.isfinite(truth.values)
    return np.where(special, ~_equal_specials(actual, truth.values), bad)


def _equal_specials(actual: Array, values: Array) -> Array:
    """Whether complex numbers that are not finite are equal, part by part."""
    output, truth = parts(actual), parts(values)
    same = (np.isnan(output) & np.isnan(truth)) | (output == truth)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(truth) & (np.abs(output - truth) <= _NEAR * np.abs(truth))
    return np.asarray((same | near).reshape(*actual.shape, 2).all(axis=-1))


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


def _explained(name: str, actual: Array, truth: ExpectedOutput, bad: Array, poison: int) -> str:
    """At most 1,500 characters: the first wrong element, how many, what they hold, others."""
    flat = np.flatnonzero(bad)
    first = int(flat[0])
    allowed = float(np.broadcast_to(truth.tolerance, bad.shape).flat[first])
    text = (
        f"{_element(name, actual, truth, first)} (tolerance {allowed:.3g});"
        f" {flat.size} of {bad.size} elements are wrong, shape {list(bad.shape)}"
    )
    for what, count in _held(actual[bad], poison):
        text += f"; they {what}" if count == flat.size else f"; {count} of them {what}"
    if flat.size > 1:
        chosen = flat[np.linspace(1, flat.size - 1, _EXAMPLES).astype(int)]
        others = [_element(name, actual, truth, at) for at in dict.fromkeys(chosen.tolist())]
        text += f"; also {'; '.join(others)}"
    return text[:LENGTH]


def _held(wrong: Array, poison: int) -> list[tuple[str, int]]:
    """What wrong elements hold that says more than their values, and how many do."""
    written = np.ascontiguousarray(wrong).view(np.uint8).reshape(wrong.size, -1) != poison
    found = [("were never written", int(np.count_nonzero(~written.any(axis=1))))]
    if is_rounded(wrong) and not found[0][1]:  # poison may be NaN itself
        found += [("are NaN", int(np.count_nonzero(np.isnan(wrong))))]
        found += [("are infinite", int(np.count_nonzero(np.isinf(wrong))))]
    return [(what, count) for what, count in found if count]


def _element(name: str, actual: Array, truth: ExpectedOutput, flat: int) -> str:
    index = tuple(int(i) for i in np.unravel_index(flat, actual.shape))
    array, dot, field = name.partition(".")  # of a struct
    at = f"[{', '.join(map(str, index))}]"
    label = "the returned value" if name == RESULT else f"{array}{at}{dot}{field}"
    return f"{label} is {number(actual[index])}, expected {number(truth.values[index])}"


def number(value: Any) -> str:
    """An element as text: integers exactly, floats to 9 digits."""
    return str(int(value)) if isinstance(value, np.integer | int) else f"{value:.9g}"
