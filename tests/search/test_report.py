"""How numbers and runs are written."""

import pytest

from regraph_kg import report
from regraph_kg.models.evaluation import Interval, Outcome, Roof
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.run import CommonFailure, Cost, RunSummary
from regraph_kg.models.text import seconds, times
from regraph_kg.search.methods import kind_of


def summary(**fields: object) -> RunSummary:
    usual: dict[str, object] = {
        "problem": "toy",
        "target": "openmp",
        "method": "mcgs",
        "model": "recorded:abc",
        "seed": 1,
        "limits": SearchLimits(verdicts=24),
        "parallel": 1,
        "active_seconds": 20.0,
        "final": "full",
        "iterations": 20,
        "cost": Cost(calls=23, evaluations=19, model_seconds=0.0, judge_seconds=12.34),
        "unrecorded": 2,
        "failure": None,
        "outcomes": {"passed": 14, "wrong_answer": 3, "crashed": 3},
        "best_path": ("openmp/tiling", "openmp/simd#1"),
        "best_code": "int x;",
        "speedup": 12.34,
        "speedup_interval": Interval(low=11.9, high=12.6),
        "improved": True,
        "device": "CPU x2 threads",
        "toolchain": "g++ 12",
        "excluded": "toy",
        "stopped": "verdicts",
        "roof": None,
    }
    return RunSummary.model_validate(usual | fields)


def printed(found: RunSummary) -> str:
    return report.run_table(
        found, {"code": "runs/a-very/long/folder/" * 9 + "x.cpp"}, walks=kind_of(found.method).walks
    )


def rows(text: str) -> dict[str, str]:
    """A table's rows by name."""
    return {line[:12].strip(): line[12:].strip() for line in text.splitlines()}


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.8712, "0.871x"), (1.0, "1x"), (3.214, "3.21x"), (12.34, "12.3x"), (1234.5, "1234x")],
)
def test_a_ratio_has_three_digits_and_no_exponent(number: float, text: str) -> None:
    assert times(number) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0.0, "0 s"),
        (3.1e-8, "31 ns"),
        (4.2e-6, "4.2 us"),
        (0.012345, "12.3 ms"),
        (12.34, "12.3 s"),
        (90.0, "1.5 min"),
    ],
)
def test_a_duration_has_the_unit_that_fits(duration: float, text: str) -> None:
    assert seconds(duration) == text


def test_how_near_the_roof_a_search_came_is_told_where_it_is_known() -> None:
    near = Roof(bound="memory", seconds=0.92, share=0.92, reached=0.92, peak=1.0)
    assert rows(printed(summary(roof=near)))["roof"] == "92 % of peak memory bandwidth"
    assert "roof" not in rows(printed(summary()))


def test_the_table_tells_every_cost() -> None:
    cost = Cost(
        calls=23,
        evaluations=1,
        prompt_tokens=12345,
        output_tokens=678,
        model_seconds=90.0,
        judge_seconds=12.34,
    )
    told = rows(printed(summary(cost=cost, active_seconds=120.0)))
    assert told["verdicts"] == "23 of 24, 23 calls of the model, in 20 iterations"
    assert told["tokens"] == "12345 in, 678 out"
    assert told["time"] == "2 min: model 1.5 min, judge 12.3 s (1 evaluation)"
    assert "tokens" not in rows(printed(summary(cost=Cost(calls=1))))


def test_the_table_tells_limits_and_which_of_them_ended_the_search() -> None:
    limits = SearchLimits(verdicts=24, seconds=60, calls=1, tokens=5000)
    told = rows(printed(summary(limits=limits, parallel=4, stopped="seconds", final="screening")))
    assert told["limits"] == "1 call, 5000 tokens, 1 min, 4 at once"
    assert told["stopped"] == "its time was over"
    assert told["measured"] == "the best again, as in the search (quick)"
    assert not {"limits", "measured"} & set(rows(printed(summary())))


def failed(outcome: Outcome, count: int = 1, diagnosis: str = "") -> CommonFailure:
    return CommonFailure(outcome=outcome, diagnosis=diagnosis, count=count)


def test_the_commonest_failure_is_told_in_one_line() -> None:
    wrong = failed(Outcome.WRONG_ANSWER, 2, "y[0]: expected 2, got 3")
    assert report.failure(wrong) == "mostly wrong, 2 times: y[0]: expected 2, got 3"
    broken = failed(Outcome.COMPILE_FAILED, diagnosis="x" * 300)
    assert report.failure(broken) == f"did not compile, once: {'x' * 200}.."
    assert report.failure(None) == ""
    told = rows(printed(summary(failure=failed(Outcome.CRASHED))))
    assert told["failures"] == "crashed, once"
    assert "failures" not in rows(printed(summary()))
