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


SUMS = """
void sums(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) {
        float sum = 0;
        for (int j = 0; j < n; ++j) sum += x[j] / (1 + x[i]);
        y[i] = sum;
    }
}
"""


def test_threads_take_neighbouring_iterations_of_an_outer_loop_in_lanes() -> None:
    [alone, *_] = made("outer-loop-vectorization.directive", SUMS)
    assert "#pragma omp parallel for simd schedule(static)\n    for (int i" in alone
    shared = SUMS.replace(
        "    for (int i", "#pragma omp parallel for schedule(dynamic, 4)\n    for (int i"
    )
    [more, *_] = made("outer-loop-vectorization.directive", shared)
    assert "#pragma omp parallel for simd schedule(static)\n" in more


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    float sum = 0;", "    float sum = i ? y[i - 1] : 0;"),
        ("        for (int j", "#pragma omp simd reduction(+:sum)\n        for (int j"),
        ("sum += x[j] / (1 + x[i])", "y[i * n + j] = x[j]"),  # its own lanes are better
        ("x[j] / (1 + x[i])", "unknown(x[j])"),
    ],
)
def test_outer_loops_that_are_no_lanes_have_none(old: str, new: str) -> None:
    assert old in SUMS
    assert made("outer-loop-vectorization.directive", SUMS.replace(old, new)) == []


TALLY = """
void tally(const int* at, const int* more, int* sums, int n) {
    for (int i = 0; i < n; ++i) {
        if (more[i] > 0) sums[at[i]] += more[i];
        ++sums[at[n - 1 - i]];
    }
}
"""


def test_elements_that_iterations_meet_are_added_to_one_at_a_time() -> None:
    tally = made("atomic-updates.outermost", TALLY)[0]
    assert "#pragma omp parallel for" in tally
    assert tally.count("#pragma omp atomic") == 2
    again = TALLY.replace("++sums[at[n - 1 - i]];", "{\n#pragma omp atomic\n++sums[0]; }")
    assert made("atomic-updates.outermost", again)[0].count("#pragma omp atomic") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("++sums[at[n - 1 - i]];", "sums[at[i]] = sums[at[i]] + 1;"),
        ("++sums[at[n - 1 - i]];", "sums[at[n - 1 - i]] *= 2;"),
        ("+= more[i]", "+= sums[0]"),
        ("++sums[at[n - 1 - i]];", "n -= sums[at[i]]++;"),
        ("++sums[at[n - 1 - i]];", "if (sums[0] > 3) ++sums[1];"),
        ("++sums[at[n - 1 - i]];", "int& one = sums[1]; one += 2;"),
    ],
)
def test_elements_that_are_read_or_set_otherwise_are_not(old: str, new: str) -> None:
    assert old in TALLY
    assert made("atomic-updates.outermost", TALLY.replace(old, new)) == []


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


RING = """#include <algorithm>
#include <cmath>
void ring(const double* x, double* y, int n, int m) {
    for (int i = 0; i < n; ++i) {
        const double next = x[(i + 1) % n], last = x[i > 0 ? i - 1 : n - 1];
        y[i] = std::max(x[i], 0.5) + next / last;
        if (i == 0) y[i] += 1;
    }
}
"""


def test_iterations_at_the_border_stand_apart() -> None:
    [code] = made("branch-elimination.border", RING)
    first, inside, last = code.split("for (int i = ")[1:]
    assert first.startswith("0; i < (n < 1 ? 0 : 1);")
    assert last.startswith("border < 1 ? 1 : border; i < n;")
    assert "next = x[(i + 1)], last = x[i - 1];" in inside
    assert "if (false)" in inside
    assert first.count("% n") == last.count("% n") == 1
    assert made("branch-elimination.border", code) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int i = 0", "long i = 0"),  # a neighbour's number would be of another type
        ("int m) {", "int m) { int& more = n; more = m;"),  # it may change unseen
        ("y[i] += 1;", "n -= 1;"),
        ("y[i] += 1;", "break;"),
        ("y[i] += 1;", "i += 1;"),
        ("    for (", "#pragma omp parallel for\n    for ("),
        ("int n,", "int* n,"),
    ],
)
def test_no_border_stands_apart_where_it_may_move(old: str, new: str) -> None:
    assert old in RING
    assert made("branch-elimination.border", RING.replace(old, new)) == []


