"""Inputs that a declaration allows by mistake are told when the problem is checked."""

from pathlib import Path

import pytest

from regraph_kg.evaluation.checkup.calibrate import Trials
from regraph_kg.evaluation.checkup.unfit import crashing
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.verify.reference import Case

pytestmark = pytest.mark.slow


def of(code: str, args: dict[str, dict[str, object]], **fields: object) -> Problem:
    sizes = [name for name, arg in args.items() if arg["role"] == "size"]
    kinds = {"int32": "int", "float64": "double", "float32": "float"}
    said = (
        f"{'const ' if arg['role'] == 'in' else ''}{kinds[str(arg['type'])]}"
        f"{'' if name in sizes else '*'} {name}"
        for name, arg in args.items()
    )
    listed = [{"name": name, **arg} for name, arg in args.items()]
    head = f'extern "C" void f({", ".join(said)})'.replace("const int ", "int ")
    return Problem.model_validate(
        {"schema": 1, "name": "own", "entry": "f", "args": listed, **fields}
        | {"serial_code": f"{head} {{ {code} }}"}
    )


def trials(cache: Path, problem: Problem) -> Trials:
    return Trials(problem, Compiler(cache / "compiled", find_gcc(), JudgeLimits()))


def rows(last: str) -> Problem:
    """Each row reads one element beyond its last, and rows end at `last` at most."""
    return of(
        "for (int i = 0; i < n; ++i) y[i] = v[start[i + 1]];",
        {
            "n": {"type": "int32", "role": "size", "size": "n"},
            "start": {
                "type": "int32",
                "role": "in",
                "shape": ["n + 1"],
                "values": ["sorted"],
                "range": [0, last],
            },
            "v": {"type": "float64", "role": "in", "shape": ["8*n"]},
            "y": {"type": "float64", "role": "out", "shape": ["n"]},
        },
        sizes={"check": [{"n": 1}, {"n": 40}], "time": {"n": 2000}},
    )


def test_inputs_on_which_the_code_crashes_now_and_then_are_told(cache: Path) -> None:
    with trials(cache, rows("8*n")) as opened:
        found = list(crashing(opened))
    assert [one.severity for one in found] == ["error"]
    assert "start = " in found[0].text
    with trials(cache, rows("8*n - 1")) as opened:
        assert not list(crashing(opened))


def test_a_case_that_the_reference_does_not_stand_is_drawn_anew(cache: Path) -> None:
    problem = rows("8*n")
    with trials(cache, problem) as opened:
        for seed in range(60):  # one of nine crashes
            case = Case(problem.sizes.check[0], 0, seed)
            truths, inputs = opened.references.truths(case), opened.references.given(case)
            assert inputs["start"][1] < 8
            assert truths["y"].values[0] == inputs["v"][inputs["start"][1]]  # type: ignore[union-attr]
