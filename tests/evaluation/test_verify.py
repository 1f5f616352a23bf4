"""Cases, tolerances and diagnoses, by table."""

import numpy as np
import pytest

from regraph_kg.evaluation.problem import SumRule
from regraph_kg.evaluation.reference import Truth, tolerance
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.verify import check_shapes, mismatch, plan

from .conftest import problem_named

POISON = 0xFF


def test_every_shape_and_distribution_is_checked_and_one_shape_is_secret() -> None:
    problem = problem_named("scale")
    shapes = check_shapes(problem, seed=1, defences=Defences())
    assert shapes[:2] == [{"n": 1}, {"n": 1000}]
    assert 1 <= shapes[2]["n"] <= 1000
    assert shapes[2] != check_shapes(problem, seed=2, defences=Defences())[2]
    cases = plan(problem, shapes, 1, full=False)
    assert {case.sizes["n"] for case in cases} == {s["n"] for s in shapes}
    assert {case.variant % 4 for case in cases} == {0, 1, 2, 3}
    assert cases[-1].sizes == {"n": 1000}
    assert len({case.seed for case in plan(problem, shapes, 1, full=True)[:-2]}) == 3


def test_a_problem_may_refuse_the_secret_shape() -> None:
    problem = problem_named("scale").model_copy(update={"held_out": False})
    assert len(check_shapes(problem, seed=1, defences=Defences())) == 2


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ([1, 2, 3, 4], None),
        ([1, 2.05, 3, 4], None),
        ([1, 2.2, 3, 4], "y[1] is 2.2"),
        ([1, np.nan, 3, 4], "1 of 4 elements are wrong; they are NaN"),
        ([1, np.inf, 3, 4], "y[1] is inf"),
        ([2, 4, 6, 8], "all by the factor 2"),
        ([0, 0, 0, 0], "all are 0"),
        ([1, 2, 7, 9], "everything from flat index 2 on"),
    ],
)
def test_a_wrong_float_output_is_described(output: list[float], says: str | None) -> None:
    truth = Truth(np.array([1.0, 2.0, 3.0, 4.0]), 0.1)
    text = mismatch("y", np.array(output), truth, 0x5A)
    assert text is None if says is None else text is not None and says in text


def test_unwritten_elements_are_recognised_by_their_poison() -> None:
    output = np.array([1, 2, 3, 4], np.int32)
    output[2:] = np.frombuffer(bytes([0x5A] * 4), np.int32)[0]
    text = mismatch("y", output, Truth(np.arange(1, 5, dtype=np.int32), 0.0), 0x5A)
    assert text is not None
    assert text.endswith("they were never written")


def test_special_values_are_right_only_where_the_truth_has_them() -> None:
    truth = Truth(np.array([np.nan, np.inf, -np.inf]), 1.0)
    assert mismatch("y", np.array([np.nan, np.inf, -np.inf]), truth, POISON) is None
    assert mismatch("y", np.array([1.0, np.inf, -np.inf]), truth, POISON) is not None
    assert mismatch("y", np.array([np.nan, -np.inf, -np.inf]), truth, POISON) is not None


def test_a_nan_would_pass_the_naive_comparison() -> None:
    truth = Truth(np.array([1.0]), 1.0)
    assert mismatch("y", np.array([np.nan]), truth, POISON, nan_fails=False) is None
    assert mismatch("y", np.array([np.nan]), truth, POISON) is not None


@pytest.mark.parametrize("terms", [64, 512, 2048])
def test_the_sum_rule_separates_reordered_fp32_from_fp16(terms: int) -> None:
    """Reordered fp32 lies at least four times inside, fp16 inputs at least four times outside."""
    rng = np.random.default_rng(terms)
    a = rng.standard_normal((64, terms), np.float32)
    b = rng.standard_normal((terms, 64), np.float32)
    truth = a.astype(np.float64) @ b.astype(np.float64)
    problem = problem_named("total").model_copy(
        update={"tolerance": SumRule(rule="sum", terms="n")}
    )
    out = problem.outputs[0]
    allowed = tolerance(problem, out, {"n": terms}, truth, np.zeros_like(truth))
    sequential = np.zeros((64, 64), np.float32)
    for k in range(terms):
        sequential += a[:, k : k + 1] * b[k]
    low = a.astype(np.float16).astype(np.float64) @ b.astype(np.float16).astype(np.float64)
    assert np.max(np.abs(sequential - truth) / allowed) < 0.25
    assert np.max(np.abs(low - truth) / allowed) > 4


def test_a_lone_sum_near_zero_keeps_the_tolerance_of_its_terms() -> None:
    problem = problem_named("total")
    deviation = np.array([2.0**-23 * 1000])
    allowed = tolerance(problem, problem.outputs[0], {"n": 10**6}, np.array([1e-9]), deviation)
    assert allowed == pytest.approx(8 * 2.0**-23 * 1000 * 1000)


def test_integers_and_exact_problems_allow_nothing() -> None:
    problem = problem_named("bump")
    zeros = np.zeros(3)
    assert tolerance(problem, problem.outputs[0], {"n": 3, "k": 1}, zeros, zeros) == 0.0
