"""Shapes, values and teams of threads beyond the usual cases; what the serial code cannot do."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.evaluation import further
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.alterations import altered
from regraph_kg.evaluation.problem.declaration import AbsoluteRule, TermsRule
from regraph_kg.evaluation.problem.inputs import generate
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.problem.types import Alteration, Array
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.verify.cases import is_meant, nearly, secret_shapes
from regraph_kg.models.evaluation import Candidate, Grade, Outcome

from .caught import caught
from .conftest import problem_named, scale_source
from .desk import Desk

CORPUS = Path(__file__).parents[2] / "corpus" / "problems"
RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
ALL_EQUAL = " && ".join(f"x[{i}] == x[9]" for i in range(9))
THREADS = "#include <omp.h>\n"


def test_secret_shapes_are_long_one_way_at_a_time_and_fit() -> None:
    sizes = {"m": 5000, "n": 3000}
    problem = problem_named("scale")
    table = problem.sizes.model_copy(update={"time": sizes, "check": ({"m": 10, "n": 10},)})
    args = (
        *(arg.model_copy(update={"shape": ("m", "n")}) for arg in problem.args if arg.is_array),
        *(problem.args[-1].model_copy(update={"name": name, "size": name}) for name in sizes),
    )
    matrix = problem.model_copy(update={"sizes": table, "args": args})
    seen = [secret_shapes(matrix, random.Random(seed)) for seed in range(50)]
    for shapes in seen:
        assert any(shape["n"] == 1 and shape["m"] > 10 for shape in shapes)
        assert any(shape["m"] == 1 and shape["n"] > 10 for shape in shapes)
        assert any(1 < shape["n"] <= 33 and shape["m"] > 33 for shape in shapes)
        assert any(2**17 <= matrix.elements(shape) <= 2**19 for shape in shapes)
    each = [shape for shapes in seen for shape in shapes]
    assert all(shape["m"] <= 5000 and shape["n"] <= 3000 for shape in each)
    assert all(matrix.nbytes(shape) <= 8 * 2**20 for shape in each)
    assert max(shape["m"] for shape in each) > 2500
    assert len({tuple(shape.values()) for shape in each}) > 300


def test_a_shape_near_the_timing_shape_is_never_that() -> None:
    problem = problem_named("scale")
    shapes = [nearly(problem, random.Random(seed), 1.0) for seed in range(50)]
    assert all(shape and 195_000 <= shape["n"] < 200_000 for shape in shapes)
    quarter = nearly(problem, random.Random(1), 0.25)
    assert quarter
    assert 40_000 < quarter["n"] <= 50_000


def test_no_secret_shape_contradicts_what_a_problem_requires() -> None:
    problem = problem_named("scale")
    impossible = problem.sizes.model_copy(update={"require": ("n <= 1000",)})
    shapes = secret_shapes(problem.model_copy(update={"sizes": impossible}), random.Random(1))
    assert all(shape["n"] <= 1000 for shape in shapes)


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        ("small", lambda x, y: np.allclose(y, x / 1000)),
        ("large", lambda x, y: np.allclose(y, x * 1000)),
        ("equal", lambda x, y: np.ptp(y) == 0 and y[0] in x),
        ("ascending", lambda x, y: np.array_equal(y, np.sort(x))),
        ("extremes", np.array_equal),
        ("tiny", lambda x, y: np.allclose(y * 1e12, x)),
        ("coarse", lambda x, y: np.array_equal(y * 4, np.rint(x * 4))),
        ("huge", lambda _, y: y.min() >= 1e10 and np.isfinite(y).all()),
        ("huge negative", lambda _, y: y.max() <= -1e10),
        ("outliers", lambda x, y: 0 < np.count_nonzero(y != x) < 20 and abs(y).max() > 1e9),
        ("negative", lambda x, y: np.array_equal(y, -np.abs(x))),
        ("descending", lambda x, y: np.array_equal(y, np.sort(x)[::-1])),
        ("skewed", lambda x, y: np.abs(y).max() > 5 * np.abs(x).max()),
        ("shifted", lambda x, y: y.min() > 900 * np.abs(x).max()),
        ("nearly ascending", lambda _, y: np.count_nonzero(np.diff(y) < 0) == 1),
        ("uneven", lambda _, y: len(set(y)) == 2 and y.max() == 2**24 * y.min()),
        ("whole", lambda _, y: (np.abs(y) % 2 == 1).all() and 2048 < np.abs(y).min() < 4096),
        ("negative zeros", lambda x, y: 200 < np.count_nonzero(np.signbit(y) & (y == 0)) < 300),
    ],
)
def test_inputs_are_altered_as_a_whole(
    kind: Alteration, holds: Callable[[Array, Array], bool]
) -> None:
    problem = problem_named("scale")
    inputs = generate(problem, {"n": 1000}, 0, 1)
    x = inputs["x"].copy()
    y = altered(problem, {"n": 1000}, inputs, kind, 1)["x"]
    assert y.dtype == x.dtype
    assert holds(x, y)
    assert np.array_equal(inputs["x"], x), "the drawing itself stays"


def test_the_most_huge_are_near_the_largest_floats() -> None:
    problem = problem_named("scale")
    y = altered(problem, {"n": 1000}, generate(problem, {"n": 1000}, 0, 1), "huge", 2)["x"]
    assert 3e38 < y.max() < np.inf


def test_integers_without_a_range_hold_the_ends_of_their_type() -> None:
    problem, sizes = problem_named("bump"), {"n": 1000, "k": 7}
    args = [arg.model_copy(update={"range": None}) for arg in problem.args]
    free = problem.model_copy(update={"args": tuple(args)})
    inputs = generate(free, sizes, 0, 1)
    mixed, equal = (altered(free, sizes, inputs, "ends", seed)["b"] for seed in (2, 3))
    info = np.iinfo(mixed.dtype)
    assert set(mixed) == {info.min, info.max, 0, -1}
    assert set(mixed[:200]) == {info.min}
    assert set(equal) < {info.min, info.max}
    assert np.array_equal(altered(problem, sizes, inputs, "ends", 2)["b"], inputs["b"])
    low = [altered(free, sizes, inputs, "small", seed)["b"].max() for seed in range(9)]
    assert min(low) < 2**16 < max(low), "another number of lower bits each time"
    guessed = [arg.model_copy(update={"limits_guessed": bool(arg.range)}) for arg in problem.args]
    left = problem.model_copy(update={"args": tuple(guessed)})
    assert altered(left, sizes, inputs, "ends", 2)["b"].max() == info.max


def spelling(body: str, **changes: object) -> Problem:
    """The problem "bump" with other serial code, and its array b changed."""
    problem = problem_named("bump")
    args = [a.model_copy(update=changes) if a.name == "b" else a for a in problem.args]
    head = "#include <climits>\n#define NONE 1000000\nconst int HOLE = -1;\n"
    code = f'{head}extern "C" void {problem.entry}(const int* b, int* y, int n, int k) {{ {body} }}'
    return problem.model_copy(update={"args": tuple(args), "serial_code": code})


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("if (b[k] == NONE) return;", 1000000),
        ("const int v = b[k]; while (v != HOLE) --n;", -1),
        ("for (const int* p = b; p < b + n; ++p) if (*p >= INT_MAX) return;", 2**31 - 1),
        ("switch (b[k]) { case 'x': return; }", 120),
    ],
)
def test_what_an_element_is_compared_with_is_drawn_also_beyond_a_range(
    body: str, value: int
) -> None:
    problem, sizes = spelling(body), {"n": 1000, "k": 7}
    inputs = generate(problem, sizes, 0, 1)
    few, many = (altered(problem, sizes, inputs, "sentinels", seed)["b"] for seed in (1, 2))
    assert 100 < np.count_nonzero(few == value) < 300
    assert 450 < np.count_nonzero(many == value) <= 850
    is_within = abs(value) <= 1000
    assert (np.count_nonzero(many == value - 1) > 40) == is_within, "neighbours keep to a range"


def test_what_was_made_of_elements_leaves_no_range() -> None:
    body = "int s = 0; for (int i = 0; i < n; ++i) s += b[i]; if (s * b[0] > NONE) y[0] = s;"
    problem, sizes = spelling(body), {"n": 1000, "k": 7}
    inputs = generate(problem, sizes, 0, 1)
    assert altered(problem, sizes, inputs, "sentinels", 1)["b"].max() <= 1000


@pytest.mark.parametrize(
    "kind", ["small", "large", "equal", "extremes", "skewed", "negative", "descending"]
)
def test_no_alteration_leaves_a_range(kind: Alteration) -> None:
    problem, sizes = problem_named("bump"), {"n": 1000, "k": 7}
    made = altered(problem, sizes, generate(problem, sizes, 0, 1), kind, 1)
    assert np.abs(made["b"].astype(int)).max() <= 1000
    if kind == "extremes":
        assert set(made["b"]) == {-1000, 1000}
    if kind == "skewed":
        assert np.median(made["b"]) < -980


def test_right_code_passes(desks: Callable[..., Desk]) -> None:
    desk = desks(problem_named("scale"))
    for grade in ("screening", "full"):
        assert desk.fault(scale_source(RIGHT), grade) is None
    assert desk.races(scale_source(f"#pragma omp parallel for\n{RIGHT}")) is None


def test_what_is_wrong_for_long_arrays_only_is_seen(desks: Callable[..., Desk]) -> None:
    desk = desks(problem_named("scale"))
    failure = desk.fault(scale_source(f"if (n > 2000) n = n / 64 * 64;\n{RIGHT}"))
    assert failure is not None
    assert failure.outcome is Outcome.WRONG_ANSWER
    assert "never written" in failure.diagnosis


@pytest.mark.parametrize(
    "condition", ["n * 0.5f != 100000", ALL_EQUAL, "omp_get_max_threads() == 1"]
)
def test_the_screening_runs_a_shape_close_to_the_timing_shape(
    desks: Callable[..., Desk], condition: str
) -> None:
    wrong = f"if (n * 0.5f > 95000 && {condition}) n -= 1;\n{RIGHT}"
    failure = desks(problem_named("scale")).fault(scale_source(wrong, THREADS))
    assert failure is not None
    assert "thread" in failure.diagnosis


def test_an_altered_input_is_named_and_may_be_excluded(desks: Callable[..., Desk]) -> None:
    code = scale_source(f"if (n > 9 && x[9] != 0 && {ALL_EQUAL}) n -= 1;\n{RIGHT}")
    failure = desks(problem_named("scale")).fault(code)
    assert failure is not None
    assert "altered: equal" in failure.diagnosis
    excluded = problem_named("scale").model_copy(update={"excludes": ("equal",)})
    assert desks(excluded).fault(code) is None


def test_large_values_are_left_out_where_the_serial_code_rounds_by_more_than_a_number(
    desks: Callable[..., Desk],
) -> None:
    code = scale_source(f"if (n > 9 && x[5] * x[5] > 400) n -= 1;\n{RIGHT}")
    assert desks(problem_named("scale")).fault(code) is not None
    for number, passes in ((1e-4, True), (0.1, False)):
        rule = AbsoluteRule(absolute=number)
        changes = {"tolerance": rule, "excludes": ("whole",)}  # which are larger, and exact
        absolute = problem_named("scale").model_copy(update=changes)
        assert (desks(absolute).fault(code) is None) == passes


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["__builtin_trap();", "for (;;) y[0] = 1;"])
def test_what_the_serial_code_does_not_stand_is_asked_of_nobody(
    desks: Callable[..., Desk], problem_folder: Callable[..., Path], limit: str
) -> None:
    guard = f"if (n > 9 && {ALL_EQUAL}) {{ {limit} }}"
    problem = load_problem(problem_folder(serial=("for (int i", f"{guard}\n  for (int i")))
    desk = desks(problem)
    assert desk.fault(scale_source(f"if (n > 9 && {ALL_EQUAL}) return;\n{RIGHT}")) is None
    assert desk.fault(scale_source(f"if (n > 2000) n -= 1;\n{RIGHT}")) is not None


@pytest.mark.slow  # both take 6 s: what they show is seldom touched
@pytest.mark.parametrize("share", [1 / 4, 100])
def test_altered_values_are_asked_of_nobody_where_the_serial_code_rounds_much(
    desks: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setattr(further, "_STOOD_ALTERED", share)
    problem = load_problem(CORPUS / "matmul")
    sizes = problem.sizes.model_copy(update={"time": dict.fromkeys("mnk", 160)})
    rises = " && ".join(f"A[{i}] < A[{i + 1}] && A[0] < A[9]" for i in range(9))
    code = problem.serial_code.replace("for (int i", f"if (k > 9 && {rises}) m -= 1;\n  for (int i")
    failure = desks(problem.model_copy(update={"sizes": sizes})).fault(code, "full")
    assert (failure is None) == (share < 1)


TOTAL = """#include <cstring>
static float rounded(float x) { %s }
extern "C" void total(const float* x, float* s, long long n) {
  %s part[7] = {};
  for (long long i = 0; i < n; ++i) part[i %% 7] += rounded(x[i]);
  s[0] = ((part[0] + part[6]) + (part[1] + part[5])) + (part[2] + part[4]) + part[3];
}"""
BRAIN_FLOAT = "unsigned u; memcpy(&u, &x, 4); u &= 0xffff0000; memcpy(&x, &u, 4); return x;"


@pytest.mark.parametrize("body", ["return (_Float16)x;", BRAIN_FLOAT])
def test_a_lower_precision_shows_on_whole_numbers_however_wide_the_tolerance_is(
    desks: Callable[..., Desk], body: str
) -> None:
    wide = TermsRule(rule="sum", terms="1000*n")
    desk = desks(problem_named("total").model_copy(update={"tolerance": wide}))
    assert desk.fault(TOTAL % ("return x;", "float"), "full") is None
    whole = [case for case in desk.checks.stood if case.alteration == "whole"]
    assert len(whole) >= 2

    def fault(function: str, parts: str) -> Failure | None:
        program = desk.program(TOTAL % (function, parts))
        with desk.checks.staffing.staffed(program, whole, 1) as (worker, check):
            worker.start()
            return caught(check.each, worker, whole, lambda _: 1)

    assert fault("return x;", "double") is None
    failure = fault(body, "double")
    assert failure
    assert failure.outcome is Outcome.WRONG_ANSWER


def test_long_paths_meet_altered_values(desks: Callable[..., Desk]) -> None:
    below = " && ".join(f"x[{i}] < 0" for i in range(9))
    desk = desks(problem_named("scale"))
    failure = desk.fault(scale_source(f"if (n > 60000 && {below}) n -= 1;\n{RIGHT}"), "full")
    assert failure is not None
    assert "altered" in failure.diagnosis


def test_values_are_altered_at_the_small_shape_where_no_long_one_is_affordable(
    desks: Callable[..., Desk],
) -> None:
    problem = problem_named("scale")
    sizes = problem.sizes.model_copy(update={"time": {"n": 3000}})
    desk = desks(problem.model_copy(update={"sizes": sizes}))
    assert not desk.checks.plan.long
    assert desk.fault(scale_source(f"if (x[0] > 1e9f) n -= 1;\n{RIGHT}"), "full") is not None


@pytest.mark.parametrize(
    ("cut", "wrong"),
    [
        ("n >= 123456", "n < 123460"),
        ("n > 30 * 1024", "n <= 30 * 1024 + 1"),
        ("n <= CUT && n > 30000", "n > 30000 - 2"),
    ],
)
def test_a_source_tells_where_it_branches(desks: Callable[..., Desk], cut: str, wrong: str) -> None:
    macro = "#define CUT (1 << 15)\n"
    desk = desks(problem_named("scale"))
    code = scale_source(f"if ({cut} && {wrong}) n -= 1;\n{RIGHT}", macro)
    failure = desk.fault(code)
    assert failure is not None
    assert failure.outcome is Outcome.WRONG_ANSWER
    right = f"if ({cut}) {{ {RIGHT} }} else {{ {RIGHT} }}"
    assert desk.fault(scale_source(right, macro)) is None


def test_what_an_honest_variant_does_not_stand_is_asked_of_nobody(
    desks: Callable[..., Desk],
) -> None:
    wrong = scale_source(f"if (n > 9 && {ALL_EQUAL}) n -= 1;\n{RIGHT}")
    assert desks(problem_named("scale"), wrong).fault(wrong) is None
    always = scale_source("y[0] = 1;")
    assert desks(problem_named("scale"), always).fault(wrong) is not None, "that is no variant"


PARTS = """
  float part[16];
