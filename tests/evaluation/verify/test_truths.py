"""Truths: the process that makes them, and integers that floats decide."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rewrite import to_double
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, wrong_elements
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.worker import runner
from regraph_kg.evaluation.worker.spawn import Program

from ..conftest import problem_named

SIZES = {"n": 1000}
CASE = Case(SIZES, 0, 7)
Opened = Callable[[Problem, str], References]


@pytest.fixture
def opened(cache: Path) -> Iterator[Opened]:
    with ExitStack() as stack:
        limits = JudgeLimits()
        compiler = stack.enter_context(closing(Compiler(cache / "it", find_gcc(), limits)))

        def opens(problem: Problem, code: str) -> References:
            library = compiler.host(to_double(code), HOST_FLAGS)
            assert isinstance(library, Path), library
            harness = compiler.harness(problem.promoted())
            program = Program(harness, library, problem.entry)
            return stack.enter_context(closing(References(problem, program, [SIZES], limits)))

        yield opens


PLACES = """
#include <cmath>
extern "C" void f(const float* x, float* y, int* bin, int n) {
    for (int i = 0; i < n; ++i) { y[i] = x[i] * 3; bin[i] = (int)(x[i] * 10.0f); }
}
"""
"""In float 0.7f * 10 is 7, in double a little less."""


def test_an_integer_that_a_float_decides_may_be_what_either_precision_says(cache: Path) -> None:
    args = [
        {"name": "x", "type": "float32", "role": "in", "shape": ["n"], "values": ["uniform"]},
        {"name": "y", "type": "float32", "role": "out", "shape": ["n"]},
        {"name": "bin", "type": "int32", "role": "out", "shape": ["n"]},
        {"name": "n", "type": "int32", "role": "size", "size": "n"},
    ]
    told = {"schema": 1, "name": "bins", "entry": "f", "args": args, "serial_code": PLACES}
    problem = Problem.model_validate(told | {"sizes": {"check": [SIZES], "time": SIZES}})
    with closing(Compiler(cache / "it", find_gcc(), JudgeLimits())) as compiler:
        programs = [
            Program(compiler.harness(one), Path(str(compiler.host(code, HOST_FLAGS))), "f")
            for one, code in ((problem.promoted(), problem.truth_code), (problem, PLACES))
        ]
        given = problem, programs[0], [SIZES], JudgeLimits()
        with closing(References(*given, serial=programs[1])) as references:
            case = Case(SIZES, 0, 7, alteration="equal")
            references.given = lambda case: {"x": np.full(1000, 0.7, np.float32)}  # type: ignore[method-assign]
            found = references.truths(case)["bin"]
    assert isinstance(found, ExpectedOutput)
    assert found.values[0] == 6
    for value, is_right in ((6, True), (7, True), (8, False)):
        wrong = wrong_elements(np.full(1000, value, np.int32), found)
        assert wrong.any() != is_right


def truth(references: References) -> ExpectedOutput:
    (made,) = references.truths(CASE).values()
    assert isinstance(made, ExpectedOutput)
    return made


@pytest.fixture
def conditioned() -> Problem:
    return problem_named("scale").model_copy(update={"tolerance": "conditioned"})


@pytest.mark.usefixtures("nothing_is_left")
def test_all_runs_for_a_truth_of_a_large_shape_share_one_process(
    opened: Opened, conditioned: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Program] = []

    class Counted(runner.Worker):
        def __init__(self, program: Program, *args: Any, **options: Any) -> None:
            started.append(program)
            super().__init__(program, *args, **options)

    monkeypatch.setattr(runner, "Worker", Counted)
    kept = truth(opened(conditioned, conditioned.serial_code))
    monkeypatch.setattr(runner, "_LARGE_BYTES", 0)
    references = opened(conditioned, conditioned.serial_code)
    again = truth(references)
    assert len(started) == 2
    references.close()
    assert np.array_equal(kept.values, again.values)
    assert np.array_equal(kept.tolerance, again.tolerance)
