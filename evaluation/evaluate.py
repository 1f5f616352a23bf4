"""The story: compile, run, verify, time; a report, whatever the candidate does.

Three grades, each a subset of the next: docs/evaluation.md. Reports say which.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compare import LOOKS
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.evaluation import Evaluation
from regraph_kg.evaluation.gpu.device import silent, threads, turn
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.session import Session
from regraph_kg.evaluation.slots import SessionRules
from regraph_kg.evaluation.timing.roofline import account, below_floor, floor_seconds
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome, code_hash
from regraph_kg.models.target import TARGETS, Target, timed_by

EVALUATOR = "6"
"""Version of the judge's rules; the end of docs/evaluation.md tells what each of them changed."""

_DIAGNOSIS_LENGTH = 1500


class Judge(AbstractContextManager["Judge"]):
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
        gpu: int = 0,
        tell: Callable[[str], None] = silent,
    ) -> None:
        self._tell = tell
        self._grade: Grade = grade
        secret = secrets.randbits(128) if seed is None else seed
        self._rules = SessionRules(secret, defences or Defences(), limits or JudgeLimits())
        self._machine = machine = Machine(cache, self._rules, gpu)
        self.device, self.toolchain = machine.device, machine.toolchain
        self._sessions: dict[tuple[str, Target], Session] = {}

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process and release all memory; idempotent."""
        while self._sessions:
            self._sessions.popitem()[1].close()
        self._machine.close()

    def evaluate(
        self,
        candidate: Candidate,
        problem: Problem,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """Compile, run, verify, time. Never raises for what the candidate does.

        A screening ends at its glance where even the fastest call is slower than
        `incumbent_seconds`, the best time so far: the report's grade is "glance" then. Timing ends
        early (censored) where a call takes 3 times that, else 3 times the serial code's.
        """
        asked = grade or self._grade
        target = TARGETS[candidate.target]
        if problem.metric not in target.scatter:
            raise BadInput(
                f'problem {problem.name}: metric "{problem.metric}" needs target'
                f" {' or '.join(timed_by(problem.metric))}, not {candidate.target}"
            )
        start = time.perf_counter()
        evaluation = Evaluation(candidate, problem, asked, incumbent_seconds)
        refused = rejected(candidate.code) if self._rules.defences.source_rules else None
        if refused:  # before a problem is opened, which takes seconds
            return self._report(evaluation.failed(refused), start)
        session, opening = self._session(problem, candidate.target)
        for stage, seconds in opening.items():
            evaluation = evaluation.spent(stage, seconds)
        if not target.on_gpu:
            session.staff(target.efforts[asked].workers)
        evaluation = evaluation.then("compile", self._compile)
        if not evaluation.is_over:
            with self._turn(candidate.target, session) as waited:
                evaluation = self._judge(session, evaluation.spent("wait", waited))
        if evaluation.failure and target.on_gpu:
            self._machine.blame(evaluation.failure)
        return self._report(evaluation, start, session.sandbox)

    def _compile(self, evaluation: Evaluation) -> Evaluation:
        program = self._machine.program(evaluation.candidate, evaluation.problem)
        if isinstance(program, Failure):
            return evaluation.failed(program)
        return replace(evaluation, program=program)

    def _judge(self, session: Session, evaluation: Evaluation) -> Evaluation:
        """Every stage that needs the device; none comes after a failure, or a glance's end."""
        assert evaluation.program
        program = replace(evaluation.program, budget=session.budget())
        evaluation = replace(evaluation, program=program)
        with session.slots.candidate(program) as slot:
            evaluation = (
                evaluation.then("verify", partial(session.verify, slot))
                .then("glance", partial(session.glance, slot))
                .then("baseline", session.renew_baseline)
                .then("time", partial(session.time, slot))
            )
        if evaluation.times and evaluation.times.means_little:
            evaluation = evaluation.then("time again", session.time_again)
        if evaluation.grade == "full" and program.cuda:
            evaluation = evaluation.then("profile", partial(self._profile, session))
        if self._rules.defences.further:
            evaluation = evaluation.then("further", partial(self._look_further, session))
        return self._meet_rival(session, evaluation)

    def _meet_rival(self, session: Session, evaluation: Evaluation) -> Evaluation:
        """How the candidate does against its rival, in turn where levels do not tell."""
        rival, times = evaluation.candidate.rival, evaluation.times
        if evaluation.failure or times is None or times.whole:
            return evaluation
        told = session.by_level(evaluation)
        is_slow = times.seconds > session.serial_seconds
        if rival is None or (is_slow and evaluation.grade != "full"):
            return evaluation  # by how much slow code is slow interests nobody
        if told.rivalry:
            return told
        return evaluation.then("compare", partial(self._compare, session, rival))

    def _compare(self, session: Session, rival: str, evaluation: Evaluation) -> Evaluation:
        other = self._machine.program(replace(evaluation.candidate, code=rival), evaluation.problem)
        if isinstance(other, Failure) or evaluation.program is None:
            return evaluation
        looks = LOOKS if evaluation.grade == "full" else LOOKS[:1]
        both = replace(evaluation.program, budget=None), other
        return replace(evaluation, rivalry=session.compare(rival, both, looks))

    def _look_further(self, session: Session, evaluation: Evaluation) -> Evaluation:
        """Further cases; compute-sanitizer works beside them, as nothing is timed any more."""
        candidate, problem, program = evaluation.candidate, evaluation.problem, evaluation.program
        assert program
        builds = self._machine.builds(candidate, problem, program)
        if not program.cuda or evaluation.grade != "full":
            return session.look_further(builds, evaluation)
        with ThreadPoolExecutor(1) as beside:
            finding = beside.submit(self._machine.sanitize, candidate.code, program, problem)
            try:
                evaluation = session.look_further(builds, evaluation)
            except Failure as failure:
                evaluation = evaluation.failed(failure)
        return evaluation.failed(finding.result())

    def _profile(self, session: Session, evaluation: Evaluation) -> Evaluation:
        """Note kernels and copies of one call, by CUPTI; a call without a kernel is suspicious."""
        assert evaluation.program
        try:
            library = self._machine.profiler()
        except ToolError as error:
            return replace(evaluation, profile={"profile": str(error)})
        found = session.profile(library, evaluation.program)
        if found is None:
            return evaluation
        if not found.launches:
            text = "one call, profiled, shows no kernel that had finished when it returned"
            raise Failure(Outcome.SUSPICIOUS, text)
        return replace(evaluation, profile=found.facts())

    @contextmanager
    def _turn(self, target: Target, session: Session | None = None) -> Iterator[float]:
        """Claim the device for a session, or what opening one takes: the seconds waited for it."""
        # no device context is on its way once others may have it
        start = time.perf_counter()
        with ExitStack() as turns:
            for claim in self._machine.claims(target, opening=session is None):
                turns.enter_context(turn(claim, self._tell))
            yield time.perf_counter() - start
            if session and session.problem.metric == "device":
                session.slots.settle()

    def _session(self, problem: Problem, target: Target) -> tuple[Session, dict[str, float]]:
        """A problem's session, and the seconds of the stages that opening it took now."""
        key = (problem.model_dump_json(), target)
        for other in self._sessions.keys() - {key}:
            self._sessions[other].slots.cool_down()
        if key in self._sessions:
            return self._sessions[key], {}
        start = time.perf_counter()
        self._tell("compiling the serial code")
        programs = self._machine.programs(problem)
        session = Session(problem, programs, self._machine.rules(target), threads())
        try:
            with self._turn(target) as waited:
                session.open(self._tell)
        except BaseException:
            session.close()
            raise
        self._sessions[key] = session
        return session, {"open": time.perf_counter() - start - waited, "wait": waited}

    def _report(
        self, evaluation: Evaluation, start: float, sandbox: str | None = None
    ) -> EvalReport:
        """The report of an evaluation that began at `start`."""
        evaluation = evaluation.spent("total", time.perf_counter() - start)
        report = report_of(self._machine, evaluation, {"sandbox": sandbox} if sandbox else {})
        if evaluation.failure:
            return report
        times, problem, target = evaluation.times, evaluation.problem, evaluation.candidate.target
        assert times
        peaks = self._machine.peaks(target)
        work = account(problem, times.seconds, peaks)
        floor = floor_seconds(problem, peaks or self._machine.nominal(target))
        # a time below the physics floor is suspicious
        failure = below_floor(work, floor) if self._rules.defences.floor else None
        impossible = _failed(failure) if failure else {}
        return report.model_copy(update=times.fields() | {"account": work} | impossible)


def report_of(machine: Machine, evaluation: Evaluation, facts: Mapping[str, str]) -> EvalReport:
    """A report of all that is known but for times."""
    target, failure = evaluation.candidate.target, evaluation.failure
    report = EvalReport(
        problem=evaluation.problem.name,
        target=target,
        metric=evaluation.problem.metric,
        code_hash=code_hash(evaluation.candidate.code),
        outcome=Outcome.PASSED,
        device=machine.device(target),
        toolchain=machine.toolchain(target),
        evaluator=EVALUATOR,
        grade="glance" if evaluation.ended_at_glance else evaluation.grade,
        stages=dict(evaluation.stages),
        load=evaluation.load,
        facts={**machine.facts(target), **facts, **evaluation.facts()},
        rivalry=evaluation.rivalry,
    )
    return report.model_copy(update=_failed(failure)) if failure else report


def _failed(failure: Failure) -> dict[str, object]:
    """Fields of a report on code that failed."""
    return {"outcome": failure.outcome, "diagnosis": failure.diagnosis[:_DIAGNOSIS_LENGTH]}
