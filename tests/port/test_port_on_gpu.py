"""Ports are programs: nvcc compiles each, and on a GPU the judge finds each right."""

from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import RIGHT_BUT_SLOW, Candidate, Outcome
from regraph_kg.models.port import NotPorted, Port
from regraph_kg.port.port import port
from tests.evaluation.conftest import passed
from tests.requirement import require

from .test_port import CORPUS, HEAD, VIEW, problem

NAMES = sorted(path.parent.name for path in CORPUS.glob("*/problem.toml"))
"""What the judge says where one thread takes too long for the timing shape only."""
WORKS = {
    "helpers": f"""
#include <algorithm>
#include <cmath>
static const int TABLE[2] = {{1, 2}};
static float bounded(float v) {{ return std::max(std::fabs(v), 0.5f) * TABLE[1]; }}
{HEAD} {{ for (int i = 0; i < n; ++i) y[i] = bounded(x[i]); }}
""",
    "limits": f"""
#include <limits>
{HEAD} {{
    float least = std::numeric_limits<float>::max();
    for (int i = 0; i < n; ++i) least = std::min(least, x[i]);
    y[0] = least;
}}
""",
    "vectors": f"""{VIEW}
static float last(const std::vector<float>& v) {{ return v.back(); }}
std::vector<float> work(const std::vector<float>& x) {{
    std::vector<float> out(x.size());
    std::vector<float> copy = x;
    for (auto const& one : x) {{ out[0] += one; }}
    std::transform(x.begin(), x.end(), copy.begin(), out.begin(), [](float x, float y) {{
        return x + y;
    }});
    std::inclusive_scan(copy.begin(), copy.end(), out.begin());
    std::swap(out[0], copy[0]);
    out[0] += last(x) + std::reduce(x.begin(), x.end());
    return out;
}}
{HEAD} {{
    const auto returned = work(View<const float>(x, n));
    if (returned.size() != std::size_t(n)) std::abort();
    std::copy(returned.begin(), returned.end(), y);
}}
""",
}


def ported(given: object, *, one_thread: bool) -> Port:
    assert isinstance(given, Problem)
    made = port(given, one_thread=one_thread)
    assert isinstance(made, Port), made
    return made


def compiles(tmp_path: Path, toolkit: Cuda, made: Port) -> bool:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits())
    return isinstance(compiler.cuda(made.whole(made.start), toolkit, "90", own_symbols=False), Path)


@pytest.mark.parametrize("one_thread", [False, True])
@pytest.mark.parametrize("metric", ["call", "device"])
@pytest.mark.parametrize("name", NAMES)
def test_nvcc_compiles_the_port_of_each_problem(
    tmp_path: Path, toolkit: Cuda, name: str, metric: str, one_thread: bool
) -> None:
    given = load_problem(CORPUS / name)
    assert isinstance(given, Problem)
    made = port(given.model_copy(update={"metric": metric}), one_thread=one_thread)
    if isinstance(made, NotPorted):
        pytest.skip(made.why)
    assert compiles(tmp_path, toolkit, made)


@pytest.mark.parametrize("work", WORKS)
def test_nvcc_compiles_what_a_port_makes_of_cpp(tmp_path: Path, toolkit: Cuda, work: str) -> None:
    assert compiles(tmp_path, toolkit, ported(problem(WORKS[work]), one_thread=False))


def test_nvcc_compiles_what_is_returned(tmp_path: Path, toolkit: Cuda) -> None:
    code = 'extern "C" double f(const float* x, float* y, int n) { y[0] = 1; return x[0]; }'
    given = problem(code, returns={"type": "float64"})
    for metric in ("call", "device"):
        made = ported(given.model_copy(update={"metric": metric}), one_thread=False)
        assert compiles(tmp_path, toolkit, made)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("toolkit")
def test_the_port_of_each_problem_is_right(cache: Path, name: str) -> None:
    """By all of the judge's checks; one thread may be too slow to be timed."""
    try:
        find_gpu()
    except ToolError as error:
        require("gpu", str(error))
    given = load_problem(CORPUS / name)
    made = ported(given, one_thread=False)
    with Judge(cache) as judge:
        report = judge.evaluate(Candidate("cuda", made.whole(made.start)), given)
    is_slow = report.outcome is Outcome.TIMED_OUT and RIGHT_BUT_SLOW in report.diagnosis
    assert passed(report) or (is_slow and not made.parallel), report.diagnosis
