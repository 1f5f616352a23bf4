"""Ports give what the serial code gives: their whole CUDA text runs on the CPU."""

from pathlib import Path

import pytest

from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.port import NotPorted, Port
from regraph_kg.port.port import port

from .emulated import differences
from .test_port import CORPUS, HEAD, N, Y, ported, problem

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


BODIES = {
    "two buffers and a swap": """
    std::vector<float> now(n + 2), next(n + 2);
    for (int i = 0; i < n; ++i) now[i + 1] = x[i];
    for (int s = 0; s < 5; ++s) {
        for (int i = 1; i <= n; ++i) next[i] = 0.5f * now[i] + 0.25f * (now[i - 1] + now[i + 1]);
        std::swap(now, next);
    }
    for (int i = 0; i < n; ++i) y[i] = now[i + 1];""",
    "pointers swapped by hand, an odd number of times": """
    float* a = new float[n];
    float* b = new float[n]();
    for (int i = 0; i < n; ++i) a[i] = x[i];
    for (int s = 0; s < 3; ++s) {
        for (int i = 0; i < n; ++i) b[i] = a[n - 1 - i] + 1;
        float* t = a; a = b; b = t;
    }
    for (int i = 0; i < n; ++i) y[i] = a[i] - b[i];
    delete[] a;
    delete[] b;""",
    "an argument swapped with a buffer, and bounds of i + 1": """
    float* out = y;
    std::vector<float> next(n);
    for (int i = 0; i < n; ++i) { out[i] = x[i]; next[i] = x[i]; }
    for (int s = 0; s < 3; ++s) {
        for (int i = 1; i + 1 < n; ++i) next[i] = out[i - 1] + out[i + 1];
        for (int i = 1; i + 2 <= n; ++i) out[i] = next[i] / 2;
    }""",
    "columns of a triangle, an element of each by one thread": """
    int i, j, k;
    std::vector<float> a(n * n);
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) a[i * n + j] = i == j ? n + 1.f : x[j] / (1 + i);
    for (k = 0; k < n; k++) {
        a[k * n + k] = std::sqrt(std::fabs(a[k * n + k]) + 1);
        for (i = k + 1; i < n; i++) a[i * n + k] /= a[k * n + k];
        for (j = k + 1; j < n; j++)
            for (i = j; i < n; i++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
    for (i = 0; i < n; i++) y[i] = a[i * n + i / 2];""",
    "sweeps until nothing changes much": """
    std::vector<float> z(x, x + n);
    float change = 1;
    int sweeps = 0;
    while (change > 0.001f && sweeps < 50) {
        change = 0;
        for (int i = 0; i < n; ++i) { y[i] = 0.5f * z[i]; }
        for (int i = 0; i < n; ++i) change = std::max(change, std::fabs(z[i] - y[i]));
        std::copy(y, y + n, z.begin());
        ++sweeps;
    }
    for (int i = 0; i < n; ++i) y[i] = sweeps;""",
    "sums, the least and a count between loops": """
    if (n <= 0) return;
    double sum = 0;
    float least = x[0];
    long above = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    const double mean = sum / n;
    for (int i = 0; i < n; ++i) { if (x[i] < least) least = x[i]; if (x[i] > mean) ++above; }
    for (int i = 0; i < n; ++i) y[i] = x[i] - mean + above - least;""",
    "a buffer of each iteration": """
    for (int i = 0; i < n; ++i) {
        std::vector<float> c(n + 1, 0.5f);
        c[0] = x[i];
        for (int k = 1; k <= n; ++k) c[k] += 0.5f * c[k - 1];
        y[i] = c[n];
    }""",
    "elements that iterations add to": """
    for (int i = 0; i < n; ++i) y[i] = 0;
    for (int i = 0; i < n; ++i) y[i * 7 % n] += x[i];""",
}


@pytest.mark.slow
def test_an_argument_whose_memory_a_swap_took_gets_its_elements_back(tmp_path: Path) -> None:
    code = """#include <cstdlib>
#include <utility>
#include <vector>
void work(std::vector<float>& u, int steps) {
    std::vector<float> v(u);
    for (int s = 0; s < steps; ++s) {
        for (int i = 1; i + 1 < (int)u.size(); ++i) v[i] = 0.5f * (u[i - 1] + u[i + 1]);
        std::swap(u, v);
    }
}
extern "C" void f(float* y, int n) {
    std::vector<float> y_copy(y, y + n);
    work(y_copy, 3);
    if (y_copy.size() != std::size_t(n)) std::abort();
    std::copy(y_copy.begin(), y_copy.end(), y);
}
"""
    given = problem(code, {**Y, "role": "inout"}, N)
    sizes = given.sizes.model_copy(update={"check": ({"n": 1}, {"n": 3}, {"n": 300})})
    given = given.model_copy(update={"sizes": sizes})
    made = port(given)
    assert isinstance(made, Port), made
    assert made.parallel
    assert differences(given, made, tmp_path) == []


