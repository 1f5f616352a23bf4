"""A wrong output is described by its first wrong element and by the pattern that explains it."""

from collections.abc import Callable

import numpy as np
import pytest

from regraph_kg.evaluation.verify import diagnose
from regraph_kg.evaluation.verify.diagnose import LENGTH, ExpectedOutput, mismatch
from regraph_kg.evaluation.verify.large_outputs import (
    Sampled,
    arranged,
    blocks,
    keeper,
    product,
    sample,
    sums_of_blocks,
)
from regraph_kg.evaluation.verify.patterns import PLACES, VALUES, Wrong

from ..conftest import problem_named

POISON = 0x5A
Change = Callable[[np.ndarray], np.ndarray]


def said(output: np.ndarray, truth: np.ndarray, tolerance: float = 1e-4) -> str:
    text = mismatch("y", output, ExpectedOutput(truth, tolerance), POISON)
    assert text is not None
    assert len(text) <= LENGTH
    return text


def matrix(rows: int = 24, columns: int = 40) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((rows, columns))


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


def moved(axis: int, step: int) -> Change:
    return lambda right: np.roll(right, step, axis)


def growing(right: np.ndarray) -> np.ndarray:
    signs = np.random.default_rng(6).choice([-1, 1], right.size).reshape(right.shape)
    return right + signs * np.linspace(2e-4, 8e-3, right.size).reshape(right.shape)


VALUE_CASES = [
    (poisoned, vector(), "they were never written"),
    (lambda right: np.where(right > 0, np.nan, right), vector(), "they are NaN"),
    (lambda right: np.where(right > 0, np.inf, right), vector(), "they are infinite"),
    (np.zeros_like, vector(), "all are 0"),
    (lambda right: np.full_like(right, 7.5), vector(), "all are 7.5"),
    (lambda right: -right, vector(), "their sign is flipped"),
    (np.conj, spirals(), "they are the complex conjugates"),
    (lambda right: right.imag + 1j * right.real, spirals(), "imaginary parts are exchanged"),
    (lambda right: right * 1j * 1j, spirals(), "their sign is flipped"),
    (lambda right: 0.5 * right, vector(), "all by the factor 0.5"),
    (lambda right: right + 0.25, vector(), "all are too high by 0.25"),
    (lambda right: right - 3, vector(), "all are too low by 3"),
    (np.trunc, 10 * vector(), "cut to whole numbers"),
    (lambda right: right.T.copy().reshape(right.shape), matrix(24, 40), "transposed"),
    (lambda right: right.T.copy(), matrix(30, 30), "transposed"),
    (moved(0, 1), vector(), "the previous element (off by one)"),
    (moved(0, -1), vector(), "the next element (off by one)"),
    (moved(0, 1), matrix(), "the previous row (off by one)"),
    (moved(1, -1), matrix(), "the next column (off by one)"),
    (lambda right: right[::-1].copy(), vector(), "the right values in the wrong places"),
    (growing, vector(), "too low a precision? The error grows along the array"),
]


@pytest.mark.parametrize(("change", "right", "says"), VALUE_CASES)
def test_what_wrong_values_have_in_common(change: Change, right: np.ndarray, says: str) -> None:
    assert says in said(change(right), right, 1e-5)


def test_a_low_precision_is_guessed_from_small_errors_everywhere() -> None:
    right = vector()
    text = said(right.astype(np.float16).astype(np.float64), right, 1e-7)
    assert "too low a precision?" in text
    assert "grows" not in text


def test_three_small_errors_are_told_as_such() -> None:
    text = said(changed([5, 50, 500], by=1e-4)(vector()), vector(), 1e-6)
    assert "too low a precision?" in text


@pytest.mark.parametrize("bits", [8, 16])
def test_an_integer_that_wrapped_is_recognised(bits: int) -> None:
    right = np.arange(1, 2000, 7, dtype=np.int32) * 1000
    text = said((right % 2**bits).astype(np.int32), right, 0.0)
    assert f"off by multiples of 2^{bits}" in text


def test_a_float_that_passed_through_a_wrapped_integer_is_recognised() -> None:
    right = np.linspace(3e9, 9e10, 50).round()
    assert "off by multiples of 2^32" in said(right % 2.0**32, right, 0.5)


PLACE_CASES = [
    (0, vector(), "only the first element"),
    (-1, vector(), "only the last element"),
    (slice(None), vector(), "every element"),
    ([0, -1], vector(), "only the first and the last element"),
    ((0,), matrix(), "only the first row"),
    ((-1,), matrix(), "only the last row"),
    ((slice(None), 0), matrix(), "only the first column"),
    ((slice(None), -1), matrix(), "only the last column"),
    ((5,), matrix(), "only row 5"),
    ((slice(None), 7), matrix(), "only column 7"),
    (slice(896, None), vector(), "from flat index 896 on (the remainder of blocks of 128?)"),
    (slice(997, None), vector(), "everything from flat index 997 on"),
    (slice(3, None, 32), vector(), "one element in 32 (flat index % 32 == 3)"),
    (slice(256, 512), vector(), "all of one block, [256:512]"),
    ((slice(8, 16), slice(16, 24)), matrix(), "all of one block, [8:16, 16:24]"),
    (slice(256, 480, 5), vector(), "all lie within [256:477]"),
]


