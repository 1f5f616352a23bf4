"""Ports give what the serial code gives: their whole CUDA text runs on the CPU."""

from pathlib import Path

import pytest

from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.port import NotPorted
from regraph_kg.port.port import port

from .emulated import differences
from .test_port import CORPUS, HEAD, ported, problem

NAMES = sorted(path.parent.name for path in CORPUS.glob("*/problem.toml"))
QUICK = ("jacobi-csr", "matmul", "reduction")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES],
)
def test_a_port_of_the_corpus_gives_what_the_serial_code_gives(tmp_path: Path, name: str) -> None:
    given = load_problem(CORPUS / name)
    assert isinstance(given, Problem)
    made = port(given.model_copy(update={"metric": "call"}))
    if isinstance(made, NotPorted):
        pytest.skip(made.why)
    assert differences(given, made, tmp_path) == []


def test_iterations_that_depend_on_each_other_are_seen(tmp_path: Path) -> None:
    code = f"{HEAD} {{ for (int i = 0; i < n; ++i) y[i] = x[i] + (i ? y[i - 1] : 0); }}"
    given = problem(code)
    wrong = ported(f"{HEAD} {{ for (int i = 0; i < n; ++i) y[i] = x[i] + 1; }}")
    assert differences(given, ported(code), tmp_path) == []
    assert differences(given, wrong, tmp_path)
