"""One problem on one target for as long as a judge lives: its slots, truths and baseline.

The serial code is the first candidate: it must load, be right, also at the timing shape, and be the
same from run to run, or the problem itself is bad input. Its times at the timing shape are the
baseline: those of the last few fresh workers, one of which is replaced every now and then.

Stages of an evaluation are methods that take it and return it with more known, or raise `Failure`.
"""

import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compare import by_levels, compare
from regraph_kg.evaluation.evaluation import Evaluation, Times
from regraph_kg.evaluation.examiner import Examiner
from regraph_kg.evaluation.further import FurtherChecks
from regraph_kg.evaluation.gpu.kernels import KernelTimes, parsed
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Budget, Failure
from regraph_kg.evaluation.slots import SessionRules, Slot, Slots, Staffing
from regraph_kg.evaluation.teams import Teams
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.load import LoadWatch
from regraph_kg.evaluation.timing.stop import StopRule, WarmUp
from regraph_kg.evaluation.timing.timing import (
    SLEEPING,
    SPINNING,
    MeasuredSeries,
    TimedSeries,
    TimingOptions,
    measure_in_turn,
    timed_calls,
)
from regraph_kg.evaluation.verify.cases import check_shapes, is_meant, plan, secret_shapes
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.timed_inputs import Contents
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.models.evaluation import Outcome, Rivalry, code_hash
from regraph_kg.models.target import USUAL

