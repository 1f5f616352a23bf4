"""Loops over iterators, bindings and views have threads where they may, and are right."""

from pathlib import Path

import pytest

import regraph_kg.adopt
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import Port
from regraph_kg.port.port import port

from .emulated import differences
from .test_port import HEAD, problem

VIEW = (Path(regraph_kg.adopt.__path__[0]) / "view.h").read_text()
TOP = """#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>
struct P { float a, b; int c; };
static float both(const P& p) { return p.a - 2 * p.b + p.c; }
"""
ENTRY = f"{HEAD} {{ work(View<const float>(x, n), View<float>(y, n)); }}"
VIEWED = {
    "a view gets the length that it has": "y.assign(x.size(), 3.f);"
    " for (size_t i = 0; i < x.size(); i += 1) y[i] += x[i];",
    "a view is resized to what it has": "y.resize(x.size());"
    " for (size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];",
}
PLAIN = {
    "structs, and their fields by names": "std::vector<P> v(n);"
    " for (int i = 0; i < n; ++i) { v[i].a = x[i]; v[i].b = i; v[i].c = 3; }"
    " for (auto& e : v) e.c += e.b;"
    " for (auto& [p, q, r] : v) { p += r; q = p; }"
    " for (int i = 0; i < n; ++i) { auto& [s, t, u] = v[i]; y[i] = both({s, t, u + 1}); }",
    "a local vector that is filled again": "std::vector<float> v(n + 1);"
    " for (int r = 0; r < 3; ++r) {"
    " v.assign(n + 1, r); for (int i = 0; i < n; ++i) y[i] = v[i] + x[i]; }",
}
PLAIN |= {
    "a vector that grows by one a step": "std::vector<float> v; v.reserve(n); float sum = 0;"
    " for (int k = -n; k <= n; k++) { v.push_back(k < 0 ? -1.f : x[k % n]); sum += v.back(); }"
    " for (int i = 0; i < n; ++i) y[i] = v[i + n] + sum + v.size();",
    "structs that grow, as bounds of i + 1": "std::vector<P> v;"
    " for (size_t i = 0; i + 1 < (size_t)n; ++i) v.push_back({x[i], x[i + 1], 2});"
    " for (size_t i = 0; i < v.size(); ++i) y[i] = both(v[i]);",
    "rows of one length": "std::vector<std::vector<float>> a(n + 1, std::vector<float>(n, 2.f));"
    " for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) a[i + 1][j] = x[i] + j;"
    " for (int j = 0; j < n; ++j) y[j] = a[n - j][j] + a[j].size() + a.size();",
    "a pointer to the row that is added to": "for (int i = 0; i < n; ++i) {"
    " const int k = i * 7 % n; float* row = &y[k - k % 2];"
    " for (int d = 0; d < 1 + (k % 2); ++d) row[d] += x[i]; }",
    "places that auto names": "const auto begin = y; auto half = begin + n / 2;"
    " for (int i = 0; i < n - n / 2; ++i) half[i] = x[i];"
    " for (int i = 0; i < n; ++i) begin[i] += 1;",
    "a vector with a name for its type": "using Row = std::vector<float>; Row a(n), b(n);"
    " for (int i = 0; i < n; ++i) a[i] = x[i] * 2;"
    " for (int t = 0; t < 3; ++t) { for (int i = 0; i < n; ++i) b[i] = a[n - 1 - i] + t; a = b; }"
    " for (int i = 0; i < n; ++i) y[i] = a[i];",
}
PLAIN |= {
    "a stack of a row, and of ranges": "std::vector<int> above; above.reserve(n);"
    " const int w = n / 3; for (int r = 0; r < 3; ++r) { above.clear();"
    " for (int i = 0; i < w; ++i) { const float v = x[r * w + i];"
    " while (!above.empty() && x[r * w + above.back()] <= v) above.pop_back();"
    " y[r * w + i] = above.empty() ? -1 : above.back(); above.push_back(i); } }",
    "a list that each step makes, of structs": "for (int i = 0; i < n; ++i) {"
    " std::vector<P> near; for (int k = std::max(0, i - 2); k <= std::min(n - 1, i + 2); ++k)"
    " if (x[k] > 0) near.emplace_back(P{x[k], 1.f, k}); else near.push_back({x[k], 0, i});"
    " for (const P& p : near) y[i] += both(p); y[i] += near.size() * near.back().b; }",
    "a lambda that reads the vector that it is given": "std::vector<float> a(x, x + n), b(n);"
    " auto near = [&](const std::vector<float>& f, int i) { return f[i] + f[(i + 1) % n]; };"
    " const auto half = [](const auto& f, int i) { return f[i] / 2; };"
    " for (int k = 0; k < 3; ++k) { for (int i = 0; i < n; ++i)"
    " /* seen: iterations share nothing */ { b[i] = near(a, i) + half(a, i); } a.swap(b); }"
    " for (int i = 0; i < n; ++i) y[i] = a[i];",
    "a vector of numbers of two words in a loop": "for (int i = 0; i < n; ++i) {"
    " std::vector<long long> v(3); v[i % 3] += i; y[i] = v[0] + 2 * v[1] + 3 * v[2]; }",
    "a list that grows by two loops, one of which goes down": "for (int i = 0; i < n; ++i) {"
    " std::vector<float> v; for (int k = n - 1; k >= 0; --k) if (x[k] > x[i]) v.push_back(x[k]);"
    " for (int a = 0; a < 2; a++) for (int b = 1; b <= 3; b++) v.push_back(a * b);"
    " if (v.size() > 3) { v.resize(v.size() - 2); v.front() = 3; }"
    " if (v.size() > 4) { const size_t m = v.size(); v[m - 2] += v.back(); v.resize(m - 1); }"
    " for (size_t k = 0; k < v.size(); k++) y[i] += v[k] * k; }",
    "lambdas before a loop": "auto twice = [](float v) { return 2 * v; };"
    " const auto low = [&](int i) { return x[i] < 1; };"
    " for (int i = 0; i < n; ++i) y[i] = low(i) ? twice(x[i]) : 1;",
    "vectors that are declared together": "std::vector<float> a, b(n, 1.f); a.resize(n);"
    " for (int i = 0; i < n; ++i) a[i] = b[i] + x[i];"
    " for (int i = 0; i < n; ++i) { const int at[2] = {i, n - 1 - i};"
    " for (int k : at) y[i] += a[k]; }",
    "two rows that change places and are filled again": "const int w = n / 3;"
    " for (int r = 0; r < 3; ++r) { std::vector<float> a(w, 1.f), b(w);"
    " for (int t = 0; t < 3; ++t) {"
    " for (int i = 0; i < w; ++i) { a[i] += x[r * w + i]; b[w - 1 - i] += a[i]; }"
    " a.swap(b); b.assign(w, 2.f); } for (int i = 0; i < w; ++i) y[r * w + i] = a[i]; }",
}
ONE_THREAD = {
    "an iterator that the body moves": "float* q = y;"
    " for (const float* p = x; p != x + n; ++p) {"
    " *q = *p; if (*p > 0) { ++q; ++p; if (p == x + n) break; } }",
    "a number that is read behind": "int k = 0;"
    " for (int i = 0; i < n; ++i, k += 2) y[0] = x[i] / (1 + y[0]);"
    " y[n - 1] = k;",
    "a loop that steps itself, with another": "int k = 0;"
    " for (int i = 0; i < n; ++i, k += 2) { if (x[i] > 0) ++i; if (i < n) y[i] = k; }",
    "a number that the body steps, too": "int k = 0;"
    " for (int i = 0; i < n; ++i, ++k) { if (x[i] > 0 && k > 2) k = 0; y[k] = i; }",
    "bindings by reference of a shared element": "std::vector<P> v(n);"
    " for (int i = 0; i < n; ++i) { auto& [p, q, r] = v[i / 2]; p = p / 2 + x[i]; q += p; r = 1; }"
    " for (int i = 0; i < n; ++i) y[i] = i / 2 < n ? v[i / 2].b : 0;",
    "a step of one place, read by the next": "float* q = y;"
    " for (const float* p = x; p != x + n; ++p, ++q) *q = *p + (q == y ? 0 : q[-1] / 2);",
}
ONE_THREAD |= {
    "a distance that auto names": "const auto begin = y; const auto end = y + n;"
    " const auto many = end - begin; for (int i = 0; i < n; ++i) begin[i] = x[i] + many;",
    "a row whose place is what is added to": "for (int i = 0; i < n; ++i) {"
    " float* row = &y[(int)std::fabs(y[i]) % n]; row[0] += 1; }",
    "a row that is read, too": "for (int i = 0; i < n; ++i) { float* row = y + i / 2;"
    " row[0] += x[i]; row[1 % n] = row[0] / 2; }",
}
ONE_THREAD |= {
    "a vector that does not grow each step": "std::vector<float> v;"
    " for (int i = 0; i < n; ++i) { if (x[i] < 0) continue; v.push_back(x[i]); } y[0] = v.size();",
    "a vector that grows until a step": "std::vector<float> v;"
    " for (int i = 0; i < n; ++i) { v.push_back(x[i]); if (x[i] < 0) break; } y[0] = v.size();",
    "a vector whose length is read as it grows": "std::vector<float> v;"
    " for (int i = 0; i < n; ++i) v.push_back(v.size() + x[i]); y[0] = v[n - 1];",
    "a vector that grows by two loops": "std::vector<float> v; for (int r = 0; r < 2; ++r)"
    " for (int i = 0; i < n; ++i) v.push_back(x[i]); y[0] = v[2 * n - 1];",
    "a lambda that changes the vector that it is given": "std::vector<float> a(n);"
    " auto add = [&](std::vector<float>& f, int i) { f[i / 2] = f[i / 2] / 2 + x[i]; };"
    " for (int i = 0; i < n; ++i) add(a, i); for (int i = 0; i < n; ++i) y[0] = a[i] - y[0];",
    "a lambda that reads a vector which the loop sets": "std::vector<float> a(x, x + n);"
    " auto near = [&](const std::vector<float>& f, int i) { return f[i - 1] / 2; };"
    " for (int i = 1; i < n; ++i) a[i] += near(a, i); y[0] = a[n - 1] + (n > 1 ? a[n / 2] : 0);",
    "a vector of fewer steps than are told": "std::vector<float> v; v.push_back(1);"
    " for (int i = 0; i < n - 4; ++i) if (x[i] > 0) v.push_back(x[i]); y[0] = v.size();",
    "a constant beside what the device computes": "const float b = 2, a = x[0] * 3;"
    " for (int i = 1; i < n; ++i) y[i] = y[i - 1] / 2 + a * b;",
}
REFUSED = {
    "a vector that grows as long as it has elements": "std::vector<int> v; v.push_back(0);"
    " while (!v.empty()) { const int i = v.back(); v.pop_back(); y[i] = x[i];"
    " if (2 * i + 1 < n) v.push_back(2 * i + 1); if (2 * i + 2 < n) v.push_back(2 * i + 2); }",
    "an element that is made of several": "std::vector<P> v;"
    " for (int i = 0; i < n; ++i) if (x[i] > 0) v.emplace_back(x[i], 1.f, 2); y[0] = v.size();",
    "a vector that a lambda has a copy of": "std::vector<float> v;"
    " for (int i = 0; i < n; ++i) if (x[i] > 0) v.push_back(x[i]);"
    " const auto sum = [=] { return v.size(); }; y[0] = sum();",
    "a vector that gets more elements than are told": "std::vector<float> v;"
    " for (int i = 0; i < n; ++i) if (x[i] > 0) v.push_back(x[i]); v.resize(n); y[0] = v[n - 1];",
    "a vector that grows within an expression": "std::vector<float> v; int k = 0;"
    " for (int i = 0; i < n; ++i) if (x[i] > 0) (v.push_back(x[i]), ++k); y[0] = v.size() + k;",
    "a vector whose room a loop that never runs would take": "std::vector<float> v;"
    " for (int i = 0; i < n; ++i) if (x[i] > 0) v.push_back(x[i]);"
    " for (int i = n; i < 2; ++i) v.push_back(i); y[0] = v.size();",
    "a vector with room for steps that change": "std::vector<float> v; int m = 1;"
    " for (int r = 0; r < 3; ++r) { for (int i = 0; i < m; ++i) if (x[i % n] > 0) v.push_back(1);"
    " m *= 2; } y[0] = v.size();",
    "rows of which one grows": "std::vector<std::vector<float>> a(n, std::vector<float>(n));"
    " a[0].push_back(1); y[0] = a[0].size();",
    "rows whose length changes its name's value": "int w = n;"
    " std::vector<std::vector<float>> a(n, std::vector<float>(w)); w = 1; a[n - 1][n - 1] = 2;"
    " y[0] = a[n - 1][n - 1];",
    "a vector that gets another length": ""
    "std::vector<float> v(n); v.assign(2 * n, 1.f); y[0] = v[n];",
    "a length whose name has changed": "int m = n; std::vector<float> v(m); m = 2 * n;"
    " v.assign(m, 1.f); y[0] = v[n];",
}


