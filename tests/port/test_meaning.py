"""A port means what the serial code does: lengths, names, types, and what is of the library."""

import pytest

from .test_port import HEAD, N, X, Y, ported, refused

LOOP = "for (int i = 0; i < n; ++i) y[i] = x[i];"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("n += 7; std::vector<float> t(n);", "n += 7;\n    size_t t_size = n;"),
        ("std::vector<float> t(WIDTH);", "size_t t_size = (n + 1);"),
        ("std::vector<float> s(n), t(2 * n);", "size_t t_size = 2 * n;"),
        ("const int m = n / 2; std::vector<float> t(m + 1);", "const int m = n / 2;\n"),
        ("std::vector<float> s(n); std::vector<float> t(s.size());", "size_t t_size = s_size;"),
        ("const int m = x[0]; std::vector<float> t(m);", "cudaMemcpyFromSymbol(&m, kept_m,"),
    ],
)
def test_the_length_of_a_vector_is_what_the_host_can_compute(made: str, said: str) -> None:
    code = f"#define WIDTH (n + 1)\nint g(int v);\n{HEAD} {{ {made} y[0] = t[0] + t.size(); }}"
    assert said in ported(code).start.split("void launch")[1]


@pytest.mark.parametrize("at", ["at", "t_at"])
def test_names_of_ours_are_new_ones(at: str) -> None:
    body = f"std::vector<float> t(n, {at}); for (float v : t) {{ y[0] += v * {at}; }}"
    scale = {"name": at, "type": "float32", "role": "in", "value": 2.0}
    code = f'extern "C" void f(const float* x, float* y, int n, float {at}) {{ {body} }}'
    assert f" {at}_2 = " in ported(code, X, Y, N, scale).start


@pytest.mark.parametrize(
    ("name", "ours"),
    [("count", "count_2 = count;"), ("d_x", "d_x_2 = "), ("x_bytes", "x_bytes_2 = ")],
)
def test_an_argument_may_have_a_name_that_is_also_ours(name: str, ours: str) -> None:
    code = f'extern "C" void f(const float* x, float* y, int {name}) {{ {LOOP} }}'
    made = ported(code.replace("n;", f"{name};"), X, Y, {**N, "name": name})
    assert ours in made.whole(made.start)


def test_what_the_library_starts_otherwise_than_with_zeros_is_made_there() -> None:
    code = f"struct R {{ float least = 1; }};\n{HEAD} {{ std::vector<R> r(n); y[0] = r[0].least; }}"
    made = ported(code)
    assert "if (at < r_size) r[at] = R();" in made.start
    assert "cudaMemset" not in made.start


@pytest.mark.parametrize(
    ("head", "given"),
    [
        ("const int64_t* x, float* y, int n", "((const int64_t*)x, y, n)"),
        ("float* x, float* y, int n", "((float*)x, y, n)"),
        ("const float (*x)[4], float* y, int n", "((const float(*)[4])x, y, n)"),
        ("const float* in, float* out, int len", "float* out = y;"),
    ],
)
def test_arrays_are_passed_as_the_code_takes_them(head: str, given: str) -> None:
    made = ported(f'extern "C" void f({head}) {{ *y = 1; }}'.replace("*y", head.split()[-3][:-1]))
    assert given in made.start


def test_a_function_of_the_file_with_a_name_of_ours_is_refused() -> None:
    code = f"static void launch(float* y) {{ *y = 1; }}\n{HEAD} {{ launch(y); }}"
    assert refused(code) == "launch and device_memory are names of the port's own"


def test_a_list_of_parameters_that_is_another_than_the_problems_is_refused() -> None:
    assert refused('extern "C" void f(int n) {}') == "f does not take what problem.toml lists"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("max = std::max(max, x[0]);", "max = std_max(max, x[0]);"),
        ("max = std::max<float>(n, 2);", "std_max<float>(n, 2)"),
        ("max = std::max(max, x[0], [](float a, float b) { return a < b; });", "T b, Less less)"),
        ("max = std::min({max, x[0], x[1]});", "std_min({max, x[0], x[1]})"),
        ("max = CLAMP(x[0]);", "max = std_min(std_max((x[0]), 0.0f), 1.0f);"),
        ("std::memcpy(&max, x, sizeof max);", " memcpy(&max"),
        (
            "std::vector<float> t(n, std::max(max, 1.0f)); max = t[0];",
            "t[at] = std_max(max, 1.0f);",
        ),
        (
            "std::vector<int> t(n, std::numeric_limits<int>::max()); max = t[0];",
            " = cuda::std::numeric_limits<int>::max();",
        ),
        ("static constexpr float k = 3; max = k;", "const float k = 3;"),
        (
            "struct Sum { float s; void add() { s += 1; } }; Sum s; s.add();",
            "__host__ __device__ v",
        ),
        ("max = clamp(max, LOW);", "__device__ constexpr float LOW"),
        ("max = twice(max);", "__device__ inline float twice("),
        ("P a{1}, b = a + a; max = b.v;", "__device__ P operator+("),
        ("Q q{1}; max = q.v;", "struct Q { float v; };"),
    ],
)
def test_what_is_of_the_library_or_the_file_keeps_its_meaning(code: str, said: str) -> None:
    before = """
#define CLAMP(v) std::min(std::max((v), 0.0f), 1.0f)
constexpr float LOW = 0;
float clamp(const float& v, const float& low) { return v < low ? low : v; }
[[nodiscard]] inline float twice(float v) { return 2 * v; }
struct P { float v; };
P operator+(const P& a, const P& b) { return {a.v + b.v}; }
typedef struct { float v; } Q;
"""
    assert said in ported(f"{before}{HEAD} {{ float max = 0; {code} y[0] = max; }}").start


def test_a_long_expression_and_signs_of_other_scripts_are_read() -> None:
    code = f"static const int K = {' + '.join(['1'] * 2000)}; // one\u2028two\n"
    assert "// one\u2028two\n" in ported(f"{code}{HEAD} {{ y[0] = K; }}").start


def test_headers_of_c_are_kept() -> None:
    assert "<stdint.h>" in ported(f"#include <stdint.h>\n{HEAD} {{ y[0] = uint8_t(n); }}").head


def test_comments_in_a_declaration_are_left_out_of_its_line() -> None:
    body = "const int half = n / 2,  // rows\n m = half; for (int i = 0; i < m; ++i) y[i] = 1;"
    assert (
        "    const int half = n / 2;\n    const int m = half;\n"
        in ported(f"{HEAD} {{ {body} }}").start
    )


def test_a_loop_over_a_container_needs_no_braces() -> None:
    made = ported(f"{HEAD} {{ std::vector<float> t(n); for (auto& v : t) v = x[0]; y[0] = t[0]; }}")
    assert "if (t_at < t_size) {" in made.start
    assert "auto& v = t[t_at]; v = x[0]; }" in " ".join(made.start.split())