_BASELINE_SECONDS = 120.0
_BASELINE_RULE = StopRule(0.25, 0.01, least=3)
_SHORT_WARM_UP = WarmUp(seconds=0.05, least=2, change=0.05)  # on a CPU: there are several workers
_GLANCE_WARM_UP = WarmUp(seconds=0.02, least=1, change=1.0)  # it only asks for the fastest call
_GLANCE_SAMPLES, _CLEARLY_SLOWER = 2, 1.1  # at least; so many times the incumbent's time all take
_CENSORED_ABOVE = 3.0  # times the incumbent's, else the serial code's
_FIRST_WORKERS, _BASELINE_WORKERS = 3, 4
"""Workers of the baseline: one is new for each candidate until there are so many; at most."""
_WORST_REACH, _MORE_WORKERS = 0.3, 3
"""A baseline known less well than this (log) gets so many more workers at once."""
_RENEWED_AFTER, _RENEWED_SHARE, _RENEWED_SHARE_GPU = 1.0, 0.2, 0.07
"""A baseline's worker is replaced after so many seconds, if that costs no more than this share: of
a GPU's time all that it takes, of a CPU's its calls. Machines drift by a tenth within ten seconds,
which a CPU candidate's times would follow as well."""
_WARM_UP_CALLS = 2  # before one that is profiled
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
        self._programs, self._rules, self._threads = programs, rules, threads
        self._shapes = check_shapes(problem, rules.seed, rules.defences)
        self._contents = Contents(problem, rules.seed)
        drawn = secret_shapes(problem, random.Random(rules.seed + 1))
        secret = [sizes for sizes in drawn if is_meant(problem, sizes)]
        shapes = [*self._shapes, problem.sizes.time, *secret]
        self._references = References(
            *(problem, programs.reference, shapes, rules.limits, self._contents), programs.serial
        )
        staffing = Staffing(problem, self._references, rules)
        self.slots = Slots(staffing, self._shapes, self._contents, threads)
        self._examiner = Examiner(
            *(problem, self._references, self.slots.pool), rules.defences, rules.seed + 1
        )
        self._further = FurtherChecks(staffing, secret, (programs.serial, *programs.variants))
        self._method = TimingOptions(
            clock=SPINNING if rules.surroundings.stopwatch else SLEEPING,
            judge_clock=rules.defences.judge_clock,
            one_by_one=rules.defences.one_by_one,
            monitor=rules.monitor,
            judge_cores=rules.judge_cores,
            cores=rules.cores,
            warm_up=WarmUp() if rules.monitor else _SHORT_WARM_UP,
        )
        self._renewed, self._renewal = time.monotonic(), 0.0
        self._levels: dict[str, TimeEstimate] = {}  # levels of codes that passed, by their hashes
        self.baseline: tuple[MeasuredSeries, ...] = ()  # series of serial code, oldest first
        self.sandbox = "none"  # the layers that confine its workers, in words

    def close(self) -> None:
        self._references.close()
        self.slots.close()

    def open(self, tell: Callable[[str], None]) -> None:
        """Verify and time the serial code. Raises `BadInput` where it fails."""
        tell("running the serial code at the check shapes")
        with self._serial() as slot:
            cases = self._cases(full=False)
            largest = [case for case in cases if not case.version][-1]
            slot.worker.start()
            slot.verification.repeat(slot.worker, largest)
            slot.verification.examine(slot.worker, cases)
            self.sandbox = ", ".join(sorted(slot.worker.confined)) or "none"
            tell("computing truths at the timing shape")
            contents = self._contents  # so many elements change that the outputs show it, or none
            while contents.changed and not self._examiner.shows_changes(self.slots.pool.content(0)):
                contents.changed *= _MORE_CHANGES
                if contents.changed > min(contents.sizes) // _MOST_CHANGED:
                    contents.changed = 0
            tell("timing the serial code")
            self._time_baseline(slot)
            slot.dismiss()
            self._examiner.examine(slot.bench)

    def staff(self, count: int) -> None:
        """Start so many workers before a CPU candidate is compiled, if they are small."""
        self.slots.staff(self._programs.serial, count)

    def budget(self) -> Budget:
        """Seconds that all workers of one candidate may take together."""
        limits = self._rules.limits
        return Budget(limits.verdict_seconds + limits.verdict_calls * self.serial_seconds)

    @property
    def call_seconds(self) -> float:
        """Most seconds of one timed call."""
        limits = self._rules.limits
        return max(limits.least_call_seconds, limits.slower_than_serial * self.serial_seconds)

    @property
    def serial_seconds(self) -> float:
        return self.serial_level.seconds

    @property
    def serial_level(self) -> TimeEstimate:
        """The serial code's time, as an estimate from its workers."""
        samples = [series.samples for series in self.baseline]
        error = max(series.error for series in self.baseline)
        return level(samples, USUAL, self.problem.metric, error)

    def verify(self, slot: Slot, evaluation: Evaluation) -> Evaluation:
        """Load a candidate, and check it at the check shapes."""
        cases = self._cases(full=evaluation.grade == "full")
        slot.worker.start()
        return replace(evaluation, differs=slot.verification.examine(slot.worker, cases))

    def renew_baseline(self, evaluation: Evaluation) -> Evaluation:
        """Replace a worker of the baseline before a candidate's series: machines drift."""
        since = time.monotonic() - self._renewed
        if self._rules.surroundings.gpu is None:
            wait = (_BASELINE_RULE.least + 2) * self.serial_seconds / _RENEWED_SHARE
        else:
            wait = self._renewal / _RENEWED_SHARE_GPU
        wait = wait if len(self.baseline) >= _FIRST_WORKERS else 0.0
        if since > max(_RENEWED_AFTER, wait):
            self.time_serial()
            for _ in range(_MORE_WORKERS):  # a noisy one would condemn the candidates that follow
                if self.serial_level.reach > _WORST_REACH:
                    self.time_serial()
        return evaluation

    def glance(self, slot: Slot, evaluation: Evaluation) -> Evaluation:
        """A few timed calls of the verified worker: that may be all that the caller asks for."""
        watch = LoadWatch(self._rules.cores, self._rules.monitor)
        slot.series = TimedSeries(slot.worker, slot.bench, self.call_seconds, self._timing(slot))
        effort = evaluation.traits.efforts["glance"]
        rule = StopRule(effort.seconds, effort.half_width, least=_GLANCE_SAMPLES)
        with self._timed_calls(slot):
            slot.series.begin()
            slot.series.run(rule, _GLANCE_WARM_UP)
        self._examiner.examine(slot.bench, at_hand=True)
        # even the fastest call tells enough, as a busy machine makes calls longer, never shorter
        fastest, best = min(batch.each for batch in slot.series.batches), evaluation.incumbent
        is_slower = best is not None and fastest > _CLEARLY_SLOWER * best
        if not (evaluation.grade == "glance" or (is_slower and evaluation.grade != "full")):
            return evaluation
        times = self._times((slot.series.so_far(),), evaluation, is_glance=True)
        return replace(evaluation, times=times, load=watch.found(), ended_at_glance=True)

    def time(self, slot: Slot | None, evaluation: Evaluation) -> Evaluation:
        """Time as many workers as the grade asks for; the verified one, if given, is the first."""
        target, full = evaluation.traits, evaluation.grade == "full"
        assert evaluation.program
        watch = LoadWatch(self._rules.cores, self._rules.monitor)
        with self.slots.silence(evaluation.program) if full else nullcontext():
            try:
                series = self._time_workers(slot, evaluation)
            except Failure as failure:
                return replace(evaluation, load=watch.found()).failed(failure)
            load = watch.found()
            if load or (full and not target.on_gpu):
                self.time_serial()
        return replace(evaluation, times=self._times(series, evaluation), load=load)

    def _times(
        self, own: tuple[MeasuredSeries, ...], evaluation: Evaluation, *, is_glance: bool = False
    ) -> Times:
        target, metric = evaluation.candidate.target, self.problem.metric
        return Times(own, self.serial_level, target, metric, is_glance)

    def time_again(self, evaluation: Evaluation) -> Evaluation:
        """Time right code in fresh workers once more, as its times mean little."""
        again = self.time(None, evaluation)
        if again.times and again.times.means_little and evaluation.grade == "full":
            again = self.time(None, evaluation)
        return again

    def look_further(self, builds: Builds, evaluation: Evaluation) -> Evaluation:
        """Further cases of a candidate that has passed, and its other builds."""
        code, grade, further = evaluation.candidate.code, evaluation.grade, self._further
        further.examine(code, builds.plain, self._threads, self.call_seconds, grade)
        teams = Teams(further.staffing, further.secret, further.team)
        few = further.few if grade == "full" else []  # some extents are near a team's size
        both = [further.plan.usual, *few], further.large
        teams.many(code, (builds.plain, builds.trapping), both, grade)
        if builds.perturbed:
            teams.held_up(builds.perturbed, self._cases(full=False), further.stood, grade)
        return evaluation

    def profile(self, library: Path, program: Program) -> KernelTimes | None:
        """Kernels and copies of one warm call, in a worker of its own; None where that fails."""
        where = replace(self._rules.surroundings, profiler=library)
        slot = self.slots.started(program, where)
        try:
            worker, bench = slot.worker, slot.bench
            worker.assign(program)
            bench.begin()
            worker.start()
            worker.settle()
            for _ in range(_WARM_UP_CALLS):
                worker.call(bench.load(worker, 1, 0.0), self.call_seconds)
            (row,) = bench.load(worker, 1, 0.0)
            return parsed(worker.profile(row, self.call_seconds))
        except Failure:
            return None
        finally:
            slot.end()

    def by_level(self, evaluation: Evaluation) -> Evaluation:
        """How it does against its rival by their levels, where these tell; keep its own level."""
        code, rival, times = evaluation.candidate.code, evaluation.candidate.rival, evaluation.times
        if times is None or times.whole:
            return evaluation
        if not (evaluation.ended_at_glance or times.doubt):
            self._levels[code_hash(code)] = times.level
        known = self._levels.get(code_hash(rival)) if rival else None
        if rival is None or known is None:
            return evaluation
        found = by_levels(rival, known, times.level, self.problem.metric)
        return replace(evaluation, rivalry=found)

    def compare(
        self, rival: str, programs: tuple[Program, Program], looks: Sequence[int]
    ) -> Rivalry | None:
        """Pairs of fresh workers until something is known, or after the last look; else None."""
        series: tuple[list[Sequence[float]], list[Sequence[float]]] = ([], [])
        with self.slots.silence(programs[0]), suppress(Failure):
            for pairs in looks:
                while len(series[0]) < pairs:
                    for side, measured in zip(series, self.in_turn(programs), strict=True):
                        side.append(measured.samples)
                comparison = compare(rival, *series)
                if comparison.verdict != "unknown":
                    break
            return comparison
        return None

    def in_turn(self, programs: tuple[Program, Program]) -> tuple[MeasuredSeries, MeasuredSeries]:
        """Times of two fresh workers in turn; of two others where the device was disturbed."""
        measure_pair = partial(self._in_turn, programs)
        return self._undisturbed(measure_pair, measure_pair)

    def _in_turn(self, programs: tuple[Program, Program]) -> tuple[MeasuredSeries, MeasuredSeries]:
        first, second = programs
        with self.slots.candidate(first) as one, self.slots.candidate(second) as other:
            both = one, other
            for slot in both:
                slot.worker.start()
            self.slots.settle()
            workers = [(slot.worker, slot.bench) for slot in both]
            with self._timed_calls(*both):
                measured = measure_in_turn(workers, self.call_seconds, self._method)
            for slot in both:
                self._check(slot, audit=False)
            return measured

    def _undisturbed(self, first: Callable[[], _Kept], again: Callable[[], _Kept]) -> _Kept:
        """What the first gives; `again` where too much was taken off its times."""
        try:
            timed = first()
        except Failure:
            if not self.slots.readying.was_off:
                raise
        return again() if self.slots.readying.was_off else timed

    def _time_workers(
        self, slot: Slot | None, evaluation: Evaluation
    ) -> tuple[MeasuredSeries, ...]:
        """Series of the workers, one where that is censored."""
        series: tuple[MeasuredSeries, ...] = ()
        count = evaluation.traits.efforts[evaluation.grade].workers
        audited = secrets.randbelow(count) if evaluation.grade == "full" else None
        for number in range(count):
            fresh = first = partial(self._time_fresh, evaluation, number == audited)
            if slot and not series:
                first = partial(self._time_worker, evaluation, number == audited, slot)
            series += (self._undisturbed(first, fresh),)
            if series[-1].censored:
                break
        return series

    def _time_fresh(self, evaluation: Evaluation, audit: bool) -> MeasuredSeries:
        assert evaluation.program
        with self.slots.candidate(evaluation.program) as slot:
            slot.worker.start()
            return self._time_worker(evaluation, audit, slot)

    def _time_worker(self, evaluation: Evaluation, audit: bool, slot: Slot) -> MeasuredSeries:
        """Time a loaded candidate, end it, then verify the outputs of its timed calls."""
        # A series that was glanced at goes on. `audit`: verify also one call whose inputs nobody
        # has had.
        method, series = self._timing(slot), slot.series
        with self._timed_calls(slot):
            if series is None:
                series = TimedSeries(slot.worker, slot.bench, self.call_seconds, method)
                series.begin()
            if evaluation.grade == "full" or slot.worker.on_device or slot.worker.device_work[0]:
                self.slots.settle()
            series.run(self._rule(evaluation), method.warm_up)
            measured = series.end()
        self._check(slot, audit=audit)
        return measured

    @contextmanager
    def _timed_calls(self, *slots: Slot) -> Iterator[None]:
        """Where timed calls fail their last words may tell of inputs."""
        try:
            with timed_calls(self.call_seconds):
                yield
        except Failure:
            for slot in slots:
                self._examiner.retire(slot.bench.shown)
            raise

    def _timing(self, slot: Slot) -> TimingOptions:
        ghosts = self._rules.defences.ghost and slot.serves.cuda
        return replace(self._method, kernels=ghosts and self._examiner.needs_kernels)

    def _check(self, slot: Slot, *, audit: bool) -> None:
        """Ask a worker that was timed what it did, end it, and verify its outputs."""
        if self._rules.defences.device_state:
            self.slots.readying.require_unshrunk(slot.bench, slot.worker)
        if self._rules.defences.ghost and slot.serves.cuda:
            self._examiner.require_kernels(slot.bench, slot.worker, self.call_seconds)
        slot.dismiss()  # it stands still: none of its code runs any more
        self._examiner.examine(slot.bench, audit=audit)

    def _rule(self, evaluation: Evaluation) -> StopRule:
        target = evaluation.traits
        effort = target.efforts[evaluation.grade]
        return StopRule(
            effort.seconds,
            effort.half_width,
            target.acceptable,
            least=target.least_samples,
            give_up_above=_CENSORED_ABOVE * (evaluation.incumbent or self.serial_seconds),
        )

    def time_serial(self) -> None:
        """Time the serial code again, in a fresh worker."""
        with self._serial() as slot:
            self.slots.settle()
            slot.worker.start()
            self._time_baseline(slot)

    def _time_baseline(self, slot: Slot) -> None:
        """Time the serial code in this worker; its series joins the baseline."""
        start = time.monotonic()
        method = replace(self._method, monitor=None)
        series = TimedSeries(slot.worker, slot.bench, _BASELINE_SECONDS, method)
        with timed_calls(_BASELINE_SECONDS):
            series.begin()
            series.run(_BASELINE_RULE, method.warm_up)
            self.baseline = (*self.baseline, series.end())[-_BASELINE_WORKERS:]
        self._renewed = time.monotonic()
        self._renewal = self._renewed - start

    @contextmanager
    def _serial(self) -> Iterator[Slot]:
        """A slot for the serial code. Raises `BadInput` where that fails."""
        where = self._rules.surroundings
        surroundings = Surroundings(stopwatch=where.stopwatch, cores=where.cores)
        slot = self.slots.started(self._programs.serial, surroundings, threads=1)
        try:
            slot.worker.assign(self._programs.serial)
            yield slot
        except Failure as failure:
            role = {
                Outcome.NONDETERMINISTIC: "serial.cpp differs from run to run",
                Outcome.TIMED_OUT: "serial.cpp takes too long (make the sizes smaller)",
                Outcome.WRONG_ANSWER: "serial.cpp fails its own check"
                " (tolerance, reference.cpp, or memory read that nothing wrote?)",
            }.get(failure.outcome, "serial.cpp fails")
            text = f"problem {self.problem.name}: {role}: {failure.diagnosis}"
            raise BadInput(text) from None
        finally:
            slot.end()

    def _cases(self, full: bool) -> list[Case]:
        return plan(self.problem, self._shapes, self._rules.seed, full)
