"""A time that is not known wins nowhere: no state, no answer, no figure, whatever its outcome."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench.run import read_answers
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Interval,
    Outcome,
    Rivalry,
    code_hash,
)
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import SimulationRecord
from regraph_kg.models.trajectory import Measurement
from regraph_kg.runs.run_page import measured
from regraph_kg.search.final_answer import better, final_answer
from regraph_kg.search.harvest import harvest
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.sample import SampleVerdict, Verdicts
from regraph_kg.search.world import Evaluate
from tests.search import test_harvest as traced
from tests.search.toy import TASK, code, fenced, header, judge

GOOD = Interval(low=1.9, high=2.1)
ABSURD = 1_117_370_881.0


def timed(text: str, speedup: float, interval: Interval, outcome: Outcome) -> EvalReport:
    return traced.report(text, speedup, speedup_interval=interval, outcome=outcome)


def judged_as(
    verdicts: Verdicts, text: str, judge_it: Callable[[Candidate], EvalReport]
) -> SampleVerdict:
    """The verdict on an answer with code that the judge says this of."""
    work = verdicts.judge(Reply(text=fenced(text), finish="stop"), TASK.start)
    effect = next(work)
    while True:
        assert isinstance(effect, Evaluate)
        try:
            effect = work.send(judge_it(effect.candidate))
        except StopIteration as end:
            verdict: SampleVerdict = end.value[0]
            return verdict


unsure = st.builds(
    lambda low, width, outcome: timed(
        "int b;", low * math.sqrt(width), Interval(low=low, high=low * width), outcome
    ),
    st.floats(0.1, 1e3),
    st.floats(2.01, 1e9),
    st.sampled_from([Outcome.PASSED, Outcome.UNSTABLE_TIMING]),
)


@given(unsure)
def test_a_wide_interval_beats_nothing(report: EvalReport) -> None:
    good = timed("int a;", 2.0, GOOD, Outcome.PASSED)
    assert report.sure_speedup is None
    steps = traced.step("a", 2.0), traced.step("b", report.sure_speedup, outcome=report.outcome)
    run = traced.run(
        *steps, reports=(good, report), finals={r.code_hash: r for r in (good, report)}
    )
    assert run.best is steps[0]
    assert [best.step for best in run.bests] == [steps[0]]
    assert better((steps[0], good), (steps[1], report)) == (steps[0], good)
    assert better(None, (steps[1], report)) is None
    answer = final_answer(TASK, run.records, lambda one: report if "b" in one.code else good)
    assert answer.report is good
    assert {answer.kind for answer in read_answers(run)} == {"faster", "untimed"}
    taught = harvest(run, traced.SERIAL).trajectories
    assert [one.measurements != () for way in taught for one in way.steps] == [True]


@given(unsure)
def test_the_search_learns_no_level_from_a_wide_interval(report: EvalReport) -> None:
    verdicts = Verdicts(TASK, Ledger(header(9).limits))
    assert judged_as(verdicts, code(0.1), lambda _: report).speedup is None


def test_an_unstable_time_is_worth_the_end_that_it_surely_reaches() -> None:
    report = timed("int b;", 2.0, Interval(low=1.5, high=2.9), Outcome.UNSTABLE_TIMING)
    assert report.sure_speedup == 1.5
    glance = traced.report("int b;", 2.0, speedup_interval=GOOD, grade="glance")
    assert glance.sure_speedup == 1.9


def test_noisy_code_that_was_timed_in_turn_with_the_fastest_is_known_by_that() -> None:
    verdicts = Verdicts(TASK, Ledger(header(9).limits))
    fastest = code(1.0)
    known = judged_as(verdicts, fastest, judge).speedup
    rivals: list[str | None] = []

    def noisy(candidate: Candidate) -> EvalReport:
        rivals.append(candidate.rival)
        rivalry = candidate.rival and Rivalry(
            code_hash=code_hash(candidate.rival),
            ratio=1.3,
            interval=Interval(low=1.2, high=1.4),
            verdict="faster",
        )
        wide = Interval(low=1.0, high=9.0)
        report = timed(candidate.code, 3.0, wide, Outcome.UNSTABLE_TIMING)
        return report.model_copy(update={"rivalry": rivalry})

    assert known is not None
    assert judged_as(verdicts, code(1.1), noisy).speedup == pytest.approx(1.2 * known)
    assert [one and one.strip() for one in rivals] == [None, fastest]


class TestWhatABrokenClockMeasured:
    """Samples of 1e-9 s, as earlier versions wrote them, all well within an interval."""

    def test_a_report_of_it_is_not_known(self) -> None:
        narrow = Interval(low=0.9 * ABSURD, high=1.1 * ABSURD)
        for report in (
            timed("int b;", ABSURD, narrow, Outcome.PASSED),
            traced.report("int b;", 5.0, serial=5e-9, speedup_interval=Interval(low=4, high=6)),
        ):
            assert report.sure_speedup is None
            assert "unknown" in str(report)
            assert measured(report)

    def test_a_step_of_an_old_trace_is_not_the_best(self) -> None:
        run = traced.run(traced.step("a", 2.0), traced.step("b", ABSURD))
        assert run.best is not None
        assert run.best.path == ("openmp/a",)
        written = run.records[0].model_dump_json().replace('"speedup":2.0', f'"speedup":{ABSURD}')
        assert SimulationRecord.model_validate_json(written).steps[0].speedup is None

    @pytest.mark.parametrize(
        ("seconds", "before", "interval"),
        [(1e-9, 1.0, None), (1e-9, 2e-9, None), (1e-6, 10.0, None), (1.0, 3.0, (0.9, 9.0))],
    )
    def test_a_measurement_has_no_effect(
        self, seconds: float, before: float, interval: tuple[float, float] | None
    ) -> None:
        one = Measurement(
            device="d",
            toolchain="t",
            evaluator="5",
            run="",
            outcome=Outcome.PASSED,
            seconds=seconds,
            before_seconds=before,
            effect_interval=interval,
        )
        assert one.effect is None
