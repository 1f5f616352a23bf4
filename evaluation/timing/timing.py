"""Calls of one worker -> samples: warm-up, then batches of calls on inputs it has never seen.

Only the judge's clock counts. It spans each batch, less the round trip of an empty one, which was
measured before the candidate was loaded; batches are sized by it to be long against what that may
be off. Between batches the worker stands still while batches.py writes the next inputs.
docs/evaluation.md (step 4) says which samples count alone, and which are taken again.

Calls of two workers come in turn, batch by batch (`measure_in_turn`): what slows the machine down
slows both. Both work on new inputs, or on changed ones, in the same turns: what writing inputs
costs would else be most of a comparison.

Not covered: launch gaps inside a call; of two codes, that one is in the other's way merely by being
there, as one that fills the device's memory is.
"""

import math
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

from regraph_kg.evaluation.gpu.device import pinned
from regraph_kg.evaluation.gpu.monitor import GpuMonitor, GpuWatch
from regraph_kg.evaluation.rules import Failure, placed
from regraph_kg.evaluation.timing.batches import Bench
from regraph_kg.evaluation.timing.load import stolen_seconds
from regraph_kg.evaluation.timing.stop import StopRule, WarmUp
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import RIGHT_BUT_SLOW, Outcome

_GROWTH = 16.0
_TICK = 1e-7  # the shortest call believed when batches are sized, in seconds
_MOST_DISCARDED, _MOST_ROBBED = 8, 6
_ROBBED_SHARE = 0.03  # share of a sample's time; the kernel counts in hundredths of a second
_COOLING_SECONDS = 0.25
_NEW_EVERY = 4  # every so manieth batch has new inputs, however long writing them takes
_LEAST_NEW, _LONGER = 3, 1.1
"""Samples of new inputs that a series has at least; by how much longer they alone count."""
_MORE_WARM_UP = 3  # below so many batches follow a warm-up, at random, if they are short
_SINGLES, _APART = 3, 1.5
"""Batches of one call at the end; where those take so many times as long, they alone count."""
_TAIL, _TAIL_SHARE, _LEAST_TAIL = 2.0, 0.1, 2
_PATIENCE, _LEAST_PATIENCE_SECONDS = 5.0, 0.5
"""A series takes at most so many times its seconds of timed calls, writing inputs included."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The judge's clock. In seconds."""

    batch_seconds: float  # what a batch should take: long against what the clock may be off
    slack_seconds: float  # what it may be off by
    waking_seconds: float  # how much longer than right after another a call after a pause may take


SPINNING = Clock(0.002, 5e-6, 5e-5)  # with a `Stopwatch` on a core of its own: cuda
SLEEPING = Clock(0.006, 1e-4, 3e-4)  # woken by the kernel, on cores that candidates use: openmp


@dataclass(frozen=True, slots=True)
class TimingOptions:
    clock: Clock = SLEEPING
    one_by_one: bool = True  # off: what a call of a batch does for others counts (`Defences`)
    judge_clock: bool = True  # off: the worker's word is believed (`Defences.judge_clock`)
    monitor: GpuMonitor | None = None
    judge_cores: frozenset[int] | None = None  # what the judge keeps to while its clock runs
    cores: frozenset[int] = frozenset()  # cores whose stolen time spoils a sample; none: all
    kernels: bool = False  # cuda: a first call that launches no kernel ends the series at once
    warm_up: WarmUp = field(default_factory=WarmUp)
    cooling_seconds: float = _COOLING_SECONDS  # a pause after a sample that heat slowed down


NO_KERNEL = (
    "the call launched no kernel: no kernel of yours ran;"
    " move the loop into a __global__ function and launch it"
)


