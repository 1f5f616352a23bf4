"""Series on a pretended worker: what the clock spans, new inputs that take longer, tails, heat."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from regraph_kg.evaluation.gpu.monitor import GpuMonitor
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.timing import timing
from regraph_kg.evaluation.timing.stop import StopRule, WarmUp, summarise
from regraph_kg.evaluation.timing.timing import (
    SLEEPING,
    SPINNING,
    MeasuredSeries,
    TimedSeries,
    TimingOptions,
    carried_over,
    is_uneven,
    timed_calls,
)
from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.steps import Costs
from regraph_kg.models.evaluation import Outcome

from ..caught import caught
from ..gpu.test_monitor import ScriptedNvml, monitor

RULE = StopRule(seconds=0.1, half_width=0.01)


@pytest.fixture(autouse=True)
def a_host_that_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "stolen_seconds", lambda _: 0.0)


class PacedBench:
    """A bench whose batches are as large as asked; every `new_each`-th has new inputs."""

    largest_batch = 4096

    def __init__(self, new_each: int = 1) -> None:
        self._new_each = new_each
        self.done: list[str] = []
        self.loads = 0
        self.is_new = True
        self.harms: Failure | None = None
        self.changes: Failure | None = None

    def begin(self) -> None:
        self.done.append("begin")

    def load(self, worker: "PacedWorker", count: int, timed: float) -> list[int]:
        self.done.append("load")
        self.is_new = worker.finds_new = self.loads % self._new_each == 0
        self.loads += 1
        return list(range(count))

    def keep(self, worker: object, rows: Sequence[int]) -> None:
        self.done.append("keep")
        if self.changes and self.loads > 5:
            raise self.changes

    def require_no_harm(self, worker: object) -> None:
        if self.harms:
            raise self.harms


class PacedWorker:
    """Takes `call_seconds` a call, `new_seconds` more on new inputs; says what `claim` makes."""

    device_work = 0, 1, 0
    costs = Costs()
    outside: Failure | None = None

    def __init__(
        self,
        call_seconds: float,
        claim: Callable[[float], float] = lambda passed: passed,
        new_seconds: float = 0.0,
    ) -> None:
        self.call_seconds, self.claim = call_seconds, claim
        self.new_seconds, self.finds_new = new_seconds, True
        self.tails = iter(())
        self.wholes: Iterator[bool] = iter(())
        self.patience: list[float] = []

    def settle(self) -> None: ...

    def require_rest(self) -> None:
        if self.outside:
            raise self.outside

    def call(self, rows: Sequence[int], seconds: float) -> Elapsed:
        self.patience.append(seconds)
        passed = (self.call_seconds + self.new_seconds * self.finds_new) * len(rows)
        passed *= next(self.tails, 1.0)
        return Elapsed(passed, self.claim(passed), is_whole=next(self.wholes, False))


def timed(
    worker: PacedWorker, *, bench: PacedBench | None = None, rule: StopRule = RULE, **method: Any
) -> MeasuredSeries | Failure:
    how = TimingOptions(**{"warm_up": WarmUp(seconds=0.02), "cooling_seconds": 0.0, **method})
    series = TimedSeries(worker, bench or PacedBench(), 1.0, how)

    def run() -> MeasuredSeries:
        with timed_calls(1.0):
            series.begin()
            series.run(rule, how.warm_up)
            return series.end()

    return caught(run)


@pytest.mark.parametrize(("believed", "seconds"), [(True, 0.002), (False, 0.0002)])
def test_the_judges_clock_counts_whatever_the_worker_says(believed: bool, seconds: float) -> None:
    worker = PacedWorker(0.002, claim=lambda passed: passed / 10)
    result = timed(worker, judge_clock=believed)
    assert isinstance(result, MeasuredSeries)
    assert summarise(result.samples).median == pytest.approx(seconds)


@pytest.mark.parametrize(("pattern", "whole"), [([True, False, False], False), ([True], True)])
def test_a_series_says_where_most_samples_are_of_more_than_calls(
    pattern: list[bool], whole: bool
) -> None:
    worker = PacedWorker(0.01)
    worker.wholes = itertools.cycle(pattern)
    result = timed(worker)
    assert isinstance(result, MeasuredSeries)
    assert result.whole is whole


def test_calls_that_the_clock_cannot_tell_are_bounded_by_what_it_can() -> None:
    worker, bench = PacedWorker(1e-9), PacedBench()
    result = timed(worker, bench=bench)
    assert isinstance(result, MeasuredSeries)
    assert result.short
    assert min(result.samples) * bench.largest_batch >= SLEEPING.slack_seconds


def test_batches_grow_until_the_clock_can_tell() -> None:
    worker, bench = PacedWorker(1e-6), PacedBench()
    result = timed(worker, bench=bench, clock=SPINNING, warm_up=WarmUp(seconds=5.0))
    assert isinstance(result, MeasuredSeries)
    assert summarise(result.samples).median == pytest.approx(1e-6)
    assert max(worker.patience) >= 1.0 + 1000 * SPINNING.batch_seconds


def test_every_batch_finds_its_inputs_and_leaves_what_is_verified() -> None:
    bench = PacedBench()
    timed(PacedWorker(0.02), bench=bench)
    assert bench.done == ["begin", *["load", "keep"] * bench.loads]


def test_far_slower_than_the_incumbent_is_given_up_after_three_samples() -> None:
    result = timed(PacedWorker(0.01), rule=StopRule(0.1, 0.0, give_up_above=0.001))
    assert isinstance(result, MeasuredSeries)
    assert result.censored
    assert len(result.samples) == 3


def test_writing_inputs_that_takes_long_ends_a_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_LEAST_PATIENCE_SECONDS", 0.0)
    bench, load = PacedBench(), PacedBench.load
    monkeypatch.setattr(bench, "load", lambda *args: time.sleep(0.005) or load(bench, *args))
    worker = PacedWorker(1e-6)
    worker.tails = iter([1.0, 2.0] * 1000)
    result = timed(worker, bench=bench, rule=StopRule(0.005, 0.0))
    assert isinstance(result, MeasuredSeries)
    assert 6 <= len(result.samples) <= 12


@pytest.mark.parametrize(
    ("call", "more", "longer"), [(0.01, 0.02, 3.0), (0.01, 0.0005, None), (0.01, 0.0, None)]
)
def test_only_calls_on_new_inputs_count_where_those_take_longer(
    call: float, more: float, longer: float | None
) -> None:
    rule = StopRule(10.0, 0.0, least=40, most=40)
    result = timed(PacedWorker(call, new_seconds=more), bench=PacedBench(new_each=4), rule=rule)
    assert isinstance(result, MeasuredSeries)
    if longer is None:
        assert result.carried_over is None
        assert len(result.samples) == 40
    else:
        assert result.carried_over == pytest.approx(longer)
        assert result.samples == pytest.approx([call + more] * 10)
        assert result.facts()["new_inputs"] == "3x"


@pytest.mark.parametrize(
    ("new", "changed", "longer"),
    [
        ([3.0] * 3, [1.0], 3.0),
        ([3.0] * 2, [1.0] * 9, 3.0),  # few, but slower
        ([3.0] * 9, [], None),  # nothing to compare with
        ([1.1] * 3, [1.0] * 3, None),
        ([1.11] * 3, [1.0] * 3, 1.11),
        ([1.0] * 3, [3.0] * 3, None),  # the other way round
        ([9.0, 1.0, 1.0, 1.0, 1.0], [1.0] * 3, None),  # one that was disturbed
    ],
)
def test_what_is_carried_over_shows_in_medians(
    new: list[float], changed: list[float], longer: float | None
) -> None:
    samples = [(one, True) for one in new] + [(one, False) for one in changed]
    assert carried_over(samples) == (longer if longer is None else pytest.approx(longer))


@pytest.mark.parametrize(
    ("batched", "one", "ahead"),
    [
        (0.0005, 0.002, 4.0),
        (0.001, 0.0017, None),  # waking up explains it
        (0.0001, 0.0004, None),  # too short to tell
        (0.002, 0.001, None),
    ],
)
def test_calls_one_by_one_count_where_those_of_a_batch_worked_for_each_other(
    monkeypatch: pytest.MonkeyPatch, batched: float, one: float, ahead: float | None
) -> None:
    worker = PacedWorker(batched)
    call = worker.call

    def alone(rows: Sequence[int], seconds: float) -> Elapsed:
        worker.call_seconds = one if len(rows) == 1 else batched
        worker.wholes = iter([len(rows) == 1])
        return call(rows, seconds)

    monkeypatch.setattr(worker, "call", alone)
    result = timed(worker, warm_up=WarmUp(seconds=5.0))
    assert isinstance(result, MeasuredSeries)
    assert result.worked_ahead == (ahead if ahead is None else pytest.approx(ahead))
    assert summarise(result.samples).median == pytest.approx(one if ahead else batched)
    assert ("one_by_one" in result.facts()) == bool(ahead)
    assert result.whole == bool(ahead), "only those that count say what they are of"


@pytest.mark.parametrize(
    ("samples", "slack", "uneven"),
    [
        ([1.0] * 10, 0.0, False),
        ([1.0] * 9 + [3.0], 0.0, False),  # one is never enough
        ([1.0] * 8 + [3.0] * 2, 0.0, True),
        ([1.0] * 8 + [2.0] * 2, 0.0, False),  # not above twice
        ([1.0] * 18 + [3.0] * 2, 0.0, True),
        ([1.0] * 19 + [3.0] * 2, 0.0, False),  # less than a tenth
        ([1.0] * 8 + [3.0] * 2, 2.0, False),  # it may be the clock
        ([1.0] * 8 + [3.0] * 2, 1.9, True),
        ([1.0, 1.0, 3.0, 3.0], 0.0, False),  # the median is 2
    ],
)
def test_a_tenth_that_takes_twice_as_long_makes_a_series_uneven(
    samples: list[float], slack: float, uneven: bool
) -> None:
    assert is_uneven(samples, slack) is uneven


def test_code_that_is_honest_now_and_then_is_not_believed() -> None:
    worker = PacedWorker(0.01)
    worker.tails = iter([1.0, 1.0, 1.0, *[1.0, 1.0, 1.0, 10.0] * 50])
    result = timed(worker, rule=StopRule(10.0, 0.0, most=40))
    assert isinstance(result, MeasuredSeries)
    assert result.uneven


@pytest.mark.parametrize(("share", "thrown_away"), [(0.0, 0), (0.02, 0), (0.5, 6)])
def test_samples_of_which_the_host_took_much_are_thrown_away_a_few_times(
    monkeypatch: pytest.MonkeyPatch, share: float, thrown_away: int
) -> None:
    seconds, least, warm_up = 0.02, 6, 3
    taken = itertools.count(0.0, share * seconds)
    monkeypatch.setattr(timing, "stolen_seconds", lambda _: next(taken))
    bench = PacedBench()
    result = timed(PacedWorker(seconds), bench=bench)
    assert isinstance(result, MeasuredSeries)
    assert len(result.samples) == least
    assert bench.loads - warm_up - least == thrown_away


@pytest.mark.parametrize("whose", ["outside", "harms", "changes"])
def test_what_was_found_besides_times_fails_a_series(whose: str) -> None:
    worker, bench = PacedWorker(0.02), PacedBench()
    found = Failure(Outcome.SUSPICIOUS, "it was seen")
    setattr(worker if whose == "outside" else bench, whose, found)
    assert timed(worker, bench=bench) is found
    assert found.diagnosis == "at the timing shape: it was seen"


def test_a_call_that_takes_too_long_is_told_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = PacedWorker(0.02)

    def late(*_: object) -> None:
        raise Failure(Outcome.TIMED_OUT, "no result after 1 s: killed")

    monkeypatch.setattr(worker, "call", late)
    result = timed(worker)
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TIMED_OUT
    assert "10 times the serial code's time, or 2 s: 1 s here" in result.diagnosis


def hot(reasons: list[int]) -> tuple[MeasuredSeries, GpuMonitor]:
    gpu = monitor(ScriptedNvml(reasons=reasons))
    result = timed(PacedWorker(0.002), clock=SPINNING, monitor=gpu)
    assert isinstance(result, MeasuredSeries)
    return result, gpu


def test_samples_taken_while_heat_slows_the_gpu_down_are_thrown_away() -> None:
    warm_up = [0] * 3
    result, _ = hot([*warm_up, 0x20, 0x20, 0])
    assert result.facts()["samples_discarded_hot"] == "2"
    assert result.facts()["throttled"] == "thermal (software)"
    assert len(result.samples) == 6


def test_a_gpu_that_stays_hot_is_timed_all_the_same() -> None:
    result, _ = hot([0x20])
    assert result.facts()["samples_discarded_hot"] == "8"


def test_samples_under_a_power_cap_are_kept_and_tagged() -> None:
    result, _ = hot([0x04])
    assert result.facts()["samples_discarded_hot"] == "0"
    assert result.facts()["throttled"] == "power cap"


def test_warming_up_waits_for_the_gpus_clock() -> None:
    rising = [345, 600, 900, 1200, 1500, 1800, 1980, 1980]
    gpu = monitor(ScriptedNvml(clocks=list(rising)))
    result = timed(PacedWorker(0.002), clock=SPINNING, monitor=gpu)
    assert isinstance(result, MeasuredSeries)
    assert result.facts()["sm_clock_mhz"] == "1980"


def test_a_first_call_without_a_kernel_ends_the_series_where_kernels_are_asked_for() -> None:
    worker = PacedWorker(0.002)
    worker.device_work = 0, 0, 0
    for asked in (False, True):
        result = timed(worker, kernels=asked)
        assert isinstance(result, Failure) is asked
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.NO_KERNEL
    assert timing.NO_KERNEL in result.diagnosis


@pytest.mark.parametrize(("call_seconds", "batches"), [(0.9, 3), (0.25, 9)])
def test_time_that_the_host_took_excuses_no_code_that_is_too_slow_without_it(
    monkeypatch: pytest.MonkeyPatch, call_seconds: float, batches: int
) -> None:
    """The host takes 0.1 s each: 0.9 s less that are too slow, of 0.25 s six are thrown away."""
    taken = itertools.count(0.0, 0.1)
    monkeypatch.setattr(timing, "stolen_seconds", lambda _: next(taken))
    bench = PacedBench()
    warm_up = WarmUp(seconds=0.0, least=1)
    rule = StopRule(seconds=0.1, half_width=0.01, give_up_above=0.2)
    result = timed(PacedWorker(call_seconds), bench=bench, rule=rule, warm_up=warm_up)
    assert isinstance(result, MeasuredSeries)
    assert result.censored
    assert bench.loads == 1 + batches
