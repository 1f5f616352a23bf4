"""Integers of inputs fill their type, but for those beyond which the function overflows."""

from pathlib import Path

import pytest

from regraph_kg.adopt.adopt import Adopted, Adopter
from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.integers import standing
from regraph_kg.adopt.reading import understand
from regraph_kg.cpp.functions import read
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.declaration import AbsoluteRule, Argument
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import JudgeLimits

HEAD = 'extern "C" void f(const int* x, const int* w, int* y, int n)'
EACH = "for (int i = 0; i < n; ++i)"


def stood(cache: Path, body: str, **fields: object) -> dict[str, Argument]:
    """Inputs by name, with the integers that a function of two arrays stands."""
    array = {"type": "int32", "shape": ["n"], "role": "in"}
    problem = Problem.model_validate(
        {
            "schema": 1,
            "name": "whole",
            "entry": "f",
            "args": [
                {"name": "x", **array, **fields},
                {"name": "w", **array},
                {"name": "y", **array, "role": "out"},
                {"name": "n", "type": "int32", "role": "size", "size": "n"},
            ],
            "sizes": {"check": [{"n": 1}, {"n": 31}], "time": {"n": 2**16}},
            "serial_code": f"{HEAD} {{ {EACH} {body} }}",
        }
    )
    limits = JudgeLimits()
    found = standing(problem, Compiler(cache / "compiled", find_gcc(), limits), limits)
    return {arg.name: arg for arg in found.inputs}


def adopted(cache: Path, folder: Path, code: str, **shapes: tuple[str, ...]) -> Adopted:
    own = folder / "own.cpp"
    own.write_text(code)
    draft = Draft(understand(read(own), "f"), Said(sizes={"n": 2000}, shapes=shapes))
    return Adopter(cache, lambda _: None).adopt(draft, "own", folder / "own")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "x", "w"),
    [
        ("y[i] = (x[i] ^ w[i]) & 0xff;", None, None),
        ("y[i] = (int)((unsigned)x[i] + (unsigned)w[i]);", None, None),  # may wrap around
        ("y[i] = x[i] * w[i];", (-(2**15), 2**15 - 1), (-(2**15), 2**15 - 1)),
        ("y[i] = 4 * x[i] ^ w[i];", (-(2**29), 2**29 - 1), None),
        ("y[i] = w[i] ^ (int)(x[i] * 16.0f);", (-(2**27), 2**27 - 1), None),
        # whatever they hold: nothing is gained by fewer
        ("y[i] = (0x7fffffff + n) ^ x[i] ^ w[i];", None, None),
    ],
)
def test_integers_are_all_of_their_type_up_to_where_the_function_overflows(
    cache: Path, body: str, x: object, w: object
) -> None:
    found = stood(cache, body)
    assert (found["x"].range, found["w"].range) == (x, w)


@pytest.mark.slow
@pytest.mark.parametrize(("body", "still"), [("y[i] = x[i];", True), ("y[i] = 3 * x[i];", False)])
def test_a_guessed_range_is_left_by_no_input_that_overflows(
    cache: Path, body: str, *, still: bool
) -> None:
    found = stood(cache, f"{{ {body} y[i] ^= w[i]; }}", range=[-9, 9], limits_guessed=True)["x"]
    assert (found.range, found.limits_guessed) == ((-9, 9), still)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("void f(const unsigned char* x, short* y, int n) {{ {} y[i] = x[i] * 7; }}", {}),
        (  # a condition that next to none of all integers makes true
            "void f(const int* x, int* y, int n) {{ {} y[i] = x[i] == 77 ? 1 : 2; }}",
            {"range": [-1000, 1000], "limits_guessed": True},
        ),
        (  # loops that would take minutes
            "void f(const int* x, int* y, int n) {{ {} "
            "{{ y[i] = 0; for (int k = 0; k < x[i]; k += 3) y[i] ^= k; }} }}",
            {"range": [-1000, 1000]},
        ),
    ],
)
def test_a_function_that_all_integers_do_not_suit_gets_small_ones(
    cache: Path, tmp_path: Path, code: str, told: dict[str, object]
) -> None:
    given = adopted(cache, tmp_path, code.format(EACH)).problem.args[0]
    assert given.model_dump(include=told.keys()) == {
        name: tuple(value) if isinstance(value, list) else value for name, value in told.items()
    }
    assert bool(given.range) == bool(told)


@pytest.mark.nightly
def test_rows_that_must_not_begin_at_the_end_do_not(cache: Path, tmp_path: Path) -> None:
    """A function that reads each row's first element stands no empty row at the very end."""
    loop = "for (int j = start[i] + 1; j < start[i + 1]; ++j) sum += v[j];"
    head = "void f(int n, const int* start, const double* v, double* y)"
    code = f"{head} {{ {EACH} {{ double sum = v[start[i]]; {loop} y[i] = sum; }} }}"
    start = adopted(cache, tmp_path, code, v=("8*n",)).problem.args[1]
    assert start.range == (0, "8*n - 1")
    legal = code.replace("v[start[i]]; ", "0; ").replace("start[i] + 1;", "start[i];")
    start = adopted(cache, tmp_path, legal, v=("8*n",)).problem.args[1]
    assert start.range == (0, "8*n")


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("value", "tolerance"),
    [
        ("x[i] > 0.5f ? 1 : 0", "exact"),
        # another order of these operations, as fast math takes it, ends in other whole numbers
        ("(int)((x[i] - 0.25f) * 3e6f / 7.0f * 1.7f)", AbsoluteRule),
    ],
)
def test_integers_that_rounding_moves_may_be_off_by_as_much(
    cache: Path, tmp_path: Path, value: str, tolerance: object
) -> None:
    code = f"void f(const float* x, int* y, int n) {{ {EACH} y[i] = {value}; }}"
    found = adopted(cache, tmp_path, code).problem.tolerance
    assert tolerance in (found, type(found))
