"""Two pretended workers in turn: on new inputs together."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from regraph_kg.evaluation.timing import timing
from regraph_kg.evaluation.timing.stop import WarmUp
from regraph_kg.evaluation.timing.timing import MeasuredSeries, TimingOptions, measure_in_turn

from .test_timing import PacedBench, PacedWorker

METHOD = TimingOptions(warm_up=WarmUp(seconds=0.02), cooling_seconds=0.0)


class SlowBench(PacedBench):
    """Writes new inputs where it must; notes which loads those were."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[bool] = []

    def load(self, worker: PacedWorker, count: int, timed: float) -> list[int]:
        super().load(worker, count, timed)
        new = math.isinf(timed)
        self.is_new = worker.finds_new = new
        self.new.append(new)
        return list(range(count))


@pytest.fixture(autouse=True)
def a_host_that_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "stolen_seconds", lambda _: 0.0)


def in_turn(*pair: tuple[PacedWorker, PacedBench]) -> Sequence[MeasuredSeries]:
    both: Any = pair
    return measure_in_turn(both, 1.0, METHOD)


def test_both_have_new_inputs_in_the_same_turns() -> None:
    """Though one of them took more batches to warm up."""
    slow, fast = SlowBench(), SlowBench()
    worker = PacedWorker(0.002)
    worker.tails = iter((3.0, 2.0, 1.5, 1.2))
    in_turn((worker, slow), (PacedWorker(0.002), fast))
    assert len(slow.new) != len(fast.new)
    assert slow.new[-28:] == fast.new[-28:], "25 turns, and 3 calls one by one"
    assert sum(slow.new[-28:]) == 7 + 3


def test_where_new_inputs_take_one_longer_only_such_turns_count() -> None:
    carries = PacedWorker(0.002, new_seconds=0.002)
    one, other = in_turn((carries, SlowBench()), (PacedWorker(0.002), SlowBench()))
    assert set(one.samples) == {0.004}
    assert len(one.samples) == len(other.samples)
