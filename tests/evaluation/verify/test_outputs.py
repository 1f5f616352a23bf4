"""Rows that count and rows of any order: nothing but a permutation of the right rows passes."""

import itertools

import numpy as np
import pytest

from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rows import settled
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, fault, paired

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
BAG = problem_of({"name": "kept", "type": "int32", "count": "found", "order": "any"})
FLOATS = problem_of({"name": "kept", "type": "float32", "order": "any"})
PAIRS = problem_of(
    {"name": "key", "type": "float32", "count": "found", "order": "any"},
    {"name": "value", "type": "float32", "count": "found", "order": "key"},
)
POINTS = problem_of({"name": "kept", "type": "float32", "shape": ["n", "2"], "order": "any"})
SPIRALS = problem_of(
    {"name": "kept", "type": "complex64", "order": "any"},
    {"name": "value", "type": "float32", "order": "kept"},
)


def said(problem: Problem, got: Outputs, right: Outputs, near: float = 0.0) -> str | None:
    """What is wrong with outputs; floats may be off by `near`."""
    wide = {name: each.astype(np.float64) if near else each for name, each in right.items()}
    truths = {
        name: ExpectedOutput(each, np.full(each.shape, near) if each.dtype.kind == "f" else 0.0)
        for name, each in settled(problem, wide).items()
    }
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


def test_rows_in_another_order_are_right_only_where_any_order_is() -> None:
    right, other = counted(3, 5, 6, 7, 0), counted(3, 7, 5, 6, 9)
    assert said(BAG, other, right) is None
    assert said(KEPT, other, right) is not None


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((5, 6, 6, 7), "6 is there in place of 5"),
        ((5, 5, 5, 5), "5 is there in place of 6"),
        ((5, 5, 6, 8), "8 is there in place of 7"),
    ],
)
def test_what_is_wrong_with_rows_is_told(rows: tuple[int, ...], says: str) -> None:
    text = said(BAG, counted(4, *rows), counted(4, 5, 5, 6, 7))
    assert text == f"kept, 4 rows in any order: {says}"


def test_only_permutations_pass() -> None:
    """Of all ways of writing three values of three."""
    right = (1, 2, 2)
    for rows in itertools.product((1, 2, 3), repeat=3):
        passes = said(BAG, counted(3, *rows), counted(3, *right)) is None
        assert passes is (sorted(rows) == sorted(right)), rows


def test_floats_match_within_the_tolerance_one_to_one() -> None:
    right = {"kept": np.array([1.0, 1.1, 5.0]), "found": np.array([0])}
    for kept, passes in (
        ([5.05, 1.15, 1.05], True),
        ([1.0, 1.0, 5.0], True),  # each has one of its own within 0.1
        ([1.0, 5.0, 5.0], False),
        ([1.0, 1.1, np.nan], False),
        ([0.95, 0.95, 5.0], False),
    ):
        got = {"kept": np.array(kept, np.float32), "found": np.array([0])}
        assert (said(FLOATS, got, right, near=0.1 + 1e-6) is None) is passes, kept


def test_special_values_are_rows_like_others() -> None:
    """A NaN of any payload for a NaN and for nothing else, infinities by sign, -0 as 0."""
    payload = np.array([0x7FC12345], np.uint32).view(np.float32)[0]
    right = {"kept": np.array([np.nan, 0.0, np.inf, 1.0]), "found": np.array([0])}
    for kept, passes in (
        ([1.0, payload, -0.0, np.inf], True),
        ([1.0, np.nan, np.nan, np.inf], False),
        ([1.0, 0.0, 0.0, np.inf], False),
        ([1.0, np.nan, 0.0, -np.inf], False),
    ):
        got = {"kept": np.array(kept, np.float32), "found": np.array([0])}
        assert (said(FLOATS, got, right, near=0.1) is None) is passes, kept