@dataclass(frozen=True, slots=True)
class MeasuredSeries:
    samples: tuple[float, ...]
    censored: bool
    carried_over: float | None = None
    """How much longer calls on new inputs took, where that is why only those count."""
    worked_ahead: float | None = None
    """How much longer calls one by one took, where that is why only those count."""
    uneven: bool = False  # a tenth of the samples took more than twice the median: it means nothing
    whole: bool = False  # metric "device": what passed between calls counts in most samples
    short: bool = False  # most samples are bounds: the calls took less than the clock can tell
    error: float = 0.0  # seconds that the clock may be off by in each call
    lost: float = 0.0  # device allocations that each call leaves behind, by the worker's word
    gpu: Mapping[str, str] = field(default_factory=dict)
    """Clock, heat and power meanwhile, as facts of a report."""

    def facts(self) -> dict[str, str]:
        facts = {
            "new_inputs": f"{self.carried_over:.3g}x" if self.carried_over else "",
            "one_by_one": f"{self.worked_ahead:.3g}x" if self.worked_ahead else "",
            "device_leaks": f"{self.lost:g} allocations a call" if self.lost > 0 else "",
        }
        return {name: text for name, text in facts.items() if text} | dict(self.gpu)


@contextmanager
def timed_calls(call_seconds: float) -> Iterator[None]:
    """Tell that a failure in it is one of timed calls."""
    try:
        with placed("at the timing shape"):
            yield
    except Failure as failure:
        if failure.outcome is Outcome.TIMED_OUT:
            failure.diagnosis += (
                "; a call may take 10 times the serial code's time, or 2 s:"
                f" {call_seconds:.3g} s here; {RIGHT_BUT_SLOW}"
            )
        raise


@dataclass(frozen=True, slots=True)
class TimedBatch:
    """Consecutive calls, in seconds of the clock that counts."""

    calls: int
    seconds: float
    aside: float  # what getting calls ready took besides
    lost: int  # allocations less those that were freed
    is_new: bool
    is_whole: bool = False
    is_short: bool = False
    """Whether `seconds` are a bound: the calls took less than the clock can tell."""

    @property
    def each(self) -> float:
        """Seconds a call."""
        return self.seconds / self.calls


