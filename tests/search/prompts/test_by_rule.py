"""Steps that are carried out without asking a model."""

from dataclasses import replace

import pytest

from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.effects import ModelRequest
from regraph_kg.search.executor import result
from regraph_kg.search.prompts.by_rule import BY_RULE, carried_out
from regraph_kg.search.prompts.recipe import is_small
from tests.search.prompts.test_begun_loops import (
    APART,
    CHAINS,
    INTERCHANGE,
    JOINED,
    PRODUCT,
    RECIPES,
    ROWS,
    TILES,
    TRANSPOSE,
    UNROLL,
    compiled,
)
from tests.search.prompts.test_lean import SUMS
from tests.search.toy import Toy

BLOCKS = RECIPES["cuda/block-size-tuning"]
SWAPPED = """    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            c[i * m + j] = 0;
        }
        for (int k = 0; k < n; ++k) {
            for (int j = 0; j < m; ++j) {
                c[i * m + j] += a[i * n + k] * b[k * m + j];
            }
        }
    }
"""
TILED = """    for (int jj = 0; jj < n; jj += 64)
        for (int i = 0; i < m; ++i)
            for (int j = jj, j_end = n < jj + 64 ? n : jj + 64; j < j_end; ++j) {
            b[j * m + i] = a[i * n + j];
        }
"""
OTHER_WAY = """    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            b[j * m + i] = a[i * n + j];
        }
"""


def body(code: str) -> str:
    return code[code.index("\n") + 1 : code.rindex("}")]


@pytest.mark.parametrize(
    ("recipe", "code", "after"),
    [
        (INTERCHANGE, PRODUCT, SWAPPED),
        (INTERCHANGE, TRANSPOSE, OTHER_WAY),
        (TILES, TRANSPOSE, TILED),
        (
            UNROLL,
            ROWS,
            body(ROWS).replace("        for", "        #pragma GCC unroll 4\n        for"),
        ),
        (
            RECIPES["openmp/parallel-for"],
            TRANSPOSE.replace("    for (int i", "    #pragma omp simd\n    for (int i"),
            "    #pragma omp parallel for\n" + body(TRANSPOSE),
        ),
    ],
)
def test_new_loops_stand_in_the_place_of_the_old_ones(recipe: str, code: str, after: str) -> None:
    new = carried_out(code, recipe)
    assert new == code.replace(body(code), after)
    assert compiled(new)


@pytest.mark.parametrize(
    ("technique", "code", "old", "new"),
    [
        (
            "openmp/restrict-pointers",
            f'extern "C" {TRANSPOSE}',
            "(const float* a, float* b,",
            "(const float* __restrict__ a, float* __restrict__ b,",
        ),
        (
            "cuda/read-only-cache",
            JOINED,
            "__global__ void total(const float* a, float* c,",
            "__global__ void total(const float* __restrict__ a, float* __restrict__ c,",
        ),
        ("cuda/block-size-tuning", JOINED, "<<<64, 256>>>", "<<<64, 128>>>"),
    ],
)
def test_a_head_or_a_launch_changes_and_nothing_else(
    technique: str, code: str, old: str, new: str
) -> None:
    assert carried_out(code, RECIPES[technique]) == code.replace(old, new)


@pytest.mark.parametrize(
    ("launch", "after"),
    [
        ("total<<<(n + 255) / 256, 256>>>(a, c, n);", "total<<<(n + 127) / 128, 128>>>(a, c, n);"),
        ("total<<<(n + 31) / 32, 32, 0, s>>>(n);", "total<<<(n + 255) / 256, 256, 0, s>>>(n);"),
        (
            "const int threads = 128; total<<<(n + threads - 1) / threads, threads>>>(a, c, n);",
            "const int threads = 64; total<<<(n + threads - 1) / threads, threads>>>(a, c, n);",
        ),
        (
            "const int t = 128; int g = (n + t - 1) / t; total<<<g, t>>>(a, c, n);",
            "const int t = 64; int g = (n + t - 1) / t; total<<<g, t>>>(a, c, n);",
        ),
        ("total<<<n / 8, dim3(8, 8)>>>(a, c, n);", ""),
        ("int t = 128; t *= 2; total<<<n / t, t>>>(a, c, n);", ""),
        ("total<<<n, 64>>>(a, c, n);", ""),  # the grid does not follow
        ("total<<<1, 64>>>(a, c, n); total<<<1, 64>>>(a, c, n);", ""),
    ],
)
def test_the_grid_follows_the_size_of_its_blocks(launch: str, after: str) -> None:
    code = APART.replace("total<<<64, 256>>>(a, c, n);", launch)
    assert is_small(BLOCKS, facts_of(code)) == (after != "")
    assert carried_out(code, BLOCKS) == (code.replace(launch, after) if after else "")


def test_blocks_keep_the_size_that_a_shared_array_has() -> None:
    code = APART.replace("    int i", "    __shared__ float part[256];\n    int i")
    assert not is_small(BLOCKS, facts_of(code))


@pytest.mark.parametrize(
    ("recipe", "code"),
    [(CHAINS, ROWS), (RECIPES["cuda/warp-shuffle"], JOINED), ("Be quick.", SUMS), (UNROLL, "")],
)
def test_where_more_is_to_be_written_the_model_is_asked(recipe: str, code: str) -> None:
    assert carried_out(code, recipe) == ""


def test_a_ready_answer_asks_no_model() -> None:
    key = PromptKey(problem="toy", target="openmp", path=())
    asked = Prompt(key=key, system="", user="", ready=ROWS)

    def complete(_: Prompt) -> Reply:
        raise AssertionError("asked")

    reply = result(replace(Toy({}, lambda _: None).world, complete=complete), ModelRequest(asked))
    assert isinstance(reply, Reply)
    assert (reply.code, reply.mended) == (ROWS, (BY_RULE,))
