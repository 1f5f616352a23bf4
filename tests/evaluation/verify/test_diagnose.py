"""A wrong output is told by its first wrong element, how many are wrong, and what they hold."""

from collections.abc import Callable

import numpy as np
import pytest

from regraph_kg.evaluation.verify.large_outputs import (
    Sampled,
    blocks,
    keeper,
    sample,
    sums_of_blocks,
)
from regraph_kg.evaluation.verify.outputs import LENGTH, ExpectedOutput, mismatch

from ..conftest import problem_named

POISON = 0x5A
Change = Callable[[np.ndarray], np.ndarray]


def said(output: np.ndarray, truth: np.ndarray, tolerance: float = 1e-4) -> str:
    text = mismatch("y", output, ExpectedOutput(truth, tolerance), POISON)
    assert text is not None
    assert len(text) <= LENGTH
    return text


def vector(size: int = 1000) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(size)


def spirals(size: int = 1000) -> np.ndarray:
    return vector(size) + 1j * vector(2 * size)[size:]


def changed(index: object, by: float = 1.0) -> Change:
    """Wrong there in no regular way."""

    def change(right: np.ndarray) -> np.ndarray:
        out = right.copy()
        noise = np.random.default_rng(5).uniform(1, 2, right.shape) * by
        out[index] += noise[index]
        return out

    return change


def poisoned(right: np.ndarray) -> np.ndarray:
    out = right.astype(np.float32)
    out.reshape(-1).view(np.uint8)[-400:] = POISON
    return out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (poisoned, "; they were never written"),
        (lambda right: np.where(right > 0, np.nan, right), "; they are NaN"),
        (lambda right: np.where(right > 0, np.inf, right), "; they are infinite"),
        (lambda right: np.where(right > 1, np.inf, right + 1), " of them are infinite"),
    ],
)
def test_what_wrong_elements_hold_is_told_where_it_says_more(change: Change, says: str) -> None:
    assert says in said(change(vector()), vector(), 1e-5)


def test_the_text_is_bounded_and_names_index_value_and_shape() -> None:
    right = vector(960).reshape(24, 40)
    text = said(changed(slice(None), 1e300)(right), right)
    assert text.startswith("y[0, 0] is ")
    assert "960 of 960 elements are wrong, shape [24, 40]" in text


def test_a_truth_known_at_some_places_is_compared_there_only() -> None:
    right = vector()
    at = np.array([3, 10, 999])
    truth = ExpectedOutput(right[at], 1e-4, at)
    out = right.copy()
    out[4] = 9
    assert mismatch("y", out, truth, POISON) is None
    out[10] = 9
    assert "y, flat index 10, is 9" in str(mismatch("y", out, truth, POISON))


def with_blocks(right: np.ndarray, tolerance: np.ndarray | float) -> ExpectedOutput:
    at = np.arange(0, right.size, 97)
    sums = sums_of_blocks(right, 7)
    near = tolerance if isinstance(tolerance, float) else tolerance[at]
    rest = blocks(Sampled(right[at], sums), np.zeros(sums.shape), near, 7)
    return ExpectedOutput(right[at], near, at, rest)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (vector(5000), changed(4000)),
        (vector(5000), lambda x: np.where(np.arange(5000) == 4000, np.nan, x)),
        (spirals(5000), changed(4000)),
        (np.arange(5000), lambda x: x + (np.arange(5000) == 4000)),
        (np.arange(5000, dtype=np.uint8), lambda x: x ^ (np.arange(5000) == 4000)),
        (np.arange(5000), lambda x: np.concatenate([x[:4000], x[4002:3999:-1], x[4003:]])),
    ],
    ids=["one", "nan", "complex", "integer", "byte", "order"],
)
def test_what_is_wrong_outside_a_sample_shows_in_a_sum(right: np.ndarray, wrong: Change) -> None:
    truth = with_blocks(right, 0.0 if right.dtype.kind in "iu" else 1e-4)
    assert mismatch("y", right, truth, POISON) is None
    for output in (out := wrong(right), Sampled(truth.of(out), sums_of_blocks(out, 7))):
        assert "blocks of 1024 numbers are wrong" in str(mismatch("y", output, truth, POISON))


