"""Every formula against figures computed by hand."""

import math

import numpy as np
import pytest

from benchmarks.bench.figures import (
    Mean,
    built,
    by_problem,
    differences,
    log_speedup,
    mean_of,
    mean_ratio,
    mean_share,
    right,
    solved,
)
from benchmarks.bench.record import BenchAnswer
from tests.bench.made_runs import bench_run

WRONG = BenchAnswer(kind="wrong")
PROSE = BenchAnswer(kind="prose")


def good(speedup: float) -> BenchAnswer:
    return BenchAnswer(kind="faster" if speedup > 1 else "not faster", speedup=speedup)


def test_answers_that_build_and_that_are_right_are_counted_apart() -> None:
    run = bench_run(answers=[good(2.0), WRONG, PROSE, good(0.5)])
    assert built(run) == pytest.approx(3 / 4)
    assert right(run) == pytest.approx(2 / 4)


def test_seeds_of_a_problem_are_averaged_before_problems_are() -> None:
    runs = [
        bench_run("a", seed=0, speedup=4.0),
        bench_run("a", seed=1, speedup=1.0),
        bench_run("b", speedup=1.0),
    ]
    assert by_problem(runs, solved) == {("a", "openmp"): 0.5, ("b", "openmp"): 0.0}
    gain = mean_ratio(by_problem(runs, log_speedup).values())
    assert gain is not None
    assert gain.value == pytest.approx(math.sqrt(2.0))  # exp((ln 4 + ln 1) / 2 / 2)


def test_of_few_problems_no_interval_is_told() -> None:
    assert mean_of([0.0, 1.0]) == Mean(0.5, None, 2)
    assert mean_share([0.0, 1.0]) == Mean(0.5, None, 2)
    assert mean_of([0.25] * 5) == Mean(0.25, (0.25, 0.25), 5)
    assert mean_of([]) is None


def test_an_interval_is_that_of_the_binomial_where_values_are_0_and_1() -> None:
    found = mean_of([1.0] * 30 + [0.0] * 70)
    assert found is not None
    # 2.5 % of Binomial(100, 0.3) / 100
    assert found.interval == pytest.approx((0.21, 0.39), abs=0.011)


@pytest.mark.parametrize("problems", [5, 7, 12])
def test_an_interval_holds_the_truth_in_nine_of_ten_samples(problems: int) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(100):
        found = mean_of(rng.normal(size=problems))
        assert found is not None
        assert found.interval is not None
        held += found.interval[0] <= 0 <= found.interval[1]
    assert held >= 92  # plain percentiles: 90, 90 and 91


def test_a_share_has_wilsons_interval() -> None:
    none = mean_share([0.0] * 7)
    assert none is not None
    z2 = 1.959964**2
    assert none.interval == pytest.approx((0.0, z2 / (7 + z2)))  # 0.354
    half = mean_share([1.0] * 5 + [0.0] * 5)
    assert half is not None
    assert half.interval == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_a_search_without_an_answer_came_to_nothing() -> None:
    runs = [bench_run("a", answers=[good(2.0)] * 5), bench_run("b")]
    assert mean_of(by_problem(runs, right).values()) == Mean(0.5, None, 2)


def test_differences_are_taken_problem_by_problem() -> None:
    ours = [bench_run("a", arm="x", speedup=4.0), bench_run("b", arm="x", speedup=2.0)]
    theirs = [bench_run("b", arm="y", speedup=1.0), bench_run("c", arm="y", speedup=9.0)]
    assert differences(ours, theirs, solved) == [1.0]
    assert differences(ours, theirs, log_speedup) == [pytest.approx(math.log(2.0))]
    assert differences(ours[:1], theirs, solved) == []
