"""What the judge is told with each candidate, and what it made of the ones before."""

import pytest

from regraph_kg.evaluation.timing.stop import summarise
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import PromptKey
from regraph_kg.runs.choice import usual_settings
from tests.search.toy import Toy, code, fenced, header, judge, searching

LEVELS = ("0.5", "wrong_answer", "1.5", "unstable_timing:3", "1.0", "2.0", "0.1")


def timed(candidate: Candidate) -> EvalReport:
    """As the toy judge, and a time of a call where it passed: 1 s for the serial code."""
    report = judge(candidate)
    if report.outcome is not Outcome.PASSED or report.speedup is None:
        return report
    return report.model_copy(update={"timing": summarise([1 / report.speedup])})


def test_the_judge_is_told_the_best_time_of_a_right_code_so_far() -> None:
    def answer(key: PromptKey) -> str:
        return fenced(code(LEVELS[key.attempt], key.attempt))

    toy = Toy({}, answer, evaluate=timed)
    settings = usual_settings("standard")
    assert len(list(searching(toy.world, header(len(LEVELS), settings=settings)))) == len(LEVELS)
    evaluated = [one.strip() for one in toy.evaluated]  # what is unstable is judged twice
    told = dict(zip(evaluated, toy.incumbents, strict=True))
    best = [told[code(level, number)] for number, level in enumerate(LEVELS)]
    first, second, last = (judge(Candidate("openmp", code(x))).speedup or 0 for x in (0.5, 1.5, 2))
    assert best[0] is None
    assert best[1:] == pytest.approx(
        [1 / first, 1 / first, 1 / second, 1 / second, 1 / second, 1 / last]
    )