def given(body: str, *, viewed: bool = False) -> Problem:
    work = f"void work(View<const float> x, View<float> y) {{ {body} }}\n{ENTRY}"
    made = problem(f"{TOP}{VIEW}{work}" if viewed else f"{TOP}{HEAD} {{ {body} }}")
    sizes = made.sizes.model_copy(update={"check": ({"n": 1}, {"n": 3}, {"n": 300})})
    y = made.args[1].model_copy(update={"role": "inout"})
    return made.model_copy(update={"sizes": sizes, "args": (made.args[0], y, made.args[2])})


def threads(made: object) -> bool:
    assert isinstance(made, Port), made
    return "<<<" in made.start and "<<<1, 1>>>" not in made.start


@pytest.mark.parametrize("name", [*VIEWED, *PLAIN])
def test_loops_as_people_write_them_are_threads(name: str) -> None:
    assert threads(port(given((VIEWED | PLAIN)[name], viewed=name in VIEWED)))


@pytest.mark.parametrize("name", ONE_THREAD)
def test_what_only_looks_like_them_is_not(name: str) -> None:
    assert not threads(port(given(ONE_THREAD[name])))


@pytest.mark.parametrize("name", REFUSED)
def test_a_length_that_changes_is_refused(name: str) -> None:
    assert not isinstance(port(given(REFUSED[name])), Port)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*VIEWED, *PLAIN, *ONE_THREAD])
def test_they_give_what_the_serial_code_gives(tmp_path: Path, name: str) -> None:
    found = given((VIEWED | PLAIN | ONE_THREAD)[name], viewed=name in VIEWED)
    made = port(found)
    assert isinstance(made, Port)
    assert differences(found, made, tmp_path) == []
