"""One evaluation under way: its flags, its stages, and the times of its candidate's workers."""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from regraph_kg.evaluation.compare import Comparison, compare
from regraph_kg.evaluation.report import Times
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.session import Session
from regraph_kg.evaluation.slot import Slot
from regraph_kg.evaluation.timing.load import LoadWatch
from regraph_kg.evaluation.timing.stop import StopRule
from regraph_kg.evaluation.timing.timing import MeasuredSeries
from regraph_kg.evaluation.verify.verify import ReportFlag
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import Candidate, Grade, Rivalry
from regraph_kg.models.target import TARGETS

_CENSORED_ABOVE = 3.0
_LEAST_CALL_SECONDS = 2.0


class Trial:
    """One evaluation under way.

    `incumbent`: seconds of the best so far; 3 times that, else 3 times the serial code's, ends a
    series early (censored).
    """

    def __init__(
        self,
        session: Session,
        candidate: Candidate,
        grade: Grade,
        incumbent: float | None = None,
    ) -> None:
        self.session, self.candidate = session, candidate
        self.grade: Grade = grade
        self.incumbent = incumbent
        self.profile: dict[str, str] = {}
        self.flags: frozenset[ReportFlag] = frozenset()
        self.joules: float | None = None
        self.load = ""
        self.rivalry: Rivalry | None = None
        self.opening = 0.0  # seconds that opening the problem's session took for this one's sake
        self._target = TARGETS[candidate.target]
        self._start = time.perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + time.perf_counter() - start

    def facts(self) -> dict[str, str]:
        """Facts besides times."""
        flagged = {"flagged": ", ".join(sorted(self.flags))} if self.flags else {}
        return self.profile | flagged

    def energy(self) -> dict[str, str]:
        """Energy of the GPU while it was this candidate's, whatever the outcome."""
        return {} if self.joules is None else {"joules": f"{self.joules:.3f}"}

    def stages(self) -> dict[str, float]:
        """Seconds of each stage so far, and of the whole."""
        total = self.opening + time.perf_counter() - self._start
        opened = {"open": self.opening} if self.opening else {}
        return opened | self._stages | {"total": total}

    def times(self, program: Program, slot: Slot | None = None) -> Failure | Times:
        """Series of a few workers, of which the verified one may be the first; load is noted."""
        session = self.session
        on_gpu = self._target.on_gpu
        watch = LoadWatch(session.rules.cores, session.rules.monitor)
        full = self.grade == "full"
        with session.slots.silence(program) if full else nullcontext():
            series = self._workers(program, slot)
            self.load = watch.found()
            if not isinstance(series, Failure) and (self.load or (full and not on_gpu)):
                session.time_serial()
        if isinstance(series, Failure):
            return series
        return Times(tuple(series), session.serial_level, self._target.name, session.problem.metric)

    def _fresh(self, program: Program, *, audit: bool) -> Failure | MeasuredSeries:
        with self.session.slots.candidate(program) as slot:
            return slot.worker.start or self._time(slot, audit=audit)

    def _time(self, slot: Slot, *, audit: bool) -> Failure | MeasuredSeries:
        full = self.grade == "full"
        return self.session.time(
            slot, self._rule(), self.call_seconds, full=full, audit=audit and full
        )

    def in_turn(
        self, programs: tuple[Program, Program]
    ) -> Failure | tuple[MeasuredSeries, MeasuredSeries]:
        """Times of two fresh workers in turn; of two others where the device was disturbed."""
        times = self.session.in_turn(programs, self.call_seconds)
        if self.session.is_disturbed:
            times = self.session.in_turn(programs, self.call_seconds)
        return times

    def compare(
        self, programs: tuple[Program, Program], looks: Sequence[int]
    ) -> Comparison | Failure:
        """Pairs of fresh workers until something is known, or after the last look."""
        series: tuple[list[Sequence[float]], list[Sequence[float]]] = ([], [])
        with self.session.slots.silence(programs[0]):
            for pairs in looks:
                while len(series[0]) < pairs:
                    pair = self.in_turn(programs)
                    if isinstance(pair, Failure):
                        return pair
                    for side, measured in zip(series, pair, strict=True):
                        side.append(measured.samples)
                comparison = compare(*series)
                if comparison.verdict != "unknown":
                    break
        return comparison

    @property
    def call_seconds(self) -> float:
        """Most seconds of one call."""
        factor = self.session.rules.limits.slower_than_serial
        return max(_LEAST_CALL_SECONDS, factor * self.session.serial_seconds)

    def _workers(self, program: Program, slot: Slot | None) -> Failure | list[MeasuredSeries]:
        """Series of as many workers as the grade asks for, one where it is censored."""
        series: list[MeasuredSeries] = []
        count = self._target.efforts[self.grade].workers
        audited = secrets.randbelow(count)
        for number in range(count):
            audit = number == audited
            times = self._once(slot, audit) if slot else self._fresh(program, audit=audit)
            if self.session.is_disturbed:
                times = self._fresh(program, audit=audit)
            if isinstance(times, Failure):
                return times
            series.append(times)
            slot = None
            if times.censored:
                break
        return series

    def _once(self, slot: Slot, audit: bool) -> Failure | MeasuredSeries:
        """The verified worker itself."""
        times = self._time(slot, audit=audit)
        if not isinstance(times, Failure):
            self.session.slots.keep(slot)
        return times

    def _rule(self) -> StopRule:
        effort = self._target.efforts[self.grade]
        return StopRule(
            effort.seconds,
            effort.half_width,
            self._target.acceptable,
            least=self._target.least_samples,
            give_up_above=_CENSORED_ABOVE * (self.incumbent or self.session.serial_seconds),
        )
