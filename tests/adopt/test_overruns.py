"""What a function's serial code does beyond its arrays is told before it becomes a problem."""

from pathlib import Path

import pytest

from regraph_kg.adopt import overruns, probe
from regraph_kg.adopt.adopt import Adopter
from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.overruns import Overrun, look
from regraph_kg.adopt.reading import understand
from regraph_kg.cpp.functions import read
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.toolchain import Gcc, find_gcc
from regraph_kg.evaluation.problem.problem import Problem

SPARSE = """#include <vector>

void spmv(const std::vector<int>& starts, const std::vector<int>& columns,
          const std::vector<double>& values, const std::vector<double>& x,
          std::vector<double>& y) {
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
        double sum = 0;
        for (int k = starts[i]; k < starts[i + 1]; ++k)
            sum += values[k] * x[columns[k]];
        y[i] = sum;
    }
}
"""
SHIFT = 'extern "C" void f(const float *x, float *y, int n) {{\n  {body}\n}}\n'


def problem(body: str, shape: str = "n") -> Problem:
    fields = {
        "schema": 1,
        "name": "shift",
        "entry": "f",
        "args": [
            {"name": "x", "type": "float32", "role": "in", "shape": ["n"]},
            {"name": "y", "type": "float32", "role": "out", "shape": [shape]},
            {"name": "n", "type": "int32", "role": "size", "size": "n"},
        ],
        "sizes": {"check": [{"n": 1}, {"n": 31}], "time": {"n": 31}},
        "serial_code": SHIFT.format(body=body),
    }
    return Problem.model_validate(fields)


@pytest.mark.nightly
def test_arrays_that_are_shorter_than_their_index_are_told_with_their_line(
    cache: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.cpp"
    own.write_text(SPARSE)
    said = Said(
        shapes={
            "starts": ("starts_size",),
            "columns": ("columns_size",),
            "values": ("values_size",),
        }
    )
    draft = Draft(understand(read(own), "spmv"), said)
    with pytest.raises(BadInput) as refused:
        Adopter(cache, lambda _: None).adopt(draft, "spmv", tmp_path / "spmv")
    assert "own.cpp, line " in str(refused.value)
    assert "spmv reads out of columns (" in str(refused.value)
    assert "--shape" in str(refused.value)
    assert "columns_size=" in str(refused.value)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("for (int i = 0; i < n; ++i) y[i] = x[i + 1];", "reads out of x (1 elements)"),
        ("for (int i = 0; i <= n; ++i) y[i] = 1;", "writes out of y (1 elements)"),
        (
            "float a[4] = {1}; for (int i = 0; i < n; ++i) y[i] = a[i] + x[0];",
            "leaves an array: index 4 out of bounds for type 'float [4]'",
        ),
    ],
)
def test_one_element_too_far_is_seen(body: str, what: str) -> None:
    found = look(problem(body), find_gcc())
    assert isinstance(found, Overrun)
    assert (found.line, found.what) == (2, what)
    assert found.sizes == ({"n": 31} if "index" in what else {"n": 1})


@pytest.mark.nightly
def test_code_that_keeps_to_its_arrays_is_left_alone() -> None:
    doubles = "for (int i = 0; i < n; ++i) y[i] = x[i] * 2;"
    assert look(problem(doubles), find_gcc()) is None
    wraps = "unsigned h = 1; for (int i = 0; i < n; ++i) y[i] = (int)(h *= 2654435769u) + x[i];"
    assert look(problem(wraps), find_gcc()) is None


def test_a_compiler_without_the_sanitizer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overruns, "_FLAGS", ("-fsanitize=nothing-known",))
    gcc: Gcc = find_gcc()
    with pytest.raises(ToolError, match="no address sanitizer"):
        look(problem("y[0] = x[0];"), gcc)


def test_code_that_takes_too_long_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(ToolError, match="with the address sanitizer"):
        look(problem("y[0] = x[0];"), find_gcc())
