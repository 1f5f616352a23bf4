"""One problem on one target for as long as a judge lives: its slots, truths and baseline.

The serial code is the first candidate: it must load, be right, also at the timing shape, and be the
same from run to run, or the problem itself is bad input. Its times at the timing shape are the
baseline: those of the last few fresh workers, one of which is replaced every now and then.

For cuda the next workers make their device contexts while one candidate is judged: the driver makes
contexts one after another, 0.2 s each [measured, H200], so that is what limits candidates a second.
It also makes others' device allocations wait, so that none is made in a timed span of a candidate
that allocates, nor at the full grade.
"""

import contextlib
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.further import FurtherChecks
from regraph_kg.evaluation.gpu.device import pinned
from regraph_kg.evaluation.gpu.kernels import KernelTimes, profile
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.slot import Examiner, Plan, SessionRules, Slot
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.readying import Readying
from regraph_kg.evaluation.timing.stop import StopRule, WarmUp
from regraph_kg.evaluation.timing.timing import (
    SLEEPING,
    SPINNING,
    MeasuredSeries,
    TimingOptions,
    measure,
)
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.secret_shapes import secret_shapes
from regraph_kg.evaluation.verify.timed_inputs import Contents
from regraph_kg.evaluation.verify.verify import ReportFlag, check_shapes, plan
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Grade, Outcome
from regraph_kg.models.target import USUAL

_BASELINE_SECONDS = 120.0
_BASELINE_RULE = StopRule(0.25, 0.01, least=3)
_SHORT_WARM_UP = WarmUp(seconds=0.05, least=2, change=0.05)
"""Of a CPU: there are several workers."""
_FIRST_WORKERS, _BASELINE_WORKERS, _FIRST_SECONDS = 3, 4, 1.0
"""Of the baseline: at first, if they take no longer than that (else they follow one by one); later.
"""
_FIRST_REACH, _WORST_REACH, _MORE_WORKERS = 0.1, 0.3, 3
"""A baseline known less well than this (log; at first, later) gets so many more workers at once."""
_RENEWED_AFTER, _RENEWED_SHARE, _RENEWED_SHARE_GPU = 1.0, 0.2, 0.07
"""A baseline's worker is replaced after so many seconds, if that costs no more than this share.

Machines drift by a tenth within ten seconds, which a CPU candidate's times would follow as well.
"""
_SPARES, _FEW_SPARES, _LEAVING = 4, 1, 3
"""Workers that warm up, and such as are taken down meanwhile."""
_LARGE_BYTES = 256 * 2**20
"""Above this much shared memory a slot, one spare worker is enough."""
_SMALL_BYTES = 64 * 2**20
"""Below this, of arrays of the timing shape, workers for the CPU are started ahead as well."""
_POLL_SECONDS, _SETTLE_SECONDS = 0.001, 90.0
_MORE_CHANGES, _MOST_CHANGED = 32, 4
"""If changes do not show, so many times as many are made; up to this part of the smallest array."""

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Programs:
    """A problem's own programs: the serial code and its fp64 reference."""

    serial: Program
    reference: Program


