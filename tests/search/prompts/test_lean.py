"""What a model of few parameters is told: a technique, its recipe for this code, the code."""

from dataclasses import replace

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.models.port import Port
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.prompts.beginning import FENCE, STOP, beginning
from regraph_kg.search.prompts.recipe import filled
from regraph_kg.search.prompts.render import render
from tests.search.toy import TASK

HEAD = 'extern "C" void sums(const float* a, float* out, int rows, int n) {\n'
BODY = """    for (int r = 0; r < rows; ++r) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += a[r * n + i];
        out[r] = sum;
    }
}
"""
SUMS = f"// Sums of rows.\n{HEAD}{BODY}"
HISTOGRAM = """void histogram(const unsigned char* keys, int* hist, int n) {
    for (int b = 0; b < 256; ++b) hist[b] = 0;
    for (int i = 0; i < n; ++i) hist[keys[i]] += 1;
}
"""
EXTREMES = """void extremes(const float* a, float* c, int n) {
    float high = a[0], low = a[0];
    for (int i = 1; i < n; ++i) {
        if (a[i] > high) high = a[i];
        low = std::min(low, a[i]);
    }
    c[0] = high - low;
}
"""
SWEEPS = """void sweeps(const float* a, float* b, float* c, int n, int steps) {
    for (int i = 0; i < n * n; ++i) b[i] = a[i];
    for (int s = 0; s < steps; ++s) {
        for (int j = 1; j < n; ++j) for (int i = 1; i < n; ++i) c[i * n + j] = b[(i - 1) * n + j];
        for (int j = 1; j < n; ++j) for (int i = 1; i < n; ++i) b[i * n + j] = c[i * n + j];
    }
}
"""
KERNEL = """__global__ void twice_kernel(float* x, int n) {
    for (int i = 0; i < n; ++i) x[i] *= 2;
}
"""
TWICE = KERNEL.replace("2;", "2;\n    for (int j = 0; j < n; ++j) x[j] += x[0];")
LAUNCHED = f"{KERNEL}\nvoid launch(float* x, int n) {{\n    twice_kernel<<<1, 1>>>(x, n);\n}}\n"
THREADS = """__global__ void product_kernel(const float* a, float* c, int m, int n) {
    const float half = 0.5f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[i * n + k] * half;
            c[i * n + j] = sum;
        }
    }
}

void launch(const float* a, float* c, int m, int n) {
    const int threads = 128;
    product_kernel<<<(m + threads - 1) / threads, threads>>>(a, c, m, n);
}
"""
COUNTS = f"__global__ {HISTOGRAM}"
CLEAR = """__global__ void clear(int* hist) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < 256) hist[b] = 0;
}
"""
COUNT = "__global__ " + HISTOGRAM.replace("    for (int b = 0; b < 256; ++b) hist[b] = 0;\n", "")
CLEARED = f"""{CLEAR}
{COUNT}
void launch(const unsigned char* keys, int* hist, int n) {{
    clear<<<2, 128>>>(hist);
    histogram<<<1, 1>>>(keys, hist, n);
}}
"""
SUMS_OF_ALL = """void sums(const float* a, float* c, int n) {
    for (int i = 0; i < n; ++i) c[0] += a[i];
    c[1] = 1;
}
"""
FUSED = "sum = fmaf(a[i * n + k], half, sum);"
NUMBER = "blockIdx.x * blockDim.x + threadIdx.x"
PORT = Port(
    entry="work",
    head="#include <cuda_runtime.h>",
    start=LAUNCHED,
    tail='extern "C" void work(float* x, int n) {\n    launch(copied(x, n), n);\n}\n',
    signature="void launch(float* x, int n)",
)


def lean(task: Task, technique: Technique) -> Prompt:
    key = PromptKey(problem="toy", target=task.target, path=(technique.id,))
    return render(task, key, code=task.start, technique=technique, prefill=True)


def technique(recipe: str, target: str = "openmp") -> Technique:
    fields = {"id": f"{target}/a", "name": "A step", "target": target, "definition": "Do it."}
    return Technique.model_validate(fields | {"recipe": recipe})


