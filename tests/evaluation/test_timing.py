"""Series on a pretended worker: whose clock is believed, heat, results remembered by content."""

import random
from collections.abc import Callable, Sequence

import pytest

from regraph_kg.evaluation.nvml import GpuMonitor
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.stop import StopRule, WarmUp, summarise
from regraph_kg.evaluation.supervisor import Elapsed
from regraph_kg.evaluation.timing import SLEEPING, SPINNING, Clock, Measured, Method, measure
from regraph_kg.models.evaluation import Outcome

from .test_nvml import ScriptedNvml, monitor

RULE = StopRule(seconds=0.1, half_width=0.01)
SETS = 3


class PacedBench:
    """A bench whose batches are as large as asked; a row is the number of a set of inputs."""

    largest_batch = 4096

    def __init__(self) -> None:
        self.done: list[str] = []
        self.first = 0

    def begin(self, worker: object) -> None: ...

    def end(self, worker: object) -> None:
        self.done.append("end")

    def turn(self, worker: object) -> None:
        self.done.append("turn")

    def renew(self, worker: "PacedWorker") -> None:
        self.done.append("renew")
        self.first += SETS
        worker.rest()

    def reload(self, worker: "PacedWorker") -> None:
        self.done.append("reload")
        worker.rest()

    def fresh(self) -> list[int]:
        return [self.first + index for index in range(SETS)]

    def draw(self, most: int, *, closing: bool = False) -> list[int]:
        if closing:
            self.done.append("closing")
        return [self.first + index % SETS for index in range(most)]


class PacedWorker:
    """Takes `call_seconds` a call, claims what `claim` makes of it, answers `late` seconds late.

    Inputs never seen cost `unseen_seconds` more; calls after a rest cost what `wake` says.
    """

    allocations = 0

    def __init__(
        self,
        call_seconds: float,
        claim: Callable[[float], float] = lambda passed: passed,
        late: float = 0.0,
        unseen_seconds: float = 0.0,
        wake: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.call_seconds, self.claim, self.late = call_seconds, claim, late
        self.unseen_seconds, self.wake = unseen_seconds, wake
        self.seen: set[int] = set()
        self.rested = 0.0

    def settle(self) -> None: ...

    def rest(self) -> None:
        self.rested = self.wake()

    def call(self, rows: Sequence[int], seconds: float) -> Elapsed:
        new = len(set(rows) - self.seen)
        self.seen.update(rows)
        passed = self.call_seconds * len(rows) + new * self.unseen_seconds + self.rested
        return Elapsed(passed + (self.late if rows else 0), self.claim(passed))


def timed(
    worker: PacedWorker,
    *,
    bench: PacedBench | None = None,
    clock: Clock = SLEEPING,
    check_clock: bool = True,
    fresh_content: bool = False,
    gpu: GpuMonitor | None = None,
) -> Measured | Failure:
    method = Method(clock, check_clock, fresh_content, gpu, WarmUp(seconds=0.02), 0.0)
    return measure(worker, bench or PacedBench(), RULE, 1.0, method)  # type: ignore[arg-type]


def test_a_clock_that_agrees_is_believed() -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed * 0.99))
    assert isinstance(result, Measured)
    assert summarise(result.samples).median == pytest.approx(0.002 * 0.99)
    assert result.facts()["clock"] == "worker"


@pytest.mark.parametrize("clock", [SPINNING, SLEEPING])
def test_a_clock_that_claims_a_tenth_is_suspicious(clock: Clock) -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed / 10), clock=clock)
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.SUSPICIOUS
    assert "0.002 s passed" in result.diagnosis
    believed = timed(PacedWorker(0.002, lambda passed: passed / 10), check_clock=False)
    assert isinstance(believed, Measured)
    assert summarise(believed.samples).median == pytest.approx(0.0002)


@pytest.mark.parametrize(("clock", "claimed"), [(SPINNING, 0.97), (SLEEPING, 0.8)])
def test_a_clock_that_claims_less_than_the_slack_allows_gains_nothing(
    clock: Clock, claimed: float
) -> None:
    result = timed(PacedWorker(0.002, lambda passed: passed * claimed), clock=clock)
    assert isinstance(result, Measured)
    assert summarise(result.samples).median == pytest.approx(0.002)
    assert result.facts()["clock"] == "judge"


def test_a_judge_that_is_woken_late_suspects_nobody() -> None:
    result = timed(PacedWorker(0.002, late=0.03))
    assert isinstance(result, Measured)
    assert min(result.samples) > 0.002
    assert result.distrusted


