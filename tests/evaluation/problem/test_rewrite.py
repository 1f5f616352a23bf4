"""The fp64 reference is written from the serial code without touching anything else."""

import pytest

from regraph_kg.evaluation.problem.rewrite import to_double, with_long_sums


@pytest.mark.parametrize(
    ("code", "wide"),
    [
        ("const float* x", "const double* x"),
        ("1.0f + .5F + 2.f + 1e-3f", "1.0 + .5 + 2. + 1e-3"),
        ("0x1f + 15u + 0xFFFF", "0x1f + 15u + 0xFFFF"),
        ("sqrtf(x) + std::fabs(y) + expf(z)", "sqrt(x) + std::fabs(y) + exp(z)"),
        ("FLT_MAX", "DBL_MAX"),
        ("floats = my_float", "floats = my_float"),
        ("// float 1.0f\n/* float */ \"float\" 'f'", "// float 1.0f\n/* float */ \"float\" 'f'"),
        ("static_cast<float>(i) / 3.0f", "static_cast<double>(i) / 3.0"),
        ("1'000.5f", "1'000.5"),
    ],
)
def test_float_becomes_double(code: str, wide: str) -> None:
    assert to_double(code) == wide


def test_names_of_headers_stay() -> None:
    code = '#include <float.h>\n  # include "float.h"\nfloat x;\n'
    assert to_double(code) == '#include <float.h>\n  # include "float.h"\ndouble x;\n'


@pytest.mark.parametrize(
    ("code", "long"),
    [
        ("{ double sum = 0.0, c = 0; }", "{ long double sum = 0.0, c = 0; }"),
        ("x;\n  double s = x[0];", "x;\n  long double s = x[0];"),
        ("const double mean = sum / n;", "const double mean = sum / n;"),
        ("double f(double x, double y = 2.0) {", "double f(double x, double y = 2.0) {"),
        ("for (double t = 0; t < 1; t += h)", "for (double t = 0; t < 1; t += h)"),
        ("double* p = x;", "double* p = x;"),
    ],
)
def test_sums_become_long_and_nothing_that_others_see(code: str, long: str) -> None:
    assert with_long_sums(code) == long
