"""Whether all outputs of a call are right, each by its truth.

The comparison is !(|d| <= tolerance): NaN fails unless the truth has it. Where a complex truth is
not finite each of its parts that is not must be the same, and the other one near. Outputs that
count rows come first: where they are wrong no row is looked at.

Not covered: what a mistake is (patterns of values and places were named once; with them, repairs
brought no more: docs/results.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.declaration import RESULT
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array, is_rounded, parts, wide
from regraph_kg.evaluation.verify import large_outputs
from regraph_kg.evaluation.verify.large_outputs import KeptOutput

LENGTH = 1500  # characters of a whole diagnosis at most
_EXAMPLES = 3
_NEAR = 2.0**-10  # how far off, relative to itself, a finite part is beside one that is not


@dataclass(frozen=True, slots=True)
class ExpectedOutput:
    """Expected output (fp64, or the exact integers) and the tolerance of its elements."""

    values: Array
    tolerance: Array | float
    at: Array | None = None  # flat indices at which alone both are known
    blocks: large_outputs.Blocks | None = None  # sums of all elements, with `at`
    others: tuple[Array, ...] = ()
    """What rounding makes of integers that floats decide, as the place of a largest one."""

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
        first = int(np.argmax(bad))
        return (
            f"{name}, flat index {int(truth.at[first])}, is {number(actual[first])}, expected"
            f" {number(truth.values[first])}; {np.count_nonzero(bad)} of {bad.size} sampled"
            " elements are wrong"
        )
    return _explained(name, actual, truth, bad, poison)


def wrong_elements(output: Array, truth: ExpectedOutput, nan_fails: bool = True) -> Array:
    """Mask of elements that are off by more than the tolerance."""
    if not is_rounded(output):
        if isinstance(truth.tolerance, float) and truth.tolerance > 0:
            ends = np.maximum(output, truth.values), np.minimum(output, truth.values)
            high, low = (end.astype(np.uint64) for end in ends)  # exact for 64 bits, too
            return np.asarray(high - low > truth.tolerance)
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
    # complex numbers that are not finite are equal, part by part
    mine, right = parts(actual), parts(truth.values)
    same = (np.isnan(mine) & np.isnan(right)) | (mine == right)
    with np.errstate(invalid="ignore"):
        same |= np.isfinite(right) & (np.abs(mine - right) <= _NEAR * np.abs(right))
    is_same: Array = same.reshape(*actual.shape, 2).all(axis=-1)
    return np.where(np.isfinite(truth.values), bad, ~is_same)


def _explained(name: str, actual: Array, truth: ExpectedOutput, bad: Array, poison: int) -> str:
    """At most 1,500 characters: the first wrong element, how many, what they hold, others."""
    flat = np.flatnonzero(bad)
    first = int(flat[0])
    allowed = float(np.broadcast_to(truth.tolerance, bad.shape).flat[first])
    text = (
        f"{_element(name, actual, truth, first)} (tolerance {allowed:.3g});"
        f" {flat.size} of {bad.size} elements are wrong, shape {list(bad.shape)}"
    )
    wrong = actual[bad]
    written = np.ascontiguousarray(wrong).view(np.uint8).reshape(wrong.size, -1) != poison
    held = {"were never written": ~written.any(axis=1)}
    if is_rounded(wrong) and not held["were never written"].any():  # poison may be NaN itself
        held |= {"are NaN": np.isnan(wrong), "are infinite": np.isinf(wrong)}
    for what, count in ((what, np.count_nonzero(mask)) for what, mask in held.items()):
        if count:
            text += f"; they {what}" if count == flat.size else f"; {count} of them {what}"
    if flat.size > 1:
        chosen = flat[np.linspace(1, flat.size - 1, _EXAMPLES).astype(int)]
        others = [_element(name, actual, truth, at) for at in dict.fromkeys(chosen.tolist())]
        text += f"; also {'; '.join(others)}"
    return text[:LENGTH]


def _element(name: str, actual: Array, truth: ExpectedOutput, flat: int) -> str:
    index = tuple(int(i) for i in np.unravel_index(flat, actual.shape))
    array, dot, field = name.partition(".")  # of a struct
    at = f"[{', '.join(map(str, index))}]"
    label = "the returned value" if name == RESULT else f"{array}{at}{dot}{field}"
    return f"{label} is {number(actual[index])}, expected {number(truth.values[index])}"


def number(value: Any) -> str:
    """An element as text: integers exactly, floats to 9 digits."""
    return str(int(value)) if isinstance(value, np.integer | int) else f"{value:.9g}"


Kept = Mapping[str, KeptOutput]  # what is compared of each output, by name
Truths = Mapping[str, ExpectedOutput]


def fault(
    problem: Problem, outputs: Kept, truths: Truths, poison: int, nan_fails: bool = True
) -> str | None:
    """The first output that is wrong, in words; None where all are right.

    Outputs are settled (rows.py). `poison` and `nan_fails` are those of `mismatch`.
    """
    counts = {arg.count for arg in problem.outputs}
    for name in sorted(truths, key=lambda name: name not in counts):
        if text := mismatch(name, outputs[name], truths[name], poison, nan_fails):
            return f"{text}; it says how many rows count" if name in counts else text
    return None
