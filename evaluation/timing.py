"""Calls of one worker -> samples: warm-up, batches, whose clock is believed, unseen inputs.

The judge's clock spans each batch of calls, less the round trip of an empty batch. Where it sleeps
until it is woken (openmp: the cores belong to the candidate) it also counts that wait, so the
worker's own figure is used for a batch where the two agree within the slack of `Clock`. Elsewhere
ours is used, so a worker whose clock lies gains nothing. Where most batches claim less than half of
what passed, and long batches do too, by more than waking can take, the candidate is suspicious.

After the timed batches every input is replaced by one that the worker has never seen. Calls on
these that take 3 times as long, and more by at least `Clock.excess_seconds`, are looked into. In
four rounds, with new inputs each, all calls on unseen inputs but one must be that much slower than
the median of calls on inputs seen before, which were written anew just as the unseen ones were,
before and after them. Only then are results remembered by content. (Cold caches, sleeping threads
and a busy machine slow down both kinds of calls; who remembers is slow on every unseen input.)

Between batches the GPU is asked for its clock: samples taken while heat slows it down are thrown
away after a pause; see nvml.py.

Not covered: results remembered by content that save less than a factor of 3, or less than
`Clock.excess_seconds` a call; launch gaps inside a call.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from regraph_kg.evaluation.bench import Bench
from regraph_kg.evaluation.nvml import GpuMonitor, GpuWatch
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.stop import StopRule, WarmUp
from regraph_kg.evaluation.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

_GROWTH = 16.0
_EMPTY_BATCHES = 7
_EMPTY_SECONDS = 10.0
_CONFIRM_BATCHES, _CONFIRM_SECONDS, _WAKING_SECONDS = 3, 0.25, 0.1
_REMEMBERED = 3.0
_CONFIRM_ROUNDS = 4
_TICK = 1e-7
"""The shortest call believed when batches are sized, in seconds."""
_NOTHING = 1e-10
"""No call is this short, in seconds."""
_MOST_DISCARDED = 8
_COOLING_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Clock:
    """How the judge tells time, and what follows from it for batches and doubts. In seconds."""

    batch_seconds: float
    """What a batch should take: long against the slack."""
    slack_seconds: float
    slack: float
    """The worker's figure is believed within the larger of the two, `slack` being a share."""
    excess_seconds: float
    """A call on unseen inputs must take this much longer before anything is suspected."""

    def agree(self, ours: float, own: float) -> bool:
        """Whether the worker's figure is near ours."""
        return ours - own <= max(self.slack_seconds, self.slack * ours)

    def contradict(self, ours: float, own: float) -> bool:
        """Whether the worker claims less than half of what passed."""
        return own < ours / 2 and not self.agree(ours, own)


SPINNING = Clock(0.002, 20e-6, 0.02, excess_seconds=50e-6)
"""With a `Stopwatch` on a core of its own: cuda."""
SLEEPING = Clock(0.01, 0.0005, 0.05, excess_seconds=100e-6)
"""Woken by the kernel, on cores that the candidate uses too: openmp."""


@dataclass(frozen=True, slots=True)
class Method:
    """How a series is taken."""

    clock: Clock = SLEEPING
    check_clock: bool = True
    """Whether the worker's figures are checked at all (`Defences.clock_check`)."""
    fresh_content: bool = False
    """Whether calls on unseen inputs are compared (`Defences.fresh_content`); not for our own."""
    monitor: GpuMonitor | None = None
    warm_up: WarmUp = field(default_factory=WarmUp)
    cooling_seconds: float = _COOLING_SECONDS
    """A pause after a sample taken while heat slowed the GPU down."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished series; `first` is the cold first call, in seconds."""

    samples: tuple[float, ...]
    first: float
    censored: bool
    distrusted: bool
    """The worker's clock disagreed with ours now and then: ours was used there."""
    unseen: float | None = None
    """Seconds a call on inputs never seen before, by our clock; None where that was not asked."""
    allocations: float | None = None
    """cuda: device allocations a call once warm, by the worker's word; 0 = memory is kept."""
    gpu: Mapping[str, str] = field(default_factory=dict)
    """Clock, heat and power meanwhile, as facts of a report."""

    def facts(self) -> dict[str, str]:
        """What a report says besides the samples."""
        unseen = {} if self.unseen is None else {"unseen_call_seconds": f"{self.unseen:.6g}"}
        kept = (
            {} if self.allocations is None else {"device_memory_kept": _yes(not self.allocations)}
        )
        return {
            "first_call_seconds": f"{self.first:.6g}",
            "censored": _yes(self.censored),
            "clock": "judge" if self.distrusted else "worker",
            **unseen,
            **kept,
            **self.gpu,
        }


