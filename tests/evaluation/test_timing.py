"""Order statistics and the stop rule, by table."""

import math
from collections.abc import Callable

import pytest

from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.supervisor import Elapsed
from regraph_kg.evaluation.timing import Measured, StopRule, half_width, measure, summarise
from regraph_kg.models.evaluation import Outcome


@pytest.mark.parametrize(
    ("count", "left_out"),
    [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (20, 5), (100, 39), (2000, 955)],
)
def test_the_interval_leaves_out_what_binomial_tables_say(count: int, left_out: int) -> None:
    timing = summarise([float(i) for i in range(1, count + 1)])
    assert (timing.interval.low, timing.interval.high) == (1 + left_out, count - left_out)
    assert timing.median == (count + 1) / 2


def test_half_width_is_relative_to_the_median() -> None:
    assert half_width(summarise([9, 10, 10, 10, 10, 11])) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("samples", "spent", "stops"),
    [
        ([1.0] * 5, 99, False),
        ([1.0] * 6, 0, True),
        ([1.0, 2.0] * 3, 0.5, False),
        ([1.0, 2.0] * 3, 1.0, True),
        ([1.0, 9.0] * 3, 1.0, False),
        ([1.0, 9.0] * 3, 4.0, True),
        ([1.0, 9.0] * 100, 0, True),
        ([31.0] * 2, 99, False),
        ([31.0] * 3, 0, True),
        ([31.0, 31.0, 29.0], 0, False),
    ],
)
def test_a_series_ends_when_the_rule_says(samples: list[float], spent: float, stops: bool) -> None:
    rule = StopRule(seconds=1.0, half_width=0.01, acceptable=0.5, give_up_above=30.0)
    assert rule.stop(samples, spent) is stops


def test_without_a_limit_nothing_is_given_up() -> None:
    assert StopRule(1.0, 0.01).give_up_above == math.inf


class PacedBench:
    """A bench whose batches are as large as asked."""

    largest_batch = 4096

    def __init__(self) -> None:
        self.turns = 0
        self.closed = False

    def begin(self, worker: object) -> None: ...
    def end(self, worker: object) -> None: ...

    def turn(self, worker: object) -> None:
        self.turns += 1

    def draw(self, most: int, *, closing: bool = False) -> list[int]:
        self.closed = closing
        return [0] * most


class PacedWorker:
    """Takes `call_seconds` a call, claims what `claim` makes of it, answers `late` seconds late."""

    def __init__(
        self, call_seconds: float, claim: Callable[[float], float], late: float = 0.0
    ) -> None:
        self.call_seconds, self.claim, self.late = call_seconds, claim, late

    def settle(self) -> None: ...

    def call(self, rows: list[int], seconds: float) -> Elapsed:
        passed = self.call_seconds * len(rows)
        return Elapsed(passed + (self.late if rows else 0), self.claim(passed))


def timed(worker: PacedWorker, *, check_clock: bool = True) -> Measured | Failure:
    rule = StopRule(seconds=0.1, half_width=0.01)
    return measure(worker, PacedBench(), rule, 1.0, check_clock)  # type: ignore[arg-type]


def test_a_clock_that_agrees_is_believed() -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed * 0.99))
    assert isinstance(result, Measured)
    assert summarise(result.samples).median == pytest.approx(0.002 * 0.99)
    assert not result.distrusted


def test_a_clock_that_claims_a_tenth_is_suspicious() -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed / 10))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.SUSPICIOUS
    assert "0.002 s passed" in result.diagnosis
    believed = timed(PacedWorker(0.002, lambda passed: passed / 10), check_clock=False)
    assert isinstance(believed, Measured)
    assert summarise(believed.samples).median == pytest.approx(0.0002)


def test_a_clock_that_claims_a_fifth_less_gains_nothing() -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed * 0.8))
    assert isinstance(result, Measured)
    assert summarise(result.samples).median == pytest.approx(0.002)
    assert result.distrusted


def test_a_judge_that_is_woken_late_suspects_nobody() -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed, late=0.03))
    assert isinstance(result, Measured)
    assert min(result.samples) > 0.002
    assert result.distrusted


def test_inputs_change_places_once_before_the_closing_batch() -> None:
    bench = PacedBench()
    worker = PacedWorker(0.02, lambda passed: passed)
    measure(worker, bench, StopRule(0.1, 0.01), 1.0, True)  # type: ignore[arg-type]
    assert bench.turns == 1
    assert bench.closed
