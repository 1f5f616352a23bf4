"""The story: compile, run, verify, time; a report, whatever the candidate does.

Two grades. Screening: every shape and distribution once, about 0.1 s of timed calls (openmp: of
three fresh workers, whose levels differ), the session's baseline. Full: more inputs, five fresh
workers (cuda: three), an audit of a timed call, on a CPU one more worker of the baseline. Reports
say which.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.command_judge import CommandJudge
from regraph_kg.evaluation.compare import LOOKS, Comparison, by_levels
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.gpu.device import silent, threads, turn
from regraph_kg.evaluation.gpu.kernels import advice, unfinished
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem.problem import AnyProblem, Problem, ProjectProblem, comparable
from regraph_kg.evaluation.report import Times
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.session import Session
from regraph_kg.evaluation.slot import Isolation, SessionRules
from regraph_kg.evaluation.timing.roofline import account, below_floor, floor_seconds
from regraph_kg.evaluation.timing.timing import MeasuredSeries
from regraph_kg.evaluation.trial import Trial
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Grade,
    Outcome,
    code_hash,
)
from regraph_kg.models.target import TARGETS, Target, timed_by

EVALUATOR = "5"
"""Version of the judge's rules. History: 1 (2026-11) first version; 2 (2026-11) device calls start
from a swept cache, ghost calls, unseen inputs, floors, guarded device allocations; 3 (2026-11) each
timed call has new inputs, workers stand still between calls, only the judge's clock counts, levels
of several workers and of the baseline are in the interval; later in 3: what launches no kernel on
the GPU fails as no_kernel, which was suspicious before, and so where the answer is one number; 4
(2026-11) further cases, threads held up, racecheck and synccheck, codes compared in turn; 5
(2026-11) on a GPU each call is seen to begin and to end; later in 5: load counts on the cores that
are used only, arrays of metric "device" keep the alignment that prompts promise, and codes timed by
it are compared by their workers' levels, unless two are compared in turn on purpose."""

_DIAGNOSIS_LENGTH = 1500

_Kept = TypeVar("_Kept")