def test_rows_belong_together() -> None:
    right = {"key": [1.0, 2.0, 3.0], "value": [10.0, 20.0, 30.0]}
    assert said(PAIRS, pairs([3, 1, 2], [30, 10, 20]), pairs(**right), near=0.01) is None
    text = said(PAIRS, pairs([1, 2, 3], [20, 10, 30]), pairs(**right), near=0.01)
    assert "key with value, 3 rows in any order: (1, 20) is there in place of (1, 10)" in str(text)


def pairs(key: list[float], value: list[float]) -> Outputs:
    return {
        "key": np.array(key, np.float32),
        "value": np.array(value, np.float32),
        "found": np.array([len(key)], np.int32),
    }


@pytest.mark.parametrize("seed", range(20))
def test_rounding_that_exchanges_rows_is_no_mistake(seed: int) -> None:
    """Keys that differ by less than the tolerance, in either order; few values, many ties."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, 4, 200) + rng.uniform(-0.04, 0.04, 200)
    value = rng.integers(0, 5, 200) + rng.uniform(-0.04, 0.04, 200)
    order, noise = rng.permutation(200), rng.uniform(-0.05, 0.05, (2, 200))
    got = pairs((key + noise[0])[order].tolist(), (value + noise[1])[order].tolist())
    right = pairs(key.tolist(), value.tolist())
    assert said(PAIRS, got, right, near=0.051) is None
    got["value"][7] = got["value"][11] + 0.3
    assert said(PAIRS, got, right, near=0.051) is not None


@pytest.mark.parametrize("seed", range(20))
def test_what_passes_has_a_match_and_small_chains_that_have_one_pass(seed: int) -> None:
    """Against all permutations of five rows of two numbers."""
    rng = np.random.default_rng(seed)
    right, got = rng.uniform(0, 1, (2, 5, 2)), rng.uniform(0, 1, (5, 2))
    near = 0.35
    any_fits = any(
        (np.abs(got[list(order)] - right[0]) <= near).all()
        for order in itertools.permutations(range(5))
    )
    outputs = {"kept": got, "found": np.array([0])}
    text = said(POINTS, outputs, {"kept": right[0], "found": np.array([0])}, near)
    assert (text is None) is any_fits


def test_complex_rows_are_paired_by_both_parts() -> None:
    right = {"kept": np.array([1 + 1j, 1 + 2j]), "value": np.array([5.0, 6.0])}
    truths = {name: ExpectedOutput(each, np.full(2, 0.1)) for name, each in right.items()}
    truths["found"] = ExpectedOutput(np.array([0]), 0.0)
    got = {"kept": np.array([1.05 + 2j, 0.95 + 1j]), "value": np.array([6.0, 5.0])}
    outputs = settled(SPIRALS, {**got, "found": np.array([0])})
    assert fault(SPIRALS, outputs, truths, POISON) is None
    exchanged = settled(SPIRALS, {**got, "value": got["value"][::-1], "found": np.array([0])})
    assert fault(SPIRALS, exchanged, truths, POISON) is not None


def test_pairing_permutes_and_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    got = pairs(rng.uniform(0, 1, 50).tolist(), rng.uniform(0, 1, 50).tolist())
    truths = {
        name: ExpectedOutput(rng.uniform(0, 1, each.size), np.full(each.size, 0.1))
        for name, each in got.items()
        if name != "found"
    }
    truths["found"] = ExpectedOutput(np.array([50]), 0.0)
    found = paired(PAIRS, settled(PAIRS, got), truths)
    rows = {tuple(row) for row in zip(found["key"], found["value"], strict=True)}
    assert rows == {tuple(row) for row in zip(got["key"], got["value"], strict=True)}


def test_no_rows_are_right_where_none_are_expected() -> None:
    assert said(BAG, counted(0, 4, 4), counted(0, 1, 2)) is None
    assert (
        said(PAIRS, {**pairs([1, 2], [3, 4]), **none()}, {**pairs([0, 0], [0, 0]), **none()})
        is None
    )


def none() -> Outputs:
    return {"found": np.zeros(1, np.int32)}