def test_maxima_in_lanes_are_values() -> None:
    loop = RING.replace("if (i == 0)", "if (m == 0)").replace("% n", "")
    [code] = made("simd.innermost", loop)
    assert "y[i] = by_value::max(x[i], 0.5)" in code
    assert code.index("namespace by_value") < code.index("void ring")
    again = made("simd.innermost", code + loop.partition("#include <cmath>\n")[2])
    assert all(one.count("namespace by_value {") == 1 for one in again)
    assert "by_value::max(" not in "".join(
        made("simd.innermost", loop.replace("0.5)", "0.5, std::less<>())"))
    )


def test_other_rounding_is_allowed_once_and_above_all_else() -> None:
    [code] = made("strength-reduction.relaxed", RING)
    assert code.startswith('#pragma GCC optimize("no-math-errno", "unsafe-math-optimizations")\n')
    assert code.partition("\n")[2] == RING
    assert made("strength-reduction.relaxed", code) == []


@pytest.mark.parametrize(
    ("old", "new"), [("double", "long"), ("next / last", "next"), ("if (i == 0)", "if (isnan(*x))")]
)
def test_rounding_stays_where_it_costs_nothing_or_means_something(old: str, new: str) -> None:
    code = RING.replace("(i + 1) % n", "i")
    assert old in code
    assert made("strength-reduction.relaxed", code)
    assert made("strength-reduction.relaxed", code.replace(old, new)) == []


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


VOTES = """
void votes(const int* p, const int* a, int* seen, int points, int angles, int width) {
    int i, k;
    CLEARED
    for (i = 0; i < points; ++i) {
        for (k = 0; k < angles; ++k) seen[k * width + (p[i] * a[k] >> 8)]++;
    }
}
"""


@pytest.mark.parametrize(
    ("cleared", "size"),
    [
        ("memset(seen, 0, sizeof(int) * angles * width);", "(sizeof(int) * angles * width) / size"),
        ("std::memset(seen, 0, bytes);", "(bytes) / sizeof(seen[0])"),
        ("std::fill(seen, seen + angles * width, 0);", "own(angles * width)"),
        ("std::fill_n(seen, angles * width, 0);", "own(angles * width)"),
        ("for (int c = 0; c < angles * width; ++c) seen[c] = 0;", "own(angles * width)"),
    ],
)
def test_an_array_that_is_cleared_in_any_words_has_a_copy_for_each_thread(
    cleared: str, size: str
) -> None:
    [new] = made("thread-private-copies.cleared", VOTES.replace("CLEARED", cleared))
    assert size in new
    assert "for (int k = 0;" in new  # each thread has its own
    assert "(own.data())[k * width" in new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CLEARED", ""),  # its length is not known
        ("CLEARED", "memset(seen, 0, 4 * width); width = 2 * width;"),
        ("CLEARED", "int* s = seen; memset(seen, 0, 4 * width); s[0] = 1;"),
        ("seen[k", "a[k] = seen[k"),  # what is read is not only added to
    ],
)
def test_an_array_has_no_copies_where_more_than_sums_go_into_it(old: str, new: str) -> None:
    code = VOTES.replace(old, new).replace("CLEARED", "memset(seen, 0, 4 * angles * width);")
    assert made("thread-private-copies.cleared", code) == []


CARS = """
#include <vector>
void ring(double* v, int cars, int steps) {
    std::vector<double> next(cars);
    for (int step = 0; step < steps; ++step) {
        for (int i = 0; i < cars; ++i) next[i] = v[(i + 1) % cars] - v[i];
        for (int i = 0; i < cars; ++i) v[i] += next[i];
    }
}
"""


def test_a_length_that_a_vector_was_made_with_has_no_second_name() -> None:
    assert "v[(i + 1)] - v[i]" in made("branch-elimination.border", CARS)[0]
    held = CARS.replace("std::vector<double> next(cars);", "Grown next(cars);")
    assert made("branch-elimination.border", held) == []