class Judge:
    """Judges candidates on this machine; keeps baselines and truths while open.

    One thread at a time. `cache` holds compiled code; `seed` is secret, random by default; `gpu`
    counts the GPUs that CUDA may see; `tell` gets a few words before each long step.
    Raises `ToolError` where the machine lacks something, `BadInput` where a problem is at fault.
    """

    def __init__(  # noqa: PLR0913 (options, each with its default)
        self,
        cache: Path,
        *,
        grade: Grade = "screening",
        seed: int | None = None,
        limits: JudgeLimits | None = None,
        defences: Defences | None = None,
        isolation: Isolation = "fresh",
        gpu: int = 0,
        tell: Callable[[str], None] = silent,
    ) -> None:
        self._tell = tell
        self._grade: Grade = grade
        secret = secrets.randbits(128) if seed is None else seed
        self._rules = SessionRules(
            secret, defences or Defences(), limits or JudgeLimits(), isolation=isolation
        )
        self._machine = Machine(cache, self._rules, gpu)
        self._sessions: dict[tuple[str, Target], Session] = {}
        self._projects = CommandJudge(self._rules.limits, EVALUATOR, tell)
        self._opening = 0.0

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process and release all memory; idempotent."""
        while self._sessions:
            self._sessions.popitem()[1].close()
        self._projects.close()
        self._machine.close()

    def rest(self) -> None:
        """End the workers that wait for a next candidate, and free the GPU memory they hold."""
        for session in self._sessions.values():
            session.slots.cool_down()

    def device(self, target: Target) -> str:
        return self._machine.device(target)

    def toolchain(self, target: Target) -> str:
        return self._machine.toolchain(target)

    def hardware(self, target: Target) -> str:
        return self._machine.hardware(target)

    def evaluate(
        self,
        candidate: Candidate,
        problem: AnyProblem,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """Compile, run, verify, time. Never raises for what the candidate does.

        Timing ends early (censored) where a call takes 3 times `incumbent_seconds`, the best time
        so far, else 3 times the serial code's. A project's own commands prove less, as the
        report's `guarantee` says.
        """
        if isinstance(problem, ProjectProblem):
            chosen = grade or self._grade
            return self._projects.evaluate(candidate, problem, chosen, incumbent_seconds)
        if problem.metric not in TARGETS[candidate.target].metrics:
            raise BadInput(
                f'problem {problem.name}: metric "{problem.metric}" needs target'
                f" {' or '.join(timed_by(problem.metric))}, not {candidate.target}"
            )
        self._opening = 0.0
        refused = self._refused(candidate, problem, grade or self._grade)
        if refused:
            return refused
        session = self._session(problem, candidate.target)
        trial = Trial(session, candidate, grade or self._grade, incumbent_seconds)
        trial.opening = self._opening
        result = self._judge(trial)
        if isinstance(result, Failure) and TARGETS[candidate.target].on_gpu:
            self._machine.blame(result)
        return self._report(trial, result)

    def _refused(self, candidate: Candidate, problem: Problem, grade: Grade) -> EvalReport | None:
        """The report of a source that is refused before its problem's session is opened."""
        opened = (problem.model_dump_json(), candidate.target) in self._sessions
        rules = self._rules.defences.source_rules
        failure = rejected(candidate.code) if rules and not opened else None
        if failure is None:
            return None
        return unmeasured(self._machine, candidate, problem, grade, failure)

    def compare(
        self, candidate: Candidate, incumbent: Candidate, problem: AnyProblem
    ) -> Comparison:
        """Whether a candidate is faster than an incumbent: fresh workers of both in turn.

        For code that has passed; raises `BadInput` where one of them fails here, or is judged by a
        project's own commands.
        """
        problem = comparable(problem)
        trial = Trial(self._session(problem, candidate.target), candidate, "full")
        programs = self._both(candidate, incumbent, problem)
        with self._turn(candidate.target, trial.session):
            return _passed(problem, trial.compare(programs, LOOKS))

    def pair(
        self, candidate: Candidate, other: Candidate, problem: Problem
    ) -> tuple[MeasuredSeries, MeasuredSeries]:
        """Times of a fresh worker of each, taken in turn. Raises `BadInput` where one fails."""
        trial = Trial(self._session(problem, candidate.target), candidate, "full")
        programs = self._both(candidate, other, problem)
        with self._turn(candidate.target, trial.session):
            return _passed(problem, trial.in_turn(programs))

    def _both(
        self, candidate: Candidate, other: Candidate, problem: Problem
    ) -> tuple[Program, Program]:
        first, second = (
            _passed(problem, self._machine.program(code, problem)) for code in (candidate, other)
        )
        return first, second

    def _judge(self, trial: Trial) -> Failure | Times:
        session, target = trial.session, TARGETS[trial.candidate.target]
        if not target.on_gpu:
            session.staff(target.efforts[trial.grade].workers)
        with trial.stage("compile"):
            program = self._machine.program(trial.candidate, session.problem)
        if isinstance(program, Failure):
            if self._machine.joules(trial.candidate.target) is not None:
                trial.joules = 0.0  # compiling needs no GPU
            return program
        with self._turn(trial.candidate.target, session), self._energy(trial):
            result = self._run(trial, program)
            if isinstance(result, Failure) and result.outcome is Outcome.CRASHED and program.cuda:
                with trial.stage("explain"):
                    result = self._machine.explain(result, program, session.problem)
            if isinstance(result, Times) and trial.grade == "full" and program.cuda:
                with trial.stage("profile"):
                    result = self._profile(trial, program, result)
            if isinstance(result, Times):
                with trial.stage("further"):
                    result = self._after_timing(trial, program) or result
            if isinstance(result, Times):
                self._meet_rival(trial, program, result)
            return result

    def _meet_rival(self, trial: Trial, program: Program, times: Times) -> None:
        """Note how the candidate does against its rival, in turn where levels do not tell."""
        session, rival = trial.session, trial.candidate.rival
        if times.whole:
            return  # its time is not that of its calls
        session.levels[code_hash(trial.candidate.code)] = times.level
        is_slow = times.seconds > session.serial_seconds
        if rival is None or (is_slow and trial.grade == "screening"):
            return  # by how much slow code is slow interests nobody
        known = session.levels.get(code_hash(rival))
        if known:
            trial.rivalry = by_levels(rival, known, times.level, session.problem.metric)
        if trial.rivalry:
            return
        other = self._machine.program(replace(trial.candidate, code=rival), session.problem)
        if not isinstance(other, Failure):
            with trial.stage("compare"):
                looks = LOOKS if trial.grade == "full" else LOOKS[:1]
                result = trial.compare((program, other), looks)
            trial.rivalry = None if isinstance(result, Failure) else result.against(rival)

    def _after_timing(self, trial: Trial, program: Program) -> Failure | None:
        """Further cases; compute-sanitizer works beside them, as nothing is timed any more."""
        if trial.grade != "full" or not program.cuda:
            return self._further(trial, program)
        code, problem = trial.candidate.code, trial.session.problem
        with ThreadPoolExecutor(1) as beside:
            finding = beside.submit(self._machine.sanitize, code, program, problem)
            failure = self._further(trial, program)
        return finding.result() or failure

    def _further(self, trial: Trial, program: Program) -> Failure | None:
        """Cases beyond those of every verification, of code that has passed that."""
        if not self._rules.defences.further:
            return None
        builds = self._machine.builds(trial.candidate, trial.session.problem, program)
        return trial.session.check_further(
            trial.candidate.code, builds, trial.call_seconds, trial.grade
        )

    def _run(self, trial: Trial, program: Program) -> Failure | Times:
        """Verify, then time; a noisy candidate is timed again, then at the full grade."""
        session = trial.session
        with session.slots.candidate(program) as slot:
            with trial.stage("verify"):
                flags = slot.worker.start or session.verify(slot, full=trial.grade == "full")
            if isinstance(flags, Failure):
                return flags
            trial.flags = flags
            with trial.stage("baseline"):
                session.serve()
            with trial.stage("time"):
                times = trial.times(program, slot)
        requested: Grade = trial.grade
        for grade in (requested, "full"):
            if isinstance(times, Failure) or not (times.doubt or times.whole):
                break
            trial.grade = grade
            with trial.stage("time again"):
                times = trial.times(program)
        trial.grade = requested
        return times

    def _profile(self, trial: Trial, program: Program, times: Times) -> Failure | Times:
        """Note kernels and copies of one call, by CUPTI; a call without a kernel is suspicious."""
        try:
            library = self._machine.profiler()
        except ToolError as error:
            trial.profile = {"profile": str(error)}
            return times
        profile = trial.session.profile(program, library, trial.call_seconds)
        if profile is None:
            return times
        trial.profile = profile.facts() | {"profile": advice(profile, times.seconds)}
        return unfinished(profile) or times

    @contextmanager
    def _turn(self, target: Target, session: Session | None = None) -> Iterator[None]:
        """Claim the device for a session, or what it takes to open one where none is given.

        No device context is on its way once others may have the device.
        """
        with ExitStack() as turns:
            for claim in self._machine.claims(target, opening=session is None):
                turns.enter_context(turn(claim, self._tell))
            yield
            if session and session.problem.metric == "device":
                session.slots.settle()

    @contextmanager
    def _energy(self, trial: Trial) -> Iterator[None]:
        """Note the GPU's energy meanwhile."""
        before = self._machine.joules(trial.candidate.target)
        yield
        after = self._machine.joules(trial.candidate.target)
        if before is not None and after is not None:
            trial.joules = after - before

    def _session(self, problem: Problem, target: Target) -> Session:
        key = (problem.model_dump_json(), target)
        for other in self._sessions.keys() - {key}:
            self._sessions[other].slots.cool_down()
        if key not in self._sessions:
            self._sessions[key] = self._open(problem, target)
        return self._sessions[key]

    def _open(self, problem: Problem, target: Target) -> Session:
        start = time.perf_counter()
        self._tell("compiling the serial code")
        programs = self._machine.programs(problem)
        session = Session(problem, programs, self._machine.rules(target), threads())
        try:
            with self._turn(target):
                session.open(self._tell)
        except BaseException:
            session.close()
            raise
        self._opening = time.perf_counter() - start
        return session

    def _report(self, trial: Trial, result: Failure | Times) -> EvalReport:
        report = _report(self._machine, trial.candidate, trial.session.problem, trial.grade)
        facts = report.facts | {"sandbox": trial.session.sandbox} | trial.energy()
        stages: dict[str, object] = {"stages": trial.stages(), "load": trial.load, "facts": facts}
        if isinstance(result, Failure):
            return report.model_copy(update=stages | _failed(result))
        return report.model_copy(
            update=stages
            | result.fields()
            | self._account(trial, result)
            | {"rivalry": trial.rivalry}
            | {"facts": facts | result.facts() | trial.facts()}
        )

    def _account(self, trial: Trial, result: Times) -> dict[str, object]:
        """The account of work; a time below the physics floor is suspicious."""
        problem, target = trial.session.problem, trial.candidate.target
        peaks = self._machine.peaks(target)
        work = account(problem, result.seconds, peaks)
        floor = floor_seconds(problem, peaks or self._machine.nominal(target))
        failure = below_floor(work, floor) if self._rules.defences.floor else None
        return {"account": work} | (_failed(failure) if failure else {})


