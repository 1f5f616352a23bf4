"""What a learned step gained: times taken in turn with the code before it."""

import pytest

from regraph_kg.models.evaluation import code_hash
from tests.search.test_harvest import report, step, taught


@pytest.mark.parametrize(("other", "before"), [("int a;", 1.8), ("int b;", 4.5)])
def test_a_step_that_was_timed_in_turn_with_the_one_before_says_what_it_gained_then(
    other: str, before: float
) -> None:
    rivalry = {
        "code_hash": code_hash(other),
        "ratio": 1.2,
        "interval": {"low": 1.1, "high": 1.3},
        "verdict": "faster",
    }
    reports = [report("int a;", 2.0), report("int a_b;", 6.0, serial=9.0, rivalry=rivalry)]
    (trajectory,) = taught(step("a"), step("a b", 6.0), reports=reports).trajectories
    second = trajectory.steps[1].measurements[0]
    assert second.before_seconds == pytest.approx(before)