class Session:
    """Seats, cases, truths and baseline of one problem. Raises `BadInput` for a bad problem."""

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
        self._further = FurtherChecks(problem, secret, self._references, rules)
        self._method = TimingOptions(
            clock=SPINNING if rules.surroundings.stopwatch else SLEEPING,
            judge_clock=rules.defences.judge_clock,
            one_by_one=rules.defences.one_by_one,
            monitor=rules.monitor,
            warm_up=WarmUp() if rules.monitor else _SHORT_WARM_UP,
        )
        self._spares: list[Slot] = []
        self._taken: list[Slot] = []
        self._leaving: list[Worker] = []
        self._is_silent, self._seat_bytes = False, 0
        self._renewed = time.monotonic()
        self._readying = Readying()
        self.baseline: tuple[MeasuredSeries, ...] = ()
        """Series of the serial code, the oldest first."""

    def close(self) -> None:
        """End every process and release the memory."""
        self.cool_down()
        while self._taken:
            self._vacate(self._taken.pop())
        while self._leaving:
            self._leaving.pop().kill()
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

    @contextlib.contextmanager
    def candidate(self, program: Program) -> Iterator[Slot]:
        """A slot whose worker is to load the program; the next workers warm up beside or after."""
        slot = self._ready_seat(program)
        self._taken.append(slot)
        # Candidates may allocate while they are timed: they would wait for warm-ups.
        silent = self._is_silent or self.problem.metric == "call"
        if not program.cuda:
            self._settle()  # starting workers would be in the way of its clock
        try:
            slot.worker.assign(program)
            if not silent:
                self.warm_up(program)
            slot.worker.costs = self._readying.costs(slot.bench, slot.worker)
            yield slot
        finally:
            if slot in self._taken:
                self._taken.remove(slot)
                self._vacate(slot)
        if silent and not self._is_silent:
            self.warm_up(program)

    @contextlib.contextmanager
    def silence(self, program: Program) -> Iterator[None]:
        """Start no worker ahead meanwhile, so that timed workers wait for nothing."""
        self._is_silent = True
        try:
            yield
        finally:
            self._is_silent = False
        self.warm_up(program)

    def _ready_seat(self, program: Program) -> Slot:
        """A slot whose worker has its device context.

        One that was started ahead may have found the device's memory taken by the candidate of its
        time: then it is started again, once that is gone.
        """
        slot = self._warm_seat(program)
        if slot:
            try:
                slot.worker.wait_until_ready()
                return slot
            except ToolError:
                self._vacate(slot)
                self.cool_down()
                self._settle()
        slot = self._staffed(program)
        try:
            slot.worker.wait_until_ready()
        except ToolError:
            self._vacate(slot)
            raise
        return slot

    def keep(self, slot: Slot) -> None:
        """After a clean pass: with shared isolation its worker serves the next candidate, too."""
        if self.rules.isolation == "shared" and slot.worker.programs_left:
            slot.bench = self._plan.bench(slot.verification.shared, self._contents)
            self._taken.remove(slot)
            self._spares.append(slot)

    def warm_up(self, program: Program) -> None:
        """Start workers for the programs that may come; only cuda's take long to start."""
        if not program.cuda or self.rules.isolation == "shared":
            return
        self._leaving = [worker for worker in self._leaving if not worker.is_gone]
        count = _SPARES if self._seat_bytes < _LARGE_BYTES else _FEW_SPARES
        while sum(self._is_spare(slot, program) for slot in self._spares) < count:
            if len(self._leaving) > _LEAVING:
                return  # the rest is being taken down
            self._spares.append(self._staffed(program))

    def staff(self, count: int) -> None:
        """Start so many workers before a CPU candidate is compiled, if they are small."""
        small = self.problem.nbytes(self.problem.sizes.time) < _SMALL_BYTES
        if small and self.rules.isolation == "fresh":
            while len(self._spares) < count:
                self._spares.append(self._staffed(self._programs.serial))

    def cool_down(self) -> None:
        """End the idle workers."""
        while self._spares:
            self._vacate(self._spares.pop())

    def verify(self, slot: Slot, *, full: bool) -> Failure | frozenset[ReportFlag]:
        """Check a loaded candidate at the check shapes; flags where it is right."""
        return slot.verification.examine(slot.worker, self._cases(full))

    def check_further(
        self, program: Program, perturbed: Program | None, call_seconds: float, grade: Grade
    ) -> Failure | None:
        """Further cases of a candidate that has passed; also of a build that is `perturbed`."""
        serial, threads = self._programs.serial, self._threads
        failure = self._further.fault(serial, program, threads, call_seconds, grade)
        if failure or perturbed is None:
            return failure
        return self._further.races(perturbed, self._cases(full=False), grade)

    def time(
        self, slot: Slot, rule: StopRule, call_seconds: float, *, full: bool
    ) -> MeasuredSeries | Failure:
        """Time a loaded candidate, end it, then verify the outputs of its timed calls."""
        worker = slot.worker
        if full or worker.device_work[0]:
            self._settle()
        ghosts = self.rules.defences.ghost and slot.serves.cuda
        method = replace(self._method, kernels=ghosts and self._examiner.needs_kernels)
        measured = self._measure(slot, rule, call_seconds, method)
        if isinstance(measured, Failure):
            self._examiner.retire(slot.bench.shown)  # its last words may tell of them
            return measured
        is_asked = self.rules.defences.device_state
        failure = self._readying.shrunk(slot.bench, worker) if is_asked else None
        if ghosts and not failure:
            failure = self._examiner.ghost(slot.bench, worker, call_seconds)
        if self.rules.isolation == "fresh":
            slot.dismiss()  # it stands still: none of its code runs any more
        return failure or self._examiner.examine(slot.bench, full=full) or measured

    def profile(self, program: Program, library: Path, seconds: float) -> KernelTimes | None:
        """Kernels and copies of one warm call, in a worker of its own; None where that fails."""
        where = replace(self.rules.surroundings, profiler=library, programs=1)
        slot = self._plan.slot(self._contents, program, self._threads, where)
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
            self._vacate(slot)

    @property
    def is_disturbed(self) -> bool:
        """Whether the last candidate's times are too short, as too much was taken off them."""
        return self._readying.was_off

    @property
    def serial_seconds(self) -> float:
        """Seconds a call of the serial code."""
        return self.serial_level.seconds

    @property
    def serial_level(self) -> TimeEstimate:
        """The serial code's time, as an estimate from its workers."""
        return level([series.samples for series in self.baseline], USUAL, self.problem.metric)

    def serve(self) -> None:
        """Replace a worker of the baseline before a candidate is timed: machines drift."""
        since = time.monotonic() - self._renewed
        cost = (_BASELINE_RULE.least + 2) * self.serial_seconds
        share = _RENEWED_SHARE if self.rules.surroundings.gpu is None else _RENEWED_SHARE_GPU
        wait = cost / share if len(self.baseline) >= _FIRST_WORKERS else 0.0
        if since > max(_RENEWED_AFTER, wait):
            self.time_serial()
            self._steady_baseline(_WORST_REACH)

    def time_serial(self, *, examine: bool = False) -> MeasuredSeries:
        """Time the serial code again, in a fresh worker; its series joins the baseline."""
        with self._serial() as slot:
            self._settle()
            self._require(slot.worker.start)
            method = replace(self._method, monitor=None)
            series = self._require(self._measure(slot, _BASELINE_RULE, _BASELINE_SECONDS, method))
            if examine:
                slot.dismiss()
                self._require(self._examiner.examine(slot.bench, full=False))
        self.baseline = (*self.baseline, series)[-_BASELINE_WORKERS:]
        self._readying.forget()
        self._renewed = time.monotonic()
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
            self._vacate(slot)

    def _vacate(self, slot: Slot) -> None:
        slot.end()
        self._leaving.append(slot.worker)
        self._leaving = [worker for worker in self._leaving if not worker.is_gone]

    def _settle(self) -> None:
        """Wait until no device context is being made or taken down."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while any(slot.is_settling for slot in self._spares) or any(
            not worker.is_gone for worker in self._leaving
        ):
            if time.monotonic() > deadline:
                raise ToolError("GPU: a device context is not made or taken down in time")
            time.sleep(_POLL_SECONDS)

    def _warm_seat(self, program: Program) -> Slot | None:
        for slot in [slot for slot in self._spares if slot.worker.is_gone]:
            self._spares.remove(slot)
            self._vacate(slot)
        spares = [slot for slot in self._spares if self._is_spare(slot, program)]
        best = max(spares, key=lambda slot: slot.worker.is_ready, default=None)
        if best:
            self._spares.remove(best)
        return best

    @staticmethod
    def _is_spare(slot: Slot, program: Program) -> bool:
        return slot.serves.harness == program.harness

    def _staffed(self, program: Program) -> Slot:
        where = self.rules.surroundings
        slot = self._plan.slot(self._contents, program, self._threads, where)
        self._seat_bytes = slot.verification.shared.nbytes
        return slot

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
