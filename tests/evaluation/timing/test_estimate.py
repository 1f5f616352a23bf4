"""Levels of workers and intervals of speedups, by tables worked out by hand."""

import math
import random

import pytest

from regraph_kg.evaluation.timing.estimate import TimeEstimate, level, ratio, student
from regraph_kg.models.base import Metric
from regraph_kg.models.target import Target

TWO_WORKERS = [[1.0] * 6, [math.exp(0.2)] * 6]


@pytest.mark.parametrize(
    ("workers", "target", "metric", "log", "variance", "freedom"),
    [
        ([[1.0] * 6], "openmp", "call", 0.0, 0.05**2, 6),
        ([[1.0] * 6], "cuda", "call", 0.0, 0.07**2, 6),
        ([[1.0] * 6], "cuda", "device", 0.0, 0.01**2, 6),
        ([[1.0] * 6] * 3, "openmp", "call", 0.0, 6 * 0.05**2 / 8 / 3, 8),
        # (6 x 0.0025 + 2 x 0.01) / 7 / 2
        (TWO_WORKERS, "openmp", "call", 0.1, 0.0025, 7),
        # one worker, whose median is known to within +-0.196: a standard error of 0.1
        ([[math.exp(-0.196), 1.0, math.exp(0.196)]], "openmp", "call", 0.0, 0.0125, 6),
    ],
)
def test_a_level_is_known_as_well_as_its_workers_agree(
    workers: list[list[float]],
    target: Target,
    metric: Metric,
    log: float,
    variance: float,
    freedom: int,
) -> None:
    found = level(workers, target, metric)
    assert found.log == pytest.approx(log)
    assert found.variance == pytest.approx(variance)
    assert found.freedom == freedom
    assert len(found.samples) == sum(map(len, workers))


def test_a_levels_interval_is_students() -> None:
    found = level([[2.0] * 6], "openmp", "call")
    assert found.seconds == pytest.approx(2.0)
    assert found.reach == pytest.approx(2.447 * 0.05, rel=1e-3)
    timing = found.timing()
    assert timing.median == pytest.approx(2.0)
    assert timing.interval.low == pytest.approx(2.0 * math.exp(-2.447 * 0.05), rel=1e-4)
    assert timing.interval.high == pytest.approx(2.0 * math.exp(2.447 * 0.05), rel=1e-4)


@pytest.mark.parametrize(
    ("slow", "fast", "times", "reach"),
    [
        # 0.0025 + 0.0025, Welch: 12 degrees of freedom
        ((math.log(2), 0.0025, 6), (0.0, 0.0025, 6), 2.0, 2.179 * math.sqrt(0.005)),
        # the one that is known exactly adds nothing
        ((0.0, 0.0025, 6), (math.log(2), 1e-12, 30), 0.5, 2.447 * 0.05),
        # (0.004 + 0.001)^2 / (0.004^2 / 8 + 0.001^2 / 10) = 11.9: as of 11
        ((0.0, 0.004, 8), (0.0, 0.001, 10), 1.0, 2.201 * math.sqrt(0.005)),
    ],
)
def test_a_speedups_interval_holds_both_uncertainties(
    slow: tuple[float, float, int], fast: tuple[float, float, int], times: float, reach: float
) -> None:
    found, interval = ratio(TimeEstimate(*slow, ()), TimeEstimate(*fast, ()))
    assert found == pytest.approx(times)
    assert interval.low == pytest.approx(times * math.exp(-reach), rel=1e-4)
    assert interval.high == pytest.approx(times * math.exp(reach), rel=1e-4)


@pytest.mark.parametrize(
    ("freedom", "tail", "value"),
    [
        (1, 0.025, 12.7062),
        (2, 0.025, 4.3027),
        (3, 0.025, 3.1824),
        (8, 0.025, 2.3060),
        (11, 0.025, 2.2010),
        (29, 0.025, 2.0452),
        (999, 0.025, 1.9623),
        (4, 0.0005, 8.6103),
        (8, 0.0005, 5.0413),
        (14, 0.0005, 4.1405),
    ],
)
def test_students_quantiles_are_those_of_the_tables(
    freedom: int, tail: float, value: float
) -> None:
    assert student(freedom, tail) == pytest.approx(value, abs=5e-5)


def test_an_interval_holds_the_next_speedup_of_the_same_code() -> None:
    """Workers whose levels scatter as assumed: 95 of 100 intervals hold the truth."""
    rng = random.Random(5)

    def side(count: int) -> TimeEstimate:
        return level([[math.exp(rng.gauss(0, 0.05))] * 6 for _ in range(count)], "openmp", "call")

    intervals = [ratio(side(3), side(3))[1] for _ in range(1000)]
    held = sum(interval.low <= 1.0 <= interval.high for interval in intervals)
    assert 930 <= held <= 990
