"""What iterations share is seen while serial code runs, whatever its text looks like."""

from pathlib import Path
from typing import Any

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.watched import SUMS
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.watch import look, with_seen
from regraph_kg.models.target import Target
from regraph_kg.wiring.problems import task_of

BEFORE = """\
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <vector>
struct Vec {
    double x, y, z;
    Vec operator+(const Vec& o) const { return {x + o.x, y + o.y, z + o.z}; }
};
struct Twice { double v; void operator+=(double w) { v = 2 * v + w; } };
struct Sum { double all = 0; void add(double v) { all += v; } };
struct Scale {
    explicit Scale(const double* table, int n) : table_(table), n_(n) {}
    double of(double v) const { return v * table_[0] + n_; }
    const double* table_; int n_;
};
struct Last { double kept; double next(double v) { kept = v; return kept + 1; } };
template <typename T, typename F> T applied(T v, F f) { return f(v); }
static double held;
static void fill(std::vector<double>& out, double v) { out.push_back(v); out.push_back(-v); }
"""
SHARE = {  # the body of a function of (const double* a, double* o, int n) -> what iterations share
    "const Scale s(a, n); for (int i = 0; i < n; ++i) o[i] = s.of(a[i]);": "nothing",
    "for (int i = 0; i < n; ++i) o[i] = applied(a[i], [](double v) { return v + 1; });": "nothing",
    "const auto at = [&](int i) -> double& { return o[i]; };"
    "for (int i = 0; i < n; ++i) at(i) = a[i];": "nothing",
    "for (int i = 0; i < n; ++i) { std::vector<double> own(3, a[i]); o[i] = own[2]; }": "nothing",
    "std::vector<double> all(3);"
    "for (int i = 0; i < n; ++i) { all[0] = a[i]; o[i] = all[0]; }": "all",
    "std::vector<double> all(3);"
    "for (int i = 0; i < n; ++i) all[i % 3] += a[i]; o[0] = all[1];": SUMS,
    "std::vector<double> filled; for (int i = 0; i < n; ++i) {"
    " filled.clear(); fill(filled, a[i]); o[i] = filled[0]; }": "filled",
    "double own[3]; for (int i = 0; i < n; ++i) { own[0] = a[i]; o[i] = own[0]; }": "own",
    "for (int i = 0; i < n; ++i) reinterpret_cast<char*>(o)[i] = a[i] > 0;": "nothing",
    "for (int i = 0; i < n; ++i) reinterpret_cast<char*>(o)[i / 2] = a[i] > 0;": "memory",
    "for (int i = 1; i < n; ++i) o[i] = o[i - 1] + a[i];": "memory",
    "for (int i = 0; i < n; ++i) o[i % 3] = o[i % 3] + a[i];": "memory",
    "for (int i = 0; i < n; ++i) { o[i % 3] += a[i]; o[i % 2] -= 1; ++o[1]; }": SUMS,
    "const auto at = [&](int i) -> double& { return o[i]; };"
    "for (int i = 0; i < n; ++i) { at(i % 3) += a[i]; at(i % 2)--; }": SUMS,
    "for (int i = 0; i < n; ++i) o[i % 3] += o[(i + 1) % 3];": "memory",
    "for (int i = 0; i < n; ++i) o[i % 3] += o[i % 3];": "memory",
    "for (int i = 0; i < n; ++i) { o[i % 3] += a[i]; if (i == 7) o[2] = 0; }": "memory",
    "for (int i = 0; i < n; ++i) { if (i == 2) o[2] = 0; o[i % 3] += a[i]; }": "memory",
    "for (int i = 0; i < n; ++i) { o[i] = 1; o[i] += a[i]; }": "nothing",
    "for (int i = 0; i + 1 < n; ++i) { o[i / 2] += a[i]; if (i % 2) o[i / 2] /= 2; }": "memory",
    "for (int i = 0; i + 1 < n; ++i) { o[i / 2] += a[i];"
    " if (i % 2) o[n - 1] = o[i / 2]; }": "memory",
    "int* k = (int*)o; for (int i = 0; i < n; ++i) k[i % 3] += 0.75;": "memory",  # not in order
    "short* k = (short*)o; for (int i = 0; i < n; ++i) k[i % 3] += 1;": "memory",
    "int k = 0; for (int i = 0; i < n; ++i) o[k++ % 3] += a[i];": "k, memory",
    "for (int i = 0; i < n; ++i) reinterpret_cast<Twice*>(o)[i % 3] += a[i];": "memory",
    "for (int i = 0; i < n; ++i) { held = a[i]; o[i] = held; }": "memory",
    "for (int i = 0; i < n; ++i) { static double last; last = a[i]; o[i] = last; }": "memory",
    "Vec s = {0, 0, 0}; for (int i = 0; i < n; ++i) s = s + Vec{a[i], 1, 2}; o[0] = s.x;": "s",
    "Sum s; for (int i = 0; i < n; ++i) s.add(a[i]); o[0] = s.all;": "s",
    "Last s{0}; for (int i = 0; i < n; ++i) o[i] = s.next(a[i]);": "s",
    "double t; int k; for (k = 0; k < n; ++k) { t = a[k]; o[k] = t; }": "t",
    "double t = 0; const auto add = [&](double v) { t += v; };"
    "for (int i = 0; i < n; ++i) add(a[i]); o[0] = t;": "memory",
    "const std::function<double(double)> h = [c = 0.0](double v) mutable { return c += v; };"
    "for (int i = 0; i < n; ++i) o[i] = h(a[i]);": "h",
    "Vec s[2] = {}; for (int i = 0; i < n; ++i) { s[0] = (s[1] + s[0]); o[i] = s[0].x; }": "s",
    "for (int i = 1; i < n; ++i) { ((short*)o)[4 * i] = 1; o[i - 1] = o[i]; }": "memory",
    "const auto skip = [](int& k) { k += k % 2; };"
    "for (int i = 0; i < n; ++i) { o[i] = a[i]; skip(i); }": "memory",
    "double* p = o; for (int i = 0; i < n; ++i) *p++ = a[i];": "p",
    "for (int i = 0; i < n; ++i) std::copy(a + i, a + i + 1, o + n - 1 - i);": "nothing",
    "for (int i = 0; i + 1 < n; ++i) std::copy(a + i, a + i + 2, o + i);": "memory",
    "for (int i = 0; i + 2 < n; ++i) std::memcpy(o + i, a + i, 3 * sizeof *o);": "memory",
    "struct Three { double at[3]; };"
    "for (int i = 0; i + 2 < n; ++i) *(Three*)(o + i) = *(const Three*)(a + i);": "memory",
    "std::function<double(double)> g = [](double v) { return -v; };"
    "for (int i = 0; i < n; ++i) o[i] = g(a[i]);": "nothing",
}


