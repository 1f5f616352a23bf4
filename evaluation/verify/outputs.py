"""Whether all outputs of a call are right: each by its truth, rows of any order as a multiset.

The comparison is !(|d| <= tolerance): NaN fails unless the truth has it. Where a complex truth is
not finite each of its parts that is not must be the same, and the other one near. A difference is
told in words for a repair prompt: the first wrong element, their count, the shape, how many were
never written and how many are NaN or infinite, and three more elements.

Outputs that count rows come first: where they are wrong no row is looked at.

Rows of any order are a permutation of the candidate's own, compared with the truth's row by row:
right output has each expected row exactly as often as expected. Both are sorted; where rounding can
have changed the order of rows with several numbers they are sorted column by column, numbers
nearer than their tolerances counting as one, and what is left of that is matched one to one. One
number a row needs no matching: if any match is within the tolerance, that of the sorted numbers is.

Not covered: what a mistake is (patterns of values and places were named once; with them, repairs
brought no more: docs/results.md); honest rows are found wrong where more than 256 of them are
chained together by the tolerance in every column, and sorting them by the last does not do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.problem import RESULT, Array, Problem
from regraph_kg.evaluation.problem.rows import Rows, columns, rows_of
from regraph_kg.evaluation.problem.types import is_rounded, parts, wide
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


_MOST_MATCHED = 256

Kept = Mapping[str, KeptOutput]  # what is compared of each output, by name
Truths = Mapping[str, ExpectedOutput]


def fault(
    problem: Problem, outputs: Kept, truths: Truths, poison: int, nan_fails: bool = True
) -> str | None:
    """The first output that is wrong, in words; None where all are right.

    Outputs are settled (rows.py). `poison` and `nan_fails` are those of `mismatch`.
    """
    unordered = {name: rows for rows in rows_of(problem) for name in rows.names}
    outputs = {**outputs, **paired(problem, outputs, truths)}
    counted = {arg.count for arg in problem.outputs}
    for name in sorted(truths, key=lambda name: name not in counted):
        text = mismatch(name, outputs[name], truths[name], poison, nan_fails)
        if text and name in unordered and unordered[name].is_unordered:
            return _of_rows(unordered[name], outputs, truths)
        if text:
            return f"{text}; it says how many rows count" if name in counted else text
    return None


def paired(problem: Problem, outputs: Kept, truths: Truths) -> dict[str, Array]:
    """Outputs whose rows have any order, with rows moved to the places of the truth."""
    arrays = {}
    for rows in rows_of(problem):
        if rows.is_unordered:
            group = _Group(rows, outputs, truths)
            order = group.order()
            for name in rows.names:
                arrays[name] = group.outputs[name].copy()
                arrays[name][: order.size] = arrays[name][order]
    return arrays


class _Group:
    """Outputs whose rows belong together, and their truths."""

    def __init__(self, rows: Rows, outputs: Kept, truths: Truths) -> None:
        self.rows = rows
        self.outputs = {name: _array(outputs[name]) for name in rows.names}
        self.truths = {name: truths[name] for name in rows.names}
        counter = rows.args[0].count
        if counter is None:
            self.number = self.outputs[rows.names[0]].shape[0]
        else:
            counts = _array(outputs[counter]), truths[counter].values
            right = int(counts[1].reshape(-1)[0])
            self.number = right if int(counts[0].reshape(-1)[0]) == right else 0

    def order(self) -> Array:
        """Index of the candidate's row that belongs to each row of the truth."""
        every = np.arange(self.number)
        heads = [self.outputs[name][:1] for name in self.rows.names]
        each = columns(heads) if self.number else []
        # sorting is all that can be done where no number in a row is rounded, or it has one
        is_single = len(each) <= 1 or not any(map(is_rounded, each))
        if is_single or not self.wrong(every, every).any():
            return every
        ids, right, actual = self._refined()
        order = np.empty_like(every)
        order[right] = actual
        bad = self.wrong(right, actual)
        cuts = [0, *(np.flatnonzero(np.diff(ids)) + 1).tolist(), ids.size]
        for start, end in pairwise(cuts):  # a run of equal numbers
            if bad[start:end].any() and end - start <= _MOST_MATCHED:
                match = self._matched(right[start:end], actual[start:end])
                if match is None:
                    break  # it is wrong, whatever follows
                order[right[start:end]] = match
        return order

    def _refined(self) -> tuple[Array, Array, Array]:
        """Rows of truth and candidate sorted column by column, and which of them are chained."""
        truth, actual, near = self._columns()
        right = mine = np.arange(self.number)
        ids = np.zeros(self.number, np.int64)
        for expected_column, actual_column, allowed in zip(truth, actual, near, strict=True):
            right = right[np.lexsort((expected_column[right], ids))]
            mine = mine[np.lexsort((actual_column[mine], ids))]
            values, slack = expected_column[right], allowed[right]
            apart = values[1:] != values[:-1]
            if slack.any():
                with np.errstate(invalid="ignore"):
                    apart &= ~(np.diff(wide(values)) <= slack[1:] + slack[:-1])
                apart &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
            ids = np.concatenate([[0], np.cumsum(apart | (ids[1:] != ids[:-1]))])
        return ids, right, mine

    def _columns(self) -> tuple[list[Array], list[Array], list[Array]]:
        """Numbers of the truth, of the candidate, and their tolerances, column by column."""
        truths = [self.truths[name] for name in self.rows.names]
        values = [truth.values[: self.number] for truth in truths]
        heads = [self.outputs[name][: self.number] for name in self.rows.names]
        near = list[Array]()
        for truth, head in zip(truths, values, strict=True):
            room = np.broadcast_to(truth.tolerance, truth.values.shape)[: self.number]
            twice = 2 if head.dtype.kind == "c" else 1
            near.append(np.repeat(room.reshape(self.number, -1), twice, axis=1))
        order = np.argsort([is_rounded(one) for one in _unsorted(values)], kind="stable")
        one, other, allowed = (_unsorted(each) for each in (values, heads, near))
        return [one[at] for at in order], [other[at] for at in order], [allowed[at] for at in order]

    def wrong(self, right: Array, actual: Array) -> Array:
        """Mask of these rows of the truth that differ from the candidate's by more than allowed."""
        bad = np.zeros(right.size, bool)
        for name in self.rows.names:
            truth = self.truths[name]
            near = truth.tolerance
            allowed = near if isinstance(near, float) else near[right]
            expected = ExpectedOutput(truth.values[right], allowed)
            elements = wrong_elements(self.outputs[name][actual], expected)
            bad |= elements.reshape(right.size, -1).any(axis=1)
        return bad

    def _matched(self, right: Array, actual: Array) -> Array | None:
        """A one-to-one match of rows, all within the tolerance; None where there is none."""
        # which takes most of a second, and few problems have such rows
        from scipy.sparse import csr_array  # noqa: PLC0415
        from scipy.sparse.csgraph import maximum_bipartite_matching  # noqa: PLC0415

        fits = np.array([~self.wrong(np.full(right.size, row), actual) for row in right])
        match = maximum_bipartite_matching(csr_array(fits), perm_type="column")
        return None if np.any(match < 0) else actual[match]

    def text(self, row: int, sides: Mapping[str, Array]) -> str:
        data = [number(value) for name in self.rows.names for value in sides[name][row].reshape(-1)]
        shown = ", ".join(data[:8]) + (", ..." if len(data) > 8 else "")  # noqa: PLR2004
        return f"({shown})" if len(data) > 1 else shown


def _of_rows(rows: Rows, outputs: Kept, truths: Truths) -> str:
    """The first row without a partner of its own, in words."""
    group = _Group(rows, outputs, truths)
    every = np.arange(group.number)
    row = int(np.argmax(group.wrong(every, every)))
    values = {each: group.truths[each].values for each in rows.names}
    return (
        f"{' with '.join(rows.names)}, {group.number} rows in any order:"
        f" {group.text(row, group.outputs)} is there in place of {group.text(row, values)}"
    )


def _unsorted(heads: Sequence[Array]) -> list[Array]:
    """Columns in the order of the outputs."""
    return [column for head in heads for column in columns([head])]


def _array(output: KeptOutput) -> Array:
    assert isinstance(output, np.ndarray)
    return output
