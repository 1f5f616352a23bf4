"""Steps that are carried out without asking a model."""

from dataclasses import replace

import pytest

from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.executor import result
from regraph_kg.search.prompts.by_rule import BY_RULE, carried_out
from regraph_kg.search.world import ModelRequest
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


FOR, SIMD = RECIPES["openmp/parallel-for"], RECIPES["openmp/simd"]
COLLAPSE = RECIPES["openmp/loop-collapse"]
COPY = "for (int i = 0; i < n; ++i) b[i] = a[i];"
NEST = "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) b[j * n + i] = a[i * n + j];"
ADDS = "for (int i = 0; i < n; ++i) s += a[i];"
COLUMNS = """for (int i = 0; i < n; ++i) {
        float s = 0;
        for (int j = 0; j < n; ++j) s += a[j * n + i];
        b[i] = s;
    }
"""


def function(body: str, more: str = "") -> str:
    return f"void f(int n, const float* a, float* b{more}) {{\n    {body}\n}}\n"


@pytest.mark.parametrize(
    ("recipe", "code"),
    [
        (FOR, function("for (size_t i = n - 1; i < n; --i) b[i] = a[i];")),
        (FOR, function("for (int i = 0; i != n; i += 2) b[i] = a[i];")),
        (FOR, function("for (int i{0}; i < n; ++i) b[i] = a[i];")),
        (FOR, function("for (i = 0; i < n; ++i) b[i] = a[i];", ", int& i")),
        (FOR, function(f"int i; {COPY.replace('int ', '')} b[0] = i;")),
        (FOR, function("int s = 0; for (auto& x : m) s += x.second[0]; b[0] = s;",
                       ", std::map<int, std::vector<int>>& m")),
        (FOR, function("for (auto p = m.begin(); p < m.end(); ++p) *p = 1;", ", std::set<int>& m")),
        (FOR, function("for (int i = 0; i < n; ++i) m[i] = a[i];", ", std::map<int, float>& m")),
        (FOR, function("for (int i = 0; i < n; ++i) m[i] = a[i] > 0;", ", std::vector<bool>& m")),
        (FOR, function("for (int i = 0; i < n; ++i) { last = a[i]; b[i] = last; }")),
        (FOR, function(f"std::complex<float> s = 0; {ADDS}")),
        (FOR, function(f"std::atomic<int> s{{0}}; {ADDS}")),
        (FOR, f"constexpr {function(COPY)}"),
        (FOR, function(f"\n#pragma omp single\n    {COPY}")),
        (FOR, function(f"\n#pragma omp parallel num_threads(3)\n    {COPY}")),
        (FOR, function(f"\n#ifdef _OPENMP\n#pragma omp simd\n#endif\n    {COPY}")),
        (FOR, function(NEST.replace("for (int j", "\n#pragma omp for\n for (int j"))),
        (FOR, f"#define EACH(i, n) for (int i = 0; i < n; ++i)\n{function(f'EACH(k, n) {COPY}')}"),
        (SIMD, function(f"float s = 0; {ADDS.replace('s +=', '{ s =')} b[i] = s; }} b[0] = s;")),
        (SIMD, function(f"\n#pragma omp parallel\n#pragma omp for\n    {COPY}")),
        (SIMD, function(f"\n#pragma omp parallel for {'schedule(static) ' * 8}\n    {COPY}")),
        (SIMD, function("for (float& x : v) x = 1;", ", std::vector<float>& v")),
        (COLLAPSE, function(f"int j; {NEST.replace('int j', 'j')} b[0] = j;")),
        (INTERCHANGE, function(NEST.replace("for (int j", "/* columns */ for (int j"))),
        (INTERCHANGE, function(NEST.replace("for (int j", "{\n#pragma ivdep\nfor (int j") + "}")),
        (INTERCHANGE, function(f"\n#pragma GCC ivdep\n    {NEST}")),
        (INTERCHANGE, function(COLUMNS.replace("float s", "double s"))),
        (INTERCHANGE, function(COLUMNS.replace("* n + i];", "* n + i] - s / 2;"))),
        (TILES, function(NEST, ", int jj")),
        (TILES, f"int j_end;\n{function(NEST)}"),
        (TILES, function(NEST.replace("int j", "uint8_t j"))),
        (TILES, function(NEST.replace("int j", "auto j"))),
        (TILES, function("for (int i = 0; i < n; ++i) for (int i = 0; i < n; ++i) b[i] += i;")),
    ],
)  # fmt: skip
def test_a_step_that_would_not_compile_or_change_more_is_not_carried_out(
    recipe: str, code: str
) -> None:
    assert carried_out(code, recipe) == ""


@pytest.mark.parametrize(
    ("recipe", "code", "old", "new"),
    [
        (
            FOR,
            function(f"float k = 2;\n\n\n    {COPY}"),
            "    for",
            "    #pragma omp parallel for\n    for",
        ),
        (
            SIMD,
            function(f"\r\n#pragma omp parallel for \\\r\n schedule(static)\r\n    {COPY}"),
            "#pragma omp parallel for \\\r\n schedule(static)\r\n",
            "    #pragma omp parallel for simd schedule(static)\n",
        ),
        (
            FOR,
            function(f"float s = 0; {ADDS.replace('s +=', '{ s =')} b[i] = s; }} b[0] = s;"),
            " for",
            "\n    #pragma omp parallel for firstprivate(s) lastprivate(s)\n    for",
        ),
        (
            INTERCHANGE,
            function(f"if (n > 1)\n    {COLUMNS}").replace("\n}\n", "    else b[0] = 0;\n}\n"),
            COLUMNS.strip(),
            """{ for (int i = 0; i < n; ++i) {
        b[i] = 0;
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            b[i] += a[j * n + i];
        }
    } }""",
        ),
    ],
)
def test_all_but_what_the_step_names_stays(recipe: str, code: str, old: str, new: str) -> None:
    assert carried_out(code, recipe) == code.replace(old, new)
    assert compiled(carried_out(code, recipe))


@pytest.mark.parametrize(
    "code", [APART.replace(";", ";;"), "\ud800 k<<<", "int f(a = a[i - ];", ""]
)
def test_no_text_is_too_odd_to_be_read(code: str) -> None:
    for recipe in RECIPES.values():
        new = carried_out(code, recipe)
        assert new == "" or new.count(";;") == code.count(";;")
