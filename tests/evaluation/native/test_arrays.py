"""Arrays are drawn and compared as numpy and scipy would, and the same on any count of cores."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from scipy import stats

from regraph_kg.evaluation.native import arrays

Array = np.ndarray[Any, Any]
N = 2_000_003  # several parts, and a last block that is not whole
KEY = (3, 5)


def drawn(kind: arrays.Kind, type_: str = "f4", n: int = N, **limits: float) -> Array:
    array = np.empty(n, type_)
    arrays.draw(array, kind, KEY, **limits)
    return array


@contextmanager
def one_core() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize("type_", ["f4", "f8"])
def test_normal_numbers_are_normal(type_: str) -> None:
    values = drawn("normal", type_).astype(np.float64)
    assert stats.kstest(values, "norm").pvalue > 1e-4
    assert abs(stats.kurtosis(values)) < 0.02
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.004
    assert 4.5 < np.abs(values).max() < 8


@pytest.mark.parametrize("kind", ["uniform", "sorted"])
def test_uniform_and_sorted_numbers_fill_their_range(kind: arrays.Kind) -> None:
    values = drawn(kind, "f8", low=-3, high=5)
    assert stats.kstest(values, "uniform", args=(-3, 8)).pvalue > 1e-4
    assert (np.diff(values) >= 0).all() == (kind == "sorted")


@pytest.mark.parametrize("kind", ["uniform", "sorted"])
@pytest.mark.parametrize(
    ("type_", "low", "count"),
    [("i1", -128, 256), ("u2", 7, 3), ("i4", -(2**31), 2**32), ("u8", 5, 2**63), ("i8", 0, 2**64)],
)
def test_integers_fill_their_range(kind: arrays.Kind, type_: str, low: int, count: int) -> None:
    values = drawn(kind, type_, start=low, range=count)
    exact = (values.astype("u8") - np.uint64(low % 2**64)).astype(np.float64)
    assert exact.max() <= count - 1 or count > 2**53
    assert abs(exact.mean() / (count - 1) - 0.5) < 0.01
    assert len(np.unique(values)) > min(count - 1, N // 2)
    if kind == "sorted" and type_ != "i8":
        assert (values[1:] >= values[:-1]).all()


@pytest.mark.parametrize("kind", ["uniform", "normal", "sparse", "large-range", "sorted"])
def test_the_same_key_gives_the_same_numbers_on_any_count_of_cores(kind: arrays.Kind) -> None:
    limits = {"low": -1.0, "high": 1.0}
    many = drawn(kind, **limits)
    with one_core():
        assert arrays.equal(many, drawn(kind, **limits))
    assert np.array_equal(many[:5000], drawn(kind, n=5000, **limits)) == (kind != "sorted")


def test_wider_numbers_are_those_of_the_narrow_type() -> None:
    wide = np.empty(N)
    arrays.draw(wide, "normal", KEY, "f4")
    assert np.array_equal(wide, drawn("normal"))


def test_floats_move_by_eps_up_or_down_by_chance() -> None:
    values = np.full(N, 2.0)
    arrays.move(values, 2.0**-10, KEY)
    assert set(np.unique(values / 2)) == {1 - 2.0**-10, 1 + 2.0**-10}
    assert abs((values > 2).mean() - 0.5) < 0.005
    fields = np.ones(100, [("a", "i4"), ("b", "f4")])
    arrays.move(fields["b"], 0.5, KEY)
    assert (set(fields["b"]), set(fields["a"])) == ({0.5, 1.5}, {1})


@pytest.mark.parametrize("type_", ["f2", "f4", "f8"])
def test_what_is_off_by_more_than_its_tolerance_is_marked(type_: str) -> None:
    truth = np.zeros(N)
    output = np.zeros(N, type_)
    truth[:4], output[:4] = [np.nan, np.inf, np.inf, 1.0], [np.nan, np.inf, 1.0, np.nan]
    output[-1] = 0.5
    for tolerance in (0.25, np.full(N, 0.25)):
        bad = arrays.wrong(output, truth, tolerance, nan_fails=True)
        assert np.flatnonzero(bad).tolist() == [2, 3, N - 1]
    assert not arrays.wrong(output, truth, 0.25, nan_fails=False)[3]
    assert not arrays.wrong(output[4:-1], truth[4:-1], 0.0, nan_fails=True).any()


@pytest.mark.parametrize("type_", ["f4", "f8", "u1", "u4", "u8"])
def test_sums_of_blocks_are_numpys(type_: str) -> None:
    values = drawn("uniform", type_, low=-1, high=1, range=200)
    floats = type_[0] == "f"
    weights = np.arange(arrays.BLOCK).astype("f8" if floats else "u8")
    padded = np.zeros(-(-N // arrays.BLOCK) * arrays.BLOCK, weights.dtype)
    padded[:N] = values
    expected = padded.reshape(-1, arrays.BLOCK) @ weights
    assert np.allclose(arrays.sums(values, weights), expected, rtol=1e-9, atol=1e-6)


def test_copies_and_fills_reach_every_byte() -> None:
    source = drawn("normal")
    to, wide, strided = np.empty(N, "f4"), np.empty(N), np.empty((N, 2), "f4")
    for each in (to, wide, strided[:, 0]):
        arrays.copy(source, each)
        assert np.array_equal(each, source)
    assert arrays.equal(source, to)
    to[-1] += 1
    assert not arrays.equal(source, to)
    arrays.fill(to, 0x5A)
    assert (to.view(np.uint8) == 0x5A).all()