@pytest.mark.parametrize(("index", "right", "says"), PLACE_CASES)
def test_where_wrong_values_lie(index: object, right: np.ndarray, says: str) -> None:
    assert says in said(changed(index)(right), right)


def test_the_whole_border_is_recognised() -> None:
    right = matrix()
    out = changed(slice(None))(right)
    out[1:-1, 1:-1] = right[1:-1, 1:-1]
    assert "only the border" in said(out, right)


def test_no_pattern_is_claimed_for_noise() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for right in (vector(), matrix(), matrix(30, 30)):
            out = right.copy()
            flat = out.reshape(-1)
            at = rng.choice(flat.size, flat.size // 3, replace=False)
            flat[at] += rng.standard_normal(at.size) * 5
            text = said(out, right)
            assert "; also y[" in text
            assert text.partition("; also")[0].endswith(f"shape {list(right.shape)}")


def test_nothing_is_claimed_of_one_or_two_wrong_elements_but_where_they_are() -> None:
    right = vector()
    assert said(changed([17, 501])(right), right).count(";") == 2


def test_a_pattern_must_not_hold_for_right_elements() -> None:
    """Half of a tail, or of each 32nd element, is no tail and no stride."""
    right = vector()
    half = np.flatnonzero(np.random.default_rng(1).random(500) < 0.5) + 500
    assert "everything from" not in said(changed(half)(right), right)
    strided = np.arange(0, 500, 32)
    assert "one element in" not in said(changed(strided)(right), right)


def test_every_pattern_is_shown_by_a_case() -> None:
    shown = {"wrapped"}  # by the tests of integers
    cases = [(change(right), right) for change, right, _ in VALUE_CASES]
    cases += [(changed(index)(right), right) for index, right, _ in PLACE_CASES]
    for output, right in cases:
        wrong = Wrong(output, right, ~(np.abs(output - right) <= 1e-5), 1e-5, POISON)
        for table in (VALUES, PLACES):
            shown |= {pattern.__name__ for pattern in table if pattern(wrong)}
    assert shown == {pattern.__name__ for pattern in (*VALUES, *PLACES)}


def test_the_text_is_bounded_and_names_index_value_and_shape() -> None:
    right = matrix()
    text = said(changed(slice(None), 1e300)(right), right)
    assert text.startswith("y[0, 0] is ")
    assert "960 of 960 elements are wrong, shape [24, 40]" in text


def test_large_arrays_are_described_without_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnose, "_LARGE", 100)
    assert "all are 0" not in said(np.zeros(1000), vector())


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


def test_a_product_is_checked_by_random_vectors() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((50, 70)), rng.standard_normal((70, 90))
    truth = product(a, b, 1e-5, seed=2)
    right = a @ b
    assert mismatch("C", right, truth, POISON) is None
    for index, by in (((7, 8), 1.0), ((49, 89), np.nan), ((0, 0), -0.1)):
        wrong = right.copy()
        wrong[index] += by
        assert f"the first is row {index[0]}:" in str(mismatch("C", wrong, truth, POISON))
    assert mismatch("C", np.zeros_like(right), truth, POISON) is not None


@pytest.mark.parametrize("terms", [64, 1024])
@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_random_vectors_admit_fp32_and_show_fp16(terms: int, low: float) -> None:
    """With the tolerance that a sum of so many products has for its elements."""
    rng = np.random.default_rng(terms)
    a = rng.uniform(low, 1, (64, terms)).astype(np.float32)
    b = rng.uniform(low, 1, (terms, 200)).astype(np.float32)
    truth = product(a, b, 8 * 2.0**-23 * terms**0.5, seed=3)
    assert mismatch("C", a @ b, truth, POISON) is None
    if low < 0:
        half = a.astype(np.float16).astype(float) @ b.astype(np.float16).astype(float)
        assert mismatch("C", half, truth, POISON) is not None


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_a_sort_is_checked_by_order_and_elements(dtype: str) -> None:
    given = (np.random.default_rng(1).standard_normal(3000) * 50 + 120).astype(dtype)
    truth = arranged(given, seed=2)
    right = np.sort(given)
    assert mismatch("y", right, truth, POISON) is None
    swapped = right.copy()
    swapped[[0, -1]] = right[[-1, 0]]
    assert "y[0] is" in str(mismatch("y", swapped, truth, POISON))
    for other in (np.full_like(right, 5), np.repeat(right[::2], 2)):
        assert "are not those of the input" in str(mismatch("y", other, truth, POISON))


def test_a_sort_with_a_nan_is_wrong() -> None:
    given = vector()
    out = np.sort(given)
    out[500] = np.nan
    assert mismatch("y", out, arranged(given, 1), POISON) is not None


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
    assert f"all are {got}" in text


def test_an_offset_of_large_integers_is_exact() -> None:
    truth = np.arange(2**60, 2**60 + 9, dtype=np.int64)
    assert "all are too high by 1;" in said(truth + 1, truth, tolerance=0.0)


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
