"""Transforms of the corpus on kernels: what they make, and where they stay silent."""

from functools import partial

import pytest

from regraph_kg.search.transform.words import always, jammed, matches, slipped, varying
from tests.transform.of_corpus import made_by

made = partial(made_by, "cuda")
ROWS = """
__global__ void rows(const float* x, float* y, int n, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float* row = x + i * m;
        float sum = 1.0f;
        for (int j = 0; j < m; ++j) sum += row[j];
        y[i] = sum;
    }
}
void call(const float* x, float* y, int n, int m) { rows<<<(n + 127) / 128, 128>>>(x, y, n, m); }
"""
TASKS = """
__global__ void far(const float* p, const float* q, float* y, int n, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 1e30f;
    for (int j = 0; j < m; ++j) best = fminf(best, fabsf(p[i] - q[j]));
    y[i] = best;
}
void call(const float* p, const float* q, float* y, int n, int m) {
    far<<<(n + 255) / 256, 256>>>(p, q, y, n, m);
}
"""


def test_lanes_share_a_sum_whose_first_value_counts_once() -> None:
    [warp] = made("warp-per-task.lanes", ROWS)
    assert "if (lane > 0) sum = 0;" in warp
    assert "for (int j = lane; j < m; j += 32)" in warp
    assert "if (lane == 0) y[i] = sum;" in warp
    assert "rows<<<((n + 127) / 128) * 32, 128>>>" in warp


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sum += row[j]", "sum = 0.5f * sum + row[j]"),  # each iteration needs the one before
        ("128>>>", "48>>>"),  # blocks are no whole warps
        ("y[i] = sum;", "if (y[i]++ > 0) y[i] = sum;"),  # each lane would count
        ("y[i] = sum;", "y[i] = sum; __syncthreads();"),
        ("void call", "void* kernel() { return (void*)rows; }\nvoid call"),  # other launches
        ("threadIdx.x;", "threadIdx.x + threadIdx.y;"),
    ],
)
def test_no_lanes_share_what_is_no_task_of_one_thread(old: str, new: str) -> None:
    assert old in ROWS
    assert made("warp-per-task.lanes", ROWS.replace(old, new)) == []


@pytest.mark.parametrize("name", ["warp-per-task.lanes", "block-per-task.threads"])
def test_each_lane_moves_its_own_pointer_to_the_task(name: str) -> None:
    moving = ROWS.replace("const float* row = x + i * m;", "x += i * m;").replace("row[j]", "x[j]")
    shared = made(name, moving)[0]
    assert "\n        x += i * m;" in shared
    assert "if (lane == 0) y[i] = sum;" in shared
    # a pointer that one lane alone would move, and memory that nobody knows
    assert made(name, moving.replace("y[i] = sum;", "*y++ = sum;")) == []
    assert made(name, moving.replace("y[i] = sum;", "*(y + i) += sum;")) == []


def test_a_block_takes_a_task_and_every_launch_has_as_many_blocks() -> None:
    block = made("block-per-task.threads", ROWS)[0]
    assert "for (int j = lane; j < m; j += 128)" in block
    assert "sum = over_block(sum" in block
    assert "rows<<<((n + 127) / 128) * 128, 128>>>" in block
    # a launch that would stay as it is
    other = "void two(float* y, cudaStream_t s) { rows<<<9, 128, 0, s>>>(y, y, 9, 9); }\n"
    assert made("block-per-task.threads", ROWS + other) == []


def test_elements_that_are_always_read_are_loaded_together() -> None:
    [packs] = made("vectorized-loads.quads", ROWS)
    assert "row_4 = *(const Pack<float, 4>*)&row[first + 4 * g];" in packs
    assert "% alignof(Pack<float, 4>) == 0" in packs
    # neighbours are other elements
    beside = ROWS.replace("sum += row[j]", "sum += row[j] * row[j + 1]")
    assert made("vectorized-loads.quads", beside) == []
    # what stands under a condition may lie outside of the array
    unsure = ROWS.replace("sum += row[j]", "sum += j < n ? row[j] : 0")
    assert made("vectorized-loads.quads", unsure) == []


