"""A Python project by its own commands: a reference in Python that its check compares with.

PyTorch is not installed here: its recipe (docs/problems.md) is tried with a reference in numpy.
"""

import sys
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, Outcome

from .conftest import TIMED

pytestmark = pytest.mark.slow  # four candidates each, by processes that start an interpreter

REFERENCE = {
    "model.py": "def forward(x):\n    return [sum(x[: i + 1]) for i in range(len(x))]\n",
    "fast.py": "def forward(x):\n    return [sum(x[: i + 1]) for i in range(len(x))]\n",
    "inputs.py": """\
import numpy, os
def drawn(n):
    return numpy.random.default_rng(int(os.environ["REGRAPH_SEED"])).random(n).tolist()
""",
    "check.py": """\
import fast, inputs, model, numpy
for n in (0, 1, 300):
    x = inputs.drawn(n)
    assert numpy.allclose(fast.forward(x), model.forward(x)), f"wrong at n = {n}"
print("all outputs right")
""",
    "bench.py": """\
import fast, inputs
xs = inputs.drawn(12000)
total = 0
for k in range(8):
    y = fast.forward(xs[1500 * k : 1500 * (k + 1)])
    total += y[-1] + sum(y)
print(total)
""",
}
IN_PYTHON = f"""\
schema = 1
name = "sums"
entry = "forward"
[commands]
project = "../project"
python = "{sys.prefix}"
file = "fast.py"
test = ["python check.py"]
passed = ["all outputs right"]
bench = "python bench.py"
tolerance = 1e-9
"""
RUNNING = """\
import itertools
def forward(x):
    return [*itertools.accumulate(x)]
"""


def made(folder: Path, files: dict[str, str], toml: str) -> Path:
    for name, text in files.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "problem").mkdir()
    (folder / "problem" / "problem.toml").write_text(toml)
    return folder / "problem"


def test_a_reference_in_python_is_told_from_what_only_looks_right(tmp_path: Path) -> None:
    problem = load_problem(made(tmp_path, REFERENCE, IN_PYTHON))
    with Judge(tmp_path / "cache") as judge:
        right, wrong, gone, lazy = (
            judge.evaluate(Candidate("openmp", code), problem)
            for code in (
                RUNNING,
                RUNNING.replace("(x)]", "(x[::-1])]"),
                "import os\n" + RUNNING + "os._exit(0)\n",
                RUNNING.replace("return", "return [0.0] * 1500 if len(x) == 1500 else"),
            )
        )
    assert right.outcome in TIMED, right.diagnosis
    assert right.speedup is not None
    assert right.speedup > 1.1, "the interpreter's start counts, too"
    assert (wrong.outcome, gone.outcome) == (Outcome.WRONG_ANSWER, Outcome.SUSPICIOUS)
    assert "wrong at n = 300" in wrong.diagnosis
    assert lazy.outcome is Outcome.WRONG_ANSWER
