"""Each class of problem: honest fp32 lies four times inside its tolerance, fp16 four times outside.

Or its declaration says that the tolerance cannot tell them apart, and that is true.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.evaluation.checkup.calibrate import MARGIN, Calibration, calibrate, rounded
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.declaration import AbsoluteRule
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.problem.types import C_TYPES
from regraph_kg.evaluation.rules import JudgeLimits

pytestmark = pytest.mark.nightly

CORPUS = Path(__file__).parents[3] / "corpus" / "problems"
HELD_OUT = Path(__file__).parents[3] / "benchmarks" / "held_out"
HEAD = 'extern "C" void f(const float* x, const float* y, float* z, int n) {'


@pytest.fixture(scope="module")
def measured(cache: Path) -> Callable[..., Calibration]:
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    return lambda problem, seed=1: calibrate(problem, compiler, seed=seed)


def of(body: str, **fields: object) -> Problem:
    """A problem z[n] = f(x[n], y[n]); `values` are those of x and y."""
    values = fields.pop("values", ["normal", "uniform", "sparse", "small-int"])
    array = {"type": fields.pop("type", "float32"), "shape": ["n"]}
    head = HEAD.replace("float", C_TYPES[str(array["type"])])
    drawn = {"role": "in", "values": values, "range": fields.pop("range", None), **array}
    return Problem.model_validate(
        {
            "schema": 1,
            "name": "class",
            "entry": "f",
            "sizes": {"check": [{"n": 1}, {"n": 33}, {"n": 2000}], "time": {"n": 20000}},
            "args": [
                {"name": "x", **drawn},
                {"name": "y", **drawn},
                {"name": "z", "role": "out", **array},
                {"name": "n", "type": "int32", "role": "size", "size": "n"},
            ],
            "serial_code": f"#include <math.h>\n{head}\n{body}\n}}\n",
            **fields,
        }
    )


EACH = "for (int i = 0; i < n; ++i)"
SCAN = f"float sum = 0; {EACH} z[i] = sum += x[i];"
PRODUCTS = f"""{EACH} {{
  float s = 0;
  for (int k = 0; k < 50; ++k) s += x[(i + k) % n] * y[k % n];
  z[i] = s;
}}"""
CLASSES = {
    "fp64": of(
        f"double s = 0; {EACH} z[i] = s += x[i] * y[i];",
        type="float64",
        tolerance={"rule": "conditioned", "terms": "n"},
    ),
    "sum of products": of(PRODUCTS, tolerance={"rule": "sum", "terms": "50"}),
    "stencil": of(
        f"{EACH} z[i] = 0.25f * x[(i + n - 1) % n] + 0.5f * x[i] + 0.25f * x[(i + 1) % n];",
        tolerance={"rule": "conditioned", "terms": "5"},
    ),
    "exponential": of(
        f"{EACH} z[i] = expf(x[i]);", tolerance={"rule": "conditioned", "terms": "1"}
    ),
    "logarithm": of(
        f"{EACH} z[i] = logf(1.0f + fabsf(x[i]));",
        tolerance={"rule": "conditioned", "terms": "4"},
    ),
    "softmax": of(
        f"float m = x[0], s = 0; {EACH} m = fmaxf(m, x[i]); {EACH} s += z[i] = expf(x[i] - m);"
        f" {EACH} z[i] /= s;",
        tolerance={"rule": "conditioned", "terms": "2*n"},  # sparse values round alike
    ),
    "scan": of(SCAN, tolerance={"rule": "conditioned", "terms": "n"}, separates=False),
    "cancellation": of(
        f"{EACH} z[i] = x[i] * y[(i + 1) % n] - x[(i + 1) % n] * y[i];",
        values=["uniform"],
        range=[1, 1.01],
        sizes={"check": [{"n": 2}, {"n": 2000}], "time": {"n": 20000}},
    ),
    "tf32 sum of products": of(
        PRODUCTS, tolerance={"rule": "sum", "terms": "50"}, precision="tf32", separates=False
    ),
    "fp16 sum of products": of(
        PRODUCTS, tolerance={"rule": "sum", "terms": "50"}, precision="fp16", separates=False
    ),
    "copy": of(f"{EACH} z[i] = x[i];"),
    "integers": of(
        f"{EACH} z[i] = x[i] + y[i];", tolerance="exact", type="int32", range=[-1000, 1000]
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_admits_honest_rounding_and_says_whether_it_separates(
    measured: Callable[[Problem], Calibration], name: str
) -> None:
    seen = measured(CLASSES[name])
    assert seen.admits, seen
    assert seen.separates == CLASSES[name].separates, seen


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CORPUS.glob("*/problem.toml")))
def test_the_corpus_declares_the_truth(
    measured: Callable[[Problem], Calibration], name: str
) -> None:
    problem = load_problem(CORPUS / name)
    seen = measured(problem)
    assert seen.admits, seen
    near = abs(seen.lower / MARGIN - 1) < 0.1  # another drawing may lie on the other side
    assert near or seen.separates == problem.separates, seen


def test_a_long_fp64_sum_has_room_for_other_orders_of_adding(
    measured: Callable[[Problem], Calibration],
) -> None:
    """The reference adds in the serial code's own order and precision."""
    seen = measured(
        of(
            f"double s = 0; {EACH} s += x[i] * y[i]; {EACH} z[i] = s;",
            type="float64",
            values=["uniform"],
            sizes={"check": [{"n": 1}, {"n": 33}, {"n": 1000}], "time": {"n": 2_000_000}},
        )
    )
    assert seen.admits
    assert seen.separates


@pytest.mark.parametrize(
    ("body", "time"),
    [
        (f"double s = 0; {EACH} z[i] = s += x[i];", 20_000),
        (f"double s = 0; {EACH} s += exp(x[i] + y[i]); {EACH} z[i] = s;", 200_000),
    ],
)
def test_what_no_compiler_reorders_has_room_for_the_serial_codes_own_rounding(
    measured: Callable[[Problem], Calibration], body: str, time: int
) -> None:
    sizes = {"check": [{"n": 1}, {"n": 33}, {"n": 1000}], "time": {"n": time}}
    fields = {"type": "float64", "values": ["uniform"], "sizes": sizes}
    assert measured(of(body, **fields)).admits
    narrow = {"rule": "conditioned", "terms": "1"}
    assert not measured(of(body, tolerance=narrow, **fields)).admits


def test_a_sum_on_which_all_depends_is_looked_at_for_several_inputs(
    measured: Callable[..., Calibration],
) -> None:
    """The first inputs of this seed are near in any order of adding."""
    dot = load_problem(HELD_OUT / "dot")
    assert isinstance(dot, Problem)
    assert measured(dot).admits
    near = AbsoluteRule(absolute=8e-11)
    assert not measured(dot.model_copy(update={"tolerance": near}), seed=7).admits


@pytest.mark.parametrize("value", [1.0, -0.3, 1e-3, 65503.7, 0.0])
def test_eleven_bits_are_those_of_fp16(value: float) -> None:
    array = np.array([value], np.float32)
    assert rounded(array, 11) == array.astype(np.float16).astype(np.float32)