def test_a_lean_prompt_is_recipe_code_and_signature_and_its_answer_is_begun() -> None:
    task = replace(TASK, serial=SUMS, entry="sums", signature="SIGNATURE")
    prompt = lean(task, technique("Write it before $parallel."))
    assert prompt.user.startswith("A step: Write it before the loop over `r` (0 to rows).")
    assert SUMS.strip() in prompt.user
    assert "SIGNATURE" in prompt.user
    assert prompt.begun == f"{FENCE}// Sums of rows.\n{HEAD}"
    assert prompt.stop == STOP
    assert len(prompt.user + prompt.system) < 2000


def test_a_technique_without_a_recipe_is_told_by_its_definition() -> None:
    assert lean(TASK, technique("")).user.startswith("A step: Do it.")


def test_of_a_port_a_model_sees_its_part_alone() -> None:
    task = replace(TASK, target="cuda", ports=(PORT,), port=PORT)
    prompt = lean(task, technique("Do it.", "cuda"))
    assert KERNEL in prompt.user
    assert "cuda_runtime" not in prompt.user
    assert "copied" not in prompt.user
    assert PORT.signature in prompt.user
    assert "device's memory" in prompt.system
    assert prompt.begun == f"{FENCE}__global__ void twice_kernel(float* x, int n) {{\n"
    assert task.whole(LAUNCHED) == task.start


@pytest.mark.parametrize(
    ("recipe", "code", "said"),
    [
        ("$parallel", SUMS, "the loop over `r` (0 to rows)"),
        ("to $count", SUMS, "to rows"),
        ("$nest", SUMS, "the loop over `r` (0 to rows)"),
        ("$nest", HISTOGRAM, "the outermost loop"),
        ("$nest, $parallel", SWEEPS, "the loop over `j` (1 to n), the loop over `j` (1 to n)"),
        (
            "for$reduction: $reducing",
            HISTOGRAM,
            "for reduction(+:hist[:256]): the loop over `i` (0 to n)",
        ),
        ("for$reduction", EXTREMES, "for reduction(max:high) reduction(min:low)"),
        ("for$clause", SUMS, "for"),
        ("$simd", SUMS, "#pragma omp simd reduction(+:sum)"),
        (
            "$simd",
            HISTOGRAM.replace("    for (int b", "#pragma omp parallel for\n    for (int b"),
            "#pragma omp parallel for simd",
        ),
        ("$vector", HISTOGRAM, "the loop over `b` (0 to 256)"),
        (
            "for$clause: $parallel",
            HISTOGRAM,
            "for reduction(+:hist[:256]): the loop over `i` (0 to n)",
        ),
        ("$parallel", KERNEL, "the loop over `i` (0 to n)"),
        ("$parallel", "int x;", "the outermost loop whose iterations are independent"),
        ("$share", THREADS, "`int i = ..;` and `if (i < m)`"),
        ("$item to $items, to $count", THREADS, "i to m, to n"),
        ("$share of $item", "int x;", "the head of the loop to share out of i"),
        ("$kernel", THREADS, "product_kernel"),
        ("$share to $items", KERNEL, "the head of the loop over `i` (0 to n) to n"),
        ("$share", COUNTS, "the head of the loop over `i` (0 to n)"),
        (
            "$fused for $unfused",
            THREADS,
            f"{FUSED} for sum += a[i * n + k] * half;",
        ),
        ("$fused", "void f(double* a, double b) { a[0] += (b * 2); }", "a[0] = fma(b, 2, a[0]);"),
        ("$unfused", "void f(int i, int n) { for (;; i += n * 2) i += n * 3; }", "sum += a * b;"),
        ("$unfused", "void f(float i, int n) { for (;; i += n * 2) g(); }", "sum += a * b;"),
        ("$fused for $unfused", SUMS, "sum = fmaf(a, b, sum); for sum += a * b;"),
        ("$other costs $5", SUMS, "$other costs $5"),
    ],
)
def test_a_recipe_names_the_loops_of_the_code(recipe: str, code: str, said: str) -> None:
    assert filled(recipe, facts_of(code)) == said


def test_a_loop_that_threads_share_already_is_not_named() -> None:
    shared = SUMS.replace("    for (int r", "#pragma omp parallel for\n    for (int r")
    assert filled("$parallel", facts_of(shared)).startswith("the outermost loop")


