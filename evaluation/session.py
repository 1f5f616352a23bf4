"""One problem on one target for as long as a judge lives: its slots, truths and baseline.

The serial code is the first candidate: it must load, be right, also at the timing shape, and be the
same from run to run, or the problem itself is bad input. Its times at the timing shape are the
baseline: those of the last few fresh workers, one of which is replaced every now and then.
"""

import contextlib
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.further import FurtherChecks
from regraph_kg.evaluation.gpu.device import pinned
from regraph_kg.evaluation.gpu.kernels import KernelTimes, profile
from regraph_kg.evaluation.many_threads import ManyThreads
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.races import HeldUpThreads
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.slot import Examiner, Plan, SessionRules, Slot
from regraph_kg.evaluation.staff import Slots
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.stop import StopRule, WarmUp
from regraph_kg.evaluation.timing.timing import (
    SLEEPING,
    SPINNING,
    MeasuredSeries,
    TimingOptions,
    measure,
)
from regraph_kg.evaluation.timing.turns import measure_in_turn
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.secret_shapes import secret_shapes
from regraph_kg.evaluation.verify.timed_inputs import Contents
from regraph_kg.evaluation.verify.verify import ReportFlag, check_shapes, plan
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.models.evaluation import Grade, Outcome
from regraph_kg.models.target import USUAL

_BASELINE_SECONDS = 120.0
_BASELINE_RULE = StopRule(0.25, 0.01, least=3)
_SHORT_WARM_UP = WarmUp(seconds=0.05, least=2, change=0.05)  # on a CPU: there are several workers
_FIRST_WORKERS, _BASELINE_WORKERS, _FIRST_SECONDS = 3, 4, 1.0
"""Workers of the baseline: at first, if they take no longer than that (else one by one), later."""
_FIRST_REACH, _WORST_REACH, _MORE_WORKERS = 0.1, 0.3, 3
"""A baseline known less well than this (log; at first, later) gets so many more workers at once."""
_RENEWED_AFTER, _RENEWED_SHARE, _RENEWED_SHARE_GPU = 1.0, 0.2, 0.07
"""A baseline's worker is replaced after so many seconds, if that costs no more than this share: of
a GPU's time all that it takes, of a CPU's its calls.

Machines drift by a tenth within ten seconds, which a CPU candidate's times would follow as well.
"""
_MORE_CHANGES, _MOST_CHANGED = 32, 4
"""If changes do not show, so many times as many are made; up to this part of the smallest array."""

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Programs:
    """A problem's own programs: the serial code, its fp64 reference, honest variants of it."""

    serial: Program
    reference: Program
    variants: tuple[Program, ...] = ()


@dataclass(frozen=True, slots=True)
class Builds:
    """A candidate's programs: as it is timed, with threads held up, with traps at wrong indices."""

    plain: Program
    perturbed: Program | None
    trapping: Program | None


