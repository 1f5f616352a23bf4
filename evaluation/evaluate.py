"""The story: compile, run, verify, time; a report, whatever the candidate does.

Two grades. Screening: every shape and distribution once, about 0.12 s of timed calls, the session's
baseline. Full: three seeds, then three fresh workers timed in turn with three fresh baselines
(candidate, serial, serial, candidate, ...). Reports say which.
"""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile import HOST_FLAGS, Compiler, rejected
from regraph_kg.evaluation.device import Gpu, find_gpu, machine_facts, openmp_device, threads
from regraph_kg.evaluation.problem import Problem
from regraph_kg.evaluation.rewrite import to_double
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.session import Programs, Rules, Session
from regraph_kg.evaluation.supervisor import Program, Worker
from regraph_kg.evaluation.timing import Measured, StopRule, half_width, summarise
from regraph_kg.evaluation.toolchain import Cuda, find_cuda, find_gcc
from regraph_kg.models.base import Target
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Interval,
    Outcome,
    Timing,
    code_hash,
)

EVALUATOR = "1"
"""Version of the judge's rules. History: 1 (2026-11) first version."""

Grade = Literal["screening", "full"]

_SECONDS: dict[Grade, float] = {"screening": 0.12, "full": 0.5}
_HALF_WIDTH: dict[Target, float] = {"openmp": 0.02, "cuda": 0.005}
_UNSTABLE: dict[Target, float] = {"openmp": 0.25, "cuda": 0.10}
"""Half-width of the median's interval above which a time means nothing."""
_CENSORED_ABOVE = 3.0
_ROUNDS = 3
_LEAST_CALL_SECONDS = 2.0
_DIAGNOSIS_LENGTH = 1500


class Judge:
    """Judges candidates on this machine; keeps baselines and truths while open.

    One thread at a time. `cache` holds compiled code; `seed` is secret, random unless given.
    Raises `ToolError` where the machine lacks something, `BadInput` where a problem is at fault.
    """

    def __init__(
        self,
        cache: Path,
        *,
        grade: Grade = "screening",
        seed: int | None = None,
        limits: Limits | None = None,
        defences: Defences | None = None,
    ) -> None:
        self._grade: Grade = grade
        secret = secrets.randbits(48) if seed is None else seed
        self._rules = Rules(secret, defences or Defences(), limits or Limits())
        self._gcc = find_gcc()
        self._compiler = Compiler(cache / "compiled", self._gcc, self._rules.limits)
        self._sessions: dict[tuple[str, Target], Session] = {}
        self._gpu_tools: tuple[Cuda, Gpu] | None = None

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process and release all memory; idempotent."""
        while self._sessions:
            self._sessions.popitem()[1].close()

    def device(self, target: Target) -> str:
        """Statistics key: GPU model for cuda, CPU model and threads for openmp."""
        return openmp_device() if target == "openmp" else self._cuda()[1].name

    def toolchain(self, target: Target) -> str:
        """Compilers and flags, as reports carry them."""
        if target == "openmp":
            return f"g++ {self._gcc.version} {' '.join(HOST_FLAGS[1:])} -fopenmp"
        cuda, gpu = self._cuda()
        return f"nvcc {cuda.version} -O3 sm_{gpu.arch}, g++ {self._gcc.version}"

    def evaluate(
        self, candidate: Candidate, problem: Problem, *, grade: Grade | None = None
    ) -> EvalReport:
        """Compile, run, verify, time. Never raises for what the candidate does."""
        if candidate.target == "openmp" and problem.metric == "device":
            raise BadInput(f'problem {problem.name}: metric "device" needs target cuda, not openmp')
        session = self._session(problem, candidate.target)
        trial = _Trial(session, candidate, grade or self._grade)
        result = self._judge(trial)
        return self._report(trial, result)

    def _judge(self, trial: "_Trial") -> "Failure | _Times":
        session = trial.session
        with trial.stage("compile"):
            program = self._compile(trial.candidate, session.problem)
        if isinstance(program, Failure):
            return program
        session.serve()
        with session.worker(program, threads()) as worker:
            with trial.stage("verify"):
                failure = worker.start or session.verify(worker, full=trial.grade == "full")
            if failure:
                return failure
            if trial.grade == "screening":
                with trial.stage("time"):
                    return self._once(trial, worker)
        with trial.stage("time"):
            return self._rounds(trial, program)

    def _once(self, trial: "_Trial", worker: Worker) -> "Failure | _Times":
        """The verified worker itself, beside the session's baseline."""
        session = trial.session
        times = session.time(worker, self._rule(trial), self._call_seconds(trial))
        return times if isinstance(times, Failure) else _Times((times,), (session.baseline,))

    def _rounds(self, trial: "_Trial", program: Program) -> "Failure | _Times":
        """Fresh workers, candidate and serial in ABBA order."""
        session, rule = trial.session, self._rule(trial)
        own: list[Measured] = []
        serial: list[Measured] = []
        for index in range(_ROUNDS):
            if index % 2:
                serial.append(session.time_serial(rule))
            with session.worker(program, threads()) as worker:
                times = worker.start or session.time(worker, rule, self._call_seconds(trial))
            if isinstance(times, Failure):
                return times
            own.append(times)
            if not index % 2:
                serial.append(session.time_serial(rule))
        return _Times(tuple(own), tuple(serial))

    def _rule(self, trial: "_Trial") -> StopRule:
        return StopRule(
            _SECONDS[trial.grade],
            _HALF_WIDTH[trial.candidate.target],
            _UNSTABLE[trial.candidate.target] / 2,
            give_up_above=_CENSORED_ABOVE * trial.session.serial_seconds,
        )

    def _call_seconds(self, trial: "_Trial") -> float:
        factor = self._rules.limits.slower_than_serial
        return max(_LEAST_CALL_SECONDS, factor * trial.session.serial_seconds)

    def _compile(self, candidate: Candidate, problem: Problem) -> Program | Failure:
        failure = rejected(candidate.code) if self._rules.defences.source_rules else None
        if failure:
            return failure
        if candidate.target == "cuda":
            cuda, gpu = self._cuda()
            built = self._compiler.cuda(candidate.code, cuda, gpu.arch)
            harness = self._compiler.harness(problem, cuda)
        else:
            built = self._compiler.host(candidate.code, (*HOST_FLAGS, "-fopenmp"))
            harness = self._compiler.harness(problem, None)
        if isinstance(built, Failure):
            return built
        return Program(harness, built, problem.entry, cuda=candidate.target == "cuda")

    def _session(self, problem: Problem, target: Target) -> Session:
        """The problem's session, opened (serial code verified and timed) when first asked."""
        key = (problem.model_dump_json(), target)
        if key not in self._sessions:
            if target == "cuda":
                self._cuda()
            session = Session(problem, self._programs(problem), self._rules)
            try:
                session.open(StopRule(_SECONDS["full"], _HALF_WIDTH[target]))
            except BaseException:
                session.close()
                raise
            self._sessions[key] = session
        return self._sessions[key]

    def _programs(self, problem: Problem) -> Programs:
        serial = self._trusted(problem, "serial.cpp", problem.serial_code)
        own = problem.reference_code
        code = to_double(problem.serial_code) if own is None else own
        name = "serial.cpp with fp64 types" if own is None else "reference.cpp"
        reference = self._trusted(problem.promoted(), name, code)
        return Programs(serial, reference)

    def _trusted(self, problem: Problem, name: str, code: str) -> Program:
        built = self._compiler.host(code, HOST_FLAGS)
        if isinstance(built, Failure):
            first = built.diagnosis.splitlines()[0] if built.diagnosis else "no message"
            raise BadInput(f"problem {problem.name}: {name} does not compile: {first}")
        return Program(self._compiler.harness(problem, None), built, problem.entry)

    def _cuda(self) -> tuple[Cuda, Gpu]:
        """Toolkit and GPU. Raises `ToolError` where there is none: cuda never scores then."""
        if self._gpu_tools is None:
            self._gpu_tools = (find_cuda(), find_gpu())
        return self._gpu_tools

    def _facts(self, trial: "_Trial") -> dict[str, str]:
        sandbox = {"sandbox": "seccomp" if trial.session.confined else "none"}
        gpu = {"driver": self._cuda()[1].driver} if trial.candidate.target == "cuda" else {}
        return machine_facts() | sandbox | gpu

    def _report(self, trial: "_Trial", result: "Failure | _Times") -> EvalReport:
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
            facts=self._facts(trial),
        )
        if isinstance(result, Failure):
            diagnosis = result.diagnosis[:_DIAGNOSIS_LENGTH]
            return report.model_copy(update={"outcome": result.outcome, "diagnosis": diagnosis})
        return report.model_copy(
            update=result.fields(_UNSTABLE[target]) | {"facts": report.facts | result.facts()}
        )


