"""Loops and variables of older C in plain words."""

import pytest

from regraph_kg.cpp.plain import plain

HEAD = "void f(const double* x, double* y, int n, int m) {"


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("int i; for (i = 0; i < n; i++) y[i] = x[i];", "for (int i = 0;"),
        ("int i = 0; while (i < n) { y[i] = x[i]; i++; }", "for (int i = 0; i < n; i++)"),
        ("double t; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t * t; }", "double t = x[i]"),
    ],
)
def test_a_variable_is_declared_where_each_iteration_sets_it(written: str, made: str) -> None:
    assert made in plain(f"{HEAD} {written} }}")


@pytest.mark.parametrize(
    "written",
    [
        "int i; for (i = 0; i < n; i++) y[i] = x[i]; y[0] = i;",  # read after the loop
        "double t = 0; for (int i = 0; i < n; i++) { y[i] = t; t = x[i]; }",
        "int i;\n#pragma omp parallel for private(i)\nfor (i = 0; i < n; i++) y[i] = x[i];",
        "int i; int* p = &i; for (i = 0; i < n; i++) y[*p] = x[i];",
    ],
)
def test_a_variable_stays_where_others_may_see_it(written: str) -> None:
    code = f"{HEAD} {written} }}"
    assert plain(code) == code
    kernel = f"__global__ void k() {{}} {HEAD} int i; for (i = 0; i < n; i++) y[i] = x[i]; }}"
    assert plain(kernel) == kernel
