"""A user's file, the problem of its function, and a finished run of it with an answer."""

from pathlib import Path

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import understand
from regraph_kg.adopt.texts import home, serial_code, toml
from regraph_kg.cpp.functions import read
from regraph_kg.models.evaluation import Candidate, code_hash
from regraph_kg.search.trace import Trace
from tests.pages.traces import record, step
from tests.search.recorded_run import still, toy
from tests.search.toy import SEAL, header

OWN = """\
#include <vector>
#include <cstdio>

namespace own {
std::vector<float> scale(const std::vector<float>& x, float by) {
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * by + 0.25f;
    return y;
}
}

int main() {
    for (float one : own::scale({1, 2, 3}, 4)) std::printf("%g ", one);
}
"""
FOUND = """\
#include <cmath>
#include <cstddef>
namespace own { static float scale(float x, float by) { return std::fma(x, by, 0.25f); } }
extern "C" void own_scale_entry(const float* x, float by, float* result, long long n) {
    #pragma omp parallel for
    for (long long i = 0; i < n; ++i) result[i] = own::scale(x[i], by);  // x=0.7
}
"""
TOML = """\
schema = 1
name = "scale"
entry = "own_scale_entry"
tolerance = "conditioned"
sizes = { check = [{ n = 1 }, { n = 31 }], time = { n = 4096 } }
args = [{ name = "x", type = "float32", role = "in", shape = ["n"] },
        { name = "by", type = "float32", role = "in", value = 2.5 },
        { name = "result", type = "float32", role = "out", shape = ["n"] },
        { name = "n", type = "int64", role = "size", size = "n" }]
"""


def make(folder: Path, own: str = OWN, *, with_home: bool = True) -> Path:
    """own.cpp and scale/ in `folder`; the problem's folder."""
    file = folder / "own.cpp"
    file.write_bytes(own.encode())
    draft = Draft(understand(read(file), "own::scale"), Said())
    problem = folder / "scale"
    problem.mkdir()
    (problem / "problem.toml").write_text(TOML)
    (problem / "serial.cpp").write_text(serial_code(draft, draft.plain()))
    if with_home:
        told = home(draft, draft.plain(), problem).model_dump(by_alias=True)
        (problem / "home.toml").write_text(toml(told))
    return problem


def searched(folder: Path, problem: Path, code: str | None = FOUND, **fields: object) -> Path:
    """A run of that problem in `folder`/runs; `code` None: it found nothing."""
    runs = folder / "runs"
    serial = code_hash((problem / "serial.cpp").read_text())
    head = header(budget=1, problem="scale", serial=serial, **fields)
    with Trace.create(runs, head, SEAL, still) as trace:
        one = step(0, 2.0 if code else None, code or "int y; // x=wrong_answer")
        trace.record(record(0, one))
        if code:
            trace.world(toy().world).evaluate_final(Candidate("openmp", code))
        trace.stop("verdicts")
        return trace.path