@pytest.mark.parametrize(
    ("code", "begun"),
    [
        (f"int small(int a) {{ return a; }}\n{SUMS}", "int small(int a) { return a; }\n"),
        ("float work(float a) { return twice(a); }", "float work(float a) {\n"),
        ("no function at all", ""),
        ("", ""),
    ],
)
def test_an_answer_begins_with_the_head_of_what_works(code: str, begun: str) -> None:
    assert beginning(code, ("work",)).startswith(FENCE + begun)


@pytest.mark.parametrize(
    ("recipe", "code", "before"),
    [
        ("Before $reducing", HISTOGRAM, "    for (int i"),
        ("Split $inner", SUMS, "        for (int i"),
        ("Of $reducing and $parallel", SUMS, "    for (int r"),
        (
            "$parallel",
            SUMS.replace("    for (int r", "#pragma omp parallel\n    for (int r"),
            "#pra",
        ),
        ("In $head, before $inner", SUMS, "// Sums"),
        ("Keep $parallel", f"// \u03b1\n{SUMS}", "    for (int r"),
        ("Of $share", THREADS, "    int i = blockIdx"),
        ("Of $share", KERNEL, "    for (int i"),
        ("Of $share", COUNTS, "    for (int i"),
        ("Of $kernel", f"int x;\n{KERNEL}", "__global__"),
        ("Of $unfused", "void f(float* a) {\n    a[0] += a[1] * 2;\n}\n", "    a[0]"),
    ],
)
def test_an_answer_begins_with_all_before_the_place_that_the_recipe_names(
    recipe: str, code: str, before: str
) -> None:
    assert beginning(code, ("sums",), recipe) == FENCE + code[: code.index(before)]


@pytest.mark.parametrize(
    ("recipe", "code", "before", "opened"),
    [
        ("Write $begin`#pragma unroll` at $inner", SUMS, "        for (int i", "#pragma unroll"),
        ("At $share $begin`int $item = $thread;`", KERNEL, "    for", f"int i = {NUMBER};"),
        ("$begin`$fused` for `$unfused`", THREADS, "sum += ", FUSED),
    ],
)
def test_an_answer_begins_with_the_code_that_the_recipe_has_there(
    recipe: str, code: str, before: str, opened: str
) -> None:
    begun = beginning(code, (), recipe)
    assert begun.endswith("\n") == opened.startswith("#")  # a directive's line is whole
    begun = begun.removesuffix("\n")
    assert begun.endswith(opened)
    assert begun.removesuffix(opened).rstrip() == FENCE + code[: code.index(before)].rstrip()
    assert "$" not in filled(recipe, facts_of(code))


def test_a_loop_that_each_thread_has_is_not_shared_out() -> None:
    facts = facts_of(THREADS.replace("if (i < m)", "if (i < m && threadIdx.y < 1)"))
    assert "the loop over" not in filled("At $share", facts)


@pytest.mark.parametrize("code", [TWICE, COUNTS, "int x;"])
def test_what_needs_more_than_a_new_head_is_not_begun_with_one(code: str) -> None:
    assert "new" not in beginning(code, (), "$begin`new` at $share")
    assert "new" in beginning(KERNEL, (), "$begin`new` at $share")


@pytest.mark.parametrize("recipe", ["$begin`x` at $share", "$begin`$fused` for `$unfused`"])
def test_where_a_recipe_finds_no_place_an_answer_begins_without_its_code(recipe: str) -> None:
    assert beginning("void f(float* a) { a[0] = 1; }", ("f",), recipe).endswith("{\n")


def test_where_a_recipe_names_no_loop_an_answer_begins_with_the_head() -> None:
    assert beginning(SUMS, (), "Use $other") == beginning(SUMS, ()) != FENCE
    assert beginning("int x;", (), "$parallel") == FENCE


def test_a_prompt_tells_how_its_kernel_is_to_be_launched() -> None:
    task = replace(TASK, target="cuda", ports=(PORT,), port=PORT)
    prompt = lean(task, technique("At $serial.\nWrite `$kernelname<<<$count, 1>>>`.", "cuda"))
    assert prompt.launch is not None
    assert (prompt.launch.old, prompt.launch.new) == ("<<< 1 , 1 >>>", "<<<n, 1>>>")
    assert lean(task, technique("At $serial.", "cuda")).launch is None
