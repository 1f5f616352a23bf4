"""Transforms of the corpus on loops: what they make, and where they stay silent."""

from functools import partial

import pytest

from tests.transform.of_corpus import made_by

made = partial(made_by, "openmp")
GATHER = """
void gather(const int* at, const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) {
        y[i] = x[at[i]];
    }
}
"""
COUNTS = """
void counts(const int* value, int* bins, int n) {
    for (int b = 0; b < 256; ++b) bins[b] = 0;
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        bins[value[i] & 255] += 1;
    }
}
"""
PRODUCT = """
void product(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            for (int j = 0; j < n; ++j) {
                c[i * n + j] -= a[i * n + k] * b[k * n + j];
            }
        }
    }
}
"""


def test_what_an_index_array_names_is_asked_for_before() -> None:
    near, far = made("software-prefetch.indirect", GATHER)
    assert "if (n - i > 16) {" in near
    assert "__builtin_prefetch(&x[at[(i + 16)]]);" in near
    assert "at[(i + 32)]" in far


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y[i] = x[at[i]];", "if (y[i] > 0) y[i] = x[at[i]];"),  # the place may not be there
        ("y[i] = x[at[i]];", "if (y[i] > 0) break; y[i] = x[at[i]];"),
        ("y[i] = x[at[i]];", "y[i] = x[at[i]]; at += 1;"),
        ("y[i] = x[at[i]];", "y[i] = x[at[i]]; n -= 1;"),
        ("y[i] = x[at[i]];", "int k = y[i]; y[i] = x[at[k]];"),
        ("const float* x", "const std::map<int, float>& x"),  # it would get an element
    ],
)
def test_no_place_is_asked_for_that_a_later_iteration_may_not_read(old: str, new: str) -> None:
    assert old in GATHER
    assert made("software-prefetch.indirect", GATHER.replace(old, new)) == []


def test_a_reduction_in_place_of_atomics_names_its_array() -> None:
    [own] = made("array-reduction.no-atomics", COUNTS)
    assert "reduction(+ : bins[:256])" in own
    assert "atomic" not in own


def test_a_tile_is_added_or_subtracted_as_its_elements_were() -> None:
    less = made("register-blocking.tile", PRODUCT)[0]
    assert "-= sum[0][lane];" in less
    assert "+= sum[0][lane];" not in less
    more = made("register-blocking.tile", PRODUCT.replace("-=", "+="))[0]
    assert "+= sum[0][lane];" in more


EXPONENTIALS = """#include <cmath>
static float falls(float x) { return std::exp(-x); }
void weights(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = falls(x[i]) + std::pow(10.0f, x[i]);
}
"""


def test_loops_with_exponentials_use_the_vector_library() -> None:
    [code] = made("vector-math.library", EXPONENTIALS)
    declared, _, loop = code.partition("void weights")
    assert 'pragma omp declare simd notinbranch\nextern "C" float expf(float) noexcept;' in declared
    assert 'extern "C" float powf(float, float) noexcept;' in declared
    assert "#pragma omp simd" in loop
    assert made("vector-math.library", code) == []


def test_loops_without_mathematics_need_no_vector_library() -> None:
    assert (
        made("vector-math.library", EXPONENTIALS.replace("exp", "abs").replace("pow", "max")) == []
    )


LOOP = """#include <vector>
float f(const std::vector<float>& x, std::vector<float>& z, int n) {
    float s = 0;
    LOOP
    return s;
}
"""


@pytest.mark.parametrize(
    ("loop", "threads"),
    [
        ("for (int i = 0; i + 1 < n; ++i) z[i] = x[i + 1];", "for (int i = 0; i < n - 1; ++i)"),
        ("for (auto& v : z) v *= 2;", "schedule(static)\n    for (auto& v : z)"),
        ("for (float v : x) s += v;", "reduction(+:s)\n    for (float v : x)"),
        ("for (const auto& v : x) if (v > s) s = v;", "reduction(max:s)\n    for (const auto& v"),
        ("for (float v : x) { if (v > s) { s = v; z[0] += v; } }", ""),
        ("for (float v : x) z[n++] = v;", ""),
    ],
)
def test_a_loop_gets_threads_with_a_head_for_them(loop: str, threads: str) -> None:
    codes = made("parallel-for.outermost", LOOP.replace("LOOP", loop))
    assert bool(codes) is bool(threads)
    assert all("#pragma omp parallel for" in code and threads in code for code in codes)


def test_a_loop_from_0_after_one_down_to_0_takes_no_rest() -> None:
    down = "for (int i = n - 1; i > 0; --i) y[i] = y[i - 1];"
    up = "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) y[i] += x[j]; }"
    code = f"void f(const float* x, float* y, int n) {{ {down} {up} }}"
    assert made("parallel-for.outermost", code)
    rest = code.replace("int i = 0; i < n", "int i = n / 4 * 4; i < n")
    whole = "for (int i = 0; i < n / 4 * 4; ++i) y[i] += x[i];"
    assert not made("parallel-for.outermost", rest.replace(down, f"#pragma omp simd\n{whole}\n"))


def test_a_directive_begins_a_line_of_its_own() -> None:
    code = LOOP.replace("float s = 0;\n    LOOP", "float s = 0; for (float v : x) s += v;")
    (first, *_) = made("parallel-for.outermost", code)
    assert "float s = 0; \n    #pragma omp parallel for" in first


VECTORS = """#include <vector>
void tell(const int* at, const double* x, double* out, int n, int bins) {
    std::vector<double> sum(bins, 0.0);
    std::vector<long long> count(bins);
    for (int i = 0; i < n; ++i) {
        sum[at[i]] += x[i];
        ++count[at[i]];
    }
    for (int b = 0; b < bins; ++b) out[b] = count[b] > 0 ? sum[b] / count[b] : 0.0;
}
"""


def test_each_thread_adds_to_vectors_of_its_own() -> None:
    [own] = made("thread-private-copies.vectors", VECTORS)
    assert "std::vector<double> sum_own(sum.size());" in own
    assert "count[place] += count_own[place];" in own


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sum[at[i]] += x[i];", "if (sum[at[i]] < x[i]) sum[at[i]] = x[i];"),
        ("sum[at[i]] += x[i];", "sum[at[i]] += x[i] * sum[0];"),
        ("sum[at[i]] += x[i];", "sum[at[i]] += x[i]; if (sum.size() < 9) sum.push_back(0);"),
        ("sum[at[i]] += x[i];", "sum[at[i]] += x[i]; out[at[i]] += 1;"),
        ("for (int i = 0;", "auto& other = count; for (int i = 0; "),
        ("for (int i = 0;", "auto& other(count); for (int i = 0; "),
        ("sum[at[i]] += x[i];", "sum.data()[at[i]] += x[i];"),
        ("sum[at[i]] += x[i];", "sum[at[i]] += x[i]; double x_own = 1;"),
        ("++count[at[i]];", "count[at[i]] += x[i];"),  # a fraction is cut at each step
        ("std::vector<double> sum(bins, 0.0);", "thread_local std::vector<double> sum(bins);"),
        ("for (int i = 0;", "long long* other = count.data(); for (int i = 0; "),
    ],
)
def test_vectors_that_are_not_only_added_to_have_no_copies(old: str, new: str) -> None:
    assert old in VECTORS
    assert made("thread-private-copies.vectors", VECTORS.replace(old, new)) == []
