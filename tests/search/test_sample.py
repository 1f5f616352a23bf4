"""Samples as a search buys them: unrecorded, known already, timed unstably."""

import math

import pytest

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.final_answer import commonest_failure
from regraph_kg.search.methods.mcgs import McgsSettings
from tests.search.toy import (
    Graph,
    Toy,
    code,
    fenced,
    header,
    judge,
    noisy_script,
    says,
    searching,
)

LINE: Graph = {"start": ["a"], "a": ["b"]}
FORK: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def run(toy: Toy, budget: int, seed: int = 0, **settings: int) -> list[SimulationRecord]:
    told = McgsSettings.model_validate({"free": False} | settings)
    return list(searching(toy.world, header(budget, seed, settings=told)))


def test_an_answer_that_is_not_recorded_costs_and_teaches_nothing() -> None:
    toy = Toy(FORK, says(b=0.5))
    records = run(toy, 10, samples=1)
    first, second, third = records
    assert (first.steps[0].outcome, first.reward, first.spent) == (None, None, 0)
    assert [r.iteration for r in records] == [0, 0, 1]  # what buys nothing is not counted
    assert (second.spent, third.spent) == (1, 1)


def test_equal_code_is_evaluated_once_and_paid_twice() -> None:
    def answer(key: PromptKey) -> str:
        return fenced("\n  " + code(0.5) + "\n\n" * len(key.path))

    toy = Toy({"start": ["a", "b"]}, answer)
    records = run(toy, 2, samples=1)
    assert len(toy.evaluated) == 1
    assert [r.spent for r in records] == [1, 2]
    assert records[1].steps[0].outcome is Outcome.PASSED
    assert records[1].steps[0].cost.evaluations == 0


def test_unstable_timing_is_timed_again_and_then_worth_its_lower_bound() -> None:
    verdict = f"unstable_timing:{math.log(2)}"
    toy = Toy({"start": ["a"]}, says(a=verdict))
    (record,) = run(toy, 1)
    assert len(toy.evaluated) == 2
    assert record.steps[0].gain == pytest.approx(math.log(1.8))
    assert record.best_speedup == pytest.approx(1.8)


@pytest.mark.parametrize("verdict", ["unstable_timing", f"unstable_timing:{math.log(2)}"])
def test_unstable_timing_is_no_failure(verdict: str) -> None:
    toy = Toy({"start": ["a"]}, says(a=verdict))
    assert commonest_failure(run(toy, 3, samples=3)) is None


def test_unstable_timing_that_settles_is_a_pass() -> None:
    calls: list[str] = []

    def evaluate(candidate: Candidate) -> EvalReport:
        calls.append(candidate.code)
        verdict = 0.5 if len(calls) == 2 else "unstable_timing:0.1"
        return judge(Candidate("openmp", code(verdict)))

    toy = Toy({"start": ["a"]}, says(a=0.5), evaluate)
    (record,) = run(toy, 1)
    assert record.steps[0].outcome is Outcome.PASSED
    assert record.best_speedup == pytest.approx(math.exp(0.5))


def test_a_neighbourhood_is_read_once_a_run() -> None:
    toy = Toy(FORK, noisy_script(5))
    run(toy, 30)
    assert set(toy.reads.values()) == {1}


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (math.log(2), 2.0),
        ("wrong_answer", None),
        ("compile_failed", None),
        ("unstable_timing", None),  # never timed at all
        (f"unstable_timing:{math.log(2)}", 1.8),  # the interval's lower bound
    ],
)
def test_what_the_search_learns_from_a_report(verdict: float | str, expected: float | None) -> None:
    assert judge(Candidate("openmp", code(verdict))).sure_speedup == pytest.approx(expected)
