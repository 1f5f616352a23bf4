"""A thread has an array of its own where each iteration reads only what it wrote itself."""

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import shareable

HELPERS = "void next(std::vector<double>& v); static void h(double* r) { r[0] += 1; }"
HELPERS += """ static double twice(double v) { return 2 * v; } static void inc(int& v) { ++v; }
static double& same(double& v) { return v; } struct S { int m; void up() { ++m; } };"""
TAKES = "const double* x, double* y, int n, int m"
VECTOR, ARRAY, SQUARE = "std::vector<double> t(m);", "double t[8];", "double t[4][4];"
EIGHT = "for (int j = 0; j < 8; ++j) t[j] = x[i];"
FILLED = "for (int j = 0; j < m; ++j) t[j] = x[i * m + j];"
READ = "for (int k = 0; k < m; ++k) y[i * m + k] = t[k];"
SOME, ANY = "for (int j = 0; j < q; ++j) t[j] = i;", "for (int j = 0; j < q; ++j) y[i] += t[j];"
REFERENCES = [
    *("double& r{t[1]};", "double& r(t[1]);", "double& r = n > 1 ? t[1] : t[2];"),
    *(
        "double& r = same(t[1]);",
        "double& r = (n, t[1]);",
        "const double& r = std::max(t[0], t[1]);",
    ),
    *("double& r = t[1] = 0;", "double& r = ++t[1];", "auto r = std::ref(t[1]);"),
]
STACK = "for (int j = 0; j < m; ++j) if (t.empty() || t.back() < x[j]) t.push_back(x[j]);"
STACK += " while (t.size() > 3) { y[i] += t[0]; t.pop_back(); }"
COUNT = "for (int j = 0; j < m; ++j) t[(int)x[i * m + j]] += 1; y[i] = t.size();"
LESS = "for (int a = 0; a < 4; ++a) for (int b = 0; b < a; ++b)"
ALL = "for (int a = 0; a < 4; ++a) for (int b = 0; b < 4; ++b)"


