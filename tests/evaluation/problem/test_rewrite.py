"""The fp64 reference is written from the serial code without touching anything else."""

import pytest

from regraph_kg.evaluation.problem.rewrite import has_own_width, to_double, with_long_sums


@pytest.mark.parametrize(
    ("code", "wide"),
    [
        ("const float* x", "const double* x"),
        ("1.0f + .5F + 2.f + 1e-3f", "1.0 + .5 + 2. + 1e-3"),
        ("0x1f + 15u + 0xFFFF", "0x1f + 15u + 0xFFFF"),
        ("sqrtf(x) + std::fabs(y) + expf(z)", "sqrt(x) + std::fabs(y) + exp(z)"),
        ("FLT_MAX", "double(FLT_MAX)"),
        ("std::numeric_limits<float>::max()", "double(std::numeric_limits<float>::max())"),
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


@pytest.mark.parametrize(
    ("code", "own"),
    [
        ("__m256 a = _mm256_loadu_ps(x);", True),
        ("typedef float eight __attribute__((vector_size(32)));", True),
        ("int bits = *(int*)&y;", True),
        ("auto bits = *reinterpret_cast<const std::uint32_t*>(&f);", True),
        ("memcpy(&bits, &x, sizeof bits);", True),
        ("union { float f; unsigned u; } both;", True),
        ("// as _mm256_add_ps\nstd::memcpy(&out[i], &in[i], n * sizeof(float));", False),
        ("int low = (int) y & 3;", False),
    ],
)
def test_vectors_and_bits_of_floats_keep_their_width(code: str, own: bool) -> None:
    assert has_own_width(code) == own
