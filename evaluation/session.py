"""One problem on one target for as long as a judge lives: its memory, truths and baseline.

The serial code is the first candidate: it must load, be right and be the same from run to run,
or the problem itself is bad input. Its time at the timing shape is the baseline.
"""

from dataclasses import dataclass
from typing import TypeVar

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.arena import POISON, Layout
from regraph_kg.evaluation.bench import Bench, reserve
from regraph_kg.evaluation.problem import Problem, shape_text
from regraph_kg.evaluation.reference import Case, References
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.supervisor import Program, Worker
from regraph_kg.evaluation.timing import Measured, StopRule, half_width, measure, summarise
from regraph_kg.evaluation.verify import Verification, check_shapes, mismatch, plan
from regraph_kg.models.evaluation import Outcome

_WITNESSES = 3
_BASELINE_SECONDS = 120.0
_BASELINE_WIDTH, _BASELINE_TRIES = 0.05, 3
_SENTINEL = 50
_HOST_ALIGNMENT, _DEVICE_ALIGNMENT = 64, 256


_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Programs:
    """What runs for one problem besides candidates: the serial code and its fp64 reference."""

    serial: Program
    reference: Program


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every session of a judge."""

    seed: int
    defences: Defences
    limits: Limits


class Session:
    """Arena, cases, truths and timing bench of one problem. Raises `BadInput` for a bad problem."""

    def __init__(self, problem: Problem, programs: Programs, rules: Rules) -> None:
        self.problem = problem
        self._programs, self._rules = programs, rules
        shapes = check_shapes(problem, rules.seed, rules.defences)
        on_device = problem.metric == "device"
        layout = Layout(problem, _DEVICE_ALIGNMENT if on_device else _HOST_ALIGNMENT)
        calls = {shape_text(sizes): layout.whole_call(sizes) for sizes in shapes}
        reserved = reserve(layout, rules.defences)
        self._arena = layout.build()
        self._shapes = shapes
        self._references = References(
            problem, programs.reference, [*shapes, problem.sizes.time], rules.limits
        )
        self._verification = Verification(
            problem, self._arena, calls, self._references, rules.defences, rules.limits.call_seconds
        )
        self._served = 0
        self._worker: Worker | None = None
        self._bench = Bench(self._arena, reserved, rules.seed, rules.defences)

    def close(self) -> None:
        """End every process and release the memory."""
        if self._worker:
            self._worker.kill()
        self._references.close()
        self._arena.close()

    def worker(self, program: Program, threads: int) -> Worker:
        """A fresh process for one candidate; ends the one before, they would share the arena."""
        if self._worker:
            self._worker.kill()
        self._worker = Worker(
            program, self._arena, self._rules.defences, self._rules.limits, threads
        )
        return self._worker

    def verify(self, worker: Worker, *, full: bool) -> Failure | None:
        """Check a loaded candidate at the check shapes."""
        return self._verification.check(worker, self._cases(full))

    def open(self, rule: StopRule) -> None:
        """Verify and time the serial code. Raises `BadInput` where it fails."""
        with self.worker(self._programs.serial, threads=1) as worker:
            largest = self._cases(full=False)[-1]
            self._require(worker.start or self._verification.repeat(worker, largest))
            self._require(self.verify(worker, full=False))
            self.confined = worker.confined
        self._rule = rule
        self._renew_baseline()

    def serve(self) -> None:
        """Count a candidate; every 50th time the serial code is timed anew, machines drift."""
        self._served += 1
        if self._served % _SENTINEL == 0:
            self._renew_baseline()

    def _renew_baseline(self) -> None:
        series = self.time_serial(self._rule)
        for _ in range(_BASELINE_TRIES - 1):
            if half_width(summarise(series.samples)) <= _BASELINE_WIDTH:
                break
            again = self.time_serial(self._rule)
            series = min(series, again, key=lambda s: half_width(summarise(s.samples)))
        self.baseline = series
        self.serial_seconds = summarise(series.samples).median

    def time_serial(self, rule: StopRule) -> Measured:
        """Time the serial code again, in a fresh worker."""
        with self.worker(self._programs.serial, threads=1) as worker:
            self._require(worker.start)
            return self._require(self._measure(worker, rule, _BASELINE_SECONDS))

    def time(self, worker: Worker, rule: StopRule, call_seconds: float) -> Measured | Failure:
        """Time a loaded candidate, end it, then verify what its timed calls left behind."""
        measured = self._measure(worker, rule, call_seconds)
        worker.kill()
        if isinstance(measured, Failure):
            return measured
        return self._verify_timed() or measured

    def _cases(self, full: bool) -> list[Case]:
        return plan(self.problem, self._shapes, self._rules.seed, full)

    def _measure(self, worker: Worker, rule: StopRule, call_seconds: float) -> Measured | Failure:
        return measure(worker, self._bench, rule, call_seconds, self._rules.defences.clock_check)

    def _require(self, result: _Kept | Failure) -> _Kept:
        if not isinstance(result, Failure):
            return result
        what = {
            Outcome.NONDETERMINISTIC: "serial.cpp differs from run to run",
            Outcome.WRONG_ANSWER: "serial.cpp fails its own check (tolerance, or reference.cpp?)",
        }.get(result.outcome, "serial.cpp fails")
        raise BadInput(f"problem {self.problem.name}: {what}: {result.diagnosis}")

    def _verify_timed(self) -> Failure | None:
        """After the worker's death: inputs as they were, gaps whole, secret outputs right."""
        defences = self._rules.defences
        failure = self._bench.harm()
        where = f"timed calls at shape {shape_text(self.problem.sizes.time)}"
        if failure:
            return Failure(failure.outcome, f"{where}: {failure.diagnosis}")
        if not (defences.timed_verify and defences.comparison):
            return None
        for case, outputs in self._bench.witnesses(_WITNESSES):
            for name, truth in self._references.truths(case).items():
                text = mismatch(name, outputs[name], truth, POISON, defences.nan_compare)
                if text:
                    return Failure(Outcome.WRONG_ANSWER, f"{where}: {text}")
        return None
