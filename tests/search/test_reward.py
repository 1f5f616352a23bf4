"""What a search learns from a report."""

import math

import pytest

from regraph_kg.models.evaluation import Candidate
from regraph_kg.search.sample import speedup_of
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
    assert speedup_of(judge(Candidate("openmp", code(verdict)))) == pytest.approx(expected)