def measure(
    worker: Worker, bench: Bench, rule: StopRule, call_seconds: float, method: Method
) -> Measured | Failure:
    """Time calls until `rule` is content; a call may take `call_seconds`.

    Raises `ToolError` where the GPU is lost meanwhile.
    """
    failure = bench.begin(worker) or worker.settle()
    watch = method.monitor.watch() if method.monitor else None
    measured = failure or _Series(worker, bench, rule, call_seconds, method, watch).run()
    if isinstance(measured, Failure):
        return Failure(measured.outcome, f"at the timing shape: {measured.diagnosis}")
    return bench.end(worker) or measured


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some calls in a row, in seconds: by the judge's clock (net), by the worker's."""

    calls: int
    ours: float
    own: float
    swept: float
    """What the cache sweeps took."""
    allocations: int

    @property
    def inside(self) -> float:
        """By the worker's clock, sweeps included."""
        return self.own + self.swept


@dataclass(frozen=True, slots=True)
class _Warm:
    """What warming up has shown."""

    first: float
    """Seconds of the first call."""
    most: int
    """Calls of a batch."""
    empty: float
    """Median seconds of a batch without calls: what the round trip itself costs."""


@dataclass(frozen=True, slots=True)
class _Series:
    """One series of batches on one worker."""

    worker: Worker
    bench: Bench
    rule: StopRule
    call_seconds: float
    method: Method
    watch: GpuWatch | None

    def run(self) -> Measured | Failure:
        """Warm up, sample, try unseen inputs."""
        warm = self._warm_up()
        if isinstance(warm, Failure):
            return warm
        batches = self._batches(warm)
        if isinstance(batches, Failure):
            return batches
        lie = self._lie(batches, warm.empty)
        if lie:
            return lie
        samples = tuple(map(self._seconds, batches))
        unseen = self._unseen(warm, median(samples)) if self.method.fresh_content else None
        if isinstance(unseen, Failure):
            return unseen
        return Measured(
            samples,
            warm.first,
            censored=min(samples) > self.rule.give_up_above,
            distrusted=not all(map(self._believed, batches)),
            unseen=unseen,
            allocations=self._allocations(batches),
            gpu=self.watch.finish() if self.watch else {},
        )

    def _believed(self, batch: _Batch) -> bool:
        clock = self.method.clock
        return not self.method.check_clock or clock.agree(batch.ours, batch.own)

    def _seconds(self, batch: _Batch) -> float:
        """Seconds a call: the worker's figure where it agrees with ours, else ours."""
        return max(batch.own if self._believed(batch) else batch.ours, _NOTHING) / batch.calls

    def _allocations(self, batches: Sequence[_Batch]) -> float | None:
        if self.method.monitor is None:
            return None
        return median(batch.allocations / batch.calls for batch in batches)

    def _call(self, rows: Sequence[int], most: int, empty: float = 0.0) -> _Batch | Failure:
        patience = self.call_seconds * math.ceil(len(rows) / most)
        done = self.worker.call(rows, patience + most * self.method.clock.batch_seconds)
        if isinstance(done, Failure):
            return done
        ours = max(done.ours - empty, 0.0)
        return _Batch(len(rows), ours, done.own, done.swept, self.worker.allocations)

    def _warm_up(self) -> _Warm | Failure:
        """Call until two successive batches agree and the GPU's clock has risen."""
        first, most, start = 0.0, 1, time.perf_counter()
        seen: list[float] = []
        wanted = self.method.clock.batch_seconds
        while True:
            done = self._call(self.bench.draw(most), most)
            if isinstance(done, Failure):
                return done
            first = first or done.ours
            seen.append(done.own / done.calls)
            if self.watch:
                self.watch.take()
            passed = time.perf_counter() - start
            short = done.inside < wanted / 2 and done.ours < _GROWTH * wanted
            if short and most < self.bench.largest_batch and passed < self.method.warm_up.seconds:
                growth = min(_GROWTH, wanted / max(done.inside, _TICK))
                most = min(self.bench.largest_batch, math.ceil(most * growth))
                continue
            steady = self.watch is None or self.watch.steady
            if self.method.warm_up.done(seen, passed, clock_steady=steady):
                break
        empty = _empty_batch(self.worker)
        return empty if isinstance(empty, Failure) else _Warm(first, most, empty)

    def _batches(self, warm: _Warm) -> list[_Batch] | Failure:
        """Batches until the rule is content.

        Without unseen inputs to follow, one more, before which inputs change place. Only then: of
        two sets, one more turn would bring each back to where it was first seen.
        """
        batches: list[_Batch] = []
        spent = 0.0
        while True:
            done = self._call(self.bench.draw(warm.most), warm.most, warm.empty)
            if isinstance(done, Failure):
                return done
            spent += done.ours + done.swept
            if self._too_hot():
                continue
            batches.append(done)
            if self.rule.decide([self._seconds(batch) for batch in batches], spent) != "continue":
                break
        if not self.method.fresh_content:
            failure = self.bench.turn(self.worker)
            rows = [] if failure else self.bench.draw(warm.most, closing=True)
            done = failure or self._call(rows, warm.most, warm.empty)
            if isinstance(done, Failure):
                return done
            batches.append(done)
        return batches

    def _too_hot(self) -> bool:
        """Whether the last sample means nothing, being slowed by heat; after a pause."""
        watch = self.watch
        if watch is None or not watch.take().hot or watch.discarded >= _MOST_DISCARDED:
            return False
        watch.discarded += 1
        time.sleep(self.method.cooling_seconds)
        return True

    def _lie(self, batches: Sequence[_Batch], empty: float) -> Failure | None:
        """Whether the worker's clock is wrong, in long batches too, which late waking is not."""
        clock = self.method.clock
        if median(batch.own / batch.calls for batch in batches) < _NOTHING:
            return Failure(Outcome.SUSPICIOUS, "the worker claims that its calls take no time")
        lies = sum(clock.contradict(batch.ours, batch.own) for batch in batches)
        if not self.method.check_clock or lies <= len(batches) / 2:
            return None
        claimed = median(batch.own / batch.calls for batch in batches)
        most = math.ceil(_CONFIRM_SECONDS / max(claimed, _TICK))
        most = min(self.bench.largest_batch, most)
        for _ in range(_CONFIRM_BATCHES):
            done = self._call(self.bench.draw(most, closing=True), most, empty)
            if isinstance(done, Failure):
                return done
            late = done.ours - done.own < _WAKING_SECONDS
            if late or not clock.contradict(done.ours, done.own):
                return None
        passed = median(batch.ours / batch.calls for batch in batches)
        return Failure(
            Outcome.SUSPICIOUS,
            f"the worker's clock claims {claimed:.3g} s a call, {passed:.3g} s passed",
        )

    def _unseen(self, warm: _Warm, typical: float) -> float | Failure:
        """Seconds a call on inputs never seen before; a Failure where that gives away a memory."""
        failure = self.bench.renew(self.worker)
        rows = [] if failure else self.bench.fresh()
        done = failure or self._call(rows, 1, warm.empty)
        if isinstance(done, Failure):
            return done
        unseen = done.ours / done.calls
        new: list[float] = []
        known: list[float] = []
        for _ in range(_CONFIRM_ROUNDS):
            if not self._stands_out(_second_lowest(new) if new else unseen, typical):
                return unseen
            failure = self._like_for_like(warm, new, known)
            if failure:
                return failure
        factor = _second_lowest(new) / max(median(known), _TICK)
        if not self._stands_out(_second_lowest(new), median(known)):
            return unseen
        return Failure(
            Outcome.SUSPICIOUS,
            f"calls on inputs it has not seen take {factor:.1f} times as long:"
            " results are remembered by the inputs' content",
        )

    def _stands_out(self, unseen: float, seen: float) -> bool:
        return unseen > _REMEMBERED * seen and unseen - seen > self.method.clock.excess_seconds

    def _like_for_like(self, warm: _Warm, new: list[float], known: list[float]) -> Failure | None:
        """Add seconds of calls on unseen inputs, and on seen ones written anew before and after."""
        done = self._call(self.bench.draw(warm.most), warm.most)
        if isinstance(done, Failure):
            return done
        bench = self.bench
        for replace, group in ((bench.reload, known), (bench.renew, new), (bench.reload, known)):
            added = self._singly(replace, warm)
            if isinstance(added, Failure):
                return added
            group.extend(added)
        return None

    def _singly(
        self, replace: Callable[[Worker], Failure | None], warm: _Warm
    ) -> list[float] | Failure:
        """Replace the inputs, then call each set once, alone: seconds by our clock."""
        failure = replace(self.worker)
        if failure:
            return failure
        seen = []
        for row in self.bench.fresh():
            done = self._call([row], 1, warm.empty)
            if isinstance(done, Failure):
                return done
            seen.append(done.ours)
        return seen


def _empty_batch(worker: Worker) -> float | Failure:
    seen = []
    for _ in range(_EMPTY_BATCHES):
        done = worker.call([], _EMPTY_SECONDS)
        if isinstance(done, Failure):
            return done
        seen.append(done.ours)
    return median(seen)


def _second_lowest(seconds: Sequence[float]) -> float:
    return sorted(seconds)[min(1, len(seconds) - 1)]


def _yes(value: bool) -> str:
    return str(value).lower()