@pytest.mark.slow
def test_each_return_gives_a_swapped_argument_its_elements_back(tmp_path: Path) -> None:
    code = """#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>
int work(std::vector<float>& u, int most) {
    std::vector<float> v(u.size());
    if (most < 0) return -1;
    int s = 0;
    while (s < most) {
        float change = 0;
        for (int i = 0; i < (int)u.size(); ++i) v[i] = 0.5f * u[i];
        for (int i = 0; i < (int)u.size(); ++i) change += u[i] - v[i];
        std::swap(u, v);
        ++s;
        if (change < 0) return s;
    }
    return s;
}
extern "C" int f(float* y, int n) {
    std::vector<float> y_copy(y, y + n);
    const auto returned_ = work(y_copy, 3);
    if (y_copy.size() != std::size_t(n)) std::abort();
    std::copy(y_copy.begin(), y_copy.end(), y);
    return returned_;
}
"""
    given = problem(code, {**Y, "role": "inout"}, N, returns={"type": "int32"})
    sizes = given.sizes.model_copy(update={"check": ({"n": 1}, {"n": 3}, {"n": 300})})
    given = given.model_copy(update={"sizes": sizes})
    made = port(given)
    assert isinstance(made, Port), made
    assert made.parallel
    assert differences(given, made, tmp_path) == []


@pytest.mark.parametrize("name", [pytest.param(it, marks=pytest.mark.slow) for it in BODIES])
def test_code_as_people_write_it_has_threads_and_is_right(tmp_path: Path, name: str) -> None:
    given = problem(
        f"#include <algorithm>\n#include <cmath>\n#include <vector>\n{HEAD} {{ {BODIES[name]} }}"
    )
    sizes = given.sizes.model_copy(update={"check": ({"n": 1}, {"n": 3}, {"n": 300})})
    given = given.model_copy(update={"sizes": sizes})
    made = port(given)
    assert isinstance(made, Port), made
    assert made.parallel
    assert differences(given, made, tmp_path) == []


OBJECTS = """#include <algorithm>
#include <utility>
#include <vector>
struct Scale {
    Scale(const float* table, int n) : table_(table), n_(n) {}
    float of(int i) const { return table_[i] * n_; }
    const float* table_;
    int n_;
};
struct Base { Base() : of_base(1) {} float of_base; };
struct Derived : Base { float of(float v) const { return v + of_base; } };
struct Table { const float* at; int n; float of(int i) const { return at[i] + n; } };
template <typename T> struct Above { T least; bool operator()(T v) const { return v > least; } };
template <typename Is> void count_of(const float* x, int n, Is is, float& count) {
    count = 0;
    for (int i = 0; i < n; ++i) count += is(x[i]);
}
"""
APART, MOST = "/* seen: iterations share nothing */", "/* seen: iterations share most */"
SEEN = {  # bodies whose loops were seen to share so much, and whether they have threads
    f"const Scale s(x, n); for (int i = 0; i < n; ++i) {APART} y[i] = s.of(i);": True,
    f"const Table v = {{x, n}}; for (int i = 0; i < n; ++i) {APART} y[i] = v.of(i);": True,
    "const auto at = [&](int i) -> float& { return y[i]; };"
    f"for (int i = 0; i < n; ++i) {APART} at(i) = 2 * x[i];": True,
    f"for (int i = 0; i < n; ++i) {APART} count_of(x, i, Above<float>{{0.5f}}, y[i]);": True,
    "const Table v = {x, n}; float most = 0;"
    f"for (int i = 0; i < n; ++i) {MOST} {{ y[i] = v.of(i); if (y[i] > most) most = y[i]; }}"
    "y[0] = most;": True,
    "const auto at = [&](int i) -> float& { return y[i]; };"
    "for (int i = 0; i < n; ++i) y[i] = x[i];"
    "for (int s = 1; s < n; ++s) /* seen: iterations share memory */ {"
    f" for (int i = s; i < n; ++i) {APART} at(i) = at(i) + at(s - 1); }}": True,
    f"const Derived d{{}}; for (int i = 0; i < n; ++i) {APART} y[i] = d.of(x[i]);": False,
    "int k = 1; const Scale s(x, k); k = 2;"
    f"for (int i = 0; i < n; ++i) {APART} y[i] = s.of(i) + k;": False,
    "std::vector<float> a(x, x + n), b(n); float* p = a.data(); float* q = b.data();"
    "const Table v = {p, n}; std::swap(p, q);"
    f"for (int i = 0; i < n; ++i) {APART} y[i] = v.of(i) + p[i];": False,
    "const Table v = {x, n}; float last = v.of(n - 1);"
    f"for (int i = 0; i < n; ++i) {APART} y[i] = v.of(i) + last;": True,
}


@pytest.mark.parametrize("body", [pytest.param(it, marks=pytest.mark.slow) for it in SEEN])
def test_each_thread_makes_constant_objects_anew(tmp_path: Path, body: str) -> None:
    given = problem(f"{OBJECTS}{HEAD} {{ if (n < 1) return; {body} }}")
    sizes = given.sizes.model_copy(update={"check": ({"n": 1}, {"n": 3}, {"n": 300})})
    given = given.model_copy(update={"sizes": sizes})
    made = port(given)
    assert isinstance(made, Port) or not SEEN[body], made
    if isinstance(made, Port):
        assert made.parallel or not SEEN[body]
        assert differences(given, made, tmp_path) == []
