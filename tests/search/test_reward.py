"""Gains and rewards, against tables computed by hand."""

import math

import pytest

from regraph_kg.models.evaluation import Candidate
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.reward import gains, paper_reward, speedup
from tests.search.toy import code, judge

DEFAULT = McgsSettings()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([0.0], [0.7], [0.7]),
        ([0.0], [None], [-0.3]),
        ([0.0], [-0.4], [-0.4]),
        ([0.0], [-2.0], [-1.0]),  # clipped below
        ([0.0], [3.5], [3.0]),  # clipped above
        # a step is worth the best level reached at it or below it
        ([0.0, 0.5, 0.2], [0.5, 0.2, 1.1], [1.1, 0.6, 0.9]),
        ([0.0, 0.5], [0.5, 0.2], [0.5, -0.3]),
        # a failure at the end leaves the steps above it what they had
        ([0.0, 0.5, 0.8], [0.5, 0.8, None], [0.8, 0.3, -0.3]),
    ],
)
def test_the_gain_of_each_step(
    before: list[float], after: list[float | None], expected: list[float]
) -> None:
    assert gains(before, after, DEFAULT) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (math.log(2), 2.0),
        ("wrong_answer", None),
        ("compile_failed", None),
        ("unstable_timing", None),  # never timed at all
        (f"unstable_timing:{math.log(2)}", 1.8),  # the interval's lower bound
    ],
)
def test_what_the_search_learns_from_a_report(verdict: float | str, expected: float | None) -> None:
    assert speedup(judge(Candidate("openmp", code(verdict)))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reached", "expected"), [(None, -1.0), (0.25, -0.75), (0.999, -0.001), (1.0, 1.0), (7.5, 7.5)]
)
def test_the_papers_reward(reached: float | None, expected: float) -> None:
    assert paper_reward(reached) == pytest.approx(expected)
