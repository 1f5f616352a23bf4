"""A loop that does what its tree does not show is never called independent."""

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.search.fit.predicate import shareable

HEAD = "void f(int n, const double* a, double* o) { "
LOOP = HEAD + "for (int i = 0; i < n; ++i) "
TEMP = HEAD + "double t = 0; for (int i = 0; i < n; ++i)"
EACH = "for (int i = 0; i < n; ++i) o[i]"
CHECK = (
    "double g(double x) { if (x > 9) throw 1; return x; }\ndouble h(double x) { return g(x); }\n"
)


def proved(code: str) -> bool:
    facts = facts_of(code)
    assert facts.read_whole
    return shareable(next(loop for loop in facts.loops if loop.function == "f"))


@pytest.mark.parametrize(
    "code",
    [
        f"#define W 8\n{LOOP} for (int j = 0; j < W; ++j) o[i * W + j] = a[i] * W; }}",
        f"#define EPS -1.5e-3f\n{LOOP} o[i] = a[i] + EPS; }}",
        f"#define REAL unsigned long\n{LOOP} {{ REAL m = a[i]; o[i] = m; }} }}",
        f"#define CHECK(x) if (x) return\n{HEAD} CHECK(n < 1); {EACH} = 1; }}",
        f"#ifndef ONCE\n#define ONCE\n{LOOP} o[i] = a[i]; }}\n#endif",
        f"{HEAD}\n#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n{EACH} = 1; }}",
        f"{CHECK}{LOOP} o[i] = a[i]; }}",
    ],
)
def test_what_a_macro_or_branch_leaves_clear_is_proved(code: str) -> None:
    assert proved(code)


@pytest.mark.parametrize(
    "code",
    [
        f"#define W 1 + 1\n{LOOP} for (int j = 0; j < W; ++j) o[i * W + j] = a[i]; }}",
        f"#define W n | 1\n{HEAD} for (int i = 0; i + 1 < (W); ++i) o[i] = a[i]; }}",
        f"#define LAST o[0]\n{LOOP} o[i] = LAST + a[i]; }}",
        f"#define PREV t\n{TEMP} {{ o[i] = PREV; t = i; }} }}",
        f"#define SEEN t\n{TEMP} {{ t = i; o[i] = t; }} o[0] = SEEN; }}",
        f"#define ODD if (i % 2)\n{LOOP} {{ ODD o[i] = a[i]; }} }}",
        f"#define HALF m /= 2\n{LOOP} {{ int m = i; HALF; o[m] = a[i]; }} }}",
        f"#define max(a, b) (a = (b))\n{LOOP} o[i] = max(n, 2); }}",
        f"#define max(a, b) (o[0] + (a))\n{LOOP} o[i] = max(n, 2); }}",
        f"#define W 8\n#undef W\n#define W i\n{LOOP} o[W] = a[i]; }}",
        f"{LOOP} {{\n#ifdef NO\no[i] = 1;\n#endif\n}} }}",
        f"{HEAD}\n#ifdef NO\nint k = 1;\n#else\nint k = 0;\n#endif\n{EACH} = o[k]; }}",
        f'{LOOP} {{ try {{ o[i] = std::stod("1"); }} catch (...) {{}} }} }}',
        f"{HEAD} try {{ for (int i = 0; i < n; ++i) o[i] = 1; }} catch (...) {{}} }}",
        f"{CHECK}{LOOP} o[i] = h(a[i]); }}",
        f"#define SET p[0] = x\nvoid h(double* p, double x) {{ SET; }}\n{LOOP} h(o, a[i]); }}",
    ],
)
def test_what_the_tree_hides_is_refused(code: str) -> None:
    assert not proved(code)