@dataclass(frozen=True, slots=True)
class _Times:
    """What was measured: of the candidate, and of the serial code beside it."""

    own: tuple[Measured, ...]
    serial: tuple[Measured, ...]

    def fields(self, unstable: float) -> dict[str, object]:
        """Fields of the report; unstable where an interval is wider than `unstable` medians."""
        timing, baseline = _pooled(self.own), _pooled(self.serial)
        fields: dict[str, object] = {
            "timing": timing,
            "baseline": baseline,
            "speedup": baseline.median / timing.median,
            "speedup_interval": Interval(
                low=baseline.interval.low / timing.interval.high,
                high=baseline.interval.high / timing.interval.low,
            ),
        }
        for whose, series, limit in (
            ("candidate's", timing, unstable),
            ("serial code's", baseline, _UNSTABLE["openmp"]),
        ):
            if half_width(series) > limit and not self.censored:
                fields["outcome"] = Outcome.UNSTABLE_TIMING
                fields["diagnosis"] = (
                    f"the {whose} times vary by {half_width(series):.0%} of their median:"
                    " the machine is busy"
                )
        return fields

    @property
    def censored(self) -> bool:
        """Ended early: far slower than the serial code."""
        return any(series.censored for series in self.own)

    def facts(self) -> dict[str, str]:
        """How the times came about."""
        return {
            "first_call_seconds": f"{self.own[0].first:.6g}",
            "workers": str(len(self.own)),
            "censored": str(self.censored).lower(),
            "clock": "judge" if any(series.distrusted for series in self.own) else "worker",
        }


class _Trial:
    """One evaluation under way: its parts and a stopwatch for its stages."""

    def __init__(self, session: Session, candidate: Candidate, grade: Grade) -> None:
        self.session, self.candidate, self.grade = session, candidate, grade
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

    def stages(self) -> dict[str, float]:
        """Seconds of each stage so far, and of the whole."""
        return self._stages | {"total": time.perf_counter() - self._start}


def _pooled(series: tuple[Measured, ...]) -> Timing:
    return summarise([sample for measured in series for sample in measured.samples])
