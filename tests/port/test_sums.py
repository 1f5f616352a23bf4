"""A sum that ends in an element is added to it by a kernel of its own."""

import pytest

from tests.port.test_port import HEAD, N, X, Y, ported

LOOP = "for (int i = 0; i < n; ++i) s += x[i];"
RETURNS = 'extern "C" float f(const float* x, int n)'
FLOAT = {"type": "float32"}


def start(body: str) -> str:
    return ported(f"{HEAD} {{ {body} }}", X, Y, N).start


def test_the_element_is_cleared_and_the_sum_added_to_it() -> None:
    made = start(f"const int m = n / 2; float s = 0.0f; {LOOP.replace('< n', '< m')} y[0] = s;")
    assert (
        made
        == """\
__global__ void f_kernel(const float* x, float* y, int n) {
    const int m = n / 2;
    float s = 0.0f;
    for (int i = 0; i < m; ++i) s += x[i];
    y[0] += s;
}

void launch(const float* x, float* y, int n) {
    cudaMemset(y, 0, sizeof(*y));
    f_kernel<<<1, 1>>>(x, y, n);
}
"""
    )


def test_what_is_made_of_the_sum_is_a_kernel_behind_it() -> None:
    made = start(f"float s = 0; {LOOP} *y = sqrtf(s / n);")
    assert "    *y += s;\n" in made
    assert "cudaMemset(y + 3, 0, sizeof(*y));" in start(f"float s = 0; {LOOP} y[3] = s;")
    assert "f_kernel_2(float* y, int n) {\n    float s = *y;\n    *y = sqrtf(s / n);\n}" in made
    assert "f_kernel_2<<<1, 1>>>(y, n);" in made


def test_a_function_that_returns_its_sum_is_the_kernel() -> None:
    code = f"{RETURNS} {{ float result = 0; {LOOP.replace('s +=', 'result +=')} return result; }}"
    made = ported(code, X, N, returns=FLOAT).start
    assert "f_kernel(const float* x, int n, float* result_2) {\n" in made
    assert "    *result_2 += result;\n" in made
    assert "    cudaMemset(result, 0, sizeof(*result));\n" in made
    assert "f_kernel<<<1, 1>>>(x, n, result);" in made


def test_attributes_of_a_function_that_returns_its_sum_are_left_out() -> None:
    work = f"[[nodiscard]] float g(const float* x, int n) {{ float s = 0; {LOOP} return s; }}"
    code = f"{work}\n{RETURNS} {{ return g(x, n); }}"
    assert "(__device__)" not in ported(code, X, N, returns=FLOAT).start


def test_a_function_that_returns_a_number_beside_a_loop_has_threads_too() -> None:
    head = 'extern "C" float f(const float* x, float* y, int n)'
    loop = "for (int i = 0; i < n; ++i) y[i] = x[i];"
    made = ported(f"{head} {{ {loop} return 1; }}", X, Y, N, returns=FLOAT).start
    assert "y[i] = x[i];" in made.split("f_kernel_2")[0]
    assert "*result = 1;" in made
    assert "f_kernel_2<<<1, 1>>>(result);" in made


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("y[0], y[1]", "*result = (y[0], y[1]);"),
        ("/* the last */ y[n - 1]", "*result = y[n - 1];"),
        ("{y[0]}", "*result = f_work(x, y, n);"),
    ],
)
def test_what_is_returned_may_be_spelled_otherwise(said: str, kept: str) -> None:
    head = 'extern "C" float f(const float* x, float* y, int n)'
    code = f"{head} {{ for (int i = 0; i < n; ++i) y[i] = x[i]; return {said}; }}"
    assert kept in ported(code, X, Y, N, returns=FLOAT).start


def test_the_one_kernel_behind_a_clearing_gets_what_it_takes() -> None:
    z = {**Y, "name": "z"}
    head = 'extern "C" void f(const float* x, float* y, float* z, int n)'
    made = ported(f"{head} {{ float s = 0; {LOOP} y[0] = s; }}", X, Y, z, N).start
    assert "f_kernel(const float* x, float* y, int n)" in made
    assert "f_kernel<<<1, 1>>>(x, y, n);" in made


def test_a_macro_s_names_are_a_kernel_s_too() -> None:
    made = ported(f"#define COUNT n\n{HEAD} {{ float s = 0; {LOOP} y[0] = s / COUNT; }}", X, Y, N)
    assert "f_kernel_2(float* y, int n)" in made.start


def test_what_is_returned_is_rounded_as_the_function_does() -> None:
    code = f"{RETURNS.replace('float f', 'int f')} {{ return x[n - 1] / 2; }}"
    loop = code.replace("return", "for (int i = 0; i < n; ++i) y[i] = x[i]; return").replace(
        "const float* x", "const float* x, float* y"
    )
    made = ported(loop, X, Y, N, returns={"type": "float64"}).start
    assert "*result = (int)(x[n - 1] / 2);" in made


@pytest.mark.parametrize(
    "body",
    [
        f"float s = 1; {LOOP} y[0] = s;",
        f"float s = 0; {LOOP} y[n] = s;",
        f"float s = 0; {LOOP} y[0] += s;",
        f"double s = 0; {LOOP} y[0] = s;",
        f"float s = y[0]; {LOOP} y[0] = s;",
        f"float s = 0; {LOOP} y[0] = s + y[1];",
        f"float s = 0; {LOOP} y[0] = s; y[1] = s;",
        f"float s = 0, t = 0; {LOOP} y[0] = s + t;",
        "float s = 0; for (int i = 0; i < n; ++i) { s += x[i]; y[i] = s; } y[0] = s;",
        "float s = 0; for (int i = 0; i < n; ++i) s = s * x[i]; y[0] = s;",
        "float s = 0; for (int i = 0; i < n; ++i) s += s * x[i]; y[0] = s;",
        "float s = 0; for (int i = 0; i < n; ++i) { if (x[i] < 0) return; s += x[i]; } y[0] = s;",
        "float s = 0; int k = 0; for (int i = 0; i < n; ++i) { s += x[k]; ++k; } y[0] = s;",
        "float s = 0; for (int i = 0; i < n; ++i) { float s = 0; s += x[i]; } y[0] = s;",
        f"float s = 0; float old = s; {LOOP} y[0] = s - old;",
    ],
)
def test_another_sum_stays_where_it_is(body: str) -> None:
    made = start(body)
    assert made.count("__global__") == 1
    assert "f_kernel<<<1, 1>>>(x, y, n);" in made


@pytest.mark.parametrize(
    "body",
    [
        f"if (n < 1) return 0; float s = 0; {LOOP} return s;",
        f"float s = 0; {LOOP} if (s > 0) return s; return 0;",
        f"auto g = [](float a) {{ return a; }}; float s = 0; {LOOP} return g(s);",
    ],
)
def test_a_function_that_returns_elsewhere_too_is_called_by_the_kernel(body: str) -> None:
    made = ported(f"{RETURNS} {{ {body} }}", X, N, returns=FLOAT).start
    assert "*result = f_work(x, n);" in made
