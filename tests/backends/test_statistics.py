"""What trajectories contribute to the NEXT rows, by hand."""

import pytest

from regraph_kg.backends import queries
from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.statistics import COUNTS, Pair, Tally, share, total
from regraph_kg.models.evaluation import Outcome
from tests.contract.plans import A100, H200, failure, measured, plan

START_A = Pair("cuda/start", "cuda/a")


def test_every_failure_outcome_has_its_count() -> None:
    for outcome in Outcome:
        assert (f"failed_{outcome}" in COUNTS) is (outcome is not Outcome.PASSED)


def test_every_count_is_written() -> None:
    statement = " ".join(queries.text("add_to_next", "neo4j").split())
    for name in COUNTS:
        assert f"n.{name} = coalesce(n.{name}, 0) + row.{name}" in statement


def test_an_example_is_counted_where_it_was_measured_last() -> None:
    rows = share(Evidence.of(plan("a", measurements=[measured(H200), measured(A100)])))
    assert {device: tally.counts["examples"] for (_, device), tally in rows.items()} == {
        H200: 0,
        A100: 1,
    }
    assert list(share(Evidence.of(plan("a")))) == [(START_A, "unmeasured")]


@pytest.mark.parametrize(("effect", "log2"), [(1.0, 0), (2.0, 2**20), (0.25, -(2**21))])
def test_effects_are_summed_in_fixed_point(effect: float, log2: int) -> None:
    rows = share(Evidence.of(plan("a", measurements=[measured(effect=effect)])))
    assert rows[START_A, H200].counts["sum_log2_effect"] == log2
    assert rows[START_A, H200].counts["sum_sq_log2_effect"] == log2**2 // 2**20


def test_a_passed_step_that_was_not_timed_before_has_no_effect() -> None:
    rows = share(Evidence.of(plan("a", measurements=[measured(before_seconds=None)])))
    assert rows[START_A, H200].best_effect is None
    assert rows[START_A, H200].counts["verified"] == 1


def test_what_is_added_and_removed_cancels() -> None:
    one = share(Evidence.of(plan("ab", measurements=[measured()], failures=[failure()])))
    left = total([one, one], [one])
    assert {key: +tally.counts for key, tally in left.items()} == {
        key: +tally.counts for key, tally in one.items()
    }
    assert list(left) == sorted(one)


def test_a_failed_trial_has_no_effect() -> None:
    tally = Tally()
    tally.count(Outcome.WRONG_ANSWER, effect=4.0)
    assert (tally.counts["tried"], tally.counts["verified"], tally.best_effect) == (1, 0, None)
