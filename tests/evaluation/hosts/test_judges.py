"""Several judges as one: who gets a candidate when judges fail; which reports may be compared."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.hosts.pool import JudgeLost, JudgePool, JudgeRequest, Seat
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.target import Target

from ..conftest import problem_named

PROBLEM = problem_named("scale")
Ask = Callable[[JudgeRequest], EvalReport]


def report(code: str = "", **changed: object) -> EvalReport:
    plain = EvalReport(
        problem="scale",
        target="openmp",
        metric="call",
        code_hash=code,
        outcome=Outcome.PASSED,
        device="D",
        toolchain="T",
        evaluator="1",
        grade="screening",
    )
    return plain.model_copy(update=changed)


class Told(JudgePool):
    """Judges that do what they are told, by name."""

    def __init__(self, **judges: Ask) -> None:
        self._changed, self._stopped = threading.Condition(), False
        self._processes, self._machine = [], cast(Any, SimpleNamespace(close=lambda: None))
        self._grade = "screening"
        self.seen: list[tuple[str, str]] = []
        self._seats = [
            Seat(name, ["openmp"], self._noting(name, ask)) for name, ask in judges.items()
        ]

    def _noting(self, name: str, ask: Ask) -> Ask:
        def noted(request: JudgeRequest) -> EvalReport:
            self.seen.append((name, request.candidate.code))
            return ask(request)

        return noted

    def device(self, target: Target) -> str:
        return "D"

    toolchain = device

    def _early(self, request: JudgeRequest) -> None:
        """Nothing is compiled ahead."""


def judged(judges: JudgePool, code: str) -> EvalReport:
    return judges.evaluate(Candidate("openmp", code), PROBLEM)


def right(request: JudgeRequest) -> EvalReport:
    return report(request.candidate.code)


def lost_gpu(_: JudgeRequest) -> EvalReport:
    raise ToolError("GPU: lost")


def deadly(request: JudgeRequest) -> EvalReport:
    if request.candidate.code == "kills":
        raise JudgeLost("judge: died")
    return right(request)


def test_a_judge_that_fails_costs_a_try_and_another_one_judges() -> None:
    with Told(ill=lost_gpu, well=right) as judges:
        result = judged(judges, "a")
    assert result.code_hash == "a"
    assert judges.seen == [("ill", "a"), ("well", "a")]


def test_without_another_judge_the_same_one_is_asked_again_and_then_the_error_is_told() -> None:
    with Told(ill=lost_gpu) as judges, pytest.raises(ToolError):
        judged(judges, "a")
    assert judges.seen == [("ill", "a")] * 2


def test_a_candidate_that_kills_every_judge_fails_and_the_others_do_not() -> None:
    with Told(only=deadly) as judges, ThreadPoolExecutor(2) as threads:
        killed, right = (threads.submit(judged, judges, code) for code in ("kills", "a"))
        with pytest.raises(JudgeLost):
            killed.result()
        assert right.result().passed


def test_a_request_without_a_grade_has_that_of_the_judges() -> None:
    grades = []
    with Told(only=lambda request: grades.append(request.grade) or right(request)) as judges:
        judges._grade = "full"
        judged(judges, "a")
    assert grades == ["full"]


def test_a_target_that_nobody_judges_is_an_error() -> None:
    with Told(only=right) as judges, pytest.raises(ToolError):
        judges.evaluate(Candidate("cuda", ""), PROBLEM)


def test_the_end_is_an_error_for_who_waits() -> None:
    begun, ended = threading.Event(), threading.Event()

    def slow(request: JudgeRequest) -> EvalReport:
        begun.set()
        ended.wait(60)
        return right(request)

    judges = Told(only=slow)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(judged, judges, "a")
        begun.wait(60)
        waiting = threads.submit(judged, judges, "b")
        judges.close(abandon=True)
        with pytest.raises(ToolError):
            waiting.result(60)
        ended.set()
        assert first.result(60).passed