@dataclass(slots=True)
class TimedSeries:
    """Batches on one worker: begun, run once or more, ended. Raises `Failure`, `ToolError`."""

    worker: Worker
    bench: Bench
    call_seconds: float  # most that a call may take
    method: TimingOptions
    rule: StopRule = field(init=False)  # when it has enough batches
    batches: list[TimedBatch] = field(default_factory=list)
    watch: GpuWatch | None = field(init=False)
    timed: float = 0.0  # seconds in calls so far
    stolen: float = 0.0  # seconds that the host had taken before this sample
    discarded: int = 0  # samples that were thrown away for what the host took
    taken: int = 0  # batches so far, those of the warm-up included
    count: int = 1  # calls of a batch
    levels: list[float] = field(default_factory=list)  # seconds a call of the warm-up's batches

    def __post_init__(self) -> None:
        self.watch = GpuWatch(self.method.monitor) if self.method.monitor else None

    def begin(self) -> None:
        """Make memory and worker ready for timed calls."""
        self.bench.begin()
        self.worker.settle()

    def run(self, rule: StopRule, warm_up: WarmUp) -> None:
        """Warm up, then take batches until the rule is content, in place of those before."""
        self.rule, self.batches = rule, []
        self.stolen = stolen_seconds(self.method.cores)
        self.warm_up(warm_up)
        self._take_batches()

    def so_far(self) -> MeasuredSeries:
        """The series of the batches so far; what its calls one by one would say is not known."""
        return self._series(*self._counted())

    def _counted(self) -> tuple[list[TimedBatch], float | None]:
        """The batches that count, and how much longer those with new inputs took."""
        longer = carried_over([(batch.each, batch.is_new) for batch in self.batches])
        return [batch for batch in self.batches if batch.is_new or longer is None], longer

    def end(self) -> MeasuredSeries:
        """The series of these batches, once calls one by one and a last look say no more."""
        singles = self._singles()
        self.worker.require_rest()
        self.bench.require_no_harm(self.worker)
        counted, longer = self._counted()
        waking = self.method.clock.waking_seconds
        ahead = worked_ahead([b.each for b in counted], [b.each for b in singles], waking)
        return self._series(counted if ahead is None else singles, longer, ahead)

    def _series(
        self, counted: Sequence[TimedBatch], longer: float | None, ahead: float | None = None
    ) -> MeasuredSeries:
        samples = tuple(batch.each for batch in counted)
        return MeasuredSeries(
            samples,
            censored=min(samples) > self.rule.give_up_above,
            carried_over=longer,
            worked_ahead=ahead,
            uneven=is_uneven(samples, self._slack / self.count),
            whole=2 * sum(batch.is_whole for batch in counted) > len(counted),
            short=2 * sum(batch.is_short for batch in counted) > len(counted),
            error=max(self.worker.costs.error, self._slack / self.count),
            lost=median(batch.lost / batch.calls for batch in self.batches),
            gpu=self.watch.finish() if self.watch else {},
        )

    def take(self, count: int, *, new: bool = False) -> TimedBatch:
        """Write inputs, `new` ones or those that time allows, call, keep the outputs to verify."""
        new = new or self.taken % _NEW_EVERY == 0
        self.taken += 1
        rows = self.bench.load(self.worker, count, math.inf if new else self.timed)
        patience = self.call_seconds + count * self.method.clock.batch_seconds
        with pinned(self.method.judge_cores):  # what writes inputs has all cores
            elapsed = self.worker.call(rows, patience)
        self.bench.keep(self.worker, rows)
        self.timed += elapsed.ours
        # the steps of single calls are known better than when a batch begins and ends
        least = 0.0 if elapsed.steps.size else self._slack
        allocations, _, frees = self.worker.device_work
        return TimedBatch(
            len(rows),
            max(elapsed.ours, least) if self.method.judge_clock else elapsed.own,
            elapsed.aside,
            allocations - frees,
            self.bench.is_new,
            elapsed.is_whole,
            elapsed.is_short or elapsed.ours < least,
        )

    @property
    def _slack(self) -> float:
        return self.method.clock.slack_seconds

    def warm_up(self, rule: WarmUp) -> None:
        """Call until two successive batches agree and the GPU's clock has risen."""
        target, largest = self.method.clock.batch_seconds, self.bench.largest_batch
        start = time.perf_counter()
        while True:
            batch = self.take(self.count)
            if self.method.kernels and not self.levels and not self.worker.device_work[1]:
                raise Failure(Outcome.NO_KERNEL, NO_KERNEL)
            self.levels.append(batch.each)
            if self.watch:
                self.watch.take()
            passed = time.perf_counter() - start
            took = batch.seconds + batch.aside
            if took < target / 2 and self.count < largest and passed < rule.seconds:
                growth = min(_GROWTH, target / max(took, _TICK))
                self.count = min(largest, math.ceil(self.count * growth))
                continue
            steady = self.watch is None or self.watch.steady
            if rule.done(self.levels, passed, clock_steady=steady):
                break
        for _ in range(secrets.randbelow(_MORE_WARM_UP) if took < target * 2 else 0):
            self.take(self.count)  # nobody knows which batch is the first to count

    def _take_batches(self) -> None:
        spent, start = 0.0, time.perf_counter()
        patience = max(_PATIENCE * self.rule.seconds, _LEAST_PATIENCE_SECONDS)
        while True:
            new = self.take(self.count)
            spent += new.seconds + new.aside
            if self.is_spoiled(new):
                continue
            self.batches.append(new)
            late = time.perf_counter() - start > patience and len(self.batches) >= self.rule.least
            news = sum(batch.is_new for batch in self.batches)
            enough = late or news >= min(_LEAST_NEW, self.rule.least)
            decided = self.rule.decide([b.each for b in self.batches], spent)
            if decided == "censored" or (enough and (late or decided == "stop")):
                return

    def _singles(self) -> list[TimedBatch]:
        """Batches of one call; none where no batch has more."""
        singles: list[TimedBatch] = []
        one_by_one = self.count > 1 and self.method.one_by_one
        while one_by_one and len(singles) < _SINGLES:
            batch = self.take(1, new=True)
            if not self.is_spoiled(batch) and batch.is_new:
                singles.append(batch)
        return singles

    def is_spoiled(self, batch: TimedBatch) -> bool:
        """Whether the last sample, which is this, means nothing: after a pause, if for heat."""
        watch = self.watch
        if watch and watch.take().hot and watch.discarded < _MOST_DISCARDED:
            watch.discarded += 1
            time.sleep(self.method.cooling_seconds)
            return True
        # So it does where the host took much of it, unless it would be too slow without that, too:
        # slow code is given up the sooner.
        before, self.stolen = self.stolen, stolen_seconds(self.method.cores)
        stolen = self.stolen - before
        is_robbed = stolen > _ROBBED_SHARE * (batch.seconds + batch.aside)
        too_slow = batch.seconds - stolen > batch.calls * self.rule.give_up_above
        if not is_robbed or too_slow or self.discarded >= _MOST_ROBBED:
            return False
        self.discarded += 1
        return True