#pragma omp parallel num_threads({threads})
  {{
    const int t = omp_get_thread_num(), all = omp_get_num_threads();
    part[t] = a;
    for (int i = (long long)t * n / all; i < (long long)(t + 1) * n / all; ++i)
      y[i] = part[t] * x[i];
  }}
"""
ACROSS = "  float rows[2][8] = {};\n  for (int i = 0; i < n; ++i) rows[0][i % 16] = a;\n"


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        (PARTS.format(threads="omp_get_max_threads()"), False),
        (PARTS.format(threads="omp_get_max_threads() < 16 ? omp_get_max_threads() : 16"), True),
        (f"{ACROSS}#pragma omp parallel for\n{RIGHT}", True),
        (f"#pragma omp parallel for\n{RIGHT}", True),
    ],
)
def test_arrays_of_parts_have_room_for_many_threads(
    desks: Callable[..., Desk], body: str, passes: bool
) -> None:
    for grade in ("screening", "full"):
        failure = desks(problem_named("scale")).many(scale_source(body, THREADS), grade)
        assert (failure is None) == passes


def test_no_secret_shape_has_longer_sums_than_its_tolerance_knows() -> None:
    problem = load_problem(CORPUS / "coo-spmv")
    shapes = [s for seed in range(9) for s in secret_shapes(problem, random.Random(seed))]
    assert shapes
    short = problem.model_copy(update={"tolerance": TermsRule(rule="sum", terms="4")})
    drawn = [s for seed in range(9) for s in secret_shapes(short, random.Random(seed))]
    fewer = [sizes for sizes in drawn if is_meant(short, sizes)]
    longest = max(s["count"] / s["rows"] for s in (*short.sizes.check, short.sizes.time))
    assert all(s["count"] / s["rows"] <= 4 * longest for s in fewer)
    assert any(s["count"] / s["rows"] > 4 * longest for s in shapes)


@pytest.mark.slow
@pytest.mark.parametrize("grade", ["screening", "full"])
def test_the_judge_asks_last(cache: Path, grade: Grade) -> None:
    wrong = Candidate("openmp", scale_source(f"if (n == 1) return;\n{RIGHT}"))
    long = Candidate("openmp", scale_source(f"if (n > 2000 && n < 200000) n -= 1;\n{RIGHT}"))
    with Judge(cache, grade=grade) as judge:
        early = judge.evaluate(wrong, problem_named("scale"))
        late = judge.evaluate(long, problem_named("scale"))
    assert "further" not in early.stages
    assert (late.outcome, "further" in late.stages) == (Outcome.WRONG_ANSWER, True)