def problem(code: str, **more: Any) -> Problem:
    def array(name: str, role: str) -> dict[str, Any]:
        return {"name": name, "type": "float64", "role": role, "shape": ["n"]}

    size = {"name": "n", "type": "int32", "role": "size", "size": "n"}
    return Problem.model_validate(
        {
            "schema": 1,
            "name": "f",
            "entry": "f",
            "sizes": {"check": [{"n": 1}, {"n": 40}], "time": {"n": 99}},
            "args": (array("a", "in"), array("o", "out"), size),
            "serial_code": f"{BEFORE}{code}",
            **more,
        }
    )


def test_iterations_share_what_they_are_seen_to_share(cache: Path) -> None:
    heads = [
        f"void f{k}(const double* a, double* o, int n) {{ {it} }}" for k, it in enumerate(SHARE)
    ]
    calls = " ".join(f"f{k}(a, o, n);" for k in range(len(SHARE)))
    entry = f'extern "C" void f(const double* a, double* o, int n) {{ {calls} }}'
    given = problem("\n".join((*heads, entry)))
    at = {loop.at: loop.function for loop in facts_of(given.serial_code).loops}
    told = ((at.get(place, ""), names) for place, names in look(cache, given).items())
    seen = {name: ", ".join(names) or "nothing" for name, names in told if name}
    assert [*seen.values()] == [*SHARE.values()], seen


