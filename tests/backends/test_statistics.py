"""What trajectories contribute to the NEXT rows, by hand."""

from collections import Counter

import pytest

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import NextRows, RowKey, add, contribution, together
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.trajectory import Source, standing
from tests.contract.plans import A100, H200, failure, measured, plan

START_A = Pair("cuda/start", "cuda/a")


def test_an_example_is_counted_where_it_was_measured_last() -> None:
    later = measured(A100, run="2026-11-22T10:00:00Z")
    rows = contribution(Evidence.of(plan("a", measurements=[later, measured(H200)])))
    assert {origin: tally["examples"] for (_, origin), tally in rows.items()} == {
        RowKey(H200): 0,
        RowKey(A100): 1,
    }
    assert list(contribution(Evidence.of(plan("a")))) == [(START_A, RowKey("unmeasured"))]


@pytest.mark.parametrize(("effect", "log2"), [(1.0, 0), (2.0, 2**20), (0.25, -(2**21))])
def test_effects_are_summed_in_fixed_point(effect: float, log2: int) -> None:
    rows = contribution(Evidence.of(plan("a", measurements=[measured(effect=effect)])))
    assert rows[START_A, RowKey(H200)]["sum_log2_effect"] == log2


def test_a_passed_step_that_was_not_timed_before_has_no_effect() -> None:
    rows = contribution(Evidence.of(plan("a", measurements=[measured(before_seconds=None)])))
    assert rows[START_A, RowKey(H200)]["sum_log2_effect"] == 0
    assert rows[START_A, RowKey(H200)]["verified"] == 1


def test_what_is_added_and_removed_cancels() -> None:
    evidence = Evidence.of(plan("ab", measurements=[measured()], failures=[failure()]))
    left: NextRows = {}
    for sign in (1, 1, -1):
        add(left, contribution(evidence), sign)
    assert {key: +counts for key, counts in left.items()} == {
        key: +counts for key, counts in contribution(evidence).items()
    }


def tally(tried: int, verified: int = 0, log2: int = 0) -> Counter[str]:
    return Counter(tried=tried, verified=verified, sum_log2_effect=log2, examples=verified)


def told(*rows: tuple[str | None, Counter[str]]) -> tuple[int, int, int]:
    summed = together({RowKey(H200, learner): one for learner, one in rows}, capped=True)
    return tuple(summed[name] for name in ("tried", "verified", "sum_log2_effect"))  # type: ignore[return-value]


def test_what_one_model_taught_counts_up_to_eight_tries_at_its_own_rates() -> None:
    assert told(("m", tally(8, 4, 40))) == (8, 4, 40)
    assert told(("m", tally(80, 40, 400))) == (8, 4, 40)
    assert told((None, tally(2, 2, 20)), ("m", tally(80, 40, 400))) == (10, 6, 60)


def test_what_one_model_taught_never_outweighs_the_rest_beyond_that() -> None:
    assert told((None, tally(20, 20)), ("m", tally(80, 0))) == (40, 20, 0)
    assert told((None, tally(100, 50)), ("m", tally(80, 40))) == (180, 90, 0)
    two = [("m", tally(1000, 100)), ("n", tally(50, 50))]
    assert told(*two) == (50 + 50, 5 + 50, 0)


def test_a_cap_is_on_weight_and_leaves_examples_alone() -> None:
    learned = {RowKey(H200, "m"): tally(80, 40)}
    assert together(learned, capped=True)["examples"] == 40
    assert together(learned)["tried"] == 80


def test_learned_steps_and_failures_count_in_rows_of_their_model() -> None:
    source = Source(model="m@1", learned=True)
    one = plan("a", measurements=[measured()], failures=[failure("b")], source=source)
    assert set(contribution(Evidence.of(one))) == {
        (START_A, RowKey(H200, "m@1")),
        (Pair("cuda/a", "cuda/b"), RowKey(H200, "m@1")),
    }


def test_right_code_that_was_timed_too_noisily_is_no_try() -> None:
    noisy = measured(outcome=Outcome.UNSTABLE_TIMING)
    rows = contribution(
        Evidence.of(plan("a", measurements=[noisy], failures=[failure(outcome=noisy.outcome)]))
    )
    assert sum(tally["tried"] for tally in rows.values()) == 0
    assert sum(tally["failed_unstable_timing"] for tally in rows.values()) == 0
    assert sum(tally["examples"] for tally in rows.values()) == 1


def test_a_step_on_code_that_its_preconditions_rule_out_is_an_example_and_no_try() -> None:
    told = measured(effect=0.05, run="y").model_copy(update={"ruled_out": True})
    old, other = measured(effect=0.05, run="x"), measured(A100, effect=0.05, run="z")
    failed = failure("b").model_copy(update={"ruled_out": True})
    rows = contribution(Evidence.of(plan("a", measurements=[old, told, other], failures=[failed])))
    assert {pair: +row for (pair, _), row in rows.items()} == {START_A: {"examples": 1}}


def test_a_newer_judges_figures_stand_for_an_older_ones_on_the_same_device() -> None:
    old, new = measured(evaluator="9", run="x"), measured(evaluator="10", run="y", effect=8.0)
    elsewhere = measured(A100, evaluator="9")
    rows = contribution(Evidence.of(plan("a", measurements=[new, old, elsewhere])))
    assert rows[START_A, RowKey(H200)]["tried"] == 1
    assert rows[START_A, RowKey(H200)]["sum_log2_effect"] == 3 * 2**20
    assert rows[START_A, RowKey(A100)]["tried"] == 1


def test_a_step_after_one_that_failed_on_the_device_gains_what_its_call_gained() -> None:
    after_nothing = measured(metric="device").model_copy(update={"before_seconds": None})
    assert (after_nothing.outcome, after_nothing.effect) == (Outcome.PASSED, None)
    given = [measured(metric="call", effect=2.0), after_nothing]
    assert standing(given) == (given[0],)
    assert standing(given[1:]) == (after_nothing,)


@pytest.mark.parametrize(
    ("metrics", "effects", "verified"),
    [
        ({"call": 1.1, "device": 8.0}, 3, 1),
        ({"call": 2.0, "device": None}, 1, 1),
        ({"device": 8.0}, 3, 1),
        ({"device": None}, 0, 0),
        ({"call": None, "device": None}, 0, 0),
    ],
)
def test_a_step_timed_by_two_metrics_counts_once_by_its_times_on_the_device_where_it_has_any(
    metrics: dict[str, float | None], effects: int, verified: int
) -> None:
    given = [measured(metric=metric, effect=effect) for metric, effect in metrics.items()]
    rows = contribution(Evidence.of(plan("a", measurements=given)))
    counts = rows[START_A, RowKey(H200)]
    assert counts["tried"] == 1
    assert counts["verified"] == verified
    assert counts["sum_log2_effect"] == effects * 2**20


def test_no_single_effect_makes_a_mean() -> None:
    (rows,) = contribution(Evidence.of(plan("a", measurements=[measured(effect=6e4)]))).values()
    assert rows["sum_log2_effect"] == 10 * 2**20
