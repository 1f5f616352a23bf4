"""Whether all outputs of a call are right: each by its truth, rows of any order as a multiset.

Outputs that count rows come first: where they are wrong no row is looked at.

Rows of any order are a permutation of the candidate's own, compared with the truth's row by row:
what passes has each expected row exactly as often as expected. Both are sorted; where rounding can
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
from regraph_kg.evaluation.verify.diagnose import Expected, ExpectedOutput, mismatch, wrong_elements
from regraph_kg.evaluation.verify.large_outputs import KeptOutput
from regraph_kg.evaluation.verify.patterns import number

_MOST_MATCHED = 256
_MOST_TOLD = 64
"""Wrong rows that are looked for elsewhere."""

Kept = Mapping[str, KeptOutput]
"""What is compared of each output, by name."""
Truths = Mapping[str, Expected]


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
    """Those outputs whose rows have any order, with rows put where the truth has their like."""
    found = {}
    for rows in rows_of(problem):
        if rows.is_unordered:
            group = _Group(rows, outputs, truths)
            order = group.order()
            for name in rows.names:
                found[name] = group.outputs[name].copy()
                found[name][: order.size] = found[name][order]
    return found


class _Group:
    """Outputs whose rows belong together, and their truths."""

    def __init__(self, rows: Rows, outputs: Kept, truths: Truths) -> None:
        self.rows = rows
        self.outputs = {name: _array(outputs[name]) for name in rows.names}
        self.truths = {name: _expected(truths[name]) for name in rows.names}
        counter = rows.args[0].count
        if counter is None:
            self.number = self.outputs[rows.names[0]].shape[0]
        else:
            counts = _array(outputs[counter]), _expected(truths[counter]).values
            right = int(counts[1].reshape(-1)[0])
            self.number = right if int(counts[0].reshape(-1)[0]) == right else 0

    def order(self) -> Array:
        """Which of the candidate's rows belongs to each of the truth's."""
        every = np.arange(self.number)
        if not self.number or self._is_single or not self.wrong(every, every).any():
            return every
        ids, right, seen = self._refined()
        order = np.empty_like(every)
        order[right] = seen
        wrong = self.wrong(right, seen)
        for start, end in _runs(ids):
            if wrong[start:end].any() and end - start <= _MOST_MATCHED:
                match = self._matched(right[start:end], seen[start:end])
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
        truth, seen, near = self._columns()
        right = mine = np.arange(self.number)
        ids = np.zeros(self.number, np.int64)
        for one, other, allowed in zip(truth, seen, near, strict=True):
            right = right[np.lexsort((one[right], ids))]
            mine = mine[np.lexsort((other[mine], ids))]
            values, slack = one[right], allowed[right]
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

    def wrong(self, right: Array, seen: Array, sides: Mapping[str, Array] | None = None) -> Array:
        """Which of these rows of the truth differ from those beside them by more than allowed.

        Those are the candidate's, or those of `sides`.
        """
        bad = np.zeros(right.size, bool)
        for name in self.rows.names:
            truth = self.truths[name]
            near = truth.tolerance
            allowed = near if isinstance(near, float) else near[right]
            expected = ExpectedOutput(truth.values[right], allowed)
            wrong = wrong_elements((sides or self.outputs)[name][seen], expected)
            bad |= wrong.reshape(right.size, -1).any(axis=1)
        return bad

    def _matched(self, right: Array, seen: Array) -> Array | None:
        """A one-to-one match of rows, all within the tolerance; None where there is none."""
        size = right.size
        fits = np.array([~self.wrong(np.full(size, row), seen) for row in right])
        owner = np.full(size, -1)
        for row in range(size):
            if not _augmented(row, fits, owner, np.zeros(size, bool)):
                return None
        match = np.empty_like(seen)
        match[owner] = seen
        return match

    def alike(self, row: int, other: bool) -> Array:
        """Which rows of the candidate fit this of the truth; `other`: the other way round."""
        every, this = np.arange(self.number), np.full(self.number, row)
        return ~(self.wrong(every, this) if other else self.wrong(this, every))

    def text(self, row: int, sides: Mapping[str, Array]) -> str:
        """A row in words."""
        said = [number(value) for name in self.rows.names for value in sides[name][row].reshape(-1)]
        shown = ", ".join(said[:8]) + (", ..." if len(said) > 8 else "")  # noqa: PLR2004
        return f"({shown})" if len(said) > 1 else shown


def _augmented(row: int, fits: Array, owner: Array, tried: Array) -> bool:
    """Find a place for a row, moving others where that is needed."""
    for place in np.flatnonzero(fits[row]).tolist():
        if tried[place]:
            continue
        tried[place] = True
        if owner[place] < 0 or _augmented(int(owner[place]), fits, owner, tried):
            owner[place] = row
            return True
    return False


def _of_rows(rows: Rows, outputs: Kept, truths: Truths) -> str:
    """What is wrong with rows of any order."""
    group = _Group(rows, outputs, truths)
    every = np.arange(group.number)
    wrong = np.flatnonzero(group.wrong(every, every))[:_MOST_TOLD].tolist()
    name = " with ".join(rows.names)
    told = f"{name}, {group.number} rows in any order"
    values = {each: group.truths[each].values for each in rows.names}
    strange = next((row for row in wrong if not group.alike(row, True).any()), None)
    missing = next((row for row in wrong if not group.alike(row, False).any()), None)
    said = []
    if strange is not None:
        said.append(f"{group.text(strange, group.outputs)} is there, expected nowhere")
    if missing is not None:
        said.append(f"{group.text(missing, values)} is expected, and missing")
    if not said:
        row = wrong[0]
        there = np.count_nonzero(group.alike(row, False))
        wanted = np.count_nonzero(~group.wrong(np.full(group.number, row), every, values))
        what = f"{group.text(row, values)} or its like"
        said.append(f"{what} is there {_times(int(there))}, expected {_times(int(wanted))}")
    return f"{told}: {'; '.join(said)}"


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


def _expected(truth: Expected) -> ExpectedOutput:
    assert isinstance(truth, ExpectedOutput)
    return truth
