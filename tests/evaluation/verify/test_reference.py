"""How far an output may lie from its truth, rule by rule, and what counts as wrong."""

import numpy as np
import pytest

from regraph_kg.evaluation.problem.declaration import AbsoluteRule, Returned, TermsRule
from regraph_kg.evaluation.problem.inputs import variant_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, mismatch
from regraph_kg.evaluation.verify.tolerance import exact_sum, tolerance

from ..conftest import problem_named

POISON = 0xFF
EPS = 2.0**-23


def total(**changes: object) -> Problem:
    return problem_named("total").model_copy(update=changes)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ([1, 2, 3, 4], None),
        ([1, 2.05, 3, 4], None),
        ([1, 2.2, 3, 4], "y[1] is 2.2, expected 2 (tolerance 0.1); 1 of 4 elements are wrong"),
        ([1, np.nan, 3, 4], "they are NaN"),
        ([1, np.inf, 3, 4], "y[1] is inf"),
    ],
)
def test_a_float_is_compared_with_its_tolerance(output: list[float], says: str | None) -> None:
    truth = ExpectedOutput(np.array([1.0, 2.0, 3.0, 4.0]), 0.1)
    text = mismatch("y", np.array(output), truth, 0x5A)
    assert text is None if says is None else text is not None and says in text


def test_every_element_has_its_own_tolerance_beyond_one_piece() -> None:
    values = np.zeros(200_000)
    truth = ExpectedOutput(values, np.linspace(0, 1, values.size))
    assert mismatch("y", truth.tolerance * 0.99, truth, POISON) is None
    output = values.copy()
    output[150_000] = 0.8
    assert "y[150000] is 0.8" in str(mismatch("y", output, truth, POISON))


def test_special_values_are_right_only_where_the_truth_has_them() -> None:
    truth = ExpectedOutput(np.array([np.nan, np.inf, -np.inf]), 1.0)
    assert mismatch("y", np.array([np.nan, np.inf, -np.inf]), truth, POISON) is None
    assert mismatch("y", np.array([1.0, np.inf, -np.inf]), truth, POISON) is not None
    assert mismatch("y", np.array([np.nan, -np.inf, -np.inf]), truth, POISON) is not None


def test_a_nan_would_pass_the_naive_comparison() -> None:
    truth = ExpectedOutput(np.array([1.0]), 1.0)
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
        update={"tolerance": TermsRule(rule="sum", terms="n")}
    )
    out = problem.outputs[0]
    allowed = tolerance(problem, out, {"n": terms}, truth, np.zeros_like(truth))
    sequential = np.zeros((64, 64), np.float32)
    for k in range(terms):
        sequential += a[:, k : k + 1] * b[k]
    low = a.astype(np.float16).astype(np.float64) @ b.astype(np.float16).astype(np.float64)
    assert np.max(np.abs(sequential - truth) / allowed) < 0.25
    assert np.max(np.abs(low - truth) / allowed) > 4


@pytest.mark.parametrize("terms", [256, 1024, 16384])
@pytest.mark.parametrize("signs", ["both", "positive"])
def test_a_sum_stored_as_float16_may_be_reordered_but_leave_out_no_terms(
    terms: int, signs: str
) -> None:
    rng = np.random.default_rng(terms)
    x = rng.standard_normal((64, terms)).astype(np.float16)
    x = abs(x) / np.float16(8) if signs == "positive" else x
    truth = x.astype(np.float64).sum(axis=1)
    problem = total(tolerance=TermsRule(rule="sum", terms="n"))
    out = problem.outputs[0].model_copy(update={"type": "float16"})
    allowed = ExpectedOutput(truth, tolerance(problem, out, {"n": terms}, truth, 0 * truth))
    backwards = np.zeros(64, np.float32)
    for k in reversed(range(terms)):
        backwards += x[:, k]
    assert mismatch("y", backwards.astype(np.float16), allowed, POISON) is None
    kept = x.astype(np.float32)
    kept[:, 63::64] = 0
    assert mismatch("y", kept.sum(axis=1).astype(np.float16), allowed, POISON) is not None


def test_float16_outputs_below_its_normal_numbers_may_be_rounded_to_its_steps() -> None:
    problem = total(tolerance=TermsRule(rule="sum", terms="n"))
    out = problem.outputs[0].model_copy(update={"type": "float16"})
    truth = np.linspace(1e-7, 1e-6, 50)
    allowed = ExpectedOutput(truth, tolerance(problem, out, {"n": 4}, truth, 0 * truth))
    assert mismatch("y", truth.astype(np.float16), allowed, POISON) is None


def test_float32_outputs_below_its_normal_numbers_may_be_flushed_to_zero() -> None:
    problem = problem_named("total")
    truth = np.array([1e-39, 1e-37])
    allowed = ExpectedOutput(
        truth, tolerance(problem, problem.outputs[0], {"n": 1}, truth, 0 * truth)
    )
    assert mismatch("y", np.array([0, 1e-37], np.float32), allowed, POISON) is None
    assert mismatch("y", np.array([1e-39, 0], np.float32), allowed, POISON) is not None