def carried_over(samples: Sequence[tuple[float, bool]]) -> float | None:
    """How much longer calls on new inputs take (second item: whether they were), if they do."""
    new = [each for each, is_new in samples if is_new]
    changed = [each for each, is_new in samples if not is_new]
    if not (new and changed):
        return None
    longer = median(new) / median(changed)
    return longer if longer > _LONGER else None


def worked_ahead(samples: Sequence[float], singles: Sequence[float], waking: float) -> float | None:
    """How much longer calls one by one take (`singles`), where that is more than `waking` up."""
    if not singles or median(singles) <= _APART * median(samples) + waking:
        return None
    return median(singles) / median(samples)


def is_uneven(samples: Sequence[float], slack: float) -> bool:
    """Whether a tenth of the samples (seconds), two at least, takes twice the median or more."""
    # An excess below `slack` may come from the clock.
    above = max(_TAIL * median(samples), median(samples) + slack)
    slow = sum(sample > above for sample in samples)
    return slow >= max(_LEAST_TAIL, _TAIL_SHARE * len(samples))


_SECONDS, _LEAST, _MOST = 0.3, 3, 32  # what timed calls of both may take, and how many turns


def measure_in_turn(
    pair: Sequence[tuple[Worker, Bench]], call_seconds: float, method: TimingOptions
) -> tuple[MeasuredSeries, MeasuredSeries]:
    """Time calls of two workers in turn (a b, b a, a b, ...).

    The n-th samples of both were taken next to each other. A call may take `call_seconds`. Raises
    `ToolError` where the GPU is lost meanwhile.
    """
    both = [TimedSeries(worker, bench, call_seconds, method) for worker, bench in pair]
    for series in both:
        series.rule = StopRule(_SECONDS, half_width=0.0)
        series.begin()
        series.warm_up(method.warm_up)
    _take_turns(both)
    return both[0].end(), both[1].end()


def _take_turns(both: Sequence[TimedSeries]) -> None:
    """Give both as many batches: a turn counts where nothing spoiled either."""
    first, second = both
    spent, turns = 0.0, 0
    for series in both:
        series.taken = 0
    while len(first.batches) < _LEAST or (spent < _SECONDS and len(first.batches) < _MOST):
        good: dict[int, TimedBatch] = {}
        for index in (1, 0) if turns % 2 else (0, 1):
            batch = both[index].take(both[index].count)
            spent += batch.seconds + batch.aside
            if not both[index].is_spoiled(batch):
                good[index] = batch
        turns += 1
        for index, batch in good.items() if len(good) == len(both) else ():
            both[index].batches.append(batch)
    pairs = zip(first.batches, second.batches, strict=True)
    new = [(one, other) for one, other in pairs if one.is_new and other.is_new]
    # where new inputs take one of them longer, only those count, of both
    if new and any(carried_over([(b.each, b.is_new) for b in one.batches]) for one in both):
        first.batches, second.batches = [one for one, _ in new], [other for _, other in new]
