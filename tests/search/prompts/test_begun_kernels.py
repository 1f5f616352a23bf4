"""Answers that begin with the loop of a kernel that threads are to share."""

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.search.prompts.beginning import FENCE, beginning
from regraph_kg.search.prompts.launching import new_launch
from regraph_kg.search.prompts.recipe import filled
from tests.search.prompts.test_lean import (
    CLEARED,
    COUNT,
    HISTOGRAM,
    KERNEL,
    NUMBER,
    SUMS,
    SUMS_OF_ALL,
    THREADS,
)

EACH = "In $kernelname $begin`$type $item = $thread; if ($item < $items)` for $serial.$atomic"
WALK = "In $kernelname $begin`for ($type $item = $thread; $item < $items; ..)` for $share.$atomic"


@pytest.mark.parametrize(
    ("code", "each"),
    [
        (KERNEL, f"int i = {NUMBER}; if (i < n)"),
        (CLEARED, f"int i = {NUMBER}; if (i < n)"),
        (COUNT, f"int i = {NUMBER}; if (i < n)"),
        (KERNEL.replace("int i = 0", "int i = 2"), f"int i = {NUMBER} + 2; if (i < n)"),
        (KERNEL.replace("i < n", "i <= n"), f"int i = {NUMBER}; if (i < n + 1)"),
        (KERNEL.replace("i < n", "i < (n & 7)"), f"int i = {NUMBER}; if (i < ((n & 7)))"),
        (
            KERNEL.replace("int i = 0; i < n", "int i = n / 2; i != n"),
            f"int i = {NUMBER} + (n / 2); if (i < n)",
        ),
    ],
)
def test_an_answer_begins_with_a_thread_for_each_iteration(code: str, each: str) -> None:
    number, _, test = each.removeprefix("int i = ").partition("; if (i < ")
    walk = f"for (int i = {number}; i < {test.removesuffix(')')}; ..)"
    for recipe, opened in ((EACH, each), (WALK, walk)):
        begun = beginning(code, (), recipe)
        assert begun.endswith(f"    {opened}")
        assert begun.removeprefix(FENCE).startswith(code[: code.index("    for")])


@pytest.mark.parametrize(
    "code",
    [
        KERNEL.replace("++i", "i += 2"),
        KERNEL.replace("int i = 0; i < n; ++i", "int i = n; i > 0; --i"),
        KERNEL.replace("    for", "    x[0] = 1;\n    for"),
        KERNEL.replace("    for (int i", "    int i;\n    for (i"),
        KERNEL.replace("void", "void __launch_bounds__(1)"),
        COUNT.replace("+= 1;", "+= 1; hist[0] -= 1;"),
        COUNT.replace("int* hist", "long long* hist"),
        KERNEL.replace("2;\n", "2;\n    x[0] = 1;\n"),
        COUNT.replace("+=", "= n +"),
        COUNT.replace("int n) {", "int n) {\n    int sum = 0;").replace("+= 1", "+= ++sum"),
        f"__global__ {SUMS_OF_ALL}",
        HISTOGRAM,
        SUMS,
        THREADS.replace("if (i < m)", "if (i < m && threadIdx.y < 1)"),
    ],
    ids=[
        *("other steps", "downwards", "something before", "declared before", "bounds"),
        *("a difference", "a type that is added in steps", "something behind", "no sum"),
        *("a sum of its own", "a scalar's sum", "two loops of the host", "a loop of the host"),
        "loops of each thread",
    ],
)
def test_where_threads_need_more_than_a_new_head_none_is_begun(code: str) -> None:
    for recipe in (EACH, WALK):
        begun = beginning(code, (), recipe).removeprefix(FENCE)
        assert code.startswith(begun.rstrip())


def test_an_iteration_that_ends_by_continue_has_a_loop_still() -> None:
    code = KERNEL.replace("x[i] *= 2;", "{ if (x[i] < 0) continue; x[i] *= 2; }")
    assert beginning(code, (), WALK).endswith("; ..)")
    assert beginning(code, (), EACH).endswith("int n) {\n")


def test_the_variable_keeps_its_type() -> None:
    code = KERNEL.replace("int i", "unsigned long i")
    assert f"unsigned long i = {NUMBER}; if (i < n)" in beginning(code, (), EACH)


def test_sums_that_threads_share_are_begun_only_where_they_are_told_as_atomics() -> None:
    assert "atomicAdd(&hist[keys[i]], 1);` for `hist[keys[i]] += ..`" in filled(
        EACH, facts_of(CLEARED)
    )
    assert beginning(CLEARED, (), WALK.removesuffix("$atomic")).endswith("int n) {\n")