def test_a_lone_sum_near_zero_keeps_the_tolerance_of_its_terms() -> None:
    problem = problem_named("total")
    deviation = np.array([2.0**-23 * 1000])
    allowed = tolerance(problem, problem.outputs[0], {"n": 10**6}, np.array([1e-9]), deviation)
    assert allowed == pytest.approx(8 * 2.0**-23 * 1000 * 1000)


def test_integers_and_exact_problems_allow_nothing() -> None:
    problem = problem_named("bump")
    zeros = np.zeros(3)
    assert tolerance(problem, problem.outputs[0], {"n": 3, "k": 1}, zeros, zeros) == 0.0


def test_a_returned_status_stays_exact_beside_outputs_that_may_be_off() -> None:
    problem = problem_named("bump").model_copy(
        update={"tolerance": AbsoluteRule(absolute=1), "returns": Returned(type="int32")}
    )
    truth, sizes = np.ones(1), {"n": 3, "k": 1}
    outputs = {arg.name: arg for arg in problem.results}
    assert tolerance(problem, outputs["b"], sizes, truth, truth) == 1
    assert tolerance(problem, outputs["return"], sizes, truth, truth) == 0


def test_a_declared_chain_of_roundings_widens_the_conditioned_tolerance() -> None:
    truth, deviation = np.array([1.0, 0.01]), np.array([EPS, EPS])
    plain = total(tolerance="conditioned")
    chain = total(tolerance=TermsRule(rule="conditioned", terms="n"))
    out = plain.outputs[0]
    allowed = tolerance(plain, out, {"n": 100}, truth, deviation)
    assert allowed == pytest.approx([8 * EPS, 8 * EPS])
    wider = tolerance(chain, out, {"n": 100}, truth, deviation)
    assert wider == pytest.approx([8 * EPS * 10, 8 * EPS * 10])


@pytest.mark.parametrize(("precision", "eps"), [("tf32", 2.0**-10), ("fp16", 10 * 2.0**-10)])
def test_a_declared_precision_scales_the_tolerance(precision: str, eps: float) -> None:
    """tf32 rounds the factors, fp16 also every partial sum: sqrt(100) = 10 times as much."""
    problem = total(precision=precision)
    truth = np.array([1.0])
    allowed = tolerance(problem, problem.outputs[0], {"n": 100}, truth, np.zeros(1))
    assert np.asarray(allowed) == pytest.approx([8 * eps], rel=0.002 if precision == "tf32" else 0)


def test_a_double_sum_of_floats_is_held_to_the_rounding_of_doubles() -> None:
    problem = total()
    wide = problem.outputs[0].model_copy(update={"type": "float64"})
    problem = problem.model_copy(update={"args": (problem.args[0], wide, problem.args[2])})
    allowed = tolerance(problem, wide, {"n": 100}, np.array([1.0]), np.array([5 * EPS]))
    assert np.asarray(allowed) == pytest.approx([8 * 2.0**-52 * 10 * 5])


def small(problem: Problem) -> int:
    """The variant whose inputs are small integers."""
    return variant_of(problem, [problem.args[0].values.index("small-int")])


def exact(
    problem: Problem, n: int = 100, variant: int | None = None, truth: float = 137.0
) -> object:
    variant = small(problem) if variant is None else variant
    return exact_sum(problem, problem.outputs[0], {"n": n}, variant, np.full(16, truth))


def test_sums_of_small_integers_must_be_exact() -> None:
    problem = total()
    assert exact(problem) == 0.0
    assert exact(problem, variant=0) is None
    assert exact(problem, truth=0.5) is None
    assert exact(problem, n=10**6) is None


def test_a_few_outputs_may_be_whole_by_chance_and_keep_four_units() -> None:
    """A mean, computed as a sum times 1 / n."""
    problem = total()
    allowed = exact_sum(problem, problem.outputs[0], {"n": 100}, small(problem), np.array([3.0]))
    assert np.asarray(allowed) == pytest.approx([12 * EPS])


def test_fp16_sums_of_small_integers_need_not_be_exact() -> None:
    assert exact(total(precision="fp16")) is None


def test_integer_outputs_have_their_own_rule() -> None:
    problem = total()
    whole = problem.outputs[0].model_copy(update={"type": "int32"})
    assert exact_sum(problem, whole, {"n": 100}, small(problem), np.full(16, 3)) is None


def test_how_many_rows_count_is_exact_whatever_is_allowed() -> None:
    problem = Problem.model_validate(
        {
            "schema": 1,
            "name": "keep",
            "entry": "keep",
            "tolerance": {"absolute": 1.0},
            "returns": {"type": "int32"},
            "sizes": {"check": [{"n": 1}], "time": {"n": 100}},
            "args": [
                {"name": "x", "type": "float32", "role": "in", "shape": ["n"]},
                {"name": "y", "type": "int32", "role": "out", "shape": ["n"], "count": "return"},
                {"name": "m", "type": "bool", "role": "out", "shape": ["n"]},
                {"name": "n", "type": "int32", "role": "size", "size": "n"},
            ],
            "serial_code": "",
        }
    )
    zeros = np.zeros(1)
    allowed = {arg.name: tolerance(problem, arg, {"n": 1}, zeros, zeros) for arg in problem.results}
    assert allowed == {"y": 1.0, "m": 0.0, "return": 0.0}
