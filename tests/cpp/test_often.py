"""A function that more than one call may run is told from one that runs once."""

import pytest

from regraph_kg.cpp.facts import facts_of

F = "double f(const double* x, int n) { double s = 0; for (int i = 0; i < n; ++i) s += x[i]; MORE }"


@pytest.mark.parametrize(
    ("code", "often"),
    [
        (f"{F} double e(const double* x, int n) {{ return f(x, n); }}", False),
        (f"{F} double e(const double* x, int n) {{ return f(x, n) - f(x + 1, n); }}", False),
        (f"{F} double e(const double* x, int n) {{ while (n--) f(x, n); }}", True),
        (f"{F} void g(double* x) {{ f(x, 3); }} void e(double* x) {{ for (;;) g(x); }}", True),
        (f"{F} void e(double* x) {{ auto g = [&](int n) {{ f(x, n); }}; g(3); }}", True),
        (f"{F} void e(double* x) {{ each(x, f); }}", True),
        (f"{F} struct S {{ void run(double* x) {{ for (;;) this->f(x); }} }};", True),
        (f"{F} struct S {{ S() {{ f(0, 3); }} }}; void e() {{ S s; }}", True),
        (f"{F} struct S {{ double operator[](int n) {{ return f(0, n); }} }};", True),
        (f"#define RUN f(x, 3)\n{F} void e(double* x) {{ for (;;) RUN; }}", True),
        (f"{F} void e(double* x) {{ for (;;) (f)(x, 3); }}", True),
        (f"{F} void e(double* x) {{ again: f(x, 3); goto again; }}", True),
        (f"{F} void e(double* x) {{\n#pragma omp parallel\n{{ f(x, 3); }} }}", True),
        (F.replace("MORE", "if (n > 1) f(x, n / 2);"), True),
        ("double g(int n); " + F.replace("MORE", "g(n);") + " double g(int n) { f(0, n); }", True),
    ],
)
def test_what_may_run_a_function_again_is_seen(code: str, often: bool) -> None:
    assert ("f" in facts_of(code.replace("MORE", "return s;")).often) is often