def test_honest_rounding_shows_in_no_sum() -> None:
    right = vector(2**20)
    right[2000] = 1e9  # larger than all that are sampled
    near = 1e-4 * np.maximum(1, np.abs(right))
    right[1] = np.inf
    truth = with_blocks(right, near)
    for seed in range(20):
        noise = np.random.default_rng(seed).uniform(-1, 1, right.size) * (seed + 1) / 40
        rounded = right + noise * near
        assert mismatch("y", rounded, truth, POISON) is None


def test_samples_hold_both_ends_and_secret_places() -> None:
    assert np.array_equal(sample(100, 1), np.arange(100))
    at = sample(2**22, 1)
    assert {0, 4095, 2**22 - 1, 2**22 - 4096} <= set(at.tolist())
    assert (np.diff(at) > 0).all()
    assert not np.array_equal(at, sample(2**22, 2))


@pytest.mark.parametrize("n", [100, 100_000, 2**21])
def test_outputs_above_4_mib_are_sampled_at_every_shape(n: int) -> None:
    output = np.arange(n, dtype=np.float32)
    kept = keeper(problem_named("scale"), {"n": n}, 1)("y", output)
    assert isinstance(kept, Sampled) == (n > 2**20)
    if not isinstance(kept, Sampled):
        assert np.array_equal(kept, output)


@pytest.mark.parametrize(
    ("dtype", "right", "got"),
    [
        (np.int32, 1234567891, 1234567892),
        (np.uint8, 7, 250),
        (np.int64, 2**62 + 1, 2**62 + 2),
        (np.uint64, 2**64 - 1, 2**64 - 2),
    ],
)
def test_integers_are_told_exactly(dtype: type, right: int, got: int) -> None:
    truth, output = np.full(5, right, dtype), np.full(5, got, dtype)
    text = said(output, truth, tolerance=0.0)
    assert f"y[0] is {got}, expected {right} " in text


def test_large_integers_within_an_absolute_tolerance_are_compared_exactly() -> None:
    truth = np.full(3, 2**62, np.int64)
    assert mismatch("y", truth + 2, ExpectedOutput(truth, 2.0), POISON) is None
    assert mismatch("y", truth + 3, ExpectedOutput(truth, 2.0), POISON) is not None


def test_complex_numbers_are_compared_by_their_distance() -> None:
    truth = ExpectedOutput(np.array([3 + 4j, 1 + 0j]), 0.1)
    assert mismatch("z", np.array([3.06 + 4.06j, 1 + 0j]), truth, POISON) is None
    text = mismatch("z", np.array([3.08 + 4.08j, 1 + 0j]), truth, POISON)
    assert str(text).startswith("z[0] is 3.08+4.08j, expected 3+4j (tolerance 0.1)")


@pytest.mark.parametrize(
    ("got", "right", "passes"),
    [
        (complex(np.nan, 1), complex(np.nan, 1), True),
        (complex(np.nan, 1.5), complex(np.nan, 1), False),
        (complex(1, np.nan), complex(np.nan, 1), False),
        (complex(np.inf, 0), complex(np.inf, 0), True),
        (complex(-np.inf, 0), complex(np.inf, 0), False),
        (complex(np.nan, np.nan), complex(np.inf, 0), False),
        (complex(np.nan, 1), complex(2, 1), False),
        (complex(-0.0, 1), complex(0.0, 1), True),
    ],
)
def test_parts_that_are_not_finite_must_be_the_same(
    got: complex, right: complex, passes: bool
) -> None:
    text = mismatch("z", np.array([got]), ExpectedOutput(np.array([right]), 0.1), POISON)
    assert (text is None) is passes


def test_what_is_returned_is_told_without_an_index() -> None:
    text = mismatch("return", np.array([2.0]), ExpectedOutput(np.array([3.0]), 0.1), POISON)
    assert str(text).startswith("the returned value is 2, expected 3 (tolerance 0.1)")


def test_a_field_of_a_struct_is_told_as_it_is_written() -> None:
    text = mismatch("q.steps", np.array([2, 3]), ExpectedOutput(np.array([2, 4]), 0.0), POISON)
    assert str(text).startswith("q[1].steps is 3, expected 4 (tolerance 0)")


def test_empty_outputs_are_right() -> None:
    for dtype in (np.float32, np.int32):
        empty = np.zeros((0, 3), dtype)
        assert mismatch("y", empty, ExpectedOutput(empty.astype(np.float64), 0.0), POISON) is None
