"""Whether all outputs of a call are right: each by its truth, rows of any order as a multiset.

Outputs that count rows come first: where they are wrong no row is looked at.

Rows of any order are a permutation of the candidate's own, compared with the truth's row by row:
right output has each expected row exactly as often as expected. Both are sorted; where rounding can
have changed the order of rows with several numbers they are sorted column by column, numbers
nearer than their tolerances counting as one, and what is left of that is matched (augmenting
paths, Kuhn 1955). One number a row needs no matching: if any match is within the tolerance, that of
the sorted numbers is.

Not covered: honest rows are found wrong where more than 256 of them are chained together by the
tolerance in every column, and sorting them by the last does not do.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from regraph_kg.evaluation.problem.problem import Array, Problem
from regraph_kg.evaluation.problem.rows import Rows, columns, rows_of
from regraph_kg.evaluation.problem.types import is_rounded, wide
from regraph_kg.evaluation.verify.diagnose import (
    ExpectedOutput,
    mismatch,
    number,
    wrong_elements,
)
from regraph_kg.evaluation.verify.large_outputs import KeptOutput

_MOST_MATCHED = 256
_MOST_TOLD = 64  # wrong rows that are looked for elsewhere

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
        if not self.number or self._is_single or not self.wrong(every, every).any():
            return every
        ids, right, actual = self._refined()
        order = np.empty_like(every)
        order[right] = actual
        bad = self.wrong(right, actual)
        for start, end in _runs(ids):
            if bad[start:end].any() and end - start <= _MOST_MATCHED:
                match = self._matched(right[start:end], actual[start:end])
                if match is None:
                    break  # it is wrong, whatever follows
                order[right[start:end]] = match
        return order

    @property
    def _is_single(self) -> bool:
        """Whether sorting is all that can be done: no number in a row is rounded, or it has one."""
        heads = [self.outputs[name][:1] for name in self.rows.names]
        each = columns(heads) if self.number else []
        return len(each) <= 1 or not any(map(is_rounded, each))

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
        near = [
            np.repeat(
                np.broadcast_to(truth.tolerance, truth.values.shape)[: self.number].reshape(
                    self.number, -1
                ),
                2 if head.dtype.kind == "c" else 1,
                axis=1,
            )
            for truth, head in zip(truths, values, strict=True)
        ]
        order = np.argsort([is_rounded(one) for one in _unsorted(values)], kind="stable")
        one, other, allowed = (_unsorted(each) for each in (values, heads, near))
        return [one[at] for at in order], [other[at] for at in order], [allowed[at] for at in order]

    def wrong(self, right: Array, actual: Array, sides: Mapping[str, Array] | None = None) -> Array:
        """Mask of these rows of the truth that differ from their partners by more than allowed.

        Those are the candidate's, or those of `sides`.
        """
        bad = np.zeros(right.size, bool)
        for name in self.rows.names:
            truth = self.truths[name]
            near = truth.tolerance
            allowed = near if isinstance(near, float) else near[right]
            expected = ExpectedOutput(truth.values[right], allowed)
            elements = wrong_elements((sides or self.outputs)[name][actual], expected)
            bad |= elements.reshape(right.size, -1).any(axis=1)
        return bad

    def _matched(self, right: Array, actual: Array) -> Array | None:
        """A one-to-one match of rows, all within the tolerance; None where there is none."""
        size = right.size
        fits = np.array([~self.wrong(np.full(size, row), actual) for row in right])
        owner = np.full(size, -1)
        for row in range(size):
            if not _augmented(row, fits, owner, np.zeros(size, bool)):
                return None
        match = np.empty_like(actual)
        match[owner] = actual
        return match

    def alike(self, row: int, other: bool) -> Array:
        """Mask of the candidate's rows that fit this row of the truth; `other`: the reverse."""
        every, this = np.arange(self.number), np.full(self.number, row)
        return ~(self.wrong(every, this) if other else self.wrong(this, every))

    def text(self, row: int, sides: Mapping[str, Array]) -> str:
        """A row in words."""
        data = [number(value) for name in self.rows.names for value in sides[name][row].reshape(-1)]
        shown = ", ".join(data[:8]) + (", ..." if len(data) > 8 else "")  # noqa: PLR2004
        return f"({shown})" if len(data) > 1 else shown


def _augmented(row: int, fits: Array, owner: Array, visited: Array) -> bool:
    """Find a place for a row, moving others where that is needed."""
    for place in np.flatnonzero(fits[row]).tolist():
        if visited[place]:
            continue
        visited[place] = True
        if owner[place] < 0 or _augmented(int(owner[place]), fits, owner, visited):
            owner[place] = row
            return True
    return False


def _of_rows(rows: Rows, outputs: Kept, truths: Truths) -> str:
    """The fault of rows of any order, in words."""
    group = _Group(rows, outputs, truths)
    every = np.arange(group.number)
    bad = np.flatnonzero(group.wrong(every, every))[:_MOST_TOLD].tolist()
    name = " with ".join(rows.names)
    head = f"{name}, {group.number} rows in any order"
    values = {each: group.truths[each].values for each in rows.names}
    strange = next((row for row in bad if not group.alike(row, True).any()), None)
    missing = next((row for row in bad if not group.alike(row, False).any()), None)
    parts = []
    if strange is not None:
        parts.append(f"{group.text(strange, group.outputs)} is there, expected nowhere")
    if missing is not None:
        parts.append(f"{group.text(missing, values)} is expected, and missing")
    if not parts:
        row = bad[0]
        present = np.count_nonzero(group.alike(row, False))
        expected = np.count_nonzero(~group.wrong(np.full(group.number, row), every, values))
        label = f"{group.text(row, values)} or its like"
        parts.append(f"{label} is there {_times(int(present))}, expected {_times(int(expected))}")
    return f"{head}: {'; '.join(parts)}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _unsorted(heads: Sequence[Array]) -> list[Array]:
    """Columns in the order of the outputs."""
    return [column for head in heads for column in columns([head])]


def _runs(ids: Array) -> Iterator[tuple[int, int]]:
    """First and last (exclusive) of each run of equal numbers."""
    cuts = np.flatnonzero(np.diff(ids)) + 1
    yield from zip([0, *cuts.tolist()], [*cuts.tolist(), ids.size], strict=True)


def _array(output: KeptOutput) -> Array:
    assert isinstance(output, np.ndarray)
    return output
