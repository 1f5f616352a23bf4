"""What a run hands back: re-measured, surely faster, or the serial code."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Interval,
    Outcome,
    Rivalry,
    code_hash,
)
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.run import CommonFailure, Cost, SimulationRecord, StepRecord
from regraph_kg.search.final_answer import commonest_failure, final_answer, finalists, summarise
from regraph_kg.search.ledger import Ledger
from tests.search import test_harvest as traced
from tests.search.test_harvest import records
from tests.search.toy import SERIAL, TASK, code, header, judge


def step(
    name: str, speedup: float | None, outcome: Outcome | None = Outcome.PASSED, calls: int = 1
) -> StepRecord:
    return StepRecord(
        path=(f"openmp/{name}",),
        technique=f"openmp/{name}",
        sample=0,
        outcome=outcome,
        speedup=speedup,
        gain=None,
        cost=Cost(calls=calls, evaluations=calls, model_seconds=0.5),
        code=None if outcome is None else code(name),
    )


def ledger(found: list[SimulationRecord], calls: int) -> Ledger:
    """The account of a run that bought what `found` says."""
    made = Ledger(SearchLimits(verdicts=calls))
    for record in found:
        for step in record.steps:
            made.charge(step.cost)
    return made


def measured(levels: Mapping[str, tuple[float, float] | Outcome]) -> dict[str, object]:
    """evaluate_final that gives each named code its speedup and lower bound, or its failure."""
    asked: list[str] = []

    def evaluate(candidate: Candidate) -> EvalReport:
        name = candidate.code.partition("x=")[2].split()[0]
        asked.append(name)
        said = levels[name]
        if isinstance(said, Outcome):
            return judge(Candidate("openmp", code(said)))
        report = judge(Candidate("openmp", code(math.log(said[0]))))
        interval = Interval(low=said[1], high=1.2 * said[0])
        return report.model_copy(update={"speedup": said[0], "speedup_interval": interval})

    return {"evaluate_final": evaluate, "asked": asked}


def test_the_fastest_are_finalists_each_code_once() -> None:
    again = step("c", 9.0).model_copy(update={"path": ("openmp/later",)})
    found = finalists(
        records(
            step("a", 2.0),
            step("b", 1.5),
            step("c", 9.0),
            again,
            step("d", 4.0),
            step("u", 3.0, Outcome.UNSTABLE_TIMING),
            step("slow", 0.9),
            step("w", None, Outcome.WRONG_ANSWER),
        )
    )
    assert [one.path[0].partition("/")[2] for one in found] == ["c", "d", "u", "a", "b"]


def test_code_that_is_not_faster_is_not_measured_again() -> None:
    assert finalists(records(step("slow", 0.9), step("same", 1.0))) == []


def test_only_the_measurement_afterwards_decides() -> None:
    final = measured({"a": (3.0, 2.5), "b": (5.0, 4.0), "c": (1.2, 0.8)})
    found = records(step("a", 7.0), step("b", 6.0), step("c", 50.0))
    answer = final_answer(TASK, found, final["evaluate_final"])  # type: ignore[arg-type]
    assert final["asked"] == ["c", "a", "b"]
    assert (answer.path, answer.code) == (("openmp/b",), code("b"))
    summary = summarise(header(budget=3), found, answer, ledger(found, 3))
    assert (summary.speedup, summary.improved, summary.stopped) == (5.0, True, "verdicts")
    assert summary.speedup_interval == Interval(low=4.0, high=6.0)


def test_a_finalist_that_is_wrong_gives_its_place_to_the_next() -> None:
    wrong = {"w": Outcome.WRONG_ANSWER, "v": Outcome.NONDETERMINISTIC}
    final = measured({**wrong, "a": (3.0, 2.5), "b": (2.0, 1.5), "c": (1.5, 1.2), "d": (1.3, 1.1)})
    found = records(*(step(name, 9.0 - n) for n, name in enumerate("wvabcd")))
    answer = final_answer(TASK, found, final["evaluate_final"])  # type: ignore[arg-type]
    assert final["asked"] == ["w", "v", "a", "b", "c"]
    assert answer.path == ("openmp/a",)


@pytest.mark.parametrize(("ratio", "answered"), [(1.04, "b"), (0.96, "a")])
def test_of_two_finalists_the_one_that_was_faster_in_turn_is_the_answer(
    ratio: float, answered: str
) -> None:
    """Whatever their speedups over serial code say, which was timed beside each of them."""
    single: Any = measured({"a": (3.0, 2.5), "b": (2.9, 2.4)})["evaluate_final"]
    rivals: list[str | None] = []

    def evaluate(candidate: Candidate) -> EvalReport:
        rivals.append(candidate.rival)
        rivalry = candidate.rival and Rivalry(
            code_hash=code_hash(candidate.rival),
            ratio=ratio,
            interval=Interval(low=ratio - 0.02, high=ratio + 0.02),
            verdict="unknown",
        )
        report: EvalReport = single(candidate)
        return report.model_copy(update={"rivalry": rivalry})

    answer = final_answer(TASK, records(step("a", 3.0), step("b", 2.9)), evaluate)
    assert answer.code == code(answered)
    assert rivals == [None, code("a")]


@pytest.mark.parametrize(("ratio", "answered"), [(1.04, "b"), (0.96, "a")])
def test_a_trace_has_the_answer_that_the_search_gave(ratio: float, answered: str) -> None:
    interval = {"low": ratio - 0.02, "high": ratio + 0.02}
    rivalry = {"code_hash": code_hash("int a;"), "ratio": ratio, "interval": interval}
    faster = {"low": 2.0, "high": 4.0}
    finals = [
        traced.report("int a;", 3.0, speedup_interval=faster),
        traced.report(
            "int b;", 2.9, speedup_interval=faster, rivalry=rivalry | {"verdict": "unknown"}
        ),
    ]
    steps = traced.step("a", 3.0), traced.step("b", 2.9)
    run = traced.run(*steps, finals={final.code_hash: final for final in finals})
    assert run.answer is not None
    assert run.answer[0].code == f"int {answered};"


@pytest.mark.parametrize(
    "said", [(1.1, 0.99), (0.8, 0.7), Outcome.UNSTABLE_TIMING, Outcome.WRONG_ANSWER]
)
def test_without_surely_faster_code_the_serial_code_is_the_answer(
    said: tuple[float, float] | Outcome,
) -> None:
    final = measured({"a": said})
    found = records(step("a", 2.0))
    answer = final_answer(TASK, found, final["evaluate_final"])  # type: ignore[arg-type]
    assert (answer.code, answer.path, answer.report) == (SERIAL, (), None)
    summary = summarise(header(), found, answer, ledger(found, 30))
    assert (summary.speedup, summary.improved, summary.best_code) == (1.0, False, SERIAL)
    assert summary.speedup_interval is None


def test_a_finalist_whose_timing_was_unstable_is_timed_once_more() -> None:
    verdicts = iter([f"unstable_timing:{math.log(4)}", math.log(3)])
    answer = final_answer(
        TASK,
        records(step("a", 2.0)),
        lambda candidate: judge(Candidate("openmp", code(next(verdicts)))),
    )
    assert answer.report is not None
    assert answer.report.speedup == pytest.approx(3.0)


def test_the_summary_counts_what_was_bought() -> None:
    found = records(
        step("a", 2.0, calls=2),
        step("b", None, None, calls=0),
        step("c", None, Outcome.WRONG_ANSWER),
        step("d", 1.5),
    )
    answer = final_answer(TASK, [], judge)
    summary = summarise(header(budget=9, seed=3), found, answer, ledger(found, 9))
    assert summary.cost == Cost(calls=4, evaluations=4, model_seconds=2.0)
    assert (summary.iterations, summary.unrecorded, summary.seed) == (3, 1, 3)
    assert summary.outcomes == {"passed": 2, "wrong_answer": 1}
    assert summary.stopped == "exhausted"


def test_the_commonest_failure_is_the_one_met_most_and_of_equals_the_latest() -> None:
    def failed(outcome: Outcome, diagnosis: str) -> StepRecord:
        return step("a", None, outcome).model_copy(update={"diagnosis": diagnosis})

    wrong = failed(Outcome.WRONG_ANSWER, "y[0]: expected 2, got 3\nand more")
    again = failed(Outcome.WRONG_ANSWER, "y[0]: expected 2, got 3\nand other")
    broken = failed(Outcome.COMPILE_FAILED, "line 3")
    good, unrecorded = step("b", 2.0), step("c", None, None)
    assert commonest_failure(records(wrong, broken, good, again)) == CommonFailure(
        outcome=Outcome.WRONG_ANSWER, diagnosis="y[0]: expected 2, got 3", count=2
    )
    latest = commonest_failure(records(wrong, broken, unrecorded))
    assert latest is not None
    assert latest.diagnosis == "line 3"
    assert commonest_failure(records(good, unrecorded)) is None
    found = records(broken, good)
    answer = final_answer(TASK, records(), judge)
    assert summarise(header(2), found, answer, ledger(found, 2)).failure == CommonFailure(
        outcome=Outcome.COMPILE_FAILED, diagnosis="line 3", count=1
    )
