"""What the judge is told with each candidate, and what it made of the ones before."""

from collections.abc import Sequence

import pytest

from regraph_kg.evaluation.timing.stop import summarise
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Interval,
    Outcome,
    Rivalry,
    code_hash,
)
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.runs.choice import usual_settings
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.sample import SampleVerdict, Verdicts
from regraph_kg.search.world import Evaluate
from tests.search.toy import TASK, Toy, code, fenced, header, judge, searching

LEVELS = ("0.5", "wrong_answer", "1.5", "unstable_timing:3", "1.0", "2.0", "0.1")


def timed(candidate: Candidate) -> EvalReport:
    """The toy judge's report, and a time of a call where it passed: 1 s for the serial code."""
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


def test_a_step_upon_measured_code_is_worth_what_it_gained_beside_that() -> None:
    verdicts = Verdicts(TASK, Ledger(header(9).limits))
    first = _judged(verdicts, code(0.5), TASK.start, {})
    assert first.rival is None, "the serial code is timed beside each"
    second = _judged(verdicts, code(1.5), first.code, {"ratio": 1.5})
    assert second.rival == first.code
    assert verdicts.speedup(second.code) == pytest.approx(1.5 * (verdicts.speedup(first.code) or 0))
    third = _judged(verdicts, code(2.0), second.code, {})
    assert verdicts.speedup(third.code) == judge(third).speedup, "the rival was not timed"


def _glanced(
    text: str, seen: Sequence[tuple[float, float]]
) -> tuple[SampleVerdict, list[Evaluate]]:
    """What becomes of code that a rule made, by glances with such speedups and lower ends."""
    verdicts = Verdicts(TASK, Ledger(header(9).limits))
    work, asked, reports = verdicts.judge_code(text, TASK.start, "glance"), [], list(seen)
    try:
        effect = next(work)
        while True:
            assert isinstance(effect, Evaluate)
            asked.append(effect)
            speedup, low = reports.pop(0)
            fields = {
                "grade": "glance",
                "speedup": speedup,
                "speedup_interval": Interval(low=low, high=speedup * speedup / low),
                "timing": summarise([1 / speedup]),
            }
            effect = work.send(judge(effect.candidate).model_copy(update=fields))
    except StopIteration as end:
        return end.value[0], asked


def test_a_glance_counts_with_its_median() -> None:
    verdict, asked = _glanced(code(1.0), [(1.2, 0.95)])
    assert (verdict.speedup, [one.grade for one in asked]) == (1.2, ["glance"])


def test_what_two_glances_know_badly_may_be_built_upon() -> None:
    verdict, asked = _glanced(code(1.0), [(1.2, 0.3), (1.1, 0.2)])
    assert (verdict.speedup, len(asked)) == (1.1, 2)


def test_a_glance_that_tells_no_time_is_repeated() -> None:
    verdict, asked = _glanced(code(1.0), [(1.2, 0.3), (1.1, 1.0)])
    assert (verdict.speedup, [one.grade for one in asked]) == (1.1, ["glance", "glance"])


def _judged(verdicts: Verdicts, text: str, current: str, said: dict[str, float]) -> Candidate:
    """The candidate that an answer becomes, once it is judged."""
    work = verdicts.judge(Reply(text=fenced(text), finish="stop"), current)
    effect = next(work)
    assert isinstance(effect, Evaluate)
    rivalry = said and Rivalry(
        code_hash=code_hash(effect.candidate.rival or ""),
        ratio=said["ratio"],
        interval=Interval(low=1.0, high=2.0),
        verdict="faster",
    )
    with pytest.raises(StopIteration):
        work.send(judge(effect.candidate).model_copy(update={"rivalry": rivalry or None}))
    return effect.candidate
