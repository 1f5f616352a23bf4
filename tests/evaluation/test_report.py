"""Times in a report: when they mean nothing, and what was counted."""

import math
from dataclasses import replace

from regraph_kg.evaluation.evaluation import WHOLE, Times
from regraph_kg.evaluation.timing.estimate import TimeEstimate
from regraph_kg.evaluation.timing.timing import MeasuredSeries


def times(*workers: tuple[float, ...], serial: float = 0.01) -> Times:
    series = tuple(MeasuredSeries(samples, censored=False) for samples in workers)
    known = TimeEstimate(math.log(8.0), (serial / 2) ** 2, 10**6, (8.0,))
    return Times(series, known, "openmp", "call")


def test_a_report_says_that_more_than_calls_was_counted() -> None:
    told = times((1.0, 1.0, 1.04), (1.2, 1.2, 1.26))
    assert WHOLE not in told.facts()
    both = (told.own[0], replace(told.own[1], whole=True))
    assert replace(told, own=both).facts()[WHOLE] == "whole batches"


def test_nothing_is_made_of_how_a_glance_scatters() -> None:
    noisy = times((1.0, 9.0), serial=0.9)
    assert noisy.doubt
    assert not replace(noisy, is_glance=True).doubt