def test_tasks_go_together_unless_one_may_not_be_done_twice() -> None:
    assert "best_i3 = fminf(best_i3" in made("register-tiling.tasks-together", TASKS)[0]
    assert made("register-tiling.tasks-together", TASKS.replace("y[i] =", "y[i] +=")) == []


def test_all_threads_reach_the_barriers_of_a_tile() -> None:
    [tiled] = made("shared-memory-tiling.read-by-all", TASKS)
    assert "return" not in tiled.partition("__global__")[2].partition("void call")[0]
    assert "if (here) {" in tiled
    uneven = TASKS.replace("j < m", "j < m - i")
    assert made("shared-memory-tiling.read-by-all", uneven) == []


def test_words_of_places_and_parts() -> None:
    code = "if (a[i]) { x = 1; } y = b[i] ? c[i] : d[i]; z = e[i] && f[i];"
    assert [name for name in "abcdef" if f"{name}[i]" in always(code)] == ["a", "b", "e"]
    assert {"x": "x", "e": "2 * i"} in matches("x[n + 2 * i]", "$x[$e + $c]", c="n")
    assert slipped("x[i] = 1; y = z++;") == ["z"]
    parts = "int a = t; int b = n; if (a > 0) { int c = b; x[c] = a; }"
    assert varying(parts, ["t"]) == ["a", "c", "t"]
    both = jammed(
        "int a = t; for (int k = 0; k < n; ++k) { x[a] = k; }", 2, ["a", "t"], "t", "t$part"
    )
    assert both.count("for (") == 1
    assert "x[a_t1] = k;" in both


OWN_ROWS = """
__global__ void rows(const float* x, float* y, float* all, int n, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float* row = all + size_t(m) * (i);
        for (int j = 0; j < m; ++j) row[j] = x[j] * i;
        for (int j = 1; j < m; ++j) row[j] += row[j - 1];
        y[i] = row[m - 1];
    }
}
void call(const float* x, float* y, float* all, int n, int m) {
    rows<<<(n + 127) / 128, 128>>>(x, y, all, n, m);
}
"""


def test_own_rows_are_interleaved() -> None:
    [code] = made("memory-coalescing.interleaved", OWN_ROWS)
    assert "float* row = all + i;" in code
    assert "row[size_t(j) * n] += row[size_t(j - 1) * n];" in code
    assert "y[i] = row[size_t(m - 1) * n];" in code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y[i] = row[m - 1];", "y[i] = *row;"),
        ("y[i] = row[m - 1];", "y[i] = last(row, m);"),  # it goes through the row itself
        ("* (i);", "* (i + 1);"),
        ("+ threadIdx.x;", "+ threadIdx.x + 3;"),
    ],
)
def test_rows_that_are_used_otherwise_stay(old: str, new: str) -> None:
    assert made("memory-coalescing.interleaved", OWN_ROWS.replace(old, new)) == []


def test_a_kernel_is_told_that_its_arrays_do_not_overlap() -> None:
    [code] = made("read-only-cache.restrict", ROWS)
    assert "rows(const float* __restrict__ x, float* __restrict__ y, int n, int m)" in code
    assert made("read-only-cache.restrict", ROWS.replace("(x, y, n, m);", "(x, x, n, m);")) == []
    assert made("read-only-cache.restrict", code) == []


def test_several_arrays_of_bins_are_private() -> None:
    code = """
__global__ void bins(const int* x, const double* v, double* sum, long long* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&sum[x[i]], v[i]);
        atomicAdd((unsigned long long*)&count[x[i]], (unsigned long long)(1));
    }
}
void call(const int* x, const double* v, double* sum, long long* count, int n) {
    bins<<<(n + 127) / 128, 128>>>(x, v, sum, count, n);
}
"""
    [private] = made("shared-memory-privatization.bins", code)
    assert "__shared__ double own_sum[2048];" in private
    assert "__shared__ unsigned long long own_count[2048];" in private
    assert "atomicAdd(&own_count[x[i]], (unsigned long long)(1));" in private
    assert "atomicAdd((unsigned long long*)&count[bin], own_count[bin]);" in private
    read = code.replace("v[i]);", "v[i]); if (sum[0] > 3) return;")
    assert made("shared-memory-privatization.bins", read) == []
