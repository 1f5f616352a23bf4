"""Loops whose neighbouring iterations go in lanes: the same results, or no lanes."""

import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.transform.of_corpus import made_by

made = partial(made_by, "openmp", "outer-loop-vectorization.lanes")
HEAD = "void f(const double* x, const int* k, double* y, int n, int m) {\n"
INCLUDES = "#include <cmath>\n#include <cstdio>\n#include <vector>\n"
HELPERS = """
struct Pair { double a, b; };
static Pair moved(const Pair& p, double by) { return {p.a + by * p.b, p.b - by * p.a}; }
static double fades(double v, double by) { double w = v; w *= by; return w + 1; }
"""
SUM = "double s = 0; for (int j = 0; j < m; ++j) s += x[i] * j;"
EACH = "for (int i = 0; i < n; ++i)"
RIGHT = {
    "an object goes through a helper": """for (int i = 0; i < n; ++i) {
        const double by = 0.01 * x[i];
        Pair p = {x[i], 1.0};
        for (int j = 0; j < m; ++j) p = moved(p, by);
        y[i] = p.a - p.b;
    }""",
    "the best of all is found in turn": """int best = -1; double most = -1e300;
    for (int i = 0; i + 2 < n; ++i) {
        double s = 0;
        for (int j = 0; j < m; ++j) s += x[i] * k[j] - x[i + 2];
        if (s > most) { most = s; best = i; }
    }
    y[0] = best; y[1] = most;""",
    "an inner iteration is skipped": """for (int i = 0; i < n; ++i) {
        double s = 0;
        for (int j = 0; j < n; ++j) {
            if (i == j) continue;
            const double& other = x[j];
            double d = other - x[i];
            if (d < 0) continue;
            s += d;
        }
        y[i] = s;
    }""",
    "loops of uneven length stay within a lane": """for (int i = 0; i <= n - 1; ++i) {
        double s = 0, t = 1;
        for (int j = 0; j < m; ++j) {
            for (int l = 0; l < k[i]; ++l) { if (l > 3) break; s += x[i] * l; }
            t = t * 0.5 + s;
        }
        y[i] = s + t;
    }""",
    "what is the same for all changes once": """for (int i = 0; i < n; ++i) {
        double s = 0, w = 1;
        for (int j = 0; j < m; ++j) { w *= 0.9; s += w * fades(x[i], w); }
        y[i] = s * w;
    }""",
    "rows, and arrays of a lane": """for (int i = 0; i < n / 2; ++i) {
        const double* row = x + i * 2;
        double last[2];
        last[0] = 0; last[1] = 1;
        for (int j = 0; j < m; ++j) {
            const double next = row[0] * last[0] + row[1] * last[1];
            last[0] = last[1]; last[1] = next * 0.1;
        }
        y[2 * i] = last[0]; y[2 * i + 1] = last[1];
    }""",
    "what each lane changes within a statement is its own": """for (int i = 0; i < n; ++i) {
        int c = 0; double w = 1, s = 0;
        for (int j = 0; j < m; ++j) { s += x[i] * k[c++ % 5]; if (j % 2) { s += w; w *= 0.9; } }
        y[i] = s + c * w;
    }""",
    "each lane iterates until it is done": """for (int i = 0; i < n; ++i) {
        const int q = i + 1;
        const double* next = x + q;
        int turns = 0;
        double r = x[i] + 2;
        while (true) { if (r * r < 2.1 || turns > 20) break; r -= 0.1 * r; ++turns; }
        double s = 0;
        for (int j = 0; j < m; ++j) s = s * 0.5 + r * next[0] + turns;
        y[i] = s;
    }""",
    "each lane has a vector of its own": """for (int i = 0; i < n; ++i) {
        std::vector<double> part(m, 1.0);
        std::vector<double> all(m);
        for (int j = 1; j < m; ++j) part[j] = part[j - 1] * x[i] + part[0];
        for (int j = 0; j < m; ++j) all[m - 1 - j] = part[j] * k[j];
        y[i] = all[0] - all[m - 1];
    }""",
    "each lane has the scratch of all": """std::vector<double> part(m);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) part[j] = x[i] * k[j];
        double s = 0;
        for (int j = m - 1; j >= 0; --j) s = s * 0.5 + part[j];
        y[i] = s;
    }""",
}
ALONE = {
    "what is found is asked for before": """double most = 0;
    for (int i = 0; i < n; ++i) {
        double s = 0; for (int j = 0; j < m; ++j) s += x[i] * most;
        if (s > most) most = s;
    }
    y[0] = most;""",
    "a search that ends": f"{EACH} {{ {SUM} if (s > 9) {{ y[0] = i; return; }} }}",
    "a variable with a second name": """for (int i = 0; i < n; ++i) {
        double s = 0; double* p = &s; for (int j = 0; j < m; ++j) *p += x[i] * j; y[i] = s; }""",
    "an array with a second name": """for (int i = 0; i < n; ++i) {
        double s[1]; s[0] = 0; auto p = s; for (int j = 0; j < m; ++j) p[0] += x[i] * j;
        y[i] = s[0]; }""",
    "a variable of all iterations": f"""double c = 0;
    {EACH} {{ static double t = 0; t += 1; {SUM} y[i] = s + t; }}""",
    "a directive on the loop within": """for (int i = 0; i < n; ++i) {
        double s = 0;
        #pragma omp simd reduction(+ : s)
        for (int j = 0; j < m; ++j) s += x[i] * j;
        y[i] = s; }""",
    "a helper that counts": f"{EACH} {{ {SUM} y[i] = s + counted(); }}",
    "one takes what the one before wrote": f"{EACH} {{ {SUM} y[i] = s + y[i + 1]; }}",
    "lanes that lie rows apart": """for (int i = 0; i < n; ++i) {
        double s = 0; for (int j = 0; j < m; ++j) s += x[i * m + j]; y[i] = s; }""",
    "a number with a second name": """for (int i = 0; i < n; ++i) {
        double a = 0; for (int j = 0; j < m; ++j) { double& r = a; r += x[i] * j; } y[i] = a; }""",
    "text of each lane": """for (int i = 0; i < n; ++i) {
        std::string t = "ab"; double s = 0;
        for (int j = 0; j < m; ++j) { t += 'c'; s += t[j] * x[i]; }
        y[i] = s; }""",
    "the best so far under another name": f"""double most = 0; const double& limit = most;
    {EACH} {{ double s = 0; for (int j = 0; j < m; ++j) s += x[i] * limit;
        if (s > most) most = s; }}
    y[0] = most;""",
    "an element that the next iteration reads": f"""double most = 0;
    {EACH} {{ double* r = y + i; double s = 0; for (int j = 0; j < m; ++j) s += r[0] * j;
        r[1] = s; if (s > most) most = s; }}""",
    "memory of each lane": f"{EACH} {{ double* t = new double[4]; {SUM} t[0] = s; y[i] = t[0]; }}",
    "a start that is counted": f"int c = 0; for (int i = c++; i < n; ++i) {{ {SUM} y[i] = s; }}",
    "scratch under another name": f"""std::vector<double> t(m); const auto& p = t;
    {EACH} {{ for (int j = 0; j < m; ++j) t[j] = x[i] * j;
        double s = 0; for (int j = 0; j < m; ++j) s = s * 0.5 + p[j];
        y[i] = s; }}""",
    "a constructor that counts": f"{EACH} {{ Counts c; {SUM} y[i] = s + c.id; }}",
    "a name that means two things": f"double s = 1; {EACH} {{ {SUM} y[i] = s; }}",
}


