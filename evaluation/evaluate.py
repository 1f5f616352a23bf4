"""The story: compile, run, verify, time; a report, whatever the candidate does.

Two grades. Screening: every shape and distribution once, about 0.12 s of timed calls, the session's
baseline. Full: three seeds, then three fresh workers timed in turn with three fresh baselines
(candidate, serial, serial, candidate, ...). Reports say which.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Literal

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compare import LOOKS, Comparison, compare
from regraph_kg.evaluation.compile import rejected
from regraph_kg.evaluation.device import (
    tenancy,
    threads,
)
from regraph_kg.evaluation.kernels import advice
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem import Problem
from regraph_kg.evaluation.result import UNSTABLE, Times
from regraph_kg.evaluation.roofline import account, below_floor
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.seat import Isolation, Rules, Seat
from regraph_kg.evaluation.session import Session
from regraph_kg.evaluation.spawn import Program
from regraph_kg.evaluation.stop import StopRule
from regraph_kg.evaluation.timing import Measured
from regraph_kg.evaluation.verify import Flag
from regraph_kg.models.base import Target
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Outcome,
    code_hash,
)

EVALUATOR = "2"
"""Version of the judge's rules. History: 1 (2026-11) first version; 2 (2026-11) device calls start
from a swept cache, ghost calls, unseen inputs, floors, guarded device allocations."""

Grade = Literal["screening", "full"]

_SECONDS: dict[Grade, float] = {"screening": 0.12, "full": 0.5}
_HALF_WIDTH: dict[Grade, dict[Target, float]] = {
    "screening": {"openmp": 0.02, "cuda": 0.01},
    "full": {"openmp": 0.02, "cuda": 0.005},
}
_CENSORED_ABOVE = 3.0
_ROUNDS = 3
_LEAST_CALL_SECONDS = 2.0
_DIAGNOSIS_LENGTH = 1500


def silent(_: str) -> None:
    """Hear nothing of what takes long."""


class Judge:
    """Judges candidates on this machine; keeps baselines and truths while open.

    One thread at a time. `cache` holds compiled code; `seed` is secret, random unless given; `gpu`
    counts the GPUs that CUDA may see; `tell` hears, in a few words, what takes long just now.
    Raises `ToolError` where the machine lacks something, `BadInput` where a problem is at fault.
    """

    def __init__(  # noqa: PLR0913 (options, each with its default)
        self,
        cache: Path,
        *,
        grade: Grade = "screening",
        seed: int | None = None,
        limits: Limits | None = None,
        defences: Defences | None = None,
        isolation: Isolation = "fresh",
        gpu: int = 0,
        tell: Callable[[str], None] = silent,
    ) -> None:
        self._tell = tell
        self._grade: Grade = grade
        secret = secrets.randbits(48) if seed is None else seed
        self._rules = Rules(secret, defences or Defences(), limits or Limits(), isolation=isolation)
        self._machine = Machine(cache, self._rules, gpu)
        self._sessions: dict[tuple[str, Target], Session] = {}

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process and release all memory; idempotent."""
        while self._sessions:
            self._sessions.popitem()[1].close()

    def rest(self) -> None:
        """End the workers that wait for a next candidate, and free the GPU memory they hold."""
        for session in self._sessions.values():
            session.cool_down()

    def device(self, target: Target) -> str:
        """Statistics key: GPU model for cuda, CPU model and threads for openmp."""
        return self._machine.device(target)

    def toolchain(self, target: Target) -> str:
        """Compilers and flags, as reports carry them."""
        return self._machine.toolchain(target)

    def evaluate(
        self,
        candidate: Candidate,
        problem: Problem,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """Compile, run, verify, time. Never raises for what the candidate does.

        Timing ends early (censored) where a call takes 3 times `incumbent_seconds`, the best time
        so far, else 3 times the serial code's.
        """
        if candidate.target == "openmp" and problem.metric == "device":
            raise BadInput(f'problem {problem.name}: metric "device" needs target cuda, not openmp')
        refused = self._refused(candidate, problem, grade or self._grade)
        if refused:
            return refused
        session = self._session(problem, candidate.target)
        trial = _Trial(session, candidate, grade or self._grade, incumbent_seconds)
        result = self._judge(trial)
        if isinstance(result, Failure) and candidate.target == "cuda":
            self._machine.blame(result)
        return self._report(trial, result)

    def _refused(self, candidate: Candidate, problem: Problem, grade: Grade) -> EvalReport | None:
        """The report of a source that is refused before its problem's session is opened."""
        opened = (problem.model_dump_json(), candidate.target) in self._sessions
        rules = self._rules.defences.source_rules
        failure = rejected(candidate.code) if rules and not opened else None
        if failure is None:
            return None
        return EvalReport(
            problem=problem.name,
            target=candidate.target,
            metric=problem.metric,
            code_hash=code_hash(candidate.code),
            outcome=failure.outcome,
            diagnosis=failure.diagnosis[:_DIAGNOSIS_LENGTH],
            device=self.device(candidate.target),
            toolchain=self.toolchain(candidate.target),
            evaluator=EVALUATOR,
            grade=grade,
        )

    def compare(self, candidate: Candidate, incumbent: Candidate, problem: Problem) -> Comparison:
        """Whether a candidate is faster than an incumbent: fresh workers of both in turn.

        For code that has passed; raises `BadInput` where one of them fails here.
        """
        session = self._session(problem, candidate.target)
        trial = _Trial(session, candidate, "full")
        programs = [self._machine.program(code, problem) for code in (candidate, incumbent)]
        series: tuple[list[Measured], list[Measured]] = ([], [])
        with self._tenancy(candidate.target):
            for rounds in LOOKS:
                while len(series[0]) < rounds:
                    for index in (0, 1) if len(series[0]) % 2 else (1, 0):
                        series[index].append(self._timed(trial, programs[index]))
                found = compare(*([m.samples for m in side] for side in series))
                if found.verdict != "unknown":
                    break
        return found

    def series(self, candidate: Candidate, problem: Problem) -> Measured:
        """Times of one fresh worker at the full grade. Raises `BadInput` where it fails."""
        trial = _Trial(self._session(problem, candidate.target), candidate, "full")
        with self._tenancy(candidate.target):
            return self._timed(trial, self._machine.program(candidate, problem))

    def _timed(self, trial: "_Trial", program: Program | Failure) -> Measured:
        times = program if isinstance(program, Failure) else self._fresh(trial, program)
        if isinstance(times, Failure):
            raise BadInput(f"compare: one of the two does not pass: {times.diagnosis}")
        return times

    def _judge(self, trial: "_Trial") -> Failure | Times:
        session = trial.session
        with trial.stage("compile"):
            program = self._machine.program(trial.candidate, session.problem)
        if isinstance(program, Failure):
            if self._machine.joules(trial.candidate.target) is not None:
                trial.joules = 0.0  # compiling needs no GPU
            return program
        with self._tenancy(trial.candidate.target), self._energy(trial):
            session.serve()
            result = self._run(trial, program)
            if isinstance(result, Failure) and result.outcome is Outcome.CRASHED and program.cuda:
                with trial.stage("explain"):
                    result = self._machine.explained(result, program, session.problem)
            if isinstance(result, Times) and trial.grade == "full" and program.cuda:
                with trial.stage("profile"):
                    trial.profile = self._profiled(trial, program, result.seconds)
            return result

    def _run(self, trial: "_Trial", program: Program) -> Failure | Times:
        """Verify, then time: at the screening grade in the same worker."""
        session = trial.session
        with session.candidate(program) as seat:
            with trial.stage("verify"):
                seen = seat.worker.start or session.verify(seat, full=trial.grade == "full")
            if isinstance(seen, Failure):
                return seen
            trial.flags = seen
            if trial.grade == "screening":
                with trial.stage("time"):
                    return self._once(trial, seat)
        with trial.stage("time"):
            return self._rounds(trial, program)

    def _profiled(self, trial: "_Trial", program: Program, seconds: float) -> dict[str, str]:
        """Kernels and copies of one call, by CUPTI, as facts; none where it says nothing here."""
        try:
            library = self._machine.profiler()
        except ToolError as error:
            return {"profile": str(error)}
        found = trial.session.profile(program, library, self._call_seconds(trial))
        return found.facts() | {"profile": advice(found, seconds)} if found else {}

    def _tenancy(self, target: Target) -> AbstractContextManager[None]:
        return nullcontext() if target == "openmp" else tenancy(self._machine.gpu)

    @contextmanager
    def _energy(self, trial: "_Trial") -> Iterator[None]:
        """Note what the GPU uses meanwhile."""
        before = self._machine.joules(trial.candidate.target)
        yield
        after = self._machine.joules(trial.candidate.target)
        if before is not None and after is not None:
            trial.joules = after - before

    def _once(self, trial: "_Trial", seat: Seat) -> Failure | Times:
        """The verified worker itself, beside the session's baseline."""
        session = trial.session
        times = session.time(seat, self._rule(trial), self._call_seconds(trial), quiet=False)
        if isinstance(times, Failure):
            return times
        session.keep(seat)
        return Times((times,), (session.baseline,))

    def _rounds(self, trial: "_Trial", program: Program) -> Failure | Times:
        """Fresh workers, candidate and serial in ABBA order."""
        session, rule = trial.session, self._rule(trial)
        own: list[Measured] = []
        serial: list[Measured] = []
        for index in range(_ROUNDS):
            if index % 2:
                serial.append(session.time_serial(rule))
            times = self._fresh(trial, program)
            if isinstance(times, Failure):
                return times
            own.append(times)
            if not index % 2:
                serial.append(session.time_serial(rule))
        return Times(tuple(own), tuple(serial))

    def _fresh(self, trial: "_Trial", program: Program) -> Failure | Measured:
        """Times of one fresh worker."""
        rule, call_seconds = self._rule(trial), self._call_seconds(trial)
        with trial.session.candidate(program) as seat:
            return seat.worker.start or trial.session.time(seat, rule, call_seconds, quiet=True)

    def _rule(self, trial: "_Trial") -> StopRule:
        return StopRule(
            _SECONDS[trial.grade],
            _HALF_WIDTH[trial.grade][trial.candidate.target],
            UNSTABLE[trial.candidate.target] / 2,
            give_up_above=_CENSORED_ABOVE * (trial.incumbent or trial.session.serial_seconds),
        )

    def _call_seconds(self, trial: "_Trial") -> float:
        factor = self._rules.limits.slower_than_serial
        return max(_LEAST_CALL_SECONDS, factor * trial.session.serial_seconds)

    def _session(self, problem: Problem, target: Target) -> Session:
        """The problem's session, opened (serial code verified and timed) when first asked."""
        key = (problem.model_dump_json(), target)
        for other in self._sessions.keys() - {key}:
            self._sessions[other].cool_down()
        if key not in self._sessions:
            rules = self._machine.rules(target)
            session = Session(problem, self._machine.programs(problem), rules, threads())
            try:
                self._tell(f"{problem.name}: the serial code's baseline")
                session.open(StopRule(_SECONDS["full"], _HALF_WIDTH["full"]["openmp"]))
            except BaseException:
                session.close()
                raise
            self._sessions[key] = session
        return self._sessions[key]

    def _report(self, trial: "_Trial", result: Failure | Times) -> EvalReport:
        target, problem = trial.candidate.target, trial.session.problem
        report = EvalReport(
            problem=problem.name,
            target=target,
            metric=problem.metric,
            code_hash=code_hash(trial.candidate.code),
            outcome=Outcome.PASSED,
            device=self.device(target),
            toolchain=self.toolchain(target),
            evaluator=EVALUATOR,
            grade=trial.grade,
            stages=trial.stages(),
            facts=self._machine.facts(target) | {"sandbox": trial.session.sandbox} | trial.energy(),
        )
        if isinstance(result, Failure):
            diagnosis = result.diagnosis[:_DIAGNOSIS_LENGTH]
            return report.model_copy(update={"outcome": result.outcome, "diagnosis": diagnosis})
        fields = result.fields(target)
        return report.model_copy(
            update=fields
            | self._accounted(trial, result)
            | {"facts": report.facts | result.facts() | trial.facts()}
        )

    def _accounted(self, trial: "_Trial", result: Times) -> dict[str, object]:
        """The account of work; a time below the physics floor is suspicious."""
        peaks = self._machine.peaks(trial.candidate.target)
        found = account(trial.session.problem, result.seconds, peaks)
        failure = below_floor(found) if self._rules.defences.floor else None
        if not failure:
            return {"account": found}
        return {"account": found, "outcome": failure.outcome, "diagnosis": failure.diagnosis}


class _Trial:
    """One evaluation under way: its parts and a stopwatch for its stages."""

    def __init__(
        self,
        session: Session,
        candidate: Candidate,
        grade: Grade,
        incumbent: float | None = None,
    ) -> None:
        self.session, self.candidate, self.grade = session, candidate, grade
        self.incumbent = incumbent
        self.profile: dict[str, str] = {}
        self.flags: frozenset[Flag] = frozenset()
        self.joules: float | None = None
        self._start = time.perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = time.perf_counter() - start

    def facts(self) -> dict[str, str]:
        """What was seen besides times."""
        flagged = {"flagged": ", ".join(sorted(self.flags))} if self.flags else {}
        return self.profile | flagged

    def energy(self) -> dict[str, str]:
        """What the GPU used while it was this candidate's, whatever became of that."""
        return {} if self.joules is None else {"joules": f"{self.joules:.3f}"}

    def stages(self) -> dict[str, float]:
        """Seconds of each stage so far, and of the whole."""
        return self._stages | {"total": time.perf_counter() - self._start}
