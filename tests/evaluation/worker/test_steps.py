"""Time of calls on a device: by the steps that the stopwatch saw, unless readying took longer."""

import numpy as np
import pytest

from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.sealing import Seal
from regraph_kg.evaluation.worker.shared_memory import PART
from regraph_kg.evaluation.worker.steps import Costs, Rehearsal

US = 1e-6
COSTS = Costs(
    sweep=40 * US, whole=80 * US, changed=50 * US, launch=8 * US, start=60 * US, least=38 * US
)
ROUND_TRIP = 20 * US


def batch(ready: float, *calls: float, start: float = 60, late: float = 0) -> Elapsed:
    """What is seen of calls of so many microseconds, each `ready` after the one before.

    `late`: what passes once all are over.
    """
    steps = np.array([start, *(took for call in calls for took in (ready, call))])
    return Elapsed((steps.sum() + 20 + late) * US, 0.0, steps=steps * US)


@pytest.mark.parametrize("start", [60, 500])
@pytest.mark.parametrize("ready", [25, 40, 44])
def test_calls_count_alone_less_an_empty_kernel(ready: float, start: float) -> None:
    found = COSTS.taken_off(batch(ready, 30, 28, 29, start=start), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)
    assert found.aside == pytest.approx((start + 3 * ready) * US)


def test_work_that_is_done_while_a_call_is_made_ready_counts() -> None:
    found = COSTS.taken_off(batch(65, 10, 10, 10), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((3 * 35 - 3 * 8) * US)


def test_calls_take_no_longer_than_the_whole_batch() -> None:
    found = COSTS.taken_off(batch(40, 30, 28, 29, late=-100), ROUND_TRIP, 3, None)
    assert found.ours <= (60 + 3 * 40 + 87 - 100) * US


def test_a_count_that_was_not_seen_whole_is_not_used() -> None:
    seen = batch(40, 30, 28, 29)
    for steps in (seen.steps[:-1], seen.steps[:0]):
        found = COSTS.taken_off(Elapsed(seen.ours, 0.0, steps=steps), ROUND_TRIP, 3, None)
        assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)


def test_a_call_costs_what_it_needs() -> None:
    parts = np.zeros(6, PART)
    parts["arrays"][:2], parts["elements"][2:5] = 1, 16
    assert COSTS.of(6, Seal((1, 2), parts, 50)) == pytest.approx((2 * 80 + 3 * 50 + 40) * US)
    assert COSTS.of(6, None) == pytest.approx(6 * 40 * US)


def test_a_rehearsal_tells_start_sweep_and_launch_apart() -> None:
    seen = Rehearsal([batch(40, 8, 9, 8), batch(42, 8, 8, 8, start=90), batch(38, 7, 8, 8)], 3)
    assert (seen.ready, seen.least, seen.launch) == pytest.approx((40 * US, 38 * US, 8 * US))
    assert seen.start == pytest.approx((60 + 20) * US)


def test_without_a_stopwatch_all_is_getting_ready() -> None:
    seen = Rehearsal([Elapsed(3.0, 0.0), Elapsed(6.0, 0.0), Elapsed(9.0, 0.0)], 3)
    assert (seen.ready, seen.least, seen.launch, seen.start) == (2.0, 1.0, 0.0, 0.0)


def test_no_batch_takes_nothing() -> None:
    assert Costs().taken_off(Elapsed(ROUND_TRIP / 2, 0.0), ROUND_TRIP, 1, None).ours > 0