def _passed(problem: Problem, result: _Kept | Failure) -> _Kept:
    if isinstance(result, Failure):
        raise BadInput(
            f"problem {problem.name}: code to be timed does not pass: {result.diagnosis}"
        )
    return result


def unmeasured(
    machine: Machine, candidate: Candidate, problem: Problem, grade: Grade, failure: Failure
) -> EvalReport:
    """The report of code that failed before it could run: it used no GPU."""
    report = _report(machine, candidate, problem, grade)
    energy = {} if machine.joules(candidate.target) is None else {"joules": f"{0:.3f}"}
    return report.model_copy(update=_failed(failure) | {"facts": report.facts | energy})


def _report(machine: Machine, candidate: Candidate, problem: Problem, grade: Grade) -> EvalReport:
    """A report of code that passed, before anything of it is known."""
    target = candidate.target
    return EvalReport(
        problem=problem.name,
        target=target,
        metric=problem.metric,
        code_hash=code_hash(candidate.code),
        outcome=Outcome.PASSED,
        device=machine.device(target),
        toolchain=machine.toolchain(target),
        evaluator=EVALUATOR,
        grade=grade,
        facts=machine.facts(target),
    )


def _failed(failure: Failure) -> dict[str, object]:
    """Fields of a report on code that failed."""
    return {"outcome": failure.outcome, "diagnosis": failure.diagnosis[:_DIAGNOSIS_LENGTH]}