def test_inputs_change_places_once_before_the_closing_batch() -> None:
    bench = PacedBench()
    timed(PacedWorker(0.02), bench=bench)
    assert bench.done == ["turn", "closing", "end"]


def test_far_slower_than_the_incumbent_is_given_up_after_three_samples() -> None:
    rule = StopRule(0.1, 0.0, give_up_above=0.001)
    result = measure(PacedWorker(0.01), PacedBench(), rule, 1.0, Method())  # type: ignore[arg-type]
    assert isinstance(result, Measured)
    assert result.censored
    assert len(result.samples) == 3 + 1


def test_honest_code_is_called_once_on_unseen_inputs() -> None:
    bench = PacedBench()
    result = timed(PacedWorker(0.002), bench=bench, fresh_content=True)
    assert isinstance(result, Measured)
    assert bench.done == ["renew", "end"]
    assert result.unseen == pytest.approx(0.002)
    assert result.facts()["unseen_call_seconds"] == "0.002"


@pytest.mark.parametrize(
    ("clock", "seen", "more"),
    [(SPINNING, 0.001, 0.009), (SPINNING, 1e-5, 1e-4), (SLEEPING, 0.001, 0.009)],
)
def test_results_remembered_by_content_are_suspicious(
    clock: Clock, seen: float, more: float
) -> None:
    worker = PacedWorker(seen, unseen_seconds=more)
    result = timed(worker, clock=clock, fresh_content=True)
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.SUSPICIOUS
    assert f"{(seen + more) / seen:.1f} times as long" in result.diagnosis
    assert isinstance(timed(PacedWorker(seen, unseen_seconds=more)), Measured)


@pytest.mark.parametrize(("seen", "more"), [(0.001, 0.0019), (1e-5, 4e-5)])
def test_a_smaller_difference_accuses_nobody(seen: float, more: float) -> None:
    worker = PacedWorker(seen, unseen_seconds=more)
    assert isinstance(timed(worker, clock=SPINNING, fresh_content=True), Measured)


def test_waking_up_slowly_after_new_inputs_accuses_nobody() -> None:
    bench = PacedBench()
    worker = PacedWorker(0.0002, wake=lambda: 0.02)
    assert isinstance(timed(worker, bench=bench, fresh_content=True), Measured)
    assert bench.done.count("renew") == 1 + 4
    assert bench.done.count("reload") == 2 * 4


def test_bursts_of_other_work_accuse_nobody() -> None:
    assert accusations(0.0002, 0.0) <= 3


def test_bursts_of_other_work_hide_few() -> None:
    assert accusations(0.0002, 0.01) >= 200


def accusations(seen: float, more: float) -> int:
    """Of 300, where a third of all changes of inputs is followed by calls that take 0.1 s."""
    accused = 0
    for seed in range(300):
        rng = random.Random(seed)
        worker = PacedWorker(
            seen, unseen_seconds=more, wake=lambda rng=rng: rng.choice([0.0, 0.0, 0.1])
        )
        accused += isinstance(timed(worker, fresh_content=True), Failure)
    return accused


def hot(reasons: list[int]) -> tuple[Measured, GpuMonitor]:
    gpu = monitor(ScriptedNvml(reasons=reasons))
    result = timed(PacedWorker(0.002), clock=SPINNING, gpu=gpu)
    assert isinstance(result, Measured)
    return result, gpu


def test_samples_taken_while_heat_slows_the_gpu_down_are_thrown_away() -> None:
    warm_up = [0] * 3
    result, _ = hot([*warm_up, 0x20, 0x20, 0])
    assert result.facts()["samples_discarded_hot"] == "2"
    assert result.facts()["throttled"] == "thermal (software)"
    assert len(result.samples) == 6 + 1


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
    result = timed(PacedWorker(0.002), clock=SPINNING, gpu=gpu)
    assert isinstance(result, Measured)
    assert result.facts()["sm_clock_mhz"] == "1980"


def test_memory_kept_between_calls_is_flagged() -> None:
    gpu = monitor(ScriptedNvml())
    kept, freed = PacedWorker(0.002), PacedWorker(0.002)
    freed.allocations = 8
    flags = []
    for worker in (kept, freed):
        result = timed(worker, gpu=gpu)
        assert isinstance(result, Measured)
        flags.append(result.facts()["device_memory_kept"])
    assert flags == ["true", "false"]
