"""Times in a report: where they are known little, it says what differs."""

import math
from dataclasses import replace

import pytest

from regraph_kg.evaluation.evaluation import WHOLE, Times
from regraph_kg.evaluation.timing.estimate import TimeEstimate
from regraph_kg.evaluation.timing.timing import MeasuredSeries


def times(*workers: tuple[float, ...], serial: float = 0.01) -> Times:
    series = tuple(MeasuredSeries(samples, censored=False) for samples in workers)
    known = TimeEstimate(math.log(8.0), (serial / 2) ** 2, 10**6, (8.0,))
    return Times(series, known, "openmp", "call")


def test_noise_is_put_down_to_workers_and_to_calls_of_one() -> None:
    noise = times((1.0, 1.0, 1.04), (1.2, 1.2, 1.26), (1.5, 1.5, 1.5)).facts()["noise"]
    assert "(serial code: 1%)" in noise
    assert noise.endswith(": 3 fresh workers differ by 50%, half of the calls of one by 2%")


@pytest.mark.parametrize("samples", [((1.0,),), ((1.0,), (1.0,))])
def test_a_worker_of_one_sample_has_no_spread(samples: tuple[tuple[float, ...], ...]) -> None:
    assert times(*samples, serial=0.3).facts()["noise"].endswith("(serial code: 29%)")


def test_a_report_says_that_more_than_calls_was_counted() -> None:
    told = times((1.0, 1.0, 1.04), (1.2, 1.2, 1.26))
    assert WHOLE not in told.facts()
    both = (told.own[0], replace(told.own[1], whole=True))
    assert replace(told, own=both).facts()[WHOLE] == "whole batches"


def test_nothing_is_made_of_how_a_glance_scatters() -> None:
    noisy = times((1.0, 9.0), serial=0.9)
    assert noisy.doubt
    assert not replace(noisy, is_glance=True).doubt


def test_times_that_are_well_known_need_no_words() -> None:
    assert "noise" not in times(*[(1.0, 1.0, 1.0)] * 40).facts()