TOTAL = """__global__ void add(const float* x, double* total, int n) {
    double s = 0.0;
    for (int i = 0; i < n; ++i) s += x[i];
    total[0] += s;
}

void launch(const float* x, double* total, int n) { add<<<1, 1>>>(x, total, n); }
"""


def test_a_scalars_sum_is_begun_where_it_starts_at_0_and_goes_to_an_element_of_the_same() -> None:
    said = filled(WALK, facts_of(TOTAL))
    assert "\nWrite `atomicAdd(&total[0], s);` for `total[0] += ..`." in said
    assert beginning(TOTAL, (), WALK).endswith(f"    for (int i = {NUMBER}; i < n; ..)")
    pointed = filled(WALK, facts_of(TOTAL.replace("total[0]", "*total")))
    assert "`atomicAdd(total, s);` for `*total += ..`" in pointed
    adds = "total[0] += s"
    others = [("s = 0.0", "s = 1.0"), (adds, "total[0] += 2 * s"), (adds, "total[0] -= s")]
    for was, other in [*others, ("s += x[i]", "s *= x[i]"), (adds, "*(total + 1) = s")]:
        changed = TOTAL.replace(was, other)
        begun = beginning(changed, (), WALK).removeprefix(FENCE)
        assert changed.startswith(begun.rstrip()), other
    wide = TOTAL.replace("double* total", "long* total")
    assert "atomicAdd" not in filled(WALK, facts_of(wide))


def test_a_kernel_of_one_thread_beside_a_larger_one_is_the_one_that_is_told() -> None:
    code = f"{COUNT}\n{THREADS}"
    assert filled("$kernelname and $kernel", facts_of(code)) == "product_kernel and product_kernel"
    assert filled(EACH, facts_of(code)).startswith("In histogram `int i")
    assert beginning(code, (), EACH).endswith(f"    int i = {NUMBER}; if (i < n)")


ROWS = """__global__ void product(const float* a, float* c, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int p = 0; p < n; ++p) sum += a[i * n + p] * a[p * n + j];
            c[i * n + j] = sum;
        }
    }
}

void launch(const float* a, float* c, int m, int n) {
    product<<<(m + 99) / 100, 100>>>(a, c, m, n);
}
"""
CELLS = "Write $begin`$flat` for $row.\nIn launch write `$kernelname$grid`."


def test_threads_that_have_a_row_each_become_threads_of_elements() -> None:
    begun = beginning(ROWS, (), CELLS)
    cell = f"unsigned cell = {NUMBER}; int i = cell / n, j = cell % n; if (i < m)"
    assert begun.endswith(f"    {cell} {{ float sum = 0.0f;")
    assert "`int i = ..;`, `if (i < m)` and the head of the loop over `j` (0 to n)" in filled(
        CELLS, facts_of(ROWS)
    )
    found = new_launch(ROWS, CELLS)
    assert found is not None
    assert (found.new, found.count) == ("<<<(m * n + 255) / 256, 256>>>", "m * n")


def test_a_thread_of_elements_has_the_offsets_that_rows_and_columns_have() -> None:
    code = ROWS.replace("threadIdx.x;", "threadIdx.x + 1;").replace("i < m", "i < m - 1")
    code = code.replace("int j = 0; j < n", "int j = 2; j <= n")
    begun = beginning(code, (), CELLS)
    assert "int i = cell / (n + 1 - 2) + 1, j = cell % (n + 1 - 2) + 2; if (i < m - 1)" in begun
    found = new_launch(code, CELLS)
    assert found is not None
    assert found.count == "(m - 1 - 1) * (n + 1 - 2)"


@pytest.mark.parametrize(
    "code",
    [
        ROWS.replace("++j", "j += 2"),
        ROWS.replace("int j", "unsigned j"),
        ROWS.replace("float sum = 0.0f;", "if (a[j] < 0) continue; float sum = 0.0f;"),
        ROWS.replace("c[i * n + j] = sum", "c[i] += sum"),
        ROWS.replace("c[i * n + j] = sum", "c[i * n + j + 1] = sum + c[i * n + j]"),
        ROWS.replace("        for (int j", "        c[0] = 0;\n        for (int j"),
    ],
    ids=["steps", "a type", "continue", "a sum of a row", "a scan", "something before"],
)
def test_rows_whose_elements_are_not_plainly_apart_stay_rows(code: str) -> None:
    assert "cell" not in beginning(code, (), CELLS)
    assert "rows" in filled(CELLS, facts_of(code))
    assert new_launch(code, CELLS) is None
