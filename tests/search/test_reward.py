"""Speedups and rewards, against tables computed by hand."""

import math

import pytest

from regraph_kg.models.evaluation import Candidate
from regraph_kg.search.reward import paper_reward, speedup
from tests.search.toy import code, judge


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
