"""Every formula against figures computed by hand."""

import math

import numpy as np
import pytest

from regraph_kg.bench.figures import (
    Mean,
    answer_speedup,
    built,
    by_problem,
    figures,
    log_speedup,
    paired,
    right,
    share_of_roof,
    solved,
)
from regraph_kg.models.bench import BenchAnswer
from tests.bench.made_runs import bench_run

WRONG = BenchAnswer(kind="wrong")
PROSE = BenchAnswer(kind="prose")


def good(speedup: float) -> BenchAnswer:
    return BenchAnswer(kind="faster" if speedup > 1 else "not faster", speedup=speedup)


def test_answers_that_build_and_that_are_right_are_counted_apart() -> None:
    run = bench_run(answers=[good(2.0), WRONG, PROSE, good(0.5)])
    assert built(run) == pytest.approx(3 / 4)
    assert right(run) == pytest.approx(2 / 4)
    assert answer_speedup(run) == pytest.approx(2.5 / 4)


def test_seeds_of_a_problem_are_averaged_before_problems_are() -> None:
    runs = [
        bench_run("a", seed=0, speedup=4.0),
        bench_run("a", seed=1, speedup=1.0),
        bench_run("b", speedup=1.0),
    ]
    assert by_problem(runs, solved) == {("a", "openmp"): 0.5, ("b", "openmp"): 0.0}
    found = figures("standard", runs)
    assert found.solved is not None
    assert found.solved.value == pytest.approx(0.25)
    assert found.solved.problems == 2
    assert found.gain is not None
    assert found.gain.value == pytest.approx(math.sqrt(2.0))  # exp((ln 4 + ln 1) / 2 / 2)


def test_a_geometric_mean_has_the_serial_code_as_fallback() -> None:
    assert log_speedup(bench_run(speedup=1.0)) == 0.0
    found = Mean.of_ratios([4.0, 1.0])
    assert found is not None
    assert found.value == pytest.approx(2.0)


def test_of_few_problems_no_interval_is_told() -> None:
    assert Mean.of([0.0, 1.0]) == Mean(0.5, None, 2)
    assert Mean.of_shares([0.0, 1.0]) == Mean(0.5, None, 2)
    assert Mean.of([0.25] * 5) == Mean(0.25, (0.25, 0.25), 5)
    assert Mean.of([]) is None
    assert Mean.of([math.nan]) is None


def test_an_interval_is_that_of_the_binomial_where_values_are_0_and_1() -> None:
    found = Mean.of([1.0] * 30 + [0.0] * 70)
    assert found is not None
    # 2.5 % of Binomial(100, 0.3) / 100
    assert found.interval == pytest.approx((0.21, 0.39), abs=0.011)


@pytest.mark.parametrize("problems", [5, 7, 12])
def test_an_interval_holds_the_truth_in_nine_of_ten_samples(problems: int) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(100):
        found = Mean.of(rng.normal(size=problems))
        assert found is not None
        assert found.interval is not None
        held += found.interval[0] <= 0 <= found.interval[1]
    assert held >= 92  # plain percentiles: 90, 90 and 91


def test_a_share_has_wilsons_interval() -> None:
    none = Mean.of_shares([0.0] * 7)
    assert none is not None
    z2 = 1.959964**2
    assert none.interval == pytest.approx((0.0, z2 / (7 + z2)))  # 0.354
    half = Mean.of_shares([1.0] * 5 + [0.0] * 5)
    assert half is not None
    assert half.interval == pytest.approx((0.2366, 0.7634), abs=1e-4)


def test_a_search_without_an_answer_came_to_nothing() -> None:
    runs = [bench_run("a", answers=[good(2.0)] * 5), bench_run("b")]
    found = figures("standard", runs)
    assert found.passed == Mean(0.5, None, 2)
    assert found.speedup == Mean(1.0, None, 2)


def test_differences_are_taken_problem_by_problem() -> None:
    ours = [bench_run("a", arm="x", speedup=4.0), bench_run("b", arm="x", speedup=2.0)]
    theirs = [bench_run("b", arm="y", speedup=1.0), bench_run("c", arm="y", speedup=9.0)]
    found = paired(ours, theirs)
    assert found is not None
    solved_more, _, gain = found
    assert gain is not None
    assert solved_more is not None
    assert (gain.value, gain.problems) == (pytest.approx(2.0), 1)
    assert solved_more.value == pytest.approx(1.0)
    assert paired(ours[:1], theirs) is None


def test_a_share_of_the_roof_is_never_more_than_all_of_it() -> None:
    assert math.isnan(share_of_roof(bench_run()))
    assert share_of_roof(bench_run(roof=1.2)) == 1.0


def test_energy_is_told_only_where_all_of_it_is_known() -> None:
    assert figures("standard", [bench_run(joules=2.0), bench_run("b", joules=3.0)]).joules == 5
    known = [bench_run(joules=2.0), bench_run("b", joules=None)]
    assert figures("standard", known).joules is None
