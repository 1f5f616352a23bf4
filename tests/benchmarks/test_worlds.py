"""The simulated worlds, and a small comparison in them that our method must not lose."""

import math
import statistics
from importlib import import_module

import pytest

from benchmarks.search_worlds import OURS, OWN, WORLDS, Job, Ratio, level, played
from benchmarks.worlds.world import START, World

RIVALS = ("greedy-graph", "regrapht", "thompson", "ucb")
PROBLEMS = range(24)


def world(name: str) -> World:
    made: World = import_module(f"benchmarks.worlds.{name}").world(1, measured=True)
    return made


@pytest.mark.parametrize("name", WORLDS)
def test_an_outcome_depends_on_what_is_asked_alone(name: str) -> None:
    one = world(name)
    first = one.follows[START][0]
    problem, again = one.problem(5), one.problem(5)
    again.step(again.serial(), one.follows[START][-1], 0, 0)
    for sample in range(5):
        left = problem.step(problem.serial(), first, sample, 0)
        right = again.step(again.serial(), first, sample, 0)
        assert left == right


@pytest.mark.parametrize("name", WORLDS)
def test_problems_and_samples_differ(name: str) -> None:
    one = world(name)
    found = {
        problem.step(problem.serial(), first, sample, 0)
        for problem in (one.problem(1), one.problem(2))
        for first in one.follows[START]
        for sample in range(6)
    }
    assert len(found) > 4


@pytest.mark.parametrize("name", WORLDS)
def test_a_search_keeps_to_its_calls_and_comes_out_again(name: str) -> None:
    job = Job(name, measured=True, problem=3, method=OWN, calls=17)
    first = played(job)
    assert 0 < first.calls <= 17
    assert played(job) == first


def test_a_ratio_has_an_interval_over_domains() -> None:
    found = Ratio.of([0.1] * 8 + [0.3] * 8)
    assert found.mean == pytest.approx(math.exp(0.2), abs=1e-3)
    assert found.low < found.mean < found.high


@pytest.mark.slow
@pytest.mark.parametrize("rival", RIVALS)
def test_no_rival_is_better_over_all_worlds(rival: str) -> None:
    def ahead(name: str, calls: int) -> float:
        told = {"world": name, "measured": True, "calls": calls}
        return statistics.fmean(
            level(Job(problem=one, method=OWN, **told))
            - level(Job(problem=one, method=rival, **told))
            for one in PROBLEMS
        )

    found = [ahead(name, calls) for name in OURS for calls in (10, 25, 50)]
    assert statistics.fmean(found) > math.log(1.1)


@pytest.mark.parametrize("measured", [False, True])
def test_no_first_success_locks_the_search_in(measured: bool) -> None:
    found = [level(Job("lock_in", measured, one, OWN, 60)) for one in range(8)]
    assert math.exp(statistics.fmean(found)) > 250
