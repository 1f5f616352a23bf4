"""Python projects by their own commands: pytest with a compiled extension, a reference in Python.

Real: g++ builds the extension against this Python's headers, pytest of this environment tests it,
both in the sandbox. PyTorch is not installed here: its recipe (docs/problems.md) is tried with
a reference in numpy.
"""

import sys
import sysconfig
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, Outcome

from .conftest import TIMED

pytestmark = pytest.mark.slow  # four candidates each, by processes that start an interpreter

KERNEL = """\
#include "kernel.h"
double pairs(const double* x, long n) {
    double sum = 0;
    for (long i = 0; i < n; ++i)
        for (long j = 0; j < n; ++j) sum += x[i] * x[j];
    return sum;
}
"""
FASTER = """\
#include "kernel.h"
double pairs(const double* x, long n) {
    double sum = 0;
    for (long i = 0; i < n; ++i) sum += x[i];
    return sum * sum;
}
"""
MODULE = """\
#include <Python.h>
#include <vector>
#include "kernel.h"
static PyObject* call(PyObject*, PyObject* list) {
    std::vector<double> x;
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i)
        x.push_back(PyFloat_AsDouble(PyList_GetItem(list, i)));
    return PyFloat_FromDouble(pairs(x.data(), static_cast<long>(x.size())));
}
static PyMethodDef methods[] = {{"pairs", call, METH_O, ""}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", "", -1, methods};
PyMODINIT_FUNC PyInit_fast() { return PyModule_Create(&module); }
"""
BUILD = """\
import subprocess, sysconfig
include = sysconfig.get_path("include")
flags = ["-std=c++17", "-O2", "-fPIC", "-shared", f"-I{include}"]
subprocess.run(["g++", *flags, "kernel.cpp", "module.cpp", "-o", "fast.so"], check=True)
"""
TEST = """\
import fast, pytest

@pytest.mark.parametrize("n", [0, 1, 5])
def test_it_sums_all_products(n):
    x = [0.5 + i for i in range(n)]
    assert fast.pairs(x) == pytest.approx(sum(a * b for a in x for b in x))
"""
BENCH = """\
import fast, os, random
random.seed(os.environ["REGRAPH_SEED"])
print(fast.pairs([random.random() for _ in range(10_000)]))
"""
TOML = f"""\
schema = 1
name = "pairs"
entry = "pairs"
[commands]
project = "../project"
python = "{sys.prefix}"
file = "kernel.cpp"
build = ["python build.py"]
test = ["python -m pytest -q -p no:cacheprovider test_fast.py"]
passed = ["3 passed"]
bench = "python bench.py"
tolerance = 1e-9
environment = {{ PYTEST_DISABLE_PLUGIN_AUTOLOAD = "1" }}
"""
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
import fast, inputs, time
xs = inputs.drawn(4500)
total = 0
for k in range(3):
    x = xs[1500 * k : 1500 * (k + 1)]
    start = time.perf_counter()
    y = fast.forward(x)
    print("regraph-seconds", time.perf_counter() - start)
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
clock = "printed"
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


@pytest.mark.skipif(
    not Path(sysconfig.get_path("include"), "Python.h").exists(),
    reason="no headers of this Python: an extension cannot be built",
)
def test_a_compiled_extension_is_built_tested_by_pytest_and_timed(tmp_path: Path) -> None:
    files = {"kernel.cpp": KERNEL, "module.cpp": MODULE, "build.py": BUILD, "test_fast.py": TEST}
    files |= {"kernel.h": "double pairs(const double* x, long n);\n", "bench.py": BENCH}
    problem = load_problem(made(tmp_path, files, TOML))
    with Judge(tmp_path / "cache") as judge:
        right, wrong, gone, broken = (
            judge.evaluate(Candidate("openmp", code), problem)
            for code in (
                FASTER,
                FASTER.replace("sum * sum", "sum"),
                FASTER.replace("double sum", "if (n > 1) __builtin_exit(0); double sum"),
                FASTER.replace("sum * sum", "many"),
            )
        )
    assert right.outcome in TIMED, right.diagnosis
    assert right.speedup is not None
    assert right.speedup > 1
    assert wrong.outcome is Outcome.WRONG_ANSWER
    assert "test_it_sums_all_products" in wrong.diagnosis
    assert gone.outcome is Outcome.SUSPICIOUS
    assert broken.outcome is Outcome.COMPILE_FAILED
    assert "kernel.cpp:5" in broken.diagnosis


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
    assert right.speedup > 10
    assert (wrong.outcome, gone.outcome) == (Outcome.WRONG_ANSWER, Outcome.SUSPICIOUS)
    assert "wrong at n = 300" in wrong.diagnosis
    assert lazy.outcome is Outcome.WRONG_ANSWER
