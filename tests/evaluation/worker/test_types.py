"""Arrays, scalars and results of every type reach a function, and come back from it, unchanged."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.inputs import generate
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.problem.rewrite import to_double
from regraph_kg.evaluation.problem.types import C_TYPES, Type, bits, dtype_of, is_inexact, wide
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.worker.runner import Runner
from regraph_kg.evaluation.worker.spawn import Program

TYPES: tuple[Type, ...] = tuple(kind for kind in get_args(Type) if kind != "struct")
RETURNED: tuple[Type, ...] = ("bool", "char", "uint64", "complex128")
PLAIN: tuple[Type, ...] = ("bool", "int8", "uint16", "float32", "size_t")
SIZES = {"n": 37}


@pytest.fixture(scope="module")
def compiler(cache: Path) -> Iterator[Compiler]:
    with closing(Compiler(cache / "compiled", find_gcc(), JudgeLimits())) as compiler:
        yield compiler


def problem_of(args: list[dict[str, object]], body: str, **fields: object) -> Problem:
    size = {"name": "n", "type": "size_t", "role": "size", "size": "n"}
    content = {
        "schema": 1,
        "name": "types",
        "entry": "f",
        "sizes": {"check": [SIZES], "time": SIZES},
        "args": [*args, size],
        "serial_code": "",
        **fields,
    }
    problem = Problem.model_validate(content)
    code = f"{problem.signature()} {{ {body} }}\n"
    code = f"#include <{'complex' if 'complex' in code else 'stddef.h'}>\n{code}"
    return problem.model_copy(update={"serial_code": code})


def ran(
    compiler: Compiler, problem: Problem, code: str, made: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    built = compiler.host(code, HOST_FLAGS)
    assert isinstance(built, Path), built
    program = Program(compiler.harness(problem), built, problem.entry)
    with closing(Runner(problem, program, [SIZES], JudgeLimits(), "serial.cpp")) as run:
        return run(SIZES, made)


@pytest.mark.parametrize("types", [TYPES[:8], TYPES[8:]])
def test_arrays_of_every_type_are_passed_and_come_back(
    compiler: Compiler, types: tuple[Type, ...]
) -> None:
    args: list[dict[str, object]] = []
    for kind in types:
        args.append({"name": f"in_{kind}", "type": kind, "role": "in", "shape": ["n"]})
        args.append({"name": f"out_{kind}", "type": kind, "role": "out", "shape": ["n"]})
    each = " ".join(f"out_{kind}[i] = in_{kind}[i];" for kind in types)
    problem = problem_of(args, f"for (size_t i = 0; i < n; ++i) {{ {each} }}")
    made = generate(problem, SIZES, 0, 1)
    outputs = ran(compiler, problem, problem.serial_code, made)
    assert len(outputs) == len(types)
    for kind in types:
        output, given = outputs[f"out_{kind}"], made[f"in_{kind}"]
        assert output.dtype == given.dtype == dtype_of(kind)
        assert is_inexact(kind) == (output.dtype.kind in "fc")
        assert np.array_equal(bits(output), bits(given)), kind


@pytest.mark.parametrize("kind", RETURNED)
def test_elements_of_every_size_are_returned(compiler: Compiler, kind: Type) -> None:
    x: dict[str, object] = {"name": "x", "type": kind, "role": "in", "shape": ["n"]}
    problem = problem_of([x], "return x[n - 1];", returns={"type": kind})
    made = generate(problem, SIZES, 0, 1)
    outputs = ran(compiler, problem, problem.serial_code, made)
    assert np.array_equal(bits(outputs["return"]), bits(made["x"][-1:]))


@pytest.mark.parametrize("kind", ["float32", "complex64", "float16"])
def test_the_reference_has_twice_the_precision(compiler: Compiler, kind: Type) -> None:
    """Of arrays, and of what is returned, from the same text."""
    x: dict[str, object] = {"name": "x", "type": kind, "role": "in", "shape": ["n"]}
    y = {**x, "name": "y", "role": "out"}
    third = f"static_cast<{C_TYPES[kind]}>(3.0f)"
    problem = problem_of([x, y], f"for (size_t i = 0; i < n; ++i) y[i] = x[i] / {third};")
    made = generate(problem, SIZES, 0, 1)
    outputs = ran(compiler, problem.promoted(), to_double(problem.serial_code), made)
    assert outputs["y"].itemsize >= 2 * made["x"].itemsize
    assert np.allclose(outputs["y"], wide(made["x"]) / 3, rtol=1e-15)


def test_the_reference_of_structs_has_wider_fields(compiler: Compiler) -> None:
    problem = load_problem(Path(__file__).parents[2] / "adversarial" / "problem" / "drift")
    problem = problem.model_copy(update={"sizes": problem.sizes.model_copy(update={"time": SIZES})})
    made = generate(problem, SIZES, 0, 1)
    code = to_double(problem.serial_code)
    outputs = ran(compiler, problem.promoted(), code, made)
    right = made["p"]["x"].astype(np.float64) + 0.25 * made["p"]["v"].astype(np.float64)
    assert list(outputs) == ["q.x", "q.v", "q.steps"]
    assert np.array_equal(outputs["q.x"], right)
    assert np.array_equal(outputs["q.steps"], made["p"]["steps"] + 1)


def test_scalars_of_plain_types_are_passed(compiler: Compiler) -> None:
    given: list[dict[str, object]] = [
        {"name": f"in_{kind}", "type": kind, "role": "in", "value": 1} for kind in PLAIN
    ]
    body = f"return {' + '.join(f'(in_{kind} == 1)' for kind in PLAIN)};"
    problem = problem_of(given, body, returns={"type": "int32"})
    outputs = ran(compiler, problem, problem.serial_code, {})
    assert outputs["return"].tolist() == [len(PLAIN)]


def test_trusted_code_that_counts_beyond_the_room_is_bad_input(compiler: Compiler) -> None:
    kept: dict[str, object] = {
        **{"name": "kept", "type": "int8", "role": "out", "shape": ["n"]},
        "count": "return",
    }
    problem = problem_of([kept], "return n + 1;", returns={"type": "size_t"})
    with pytest.raises(BadInput, match=r"serial.cpp says return = 38, but kept has room for 37"):
        ran(compiler, problem, problem.serial_code, {})
