"""Time of calls on a device: by the steps that the stopwatch saw, unless readying took longer."""

from dataclasses import replace

import numpy as np
import pytest

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.handshake import MOVED, Elapsed
from regraph_kg.evaluation.worker.sealing import Seal
from regraph_kg.evaluation.worker.shared_memory import PART
from regraph_kg.evaluation.worker.steps import Costs, Rehearsal
from regraph_kg.models.evaluation import Outcome

US = 1e-6
COSTS = Costs(
    sweep=40 * US,
    whole=80 * US,
    changed=50 * US,
    launch=8 * US,
    start=60 * US,
    around=64 * US,
    least=38 * US,
)
ROUND_TRIP = 20 * US


def batch(ready: float, *calls: float, start: float = 60, end: float = 4) -> Elapsed:
    """What is seen of calls of so many microseconds, each `ready` after the one before.

    `end`: what passes once all are over.
    """
    steps = np.array([start, *(took for call in calls for took in (ready, call)), end])
    return Elapsed((steps.sum() + 16) * US, 0.0, steps=steps * US)


@pytest.mark.parametrize("start", [50, 85])
@pytest.mark.parametrize("ready", [25, 40, 52])
def test_calls_count_alone_less_an_empty_kernel(ready: float, start: float) -> None:
    found = replace(COSTS).taken_off(batch(ready, 30, 28, 29, start=start), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)
    assert found.aside == pytest.approx((start + 3 * ready) * US)


def test_work_that_is_done_while_a_call_is_made_ready_counts() -> None:
    found = replace(COSTS).taken_off(batch(65, 10, 10, 10), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((3 * 35 - 3 * 8) * US)


def test_readying_that_is_disturbed_now_and_then_moves_no_time() -> None:
    costs, readying = replace(COSTS), [41, 90, 40, 200, 43, 42, 90, 41]
    found = [costs.taken_off(batch(took, 18, 18), ROUND_TRIP, 2, None).ours for took in readying]
    assert found == pytest.approx([20 * US] * len(found), rel=1e-6)


def test_the_last_batches_decide_whether_readying_is_believed() -> None:
    costs, readying = replace(COSTS), [40] * 9 + [65] * 3
    *before, last = [costs.taken_off(batch(took, 18, 18), ROUND_TRIP, 2, None) for took in readying]
    seconds = [one.ours for one in before]
    assert seconds == pytest.approx([20 * US] * len(before), rel=1e-6)
    assert last.ours == pytest.approx((20 + 2 * 25) * US)
    assert [one.is_whole for one in (before[-1], last)] == [False, True]


@pytest.mark.parametrize("where", ["start", "end"])
def test_work_before_the_first_call_or_after_the_last_counts(where: str) -> None:
    seen = batch(40, 10, 10, 10, **{where: 364.0})
    found = replace(COSTS).taken_off(seen, ROUND_TRIP, 3, None)
    assert found.ours > 3 * 90 * US


def test_batches_with_new_inputs_are_judged_apart() -> None:
    costs, new = replace(COSTS), np.ones(3, PART)
    new["elements"] = 0
    for _ in range(5):
        costs.taken_off(batch(40, 10, 10, 10), ROUND_TRIP, 3, None)
    found = costs.taken_off(batch(180, 10, 10, 10), ROUND_TRIP, 3, Seal((1, 2), new, 3))
    assert found.ours > 3 * 90 * US


def test_steps_that_were_missed_are_not_used() -> None:
    seen = batch(40, 30, 28, 29)
    found = replace(COSTS).taken_off(Elapsed(seen.ours, 0.0), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)


def test_a_count_that_was_moved_is_no_harness_s() -> None:
    with pytest.raises(Failure) as failed:
        COSTS.taken_off(Elapsed(1.0, 0.0, steps=MOVED), ROUND_TRIP, 3, None)
    assert failed.value.outcome is Outcome.SUSPICIOUS


def test_without_a_rehearsal_an_empty_batch_says_what_is_not_counted() -> None:
    found = Costs().taken_off(batch(1, 50, 50, start=17, end=2), ROUND_TRIP, 2, None)
    assert found.ours == pytest.approx(100 * US)


def test_a_call_costs_what_it_needs() -> None:
    parts = np.zeros(6, PART)
    parts["arrays"][:2], parts["elements"][2:5] = 1, 16
    assert COSTS.of(6, Seal((1, 2), parts, 50)) == pytest.approx((2 * 80 + 3 * 50 + 40) * US)
    assert COSTS.of(6, None) == pytest.approx(6 * 40 * US)


def test_a_rehearsal_tells_start_sweep_and_launch_apart() -> None:
    seen = Rehearsal([batch(40, 8, 9, 8), batch(42, 8, 8, 8, start=90), batch(38, 7, 8, 8)], 3)
    assert (seen.ready, seen.least, seen.launch) == pytest.approx((40 * US, 38 * US, 8 * US))
    assert (seen.start, seen.around) == pytest.approx((80 * US, 64 * US))


def test_without_a_stopwatch_all_is_getting_ready() -> None:
    seen = Rehearsal([Elapsed(3.0, 0.0), Elapsed(6.0, 0.0), Elapsed(9.0, 0.0)], 3)
    assert (seen.ready, seen.least, seen.launch, seen.start) == (2.0, 1.0, 0.0, 0.0)
    assert not seen.around


def test_what_is_taken_off_leaves_no_less_than_it_may_be_off_by() -> None:
    """On a GPU that others use an empty kernel may seem to take longer than the calls."""
    costs = replace(COSTS, launch=900 * US, error=300 * US)
    found = costs.taken_off(batch(40, 150, 160, 155), ROUND_TRIP, 3, None)
    assert (found.ours, found.is_short) == (pytest.approx(900 * US), True)
    known = replace(COSTS, error=US).taken_off(batch(40, 150, 160, 155), ROUND_TRIP, 3, None)
    assert not known.is_short
    nothing = Costs().taken_off(Elapsed(ROUND_TRIP / 2, 0.0), ROUND_TRIP, 1, None)
    assert (nothing.ours > 0, nothing.is_short) == (True, True)


def test_what_a_launch_varies_by_is_what_it_may_be_off_by() -> None:
    steady = Rehearsal([batch(40, took, took, took) for took in (8, 8.2, 8.1, 8)], 3)
    shared = Rehearsal([batch(40, took, took, took) for took in (8, 900, 20, 1500)], 3)
    assert steady.error < 0.2 * US
    assert shared.error > 300 * US


def test_a_sweep_whose_count_was_moved_is_seen_to_be_shrunk() -> None:
    assert Rehearsal([Elapsed(3.0, 0.0, steps=MOVED)], 3).ready == 0