def test_lanes_give_the_same_results(tmp_path: Path) -> None:
    codes = list[str]()
    for number, loop in enumerate(RIGHT.values()):
        serial = f"{HELPERS}{HEAD}    {loop}\n}}\n"
        results = made(serial)
        assert results, loop
        codes += [
            f"namespace s{number}_{of} {{ {code} }}" for of, code in enumerate([serial, results[0]])
        ]
    calls = "".join(
        f'if (differs(s{n}_0::f, s{n}_1::f)) std::puts("{n}");\n' for n in range(len(RIGHT))
    )
    main = (
        "typedef decltype(&s0_0::f) F;\n"
        "int differs(F a, F b) { for (int n : {2, 15, 16, 17, 50}) { std::vector<double> x(n + 9), "
        "u(n + 9), v(n + 9); std::vector<int> k(n + 9); for (int i = 0; i < n + 9; ++i) { "
        "x[i] = std::sin(i * 7.3); k[i] = i * 5 % 7; } a(x.data(), k.data(), u.data(), n, 9); "
        "b(x.data(), k.data(), v.data(), n, 9); for (int i = 0; i < n + 9; ++i) "
        "if (!(std::fabs(u[i] - v[i]) <= 1e-9 * std::fabs(u[i]))) return 1; } return 0; }\n"
        f"int main() {{\n{calls}}}\n"
    )
    (tmp_path / "all.cpp").write_text("\n".join([INCLUDES, *codes, main]))
    build = ["g++", "-std=c++17", "-O3", "-fopenmp", "all.cpp", "-o", "all"]
    subprocess.run(build, cwd=tmp_path, check=True)
    ran = subprocess.run([tmp_path / "all"], check=True, capture_output=True, text=True)
    assert [list(RIGHT)[int(number)] for number in ran.stdout.split()] == []


@pytest.mark.parametrize("what", ALONE)
def test_no_lanes_for(what: str) -> None:
    counted = "static int calls;\nstatic int counted() { return ++calls; }\n"
    if "Counts" in ALONE[what]:
        counted += "struct Counts { int id; Counts() : id(calls++) {} };\n"
    assert made(f"{counted}{HEAD}    {ALONE[what]}\n}}\n") == []
