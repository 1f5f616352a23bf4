"""Order statistics and the stop rule, by table."""

import math

import pytest

from regraph_kg.evaluation.timing import StopRule, half_width, summarise


@pytest.mark.parametrize(
    ("count", "left_out"),
    [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (100, 39)],
)
def test_the_interval_leaves_out_what_binomial_tables_say(count: int, left_out: int) -> None:
    timing = summarise([float(i) for i in range(1, count + 1)])
    assert (timing.interval.low, timing.interval.high) == (1 + left_out, count - left_out)
    assert timing.median == (count + 1) / 2


def test_half_width_is_relative_to_the_median() -> None:
    assert half_width(summarise([9, 10, 10, 10, 10, 11])) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("samples", "spent", "stops"),
    [
        ([1.0] * 5, 99, False),
        ([1.0] * 6, 0, True),
        ([1.0, 2.0] * 3, 0.5, False),
        ([1.0, 2.0] * 3, 1.0, True),
        ([1.0, 9.0] * 3, 1.0, False),
        ([1.0, 9.0] * 3, 4.0, True),
        ([31.0] * 2, 99, False),
        ([31.0] * 3, 0, True),
        ([31.0, 31.0, 29.0], 0, False),
    ],
)
def test_a_series_ends_when_the_rule_says(samples: list[float], spent: float, stops: bool) -> None:
    rule = StopRule(seconds=1.0, half_width=0.01, acceptable=0.5, give_up_above=30.0)
    assert rule.stop(samples, spent) is stops


def test_without_a_limit_nothing_is_given_up() -> None:
    assert StopRule(1.0, 0.01).give_up_above == math.inf
