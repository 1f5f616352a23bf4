"""Rows that count: their count is told first, and what lies behind them is not looked at."""

import numpy as np
import pytest

from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rows import settled
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, fault

POISON = 0xFF
Outputs = dict[str, np.ndarray]


def problem_of(*outputs: dict[str, object]) -> Problem:
    """A problem with these outputs; "found" counts."""
    found = {"name": "found", "type": "int32", "role": "out", "shape": ["1"]}
    return Problem.model_validate(
        {
            "schema": 1,
            "name": "rows",
            "entry": "rows",
            "sizes": {"check": [{"n": 8}], "time": {"n": 8}},
            "args": [
                {"name": "x", "type": "float32", "role": "in", "shape": ["n"]},
                *({"role": "out", "shape": ["n"], **output} for output in outputs),
                found,
            ],
            "serial_code": "",
        }
    )


KEPT = problem_of({"name": "kept", "type": "int32", "count": "found"})


def said(problem: Problem, got: Outputs, right: Outputs) -> str | None:
    """What is wrong with outputs."""
    truths = {n: ExpectedOutput(each, 0.0) for n, each in settled(problem, right).items()}
    return fault(problem, settled(problem, got), truths, POISON)


def counted(number: int, *rows: int) -> Outputs:
    return {"kept": np.array(rows, np.int32), "found": np.array([number], np.int32)}


def test_what_lies_behind_the_rows_that_count_is_not_looked_at() -> None:
    right = counted(3, 5, 6, 7, 0, 0)
    assert said(KEPT, counted(3, 5, 6, 7, -1, 99), right) is None
    text = said(KEPT, counted(3, 5, 6, 8, 0, 0), right)
    assert str(text).startswith("kept[2] is 8, expected 7 ")


@pytest.mark.parametrize("number", [2, 4, 0, -1, 6, 2**30, -(2**31)])
def test_a_wrong_count_is_told_first_whatever_it_is(number: int) -> None:
    text = said(KEPT, counted(number, 1, 1, 1, 1, 1), counted(3, 5, 6, 7, 0, 0))
    assert str(text).startswith(f"found[0] is {number}, expected 3 ")
    assert str(text).endswith("; it says how many rows count")


def test_rows_have_an_order() -> None:
    assert said(KEPT, counted(3, 7, 5, 6, 9), counted(3, 5, 6, 7, 0)) is not None


def test_no_rows_are_right_where_none_are_expected() -> None:
    assert said(KEPT, counted(0, 4, 4), counted(0, 1, 2)) is None
