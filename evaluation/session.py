"""One problem on one target for as long as a judge lives: its seats, truths and baseline.

The serial code is the first candidate: it must load, be right and be the same from run to run,
or the problem itself is bad input. Its time at the timing shape is the baseline.

For cuda the next workers make their device contexts while one candidate is judged: the driver makes
contexts one after another, 0.2 s each [measured, H200], so that is what limits candidates a second.
It also makes others' device allocations wait, so that none is made in a timed span of a candidate
that allocates, nor at the full grade.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TypeVar

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.device import pinned
from regraph_kg.evaluation.kernels import KernelTimes, profile
from regraph_kg.evaluation.problem import Problem
from regraph_kg.evaluation.reference import Case, References
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.seat import Plan, Rules, Seat
from regraph_kg.evaluation.spawn import Program, Surroundings
from regraph_kg.evaluation.stop import StopRule, half_width, summarise
from regraph_kg.evaluation.timing import SLEEPING, SPINNING, Measured, Method, measure
from regraph_kg.evaluation.verify import Flag, check_shapes, plan
from regraph_kg.models.evaluation import Outcome

_BASELINE_SECONDS = 120.0
_BASELINE_WIDTH, _BASELINE_TRIES = 0.05, 3
_SENTINEL, _SENTINEL_SECONDS = 50, 120.0
_SPARES, _FEW_SPARES, _LEAVING = 4, 1, 3
"""Workers that warm up, and such as are taken down meanwhile."""
_LARGE_BYTES = 256 * 2**20
"""Above this much shared memory a seat, one spare worker is enough."""
_POLL_SECONDS = 0.001
_SETTLE_SECONDS = 90.0
_SWEEPS, _SWEEP_WARM_UP_SECONDS, _SWEEP_BATCHES = 16, 0.3, 15

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Programs:
    """What runs for one problem besides candidates: the serial code and its fp64 reference."""

    serial: Program
    reference: Program


class Session:
    """Seats, cases, truths and baseline of one problem. Raises `BadInput` for a bad problem."""

    def __init__(self, problem: Problem, programs: Programs, rules: Rules, threads: int) -> None:
        self.problem = problem
        self._programs, self._rules, self._threads = programs, rules, threads
        self._shapes = check_shapes(problem, rules.seed, rules.defences)
        self._references = References(
            problem, programs.reference, [*self._shapes, problem.sizes.time], rules.limits
        )
        self._plan = Plan(problem, self._shapes, self._references, rules)
        self._method = Method(
            clock=SPINNING if rules.surroundings.stopwatch else SLEEPING,
            check_clock=rules.defences.clock_check,
            fresh_content=rules.defences.fresh_content,
            monitor=rules.monitor,
        )
        self._seats: list[Seat] = []
        self._served, self._renewed = 0, time.monotonic()
        self._sweep_seconds = 0.0

    def close(self) -> None:
        """End every process and release the memory."""
        while self._seats:
            self._seats.pop().close()
        self._references.close()

    def open(self, rule: StopRule) -> None:
        """Verify and time the serial code. Raises `BadInput` where it fails."""
        with self._serial() as seat:
            largest = self._cases(full=False)[-1]
            self._require(seat.worker.start or seat.verification.repeat(seat.worker, largest))
            self._require(self.verify(seat, full=False))
            self.sandbox = ", ".join(sorted(seat.worker.confined)) or "none"
        self._rule = rule
        self._renew_baseline()

    @contextlib.contextmanager
    def candidate(self, program: Program) -> Iterator[Seat]:
        """A seat whose worker is to load the program; the next workers warm up beside or after."""
        seat = self._warm_seat(program) or self._cold_seat(program)
        seat.is_taken = True
        try:
            seat.worker.assign(program)
            if not self._needs_silence:
                self.warm_up(program)
            seat.worker.wait_until_ready()
            seat.worker.sweep_seconds = self._sweep(seat)
            yield seat
        finally:
            if seat.is_taken:
                seat.vacate()
        if self._needs_silence:
            self.warm_up(program)

    @property
    def _needs_silence(self) -> bool:
        """Whether candidates allocate while they are timed: they would wait for warm-ups."""
        return self.problem.metric == "call"

    def keep(self, seat: Seat) -> None:
        """After a clean pass: with shared isolation its worker serves the next candidate, too."""
        if self._rules.isolation == "shared" and seat.worker.programs_left:
            seat.is_taken = False

    def warm_up(self, program: Program) -> None:
        """Start workers for the programs that may come; only cuda's take long to start."""
        if not program.cuda or self._rules.isolation == "shared":
            return
        wanted = _SPARES if self._seats[0].arena.nbytes < _LARGE_BYTES else _FEW_SPARES
        for _ in range(wanted - sum(self._is_spare(seat, program) for seat in self._seats)):
            seat = next((s for s in self._seats if s.is_free and not s.is_taken), None)
            if seat is None and len(self._seats) > wanted + _LEAVING:
                return  # the rest is being taken down
            self._staff(seat or self._new_seat(), program)

    def cool_down(self) -> None:
        """End the workers that nobody uses: another problem's turn."""
        for seat in self._seats:
            if not seat.is_taken:
                seat.vacate()

    def verify(self, seat: Seat, *, full: bool) -> Failure | frozenset[Flag]:
        """Check a loaded candidate at the check shapes; what else was seen where it is right."""
        return seat.verification.examine(seat.worker, self._cases(full))

    def time(
        self, seat: Seat, rule: StopRule, call_seconds: float, *, quiet: bool
    ) -> Measured | Failure:
        """Time a loaded candidate, then verify what its timed calls left behind."""
        worker, defences = seat.worker, self._rules.defences
        if quiet or worker.allocations:
            self._settle()
        measured = self._measure(seat, rule, call_seconds, self._method)
        if isinstance(measured, Failure):
            return measured
        worker.stop()
        failure = seat.verify_timed()
        worker.resume()
        if not failure and defences.ghost and seat.serves and seat.serves.cuda:
            failure = seat.ghost(call_seconds)
        return failure or measured

    def profile(self, program: Program, library: Path, seconds: float) -> KernelTimes | None:
        """Kernels and copies of one warm call, in a worker of its own; None where that fails."""
        self._settle()
        seat = self._free_seat()
        where = replace(self._rules.surroundings, profiler=library, programs=1)
        seat.staff(program, self._threads, where)
        seat.is_taken = True
        try:
            worker, bench = seat.worker, seat.bench
            worker.assign(program)
            if worker.start or bench.begin(worker) or worker.settle():
                return None
            rows = bench.fresh()
            if isinstance(worker.call(rows, len(rows) * seconds), Failure):
                return None
            found = profile(worker, rows[0], seconds)
            return found if isinstance(found, KernelTimes) else None
        finally:
            seat.vacate()

    def serve(self) -> None:
        """Count a candidate; machines drift, so time the serial code anew after 50 and 2 minutes.

        On a GPU 50 candidates take 10 s, and a new baseline 4 s.
        """
        self._served += 1
        since = time.monotonic() - self._renewed
        if self._served >= _SENTINEL and since >= _SENTINEL_SECONDS:
            self._renew_baseline()

    def time_serial(self, rule: StopRule) -> Measured:
        """Time the serial code again, in a fresh worker."""
        with self._serial() as seat:
            self._settle()
            self._require(seat.worker.start)
            method = replace(self._method, fresh_content=False, monitor=None)
            return self._require(self._measure(seat, rule, _BASELINE_SECONDS, method))

    def _renew_baseline(self) -> None:
        series = self.time_serial(self._rule)
        for _ in range(_BASELINE_TRIES - 1):
            if half_width(summarise(series.samples)) <= _BASELINE_WIDTH:
                break
            again = self.time_serial(self._rule)
            series = min(series, again, key=lambda s: half_width(summarise(s.samples)))
        self.baseline = series
        self.serial_seconds = summarise(series.samples).median
        self._sweep_seconds = 0.0
        self._served, self._renewed = 0, time.monotonic()

    @contextlib.contextmanager
    def _serial(self) -> Iterator[Seat]:
        seat = self._free_seat()
        where = self._rules.surroundings
        own = Surroundings(stopwatch=where.stopwatch, cores=where.cores)
        seat.staff(self._programs.serial, 1, own)
        seat.worker.assign(self._programs.serial)
        seat.is_taken = True
        try:
            yield seat
        finally:
            seat.vacate()

    def _settle(self) -> None:
        """Wait until no device context is being made or taken down."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while any(seat.is_settling for seat in self._seats):
            if time.monotonic() > deadline:
                raise ToolError("GPU: a device context is not made or taken down in time")
            time.sleep(_POLL_SECONDS)

    def _warm_seat(self, program: Program) -> Seat | None:
        spares = [seat for seat in self._seats if self._is_spare(seat, program)]
        return max(spares, key=lambda seat: seat.worker.is_ready, default=None)

    @staticmethod
    def _is_spare(seat: Seat, program: Program) -> bool:
        serves = seat.serves
        return not seat.is_taken and serves is not None and serves.harness == program.harness

    def _cold_seat(self, program: Program) -> Seat:
        seat = self._free_seat()
        self._staff(seat, program)
        return seat

    def _staff(self, seat: Seat, program: Program) -> None:
        seat.staff(program, self._threads, self._rules.surroundings)

    def _free_seat(self) -> Seat:
        return next((s for s in self._seats if s.is_free and not s.is_taken), None) or (
            self._new_seat()
        )

    def _new_seat(self) -> Seat:
        seat = self._plan.seat()
        self._seats.append(seat)
        return seat

    def _sweep(self, seat: Seat) -> float:
        """Seconds of one cache sweep, measured before any candidate is loaded, once a baseline."""
        program = seat.serves
        if not (program and program.cuda and self.problem.metric == "device"):
            return 0.0
        if not self._sweep_seconds:
            end = time.monotonic() + _SWEEP_WARM_UP_SECONDS  # a resting GPU's clock is low
            while time.monotonic() < end:
                self._swept(seat)
            self._sweep_seconds = median(self._swept(seat) for _ in range(_SWEEP_BATCHES))
        return self._sweep_seconds

    def _swept(self, seat: Seat) -> float:
        done = seat.worker.sweeps(_SWEEPS)
        if isinstance(done, Failure):
            raise ToolError(f"GPU: cannot sweep its cache: {done.diagnosis}")
        return done.ours / _SWEEPS

    def _cases(self, full: bool) -> list[Case]:
        return plan(self.problem, self._shapes, self._rules.seed, full)

    def _measure(
        self, seat: Seat, rule: StopRule, call_seconds: float, method: Method
    ) -> Measured | Failure:
        with pinned(self._rules.judge_cores):
            return measure(seat.worker, seat.bench, rule, call_seconds, method)

    def _require(self, result: _Kept | Failure) -> _Kept:
        if not isinstance(result, Failure):
            return result
        what = {
            Outcome.NONDETERMINISTIC: "serial.cpp differs from run to run",
            Outcome.TIMED_OUT: "serial.cpp takes too long (make the sizes smaller)",
            Outcome.WRONG_ANSWER: "serial.cpp fails its own check (tolerance, or reference.cpp?)",
        }.get(result.outcome, "serial.cpp fails")
        raise BadInput(f"problem {self.problem.name}: {what}: {result.diagnosis}")
