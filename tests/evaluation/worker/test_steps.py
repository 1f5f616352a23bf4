"""Time of calls on a device: by the steps that the stopwatch saw, unless readying took longer."""

import numpy as np
import pytest

from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.sealing import Seal
from regraph_kg.evaluation.worker.shared_memory import PART
from regraph_kg.evaluation.worker.steps import Costs, Readied, readied

US = 1e-6
COSTS = Costs(
    sweep=Readied(60 * US, 40 * US),
    whole=Readied(100 * US, 80 * US),
    changed=Readied(70 * US, 50 * US),
    launch=8 * US,
    least=38 * US,
)
ROUND_TRIP = 20 * US


def batch(ready: float, *calls: float, before: float = 60) -> Elapsed:
    """What is seen of calls that take so many microseconds, each `ready` after the one before."""
    steps = np.array([[ready, call] for call in calls]).reshape(-1)
    steps[0] = before
    return Elapsed((sum(steps) + 20) * US, 0.0, steps=steps * US)


def test_calls_count_alone_less_an_empty_kernel() -> None:
    found = COSTS.taken_off(batch(40, 30, 28, 29), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)
    assert found.aside == pytest.approx((60 + 40 + 40) * US)


def test_what_getting_ready_takes_does_not_matter_where_it_takes_less() -> None:
    found = COSTS.taken_off(batch(25, 30, 28, 29), ROUND_TRIP, 3, None)
    assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)


def test_work_that_is_done_while_a_call_is_made_ready_counts() -> None:
    hidden = COSTS.taken_off(batch(65, 10, 10, 10, before=85), ROUND_TRIP, 3, None)
    assert hidden.ours == pytest.approx((3 * 35 - 3 * 8) * US)


def test_a_count_that_was_not_seen_whole_is_not_used() -> None:
    seen = batch(40, 30, 28, 29)
    for steps in (seen.steps[:-1], seen.steps[:0]):
        found = COSTS.taken_off(Elapsed(seen.ours, 0.0, steps=steps), ROUND_TRIP, 3, None)
        assert found.ours == pytest.approx((30 + 28 + 29 - 3 * 8) * US)
    assert Costs().taken_off(seen, ROUND_TRIP, 3, None).ours == pytest.approx(227 * US)


def test_a_call_costs_what_it_needs_and_the_first_one_more() -> None:
    parts = np.zeros(6, PART)
    parts["arrays"][:2], parts["elements"][2:5] = 1, 16
    assert COSTS.of(6, Seal((1, 2), parts, 50)) == pytest.approx((100 + 80 + 3 * 50 + 40) * US)
    assert COSTS.of(6, None) == pytest.approx((60 + 5 * 40) * US)
    assert COSTS.of(0, None) == 0


def test_the_first_call_is_told_from_the_others() -> None:
    batches = [batch(40, 8, 9, 8), batch(42, 8, 8, 8, before=70), batch(38, 7, 8, 8)]
    cost, least, launch = readied(batches, 3)
    assert (cost.first, cost.other) == pytest.approx((60 * US, 40 * US))
    assert (least, launch) == pytest.approx((38 * US, 8 * US))


def test_without_a_stopwatch_all_is_getting_ready() -> None:
    cost, least, launch = readied([Elapsed(3.0, 0.0), Elapsed(6.0, 0.0), Elapsed(9.0, 0.0)], 3)
    assert (cost, least, launch) == (Readied(2.0, 2.0), 1.0, 0.0)


def test_no_batch_takes_nothing() -> None:
    assert Costs().taken_off(Elapsed(ROUND_TRIP / 2, 0.0), ROUND_TRIP, 1, None).ours > 0
