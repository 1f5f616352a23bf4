"""How numbers and runs are written."""

import pytest

from regraph_kg import report
from regraph_kg.models.evaluation import Interval
from regraph_kg.models.run import Cost, RunSummary
from tests.search.toy import SERIAL


def summary(**fields: object) -> RunSummary:
    usual: dict[str, object] = {
        "problem": "toy",
        "target": "openmp",
        "method": "mcgs",
        "preset": "default",
        "model": "recorded:abc",
        "judge": "live",
        "seed": 1,
        "budget": 24,
        "iterations": 20,
        "cost": Cost(calls=23, evaluations=19, model_seconds=0.0, judge_seconds=12.34),
        "unrecorded": 2,
        "outcomes": {"passed": 14, "wrong_answer": 3, "crashed": 3},
        "best_path": ("openmp/tiling", "openmp/simd#1"),
        "best_code": "int x;",
        "speedup": 12.34,
        "speedup_interval": Interval(low=11.9, high=12.6),
        "improved": True,
        "device": "CPU x2 threads",
        "toolchain": "g++ 12",
        "excluded": "toy",
        "stopped": "budget",
    }
    return RunSummary.model_validate(usual | fields)


def printed(found: RunSummary) -> str:
    return report.run_table(found, {"code": "runs/a-very/long/folder/" * 9 + "x.cpp"})


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.8712, "0.871x"), (1.0, "1x"), (3.214, "3.21x"), (12.34, "12.3x"), (1234.5, "1234x")],
)
def test_a_ratio_has_three_digits_and_no_exponent(number: float, text: str) -> None:
    assert report.times(number) == text


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
    assert report.seconds(duration) == text


def test_a_result_is_told_with_its_interval() -> None:
    assert report.headline(summary()) == (
        "toy (openmp): 12.3x faster than the serial code (95 %: 11.9x to 12.6x)"
    )


def test_no_improvement_is_told_as_such() -> None:
    found = summary(
        improved=False, speedup=1.0, speedup_interval=None, best_path=(), best_code=SERIAL
    )
    assert report.headline(found) == (
        "toy (openmp): no improvement found; the serial code is the answer"
    )
    assert "path        start\n" in printed(found)


def test_the_table_says_what_it_cost_and_what_was_left_out() -> None:
    text = printed(summary())
    assert "start > tiling > simd#1" in text
    assert "23 of 24, in 20 iterations" in text
    assert "14 passed, 3 crashed, 3 wrong_answer" in text
    assert "2 actions closed" in text
    assert "toy's own examples" in text
    assert "replayed" not in text
    assert "nothing is left" not in text
    assert text.endswith("x.cpp")  # on one line, to be copied


def test_a_search_that_ran_dry_says_so() -> None:
    assert "23 of 24, in 20 iterations; nothing is left to try" in printed(
        summary(stopped="exhausted")
    )


def test_a_method_without_a_graph_has_no_path_and_left_nothing_out() -> None:
    text = printed(summary(method="standard", best_path=()))
    assert "path" not in text
    assert "own examples" not in text


def test_the_table_leaves_out_what_there_is_not() -> None:
    text = printed(summary(unrecorded=0, excluded=None, judge="recorded:abc"))
    assert "actions closed" not in text
    assert "own examples" not in text
    assert "recorded:abc: verdicts were replayed" in text
