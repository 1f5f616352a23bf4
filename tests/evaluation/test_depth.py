"""A verdict goes as deep as it must: glances, the budget of a candidate, ends nobody waits for."""

import time
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.worker.process import leaving, wait_for_leaving
from regraph_kg.models.evaluation import Candidate, Grade, Outcome

from .conftest import problem_named, scale_source

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
HEAD = "#include <unistd.h>\n"
SOON = 1e-9  # seconds of a best time that nothing reaches


def openmp(body: str) -> Candidate:
    return Candidate("openmp", scale_source(body, HEAD))


@pytest.mark.parametrize(
    ("grade", "best", "ended"),
    [
        ("screening", SOON, "glance"),
        ("screening", 1e3, "screening"),
        ("screening", None, "screening"),
        ("glance", None, "glance"),
        ("full", SOON, "full"),
    ],
)
def test_a_screening_ends_at_its_glance_where_code_is_surely_slower(
    judge: Judge, grade: Grade, best: float | None, ended: str
) -> None:
    report = judge.evaluate(
        openmp(RIGHT), problem_named("scale"), grade=grade, incumbent_seconds=best
    )
    assert report.outcome.is_right, report.diagnosis
    assert report.grade == ended
    assert report.timing is not None
    assert report.stages["wait"] >= 0


def test_a_glance_refuses_what_is_wrong_in_timed_calls_only(judge: Judge) -> None:
    body = f"if (n < 100000) {{ {RIGHT} return; }} for (int i = 0; i < n; ++i) y[i] = 0;"
    report = judge.evaluate(openmp(body), problem_named("scale"), grade="glance")
    assert report.outcome is Outcome.WRONG_ANSWER


def test_all_that_a_candidate_does_has_one_budget(cache: Path) -> None:
    limits = JudgeLimits(verdict_seconds=0.2, verdict_calls=0)
    with Judge(cache, limits=limits) as judge:
        slow = judge.evaluate(openmp(f"usleep(50000); {RIGHT}"), problem_named("scale"))
        quick = judge.evaluate(openmp(RIGHT), problem_named("scale"), grade="glance")
    assert slow.outcome is Outcome.TIMED_OUT
    assert "together" in slow.diagnosis or "no result" in slow.diagnosis
    assert quick.outcome.is_right, "the next one has its own"


def test_the_ends_of_processes_are_waited_for_once_a_judge_closes(cache: Path) -> None:
    with Judge(cache) as judge:
        judge.evaluate(openmp(RIGHT), problem_named("scale"), grade="glance")
    assert leaving() == 0
    start = time.monotonic()
    wait_for_leaving(5)
    assert time.monotonic() - start < 1, "there is nothing to wait for"


POOL = """
static std::atomic<int> asked{0};
static bool helped = (std::thread([] { for (;;) %s; }).detach(), true);
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("waits", "outcomes"),
    [
        ("while (asked.load() == 0) {}", {Outcome.SUSPICIOUS}),
        ("std::this_thread::sleep_for(std::chrono::seconds(1))", {Outcome.PASSED}),
    ],
)
def test_threads_that_work_on_after_a_call_are_told(
    judge: Judge, waits: str, outcomes: set[Outcome]
) -> None:
    head = f"#include <atomic>\n#include <chrono>\n#include <thread>\n{POOL % waits}"
    code = scale_source(f"(void)helped; {RIGHT}", head)
    report = judge.evaluate(Candidate("openmp", code), problem_named("scale"))
    assert report.outcome in {*outcomes, Outcome.UNSTABLE_TIMING}, report.diagnosis
    assert report.outcome is not Outcome.UNSTABLE_TIMING or Outcome.PASSED in outcomes