class Session:
    """Slots, cases, truths and baseline of one problem. Raises `BadInput` for a bad problem."""

    def __init__(
        self, problem: Problem, programs: Programs, rules: SessionRules, threads: int
    ) -> None:
        self.problem = problem
        self._programs, self.rules, self._threads = programs, rules, threads
        self._shapes = check_shapes(problem, rules.seed, rules.defences)
        self._contents = Contents(problem, rules.seed)
        secret = secret_shapes(problem, random.Random(rules.seed + 1))
        shapes = [*self._shapes, problem.sizes.time, *secret]
        self._references = References(
            problem, programs.reference, shapes, rules.limits, self._contents
        )
        self._plan = Plan(problem, self._shapes, self._references, rules)
        self._examiner = Examiner(problem, self._references, self._plan.pool, rules)
        self._further = FurtherChecks(
            problem, secret, self._references, rules, (programs.serial, *programs.variants)
        )
        self._method = TimingOptions(
            clock=SPINNING if rules.surroundings.stopwatch else SLEEPING,
            judge_clock=rules.defences.judge_clock,
            one_by_one=rules.defences.one_by_one,
            monitor=rules.monitor,
            cores=rules.cores,
            warm_up=WarmUp() if rules.monitor else _SHORT_WARM_UP,
        )
        self.slots = Slots(problem, self._plan, self._contents, rules, threads)
        self._renewed, self._renewal = time.monotonic(), 0.0
        self.levels: dict[str, TimeEstimate] = {}  # levels of codes that passed, by their hashes
        self.baseline: tuple[MeasuredSeries, ...] = ()  # series of serial code, oldest first

    def close(self) -> None:
        """End every process and release the memory."""
        self.slots.close()
        self._references.close()

    def open(self, tell: Callable[[str], None]) -> None:
        """Verify and time the serial code. Raises `BadInput` where it fails."""
        tell("running the serial code at the check shapes")
        with self._serial() as slot:
            largest = [case for case in self._cases(full=False) if not case.version][-1]
            self._require(slot.worker.start or slot.verification.repeat(slot.worker, largest))
            self._require(self.verify(slot, full=False))
            self.sandbox = ", ".join(sorted(slot.worker.confined)) or "none"
        tell("computing truths at the timing shape")
        self._show_changes()
        tell("timing the serial code")
        self.time_serial(examine=True)
        end = time.monotonic() + _FIRST_SECONDS
        while len(self.baseline) < _FIRST_WORKERS and time.monotonic() < end:
            self.time_serial()
        self._steady_baseline(_FIRST_REACH, end)

    def staff(self, count: int) -> None:
        """Start so many workers before a CPU candidate is compiled, if they are small."""
        self.slots.staff(self._programs.serial, count)

    def verify(self, slot: Slot, *, full: bool) -> Failure | frozenset[ReportFlag]:
        """Check a loaded candidate at the check shapes; flags where it is right."""
        return slot.verification.examine(slot.worker, self._cases(full))

    def check_further(
        self, code: str, builds: Builds, call_seconds: float, grade: Grade
    ) -> Failure | None:
        """Further cases of a candidate that has passed, and its other builds."""
        further, usual = self._further, self._further.plan.usual
        failure = further.fault(code, builds.plain, self._threads, call_seconds, grade)
        many = ManyThreads(further.staffing, further.secret)
        failure = failure or many.fault(code, (builds.plain, builds.trapping), usual, grade)
        if failure or builds.perturbed is None:
            return failure
        held_up = HeldUpThreads(self._further.staffing, self._further.team)
        return held_up.fault(builds.perturbed, self._cases(full=False), self._further.stood, grade)

    def time(
        self, slot: Slot, rule: StopRule, call_seconds: float, *, full: bool, audit: bool
    ) -> MeasuredSeries | Failure:
        """Time a loaded candidate, end it, then verify the outputs of its timed calls.

        `audit`: also of one call whose inputs nobody has had.
        """
        worker = slot.worker
        if full or worker.on_device or worker.device_work[0]:
            self.slots.settle()
        ghosts = self.rules.defences.ghost and slot.serves.cuda
        method = replace(self._method, kernels=ghosts and self._examiner.needs_kernels)
        measured = self._measure(slot, rule, call_seconds, method)
        if isinstance(measured, Failure):
            self._examiner.retire(slot.bench.shown)  # its last words may tell of them
            return measured
        return self._checked(slot, call_seconds, audit=audit) or measured

    def in_turn(
        self, programs: tuple[Program, Program], call_seconds: float
    ) -> tuple[MeasuredSeries, MeasuredSeries] | Failure:
        """Time two codes that have passed, a fresh worker of each, batch by batch in turn."""
        first, second = programs
        with self.slots.candidate(first) as one, self.slots.candidate(second) as other:
            both = one, other
            failure = one.worker.start or other.worker.start
            if failure:
                return failure
            self.slots.settle()
            workers = [(slot.worker, slot.bench) for slot in both]
            with pinned(self.rules.judge_cores):
                measured = measure_in_turn(workers, call_seconds, self._method)
            if isinstance(measured, Failure):
                self._examiner.retire([*one.bench.shown, *other.bench.shown])
                return measured
            checks = (self._checked(slot, call_seconds, audit=False) for slot in both)
            return next(filter(None, checks), None) or measured

    def _checked(self, slot: Slot, call_seconds: float, *, audit: bool) -> Failure | None:
        """Ask a worker that was timed what it did, end it, and verify its outputs."""
        worker, failure = slot.worker, None
        if self.rules.defences.device_state:
            failure = self.slots.readying.shrunk(slot.bench, worker)
        if not failure and self.rules.defences.ghost and slot.serves.cuda:
            failure = self._examiner.ghost(slot.bench, worker, call_seconds)
        if self.rules.isolation == "fresh":
            slot.dismiss()  # it stands still: none of its code runs any more
        return failure or self._examiner.examine(slot.bench, audit=audit)

    def profile(self, program: Program, library: Path, seconds: float) -> KernelTimes | None:
        """Kernels and copies of one warm call, in a worker of its own; None where that fails."""
        where = replace(self.rules.surroundings, profiler=library, programs=1)
        slot = self.slots.started(program, where)
        try:
            worker, bench = slot.worker, slot.bench
            worker.assign(program)
            if worker.start or bench.begin(worker) or worker.settle():
                return None
            for _ in range(2):
                rows = bench.load(worker, 1, 0.0)
                if isinstance(rows, Failure) or isinstance(worker.call(rows, seconds), Failure):
                    return None
            rows = bench.load(worker, 1, 0.0)
            times = None if isinstance(rows, Failure) else profile(worker, rows[0], seconds)
            return times if isinstance(times, KernelTimes) else None
        finally:
            self.slots.vacate(slot)

    @property
    def is_disturbed(self) -> bool:
        """Whether the last candidate's times are too short, as too much was taken off them."""
        return self.slots.readying.was_off

    @property
    def serial_seconds(self) -> float:
        """Seconds a call of the serial code."""
        return self.serial_level.seconds

    @property
    def serial_level(self) -> TimeEstimate:
        """The serial code's time, as an estimate from its workers."""
        samples = [series.samples for series in self.baseline]
        error = max(series.error for series in self.baseline)
        return level(samples, USUAL, self.problem.metric, error)

    def serve(self) -> None:
        """Replace a worker of the baseline before a candidate is timed: machines drift."""
        since = time.monotonic() - self._renewed
        if self.rules.surroundings.gpu is None:
            wait = (_BASELINE_RULE.least + 2) * self.serial_seconds / _RENEWED_SHARE
        else:
            wait = self._renewal / _RENEWED_SHARE_GPU
        wait = wait if len(self.baseline) >= _FIRST_WORKERS else 0.0
        if since > max(_RENEWED_AFTER, wait):
            self.time_serial()
            self._steady_baseline(_WORST_REACH)

    def time_serial(self, *, examine: bool = False) -> MeasuredSeries:
        """Time the serial code again, in a fresh worker; its series joins the baseline."""
        start = time.monotonic()
        with self._serial() as slot:
            self.slots.settle()
            self._require(slot.worker.start)
            method = replace(self._method, monitor=None)
            series = self._require(self._measure(slot, _BASELINE_RULE, _BASELINE_SECONDS, method))
            if examine:
                slot.dismiss()
                self._require(self._examiner.examine(slot.bench, audit=False))
        self.baseline = (*self.baseline, series)[-_BASELINE_WORKERS:]
        self.slots.readying.forget()
        self._renewed = time.monotonic()
        self._renewal = self._renewed - start
        return series

    def _steady_baseline(self, reach: float, end: float = math.inf) -> None:
        """A noisy baseline would condemn the candidates that follow: measure it again at once.

        Not after `end`, on the monotonic clock.
        """
        for _ in range(_MORE_WORKERS):
            if self.serial_level.reach <= reach or time.monotonic() > end:
                return
            self.time_serial()

    def _show_changes(self) -> None:
        """Find how many elements must change for the outputs to show it; none where none do."""
        contents = self._contents
        while contents.changed and not self._examiner.shows_changes(self._plan.pool.content(0)):
            contents.changed *= _MORE_CHANGES
            smallest = min(contents.sizes)
            if contents.changed > smallest // _MOST_CHANGED:
                contents.changed = 0

    @contextlib.contextmanager
    def _serial(self) -> Iterator[Slot]:
        where = self.rules.surroundings
        surroundings = Surroundings(stopwatch=where.stopwatch, cores=where.cores)
        slot = self._plan.slot(self._contents, self._programs.serial, 1, surroundings)
        try:
            slot.worker.assign(self._programs.serial)
            yield slot
        finally:
            self.slots.vacate(slot)

    def _cases(self, full: bool) -> list[Case]:
        return plan(self.problem, self._shapes, self.rules.seed, full)

    def _measure(
        self, slot: Slot, rule: StopRule, call_seconds: float, method: TimingOptions
    ) -> MeasuredSeries | Failure:
        with pinned(self.rules.judge_cores):
            return measure(slot.worker, slot.bench, rule, call_seconds, method)

    def _require(self, result: _Kept | Failure) -> _Kept:
        if not isinstance(result, Failure):
            return result
        role = {
            Outcome.NONDETERMINISTIC: "serial.cpp differs from run to run",
            Outcome.TIMED_OUT: "serial.cpp takes too long (make the sizes smaller)",
            Outcome.WRONG_ANSWER: "serial.cpp fails its own check"
            " (tolerance, reference.cpp, or memory read that nothing wrote?)",
        }.get(result.outcome, "serial.cpp fails")
        raise BadInput(f"problem {self.problem.name}: {role}: {result.diagnosis}")
