"""A function with several loops becomes a kernel for each, where they share only arrays."""

import pytest

from tests.port.test_port import HEAD, N, X, Y, ported

STEPS = "for (int s = 0; s < n; ++s) { %s }"
FIRST = "for (int i = 0; i < n; ++i) y[i] = x[i];"
NEXT = "for (int i = 0; i < n; ++i) y[i] += s;"
COUNT = "for (int i = 0; i < n; ++i) y[(int)x[i]] += 1;"


def start(body: str) -> str:
    return ported(f"{HEAD} {{ {body} }}", X, Y, N).start


def test_each_loop_is_a_kernel_and_a_loop_around_them_is_the_hosts() -> None:
    made = start(f"const float half = 0.5f; {FIRST} {STEPS % NEXT} {COUNT.replace('1', 'half')}")
    assert "__global__ void f_kernel_1(const float* x, float* y, int n) {\n" in made
    assert "__global__ void f_kernel_2(float* y, int n, int s) {\n" in made
    assert "f_kernel_3(const float* x, float* y, int n) {\n    const float half = 0.5f;\n" in made
    launch = made.split("void launch")[1]
    assert "    for (int s = 0; s < n; ++s) {\n        const long long count_2 = n;\n" in launch
    assert "f_kernel_2<<<(count_2 + threads - 1) / threads, threads>>>(y, n, s);" in launch
    assert "    f_kernel_3<<<1, 1>>>(x, y, n);\n" in launch


@pytest.mark.parametrize(
    "body",
    [
        f"float sum = 0; {FIRST} for (int i = 0; i < n; ++i) sum += x[i]; y[0] = sum;",
        f"{FIRST} n -= 1; {FIRST}",
        f"const float last = y[0]; {FIRST} {COUNT} y[0] = last;",
        STEPS % f"if (x[s] < 0) break; {NEXT}",
        STEPS % f"if (x[s] < 0) return; {NEXT}",
        STEPS % f"{NEXT} ++s;",
        STEPS % f"float t = y[s]; {NEXT} y[0] = t;",
        f"for (int s = 0; s < x[0]; ++s) {{ {NEXT} }}",
        f"struct P {{ float v; }}; {FIRST} {COUNT.replace('1', 'P{1}.v')}",
        f"{COUNT} {COUNT}",
        "const float first = y[0]; for (int i = 0; i < n; ++i) y[i] -= first;",
        f"{FIRST} ++y; {FIRST}",
        f"{FIRST} y += 1; {FIRST}",
        STEPS % f"{NEXT} std::swap(x, y);",
    ],
)
def test_where_something_else_is_kept_one_thread_does_all(body: str) -> None:
    made = start(body)
    assert made.count("__global__") == 1
    assert "f_kernel<<<1, 1>>>(x, y, n);" in made


def test_memory_that_is_filled_stays_where_it_is() -> None:
    made = start(f"std::memset(y, 0, n * sizeof(float)); {NEXT.replace('s;', 'x[i];')}")
    assert "f_kernel_1<<<1, 1>>>(y, n);" in made
    assert "threads, threads>>>(x, y, n);" in made


def test_an_entry_that_passes_its_parameters_on_is_the_work_that_it_calls() -> None:
    loop = "for (int i = 0; i < m; ++i) b[i] = a[i];"
    work = f"static void work(const float* a, float* b, int m) {{ {loop} }}"
    made = ported(f"{work}\n{HEAD} {{ work(x, y, n); }}", X, Y, N).start
    assert "if (i < m) b[i] = a[i];" in made
    assert "threads, threads>>>(x, y, n);" in made
    other = ported(f"{work}\n{HEAD} {{ work(x, y, n - 1); }}", X, Y, N).start
    assert "work_kernel" not in other


def test_a_loop_of_the_host_whose_variable_is_an_argument_s_name_stays_on_the_device() -> None:
    inner = "for (int i = 0; i < len; ++i) b[i] = b[i] + n;"
    work = (
        f"void g(const float* a, float* b, int len) {{ for (int n = 0; n < 3; ++n) {{ {inner} }} }}"
    )
    made = ported(f"static {work}\n{HEAD} {{ g(x, y, n); }}", X, Y, N).start
    assert made.count("__global__") == 1
    assert "<<<1, 1>>>" in made


def test_an_array_that_is_passed_twice_is_not_two() -> None:
    work = (
        "static void g(float* a, float* b, int m) { for (int i = 1; i < m; ++i) b[i] = a[i - 1]; }"
    )
    both = {**Y, "role": "inout"}
    head = 'extern "C" void f(float* y, int n)'
    made = ported(f"{work}\n{head} {{ g(y, y, n); }}", both, N).start
    assert "threads" not in made


def test_the_host_counts_as_the_function_does() -> None:
    loop = "for (int i = 0; i < 4 - a; ++i) y[i] = x[i];"
    work = f"static void g(const float* x, float* y, int a) {{ {loop} }}"
    a = {"name": "a", "type": "float64", "role": "in", "value": 3.5}
    head = 'extern "C" void f(const float* x, float* y, double a, int n)'
    made = ported(f"{work}\n{head} {{ g(x, y, a); }}", X, Y, a, N).start
    assert "const long long count = 4 - ((int)a);" in made


def test_a_kernel_of_a_namespace_is_launched_there() -> None:
    loop = "for (int i = 1; i < n; ++i) y[i] = y[i - 1];"
    work = f"namespace k {{ void g(const float* x, float* y, int n) {{ {loop} }} }}"
    made = ported(f"{work}\n{HEAD} {{ k::g(x, y, n); }}", X, Y, N).start
    assert "k::g_kernel<<<1, 1>>>(x, y, n);" in made


def test_a_block_that_names_a_parameter_again_stays_a_block() -> None:
    made = start(f"{FIRST} {{ int n = 1; y[0] = n + x[0]; }}")
    assert "{ int n = 1;" in made


def test_what_stands_behind_a_call_that_keeps_nothing_is_the_entry_s() -> None:
    work = "static void g(const float* x, float* y, int m) { y[0] = x[m - 1]; }"
    k = {**N, "name": "returned"}
    head = 'extern "C" int f(const float* x, float* y, int returned)'
    code = f"{work}\n{head} {{ g(x, y, returned); return returned; }}"
    made = ported(code, X, Y, k, returns={"type": "int32"}).start
    assert "return returned; }" in made
    assert "*result = f_work(x, y, returned);" in made


def test_a_default_of_a_parameter_is_none_of_the_kernels() -> None:
    work = "static float g(const float* x, int n = 3) { if (n < 1) return 0; return x[n - 1]; }"
    head = 'extern "C" float f(const float* x, int n)'
    made = ported(f"{work}\n{head} {{ return g(x, n); }}", X, N, returns={"type": "float32"})
    assert "g_kernel(const float* x, int n, float* result)" in made.start