def outer(before: str, body: str) -> LoopFacts:
    loop = f"for (int i = 0; i < n; ++i) {{ {body} }}"
    facts = facts_of(f"{HELPERS} void f({TAKES}) {{ {before} {loop} }}")
    assert facts.read_whole
    return next(loop for loop in facts.loops if loop.variable == "i")


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (VECTOR, f"{FILLED} {READ}"),
        (VECTOR, FILLED + "for (int j = m - 1; j >= 0; --j) y[i * m + j] = t[j];"),
        (VECTOR, f"{FILLED} for (int j = 0; j < m; ++j) t[j] += y[i * m + j]; {READ}"),
        (VECTOR, f"{FILLED} for (int j = 0; j < m; ++j) if (x[j] > 0) t[j] = 1; {READ}"),
        (VECTOR, f"{FILLED} y[i] = t[0] + t[m - 1];"),
        (ARRAY, "t[0] = x[i]; t[1] = x[i] * 2; y[i] = t[0] + t[1];"),
        (ARRAY, "for (int j = 0; j < 8; ++j) { t[j] = x[i]; y[i * 8 + j] = t[j]; }"),
        (SQUARE, f"{ALL} t[a][b] = x[i * 16 + a * 4 + b]; {ALL} y[i * 16 + 4 * a + b] = t[b][a];"),
        (
            "std::vector<double> t(m + 1);",
            "for (int j = 0; j <= m; ++j) t[j] = 1; for (int j = 1; j <= m; ++j) y[i] = t[j - 1];",
        ),
        (VECTOR, f"{FILLED} y[i] = std::max(t[0], x[i]) + twice(t[0]);"),
        ("constexpr int W = 8; double t[W];", f"{EIGHT} y[i] = t[3]; t[3] = x[i];"),
        ("std::vector<double> t;", f"t.clear(); {STACK}"),
        ("std::vector<double> t; t.reserve(m);", f"t.assign(m, x[i]); {STACK}"),
        (
            "std::vector<int> t;",
            "t.clear(); t.push_back(i); std::sort(t.begin(), t.end()); y[i] = t[0];",
        ),
        ("std::unordered_map<int, int> t;", f"t.clear(); {COUNT}"),
    ],
)
def test_each_thread_has_an_array_that_an_iteration_fills_first(before: str, body: str) -> None:
    loop = outer(before, body)
    assert loop.carries == "no"
    assert loop.clauses == " firstprivate(t)"


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (VECTOR, "for (int j = 0; j < m; ++j) { y[i * m + j] = t[j]; t[j] = x[i * m + j]; }"),
        (VECTOR, f"for (int j = 0; j < m; ++j) if (x[j] > 0) t[j] = x[j]; {READ}"),
        (VECTOR, f"for (int j = 0; j < m - 1; ++j) t[j] = x[j]; {READ}"),
        (VECTOR, f"for (int j = 0; j < n - m; ++j) t[j] = x[j]; {READ}"),
        (VECTOR, f"for (int j = 0; j < i; ++j) t[j] = x[j]; {READ}"),
        (VECTOR, f"for (int j = 0; j < m; j += 2) t[j] = x[j]; {READ}"),
        (VECTOR, f"for (int j = 0; j < m; ++j) {{ if (x[j] > 2) continue; t[j] = x[j]; }} {READ}"),
        (VECTOR, f"for (int j = 0; j < m; ++j) {{ if (x[j] > 2) break; t[j] = x[j]; }} {READ}"),
        (VECTOR, f"for (int j = 0; j < m; ++j) {{ t[j] = x[j]; ++j; }} {READ}"),
        (VECTOR, f"for (int j = 0; j < m; ++j) {{ x[j] > 0 && (t[j] = 2); }} {READ}"),
        (VECTOR, f"for (int j = 0; j < m; ++j) t[(int)x[j]] = 1; {READ}"),
        (VECTOR, "for (int j = 0; j < m; ++j) { t[j] = x[j]; y[i * m + j] = t[(j + 1) % m]; }"),
        (
            VECTOR,
            "int c = 0; for (int j = 0; j < m; ++j) if (x[j] > 0) t[c++] = 1; y[i] = t[c - 1];",
        ),
        (VECTOR, f"int q = m; for (int j = 0; j < q; ++j) t[j] = x[i]; q = i; {READ}"),
        (VECTOR, f"{FILLED} y[i] = t[m];"),
        (VECTOR, "for (int j = 1; j < m; ++j) t[j] = x[j]; y[i] = t[0];"),
        (VECTOR, f"{FILLED} next(t); {READ}"),
        (VECTOR, f"{FILLED} double* p = &t[0]; p[0] += 1; {READ}"),
        (VECTOR, f"{FILLED} {READ} }} for (int k = 0; k < m; ++k) {{ y[k] += t[k];"),
        ("std::vector<double> t(m); double* p = t.data();", f"{FILLED} p[0] = i; {READ}"),
        (
            "std::vector<double> t(m); auto g = [&](int q) { return t[q]; };",
            f"{FILLED} y[i] = g(0);",
        ),
        ("std::vector<bool> t(m);", f"{FILLED} {READ}"),
        ("static double t[8];", "for (int j = 0; j < 8; ++j) t[j] = x[i]; y[i] = t[3];"),
        (
            SQUARE,
            f"for (int a = 0; a < 4; ++a) t[a][a] = x[i]; {ALL} y[i * 16 + 4 * a + b] = t[a][b];",
        ),
        (
            SQUARE,
            f"{LESS} t[a][b] = 1; {ALL} y[i * 16 + 4 * a + b] = t[a][b];",
        ),
        *((f"{ARRAY} {made}", f"y[i] = r; {EIGHT} y[i] += t[2];") for made in REFERENCES),
        (f"{ARRAY} auto r = std::tie(t[0]);", f"y[i] = std::get<0>(r); {EIGHT} y[i] += t[2];"),
        (ARRAY, f"int q = 3; {SOME} inc(q); {ANY} {EIGHT}"),
        (ARRAY, f"int q = 3; int& p = q; {SOME} ++p; {ANY} {EIGHT}"),
        (ARRAY, f"int q = 3; int* p = &q; {SOME} ++*p; {ANY} {EIGHT}"),
        (ARRAY, f"S s{{3}}; {SOME} s.up(); {ANY} {EIGHT}".replace("q;", "s.m;")),
        (VECTOR, f"{FILLED} y[i] = t[0]; t[0] = i;"),  # m may be 0
        (
            ARRAY,
            "for (int k = 0; k < 3; ++k) { for (int j = 0; j < k; ++j) t[j] = i; y[i] = t[0]; }",
        ),
        (VECTOR, "for (size_t j = 0; j < t.size() - 1; ++j) t[j] = i; y[i] = t[0]; t[0] = i;"),
        ("std::vector<double> t; t.reserve(8);", f"{EIGHT} y[i] = t[2];"),
        ("std::vector<double> t;", STACK),  # what an iteration leaves, the next one has
        ("std::vector<double> t;", f"if (x[i] > 0) t.clear(); {STACK}"),
        ("std::vector<double> t;", f"for (int j = 0; j < m; ++j) t.clear(); {STACK}"),
        ("std::vector<double> t;", f"y[i] = t.size(); t.clear(); {STACK}"),
        ("std::vector<double> t;", "t.assign(t.size() + 1, 2); y[i] = t.size();"),
        ("std::vector<double> t;", f"t.clear(); {STACK} y[i] = t.capacity();"),
        ("std::vector<double> t;", f"t.clear(); {STACK} }} {{ y[0] = t.size();"),
        ("std::vector<double> t; double* p;", f"t.clear(); p = t.data(); {STACK}"),
        ("std::vector<double>& t = *new std::vector<double>;", f"t.clear(); {STACK}"),
        ("static std::vector<double> t;", f"t.clear(); {STACK}"),
        ("std::vector<double*> t;", f"t.clear(); t.push_back(y); *t[0] += x[i]; {STACK}"),
        (
            "std::vector<int> t; auto g = [&] { t.push_back(1); };",
            "t.clear(); g(); y[i] = t.size();",
        ),
        (SQUARE, f"{ALL} t[a][b] = x[i]; h(t[1]); {ALL} y[i * 16 + 4 * a + b] = t[a][b];"),
    ],
)
def test_an_array_that_may_carry_a_value_is_of_all_iterations(before: str, body: str) -> None:
    loop = outer(before, body)
    assert loop.carries != "no"
    assert not loop.scratch


@pytest.mark.parametrize(
    ("before", "large"),
    [("double t[8];", False), ("double t[600000];", True), ("double t[m];", True), (VECTOR, False)],
)
def test_a_large_array_has_no_place_on_the_stack_of_a_thread(before: str, large: bool) -> None:
    loop = outer(before, f"{EIGHT} y[i] = t[2];")
    assert loop.scratch == ("t",)
    assert loop.large == large
    assert shareable(loop) != large
