"""What a recipe's directive says of the names of a loop: reductions, private and last values."""

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.search.prompts.recipe import filled

HEAD = "void f(const double* x, const int* k, double* y, int* h, int n, int m)"
SUMS = "for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) s += x[i * m + j];"
ROWS = "for (i = 0; i < n; i++) { t = 0; for (j = 0; j < m; j++) t += x[i*m + j]; y[i] = t; }"
COUNTS = "for (int i = 0; i < n; ++i) h[k[i]]++;"
ZEROS = "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) y[i * n + j] = 0;"
LATER = (
    "for (int i = 0; i < n; ++i) { double w = x[i]; for (int j = 0; j < n; ++j) {"
    " double s = 0; for (int p = 0; p < n; ++p) s += x[p]; y[i * n + j] = s * w; } }"
)


@pytest.mark.parametrize(
    ("recipe", "body", "said"),
    [
        ("for$clause", f"int i, j; double t; {ROWS}", "for private(t, j)"),
        ("for$clause", f"int i, j; double t; {ROWS} y[n] = t;",
         "for private(j) firstprivate(t) lastprivate(t)"),
        ("for$clause", f"int i, j; double t; {ROWS} y[i] = 1;", "for"),
        ("$vector", "double t; for (int i = 0; i < n; ++i) { t = x[i]; y[i] = t; } y[0] = t;",
         "the innermost loop whose iterations are independent"),
        ("for$clause", f"int i, j; double t; {ROWS} t = 1; i = 2;", "for private(t, j)"),
        ("$simd", "double t; int i; for (i = 0; i < n; ++i) { t = x[i]; y[i] = t * t; } y[0] = i;",
         "#pragma omp simd private(t)"),
        ("for$collapse", f"double s = 0; {SUMS} y[0] = s;", "for collapse(2) reduction(+:s)"),
        ("for$collapse", f"int i, j; {SUMS.replace('int ', '').replace('s +=', 'y[i * m + j] =')}",
         "for collapse(2)"),
        ("$collapsible", f"{LATER} {ZEROS}", "the loop over `i` (0 to n)"),
        ("$collapsible", LATER, "the outer of two loops with nothing between their heads"),
        ("for$clause", "for (int i = 0; i < n; ++i) y[0] += x[i];", "for reduction(+:y[:1])"),
        ("for$clause", "for (int i = 0; i < n; ++i) *y += x[i];", "for reduction(+:y[:1])"),
        ("$simd", "for (int i = 0; i < m; ++i) { const int q = k[0]; y[q] += x[i]; }",
         "#pragma omp simd"),
        ("for$reduction", f"int h[64] = {{}}; {COUNTS}", "for reduction(+:h[:64])"),
        ("for$reduction", f"for (int b = 0; b <= 63; ++b) h[b] = 0; {COUNTS}",
         "for reduction(+:h[:64])"),
        ("for$reduction", f"for (int b = 1; b < m; ++b) h[b] = 0; {COUNTS}", "for reduction(..)"),
        ("for$reduction", f"zero(h, 256); {COUNTS}", "for reduction(..)"),
        ("$reducing", "R r; for (int i = 0; i < n; ++i) r.s += x[i];", "the loop that adds up"),
        ("$vector", "double s = 0; for (int i = 0; i < n; ++i) if (x[i] > s) { s = x[i]; m = i; }",
         "the innermost loop whose iterations are independent"),
    ],
)  # fmt: skip
def test_a_directive_names_all_that_it_must(recipe: str, body: str, said: str) -> None:
    other = "void zero(int* h, int bins) { for (int b = 0; b < bins; ++b) h[b] = 0; }"
    assert (
        filled(recipe, facts_of(f"{other if 'zero' in body else ''} {HEAD} {{ {body} }}")) == said
    )
