"""Answers that begin with new heads of loops, or with sums that threads join."""

import subprocess

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.search.prompts.beginning import FENCE, beginning, remainder
from regraph_kg.search.prompts.recipe import filled, is_small
from tests.corpus.corpus import vocabulary
from tests.search.prompts.test_lean import HISTOGRAM, SUMS

RECIPES = {one.id: one.recipe for one in vocabulary().curated}
PRODUCT = """void product(const float* a, const float* b, float* c, int m, int n) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            float sum = 0;
            for (int k = 0; k < n; ++k) {
                sum += a[i * n + k] * b[k * m + j];
            }
            c[i * m + j] = sum;
        }
    }
}
"""
TRANSPOSE = """void transpose(const float* a, float* b, int m, int n) {
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            b[j * m + i] = a[i * n + j];
        }
    }
}
"""
ROWS = """void rows(const int* first, const float* a, float* c, int n) {
    for (int r = 0; r < n; ++r) {
        float sum = 0;
        for (int k = first[r]; k < first[r + 1]; ++k) {
            sum += a[k];
        }
        c[r] = sum;
    }
}
"""
JOINED = """__global__ void total(const float* a, float* c, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += a[i];
    }
    atomicAdd(&c[0], sum);
}
void launch(const float* a, float* c, int n) { total<<<64, 256>>>(a, c, n); }
"""
APART = """__global__ void total(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];
}
void launch(const float* a, float* c, int n) { total<<<64, 256>>>(a, c, n); }
"""
INTERCHANGE, CHAINS = RECIPES["openmp/loop-interchange"], RECIPES["openmp/multiple-accumulators"]
UNROLL, REDUCE = RECIPES["openmp/loop-unrolling"], RECIPES["openmp/reduction-clause"]
TILES = RECIPES["openmp/cache-tiling"]


def compiled(code: str) -> bool:
    """Whether g++ takes a code, warnings aside."""
    command = ["g++", "-fsyntax-only", "-fopenmp", "-x", "c++", "-"]
    return (
        subprocess.run(command, input=code.encode(), capture_output=True, check=False).returncode
        == 0
    )


def test_what_is_begun_goes_on_to_a_code_that_compiles() -> None:
    chains = "{ sum += a[k]; sum1 += a[k + 1]; sum2 += a[k + 2]; sum3 += a[k + 3]; }"
    assert is_small(CHAINS, facts_of(ROWS))
    begun = beginning(ROWS, (), CHAINS).removeprefix(FENCE)
    assert begun not in ROWS
    assert compiled(f"{begun}\n{chains}{remainder(ROWS, CHAINS)}")


@pytest.mark.parametrize(
    ("recipe", "code"),
    [
        (REDUCE, SUMS.replace("    for (int r", "#pragma omp parallel for\n    for (int r")),
        (INTERCHANGE, PRODUCT.replace("= sum;", "= 2 * sum;")),  # more than a sum is stored
        (INTERCHANGE, PRODUCT.replace("float sum = 0", "float sum = 1")),
        (INTERCHANGE, PRODUCT.replace("k < n", "k < j")),  # its bounds come from the outer loop
        (INTERCHANGE, TRANSPOSE.replace("b[j * m + i] =", "b[j * m + i] += b[0] *")),
        (INTERCHANGE, HISTOGRAM),
        (CHAINS, ROWS.replace("float sum = 0", "float sum1 = 0, sum = 0")),  # in chains already
        (TILES, PRODUCT),  # a sum goes on over the blocks
        (TILES, TRANSPOSE.replace("    for (int i", "#pragma omp parallel for\n    for (int i")),
        (TILES, TRANSPOSE.replace("    for (int i", "    int jj = 0;\n    for (int i")),
        (CHAINS, HISTOGRAM),  # updates at places that data decides
        (CHAINS, ROWS.replace("        for (int k", "#pragma omp simd\n        for (int k")),
        (CHAINS, SUMS.replace("i < n", "i < 3")),  # too few iterations
        (CHAINS, ROWS.replace("sum += a[k];", "if (a[k] < 0) continue; sum += a[k];")),
        (UNROLL, SUMS.replace("        for (int i", "#pragma omp simd\n        for (int i")),
    ],
)
def test_a_step_that_takes_more_than_new_heads_is_a_large_one(recipe: str, code: str) -> None:
    assert not is_small(recipe, facts_of(code))
    assert "$" not in filled(recipe, facts_of(code))


@pytest.mark.parametrize("technique", ["cuda/warp-shuffle", "cuda/block-reduction"])
def test_threads_join_their_sums_before_they_add_them_to_one_element(technique: str) -> None:
    recipe = RECIPES[technique]
    assert beginning(JOINED, (), recipe).startswith(FENCE + JOINED[: JOINED.index("    atomic")])
    apart = JOINED.replace("c[0]", "c[threadIdx.x]")
    early = JOINED.replace("    float sum", "    if (n < 0) return;\n    float sum")
    shared = JOINED.replace("    atomicAdd", "    if (n > 1) atomicAdd")
    assert is_small(recipe, facts_of(JOINED))
    assert not any(is_small(recipe, facts_of(code)) for code in (apart, early, shared))


def test_each_thread_of_four_elements_asks_whether_there_is_one() -> None:
    begun = beginning(APART, (), RECIPES["cuda/thread-coarsening"])
    assert begun.endswith("e < 4; ++e, i += blockDim.x)\n        if (i < n)")
