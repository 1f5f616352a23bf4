"""Order statistics, the stop rule and the warm-up rule, by tables worked out by hand."""

import math

import pytest

from regraph_kg.evaluation.timing.stop import Decision, StopRule, WarmUp, half_width, summarise


@pytest.mark.parametrize(
    ("count", "left_out"),
    [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (100, 39), (2000, 955)],
)
def test_the_interval_leaves_out_what_binomial_tables_say(count: int, left_out: int) -> None:
    timing = summarise([float(i) for i in range(1, count + 1)])
    assert (timing.interval.low, timing.interval.high) == (1 + left_out, count - left_out)
    assert timing.median == (count + 1) / 2


def test_half_width_is_relative_to_the_median() -> None:
    assert half_width(summarise([9, 10, 10, 10, 10, 11])) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("samples", "spent", "decision"),
    [
        ([], 0, "continue"),
        ([1.0] * 5, 99, "continue"),
        ([1.0] * 6, 0, "stop"),
        ([1.0, 1.02] * 3, 0, "stop"),  # half-width 0.0099
        ([1.0, 1.03] * 3, 0, "continue"),  # 0.0148
        ([1.0, 2.0] * 3, 0.5, "continue"),
        ([1.0, 2.0] * 3, 1.0, "stop"),
        ([1.0, 9.0] * 3, 1.0, "continue"),  # wider than acceptable: four times as long
        ([1.0, 9.0] * 3, 4.0, "stop"),
        ([1.0, 9.0] * 100, 0, "stop"),
        ([5.0, *[1.0] * 7], 0, "continue"),  # 8 samples leave none out
        ([5.0, *[1.0] * 8], 0, "stop"),  # 9 leave one out at either end
        ([31.0] * 2, 99, "continue"),
        ([31.0] * 3, 0, "censored"),
        ([31.0, 31.0, 29.0], 0, "continue"),
        ([31.0, 90.0, 31.0, 60.0], 0, "censored"),
        ([30.0] * 3, 0, "continue"),  # not above
    ],
)
def test_a_series_ends_when_the_rule_says(
    samples: list[float], spent: float, decision: Decision
) -> None:
    rule = StopRule(seconds=1.0, half_width=0.01, acceptable=0.5, give_up_above=30.0)
    assert rule.decide(samples, spent) == decision


def test_without_an_incumbent_nothing_is_given_up() -> None:
    assert StopRule(1.0, 0.01).give_up_above == math.inf
    assert StopRule(1.0, 0.01).decide([1e9] * 3, 0) == "continue"


def test_every_series_ends() -> None:
    rule = StopRule(seconds=math.inf, half_width=0.0)
    noisy = [1.0, 2.0] * 100
    assert [rule.decide(noisy[:n], 0) for n in (199, 200)] == ["continue", "stop"]


@pytest.mark.parametrize(
    ("batches", "passed", "steady", "done"),
    [
        ([1.0], 0.0, True, False),
        ([1.0, 1.0], 0.0, True, False),  # fewer than three
        ([9.0, 1.0, 1.0], 0.0, True, True),
        ([1.0, 1.0, 1.019], 0.0, True, True),
        ([1.0, 1.0, 1.021], 0.0, True, False),
        ([1.0, 1.0, 0.97], 0.0, True, False),
        ([1.0, 1.0, 1.0], 0.19, False, False),  # the GPU's clock still rises
        ([1.0, 1.0, 1.0], 0.2, False, True),
        ([1.0], 0.2, True, True),
    ],
)
def test_warming_up_ends_when_calls_and_clock_are_steady_or_time_is_up(
    batches: list[float], passed: float, steady: bool, done: bool
) -> None:
    assert WarmUp().done(batches, passed, clock_steady=steady) is done