HEAD = 'extern "C" void f(const double* a, double* o, int n)'


@pytest.mark.parametrize(
    "body",
    [
        "o[i] = a[i] + std::rand();",
        'std::printf("%d", i); o[i] = a[i];',
        "std::cout << i; o[i] = a[i];",
        "if (a[i] > 1e9) throw 1; o[i] = a[i];",
    ],
)
def test_a_code_that_calls_what_nothing_marks_is_not_watched(cache: Path, body: str) -> None:
    given = problem(f"{HEAD} {{ for (int i = 0; i < n; ++i) {{ {body} }} }}")
    assert look(cache, given) == {}


def test_what_an_entry_says_before_it_ends_a_call_does_not_matter(cache: Path) -> None:
    last = 'if (n < 0) std::fputs("too few", stderr), std::abort();'
    given = problem(f"{HEAD} {{ for (int i = 0; i < n; ++i) o[i] = Scale(a, n).of(a[i]); {last} }}")
    assert [*look(cache, given).values()] == [()]


def test_loops_of_functions_that_nothing_calls_do_not_matter(cache: Path) -> None:
    idle = "static void idle(double* o, int n) { for (int i = 0; i < n; ++i) o[i] = 0; }"
    body = "for (int r = 0; r < 3; ++r) for (int i = 0; i < n; ++i) o[i] = Scale(a, n).of(a[i]);"
    given = problem(f"{idle} {HEAD} {{ {body} }}")
    assert "share nothing" in with_seen(cache, given)


@pytest.mark.parametrize(("target", "directives"), [("openmp", 1), ("cuda", 0)])
def test_openmp_adds_to_shared_elements_one_at_a_time(
    cache: Path, target: Target, directives: int
) -> None:
    body = "const auto at = [&](int i) -> double& { return o[i % 3]; };"
    given = problem(f"{HEAD} {{ {body} for (int i = 0; i < n; ++i) at(i) += a[i]; }}")
    begun = task_of(given, target, cache).begun
    assert begun.count("#pragma omp atomic") == directives
    assert [loop.carries for loop in facts_of(begun).loops] == ["no" if directives else "unknown"]
    exact = given.model_copy(update={"tolerance": "exact"})
    assert "omp atomic" not in task_of(exact, target, cache).begun, "sums would round otherwise"


def test_a_loop_with_too_few_iterations_shows_nothing(cache: Path) -> None:
    assert look(cache, problem(f"{HEAD} {{ for (int i = 0; i < 2; ++i) o[0] = a[0]; }}")) == {}


def test_what_is_returned_is_passed_on_by_what_is_watched(cache: Path) -> None:
    code = 'extern "C" double f(const double* a, double* o, int n) {'
    code += " for (int i = 0; i < n; ++i) o[i] = Scale(a, n).of(a[i]); return 1; }"
    given = problem(code, returns={"type": "float64"})
    assert "seen: iterations share nothing" in with_seen(cache, given)


def test_a_code_is_watched_once_and_only_where_its_text_tells_too_little(tmp_path: Path) -> None:
    clear = problem(f"{HEAD} {{ for (int i = 0; i < n; ++i) o[i] = a[i]; }}")
    assert with_seen(tmp_path, clear) == clear.serial_code
    assert not list(tmp_path.iterdir())
    unclear = problem(f"{HEAD} {{ for (int i = 0; i < n; ++i) o[i] = Scale(a, n).of(a[i]); }}")
    seen = with_seen(tmp_path, unclear)
    assert seen == unclear.serial_code.replace(
        "++i) o[i]", "++i) /* seen: iterations share nothing */ o[i]"
    )
    for compiled in (tmp_path / "compiled").rglob("*.so"):
        compiled.unlink()
    assert with_seen(tmp_path, unclear) == seen
