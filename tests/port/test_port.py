"""Serial code becomes a CUDA program with a part for the model, or there is a reason why not."""

from pathlib import Path
from typing import Any

import pytest

from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.port import NotPorted, Port
from regraph_kg.port.port import port

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus" / "problems"
GOLDEN = ROOT / "tests" / "golden" / "port-spmv.cu"
N = {"name": "n", "type": "int32", "role": "size", "size": "n"}
X = {"name": "x", "type": "float32", "role": "in", "shape": ["n"]}
Y = {"name": "y", "type": "float32", "role": "out", "shape": ["n"]}
HEAD = 'extern "C" void f(const float* x, float* y, int n)'
ADDS = "for (int i = 0; i < n; ++i) s += x[i];"


def problem(
    code: str, *args: dict[str, Any], sizes: tuple[str, ...] = ("n",), **more: Any
) -> Problem:
    return Problem.model_validate(
        {
            "schema": 1,
            "name": "f",
            "entry": "f",
            "sizes": {"check": [dict.fromkeys(sizes, 3)], "time": dict.fromkeys(sizes, 9)},
            "args": args or (X, Y, N),
            "serial_code": code,
            **more,
        }
    )


def ported(code: str, *args: dict[str, Any], **more: Any) -> Port:
    found = port(problem(code, *args, **more))
    assert isinstance(found, Port), found
    return found


def refused(code: str, *args: dict[str, Any], **more: Any) -> str:
    found = port(problem(code, *args, **more))
    assert isinstance(found, NotPorted), found
    assert "\n" not in found.why
    return found.why


@pytest.mark.parametrize("kind", ["std::vector<float>", "const std::vector<float>"])
def test_a_second_name_of_a_container_is_refused(kind: str) -> None:
    body = f"std::vector<float> a(n); {kind}& b = a; for (int i = 1; i < n; ++i) a[i] += b[i - 1];"
    assert "b: another name of a container" in refused(f"{HEAD} {{ {body} }}")


def test_a_port_reads_as_it_always_did(request: pytest.FixtureRequest) -> None:
    spmv = load_problem(CORPUS / "spmv")
    assert isinstance(spmv, Problem)
    made = port(spmv)
    assert isinstance(made, Port)
    if request.config.getoption("--write-golden"):
        GOLDEN.write_text(made.whole(made.start))
    assert made.whole(made.start) == GOLDEN.read_text()


@pytest.mark.parametrize(
    ("name", "parallel"),
    [
        ("histogram", True),
        ("matmul", True),
        ("nbody", True),
        ("prefix-sum", True),
        ("reduction", True),
        ("spmv", True),
        ("stencil", True),
    ],
)
def test_each_problem_of_the_corpus_has_a_port(name: str, parallel: bool) -> None:
    given = load_problem(CORPUS / name)
    assert isinstance(given, Problem)
    made, alone = port(given), port(given, one_thread=True)
    assert isinstance(made, Port)
    assert isinstance(alone, Port)
    assert made.parallel == parallel
    assert not alone.parallel
    assert "<<<1, 1>>>" in alone.start
    assert f"void {given.entry}(" not in made.start
    assert made.signature in made.start
    assert made.part(made.whole(made.start)) == made.start


def test_all_problems_of_the_corpus_are_looked_at() -> None:
    assert len([*CORPUS.glob("*/problem.toml")]) >= 7


def test_arrays_go_to_the_device_and_back_by_their_roles() -> None:
    z = {**Y, "name": "z", "role": "inout", "shape": ["n + 1", "2*n"]}
    a = {"name": "a", "type": "float64", "role": "in", "value": 2.0}
    head = 'extern "C" void f(const float* x, float* y, float* z, double a, int n)'
    made = ported(f"{head} {{ y[0] = z[0] = a * x[0]; }}", X, Y, z, a, N)
    assert made.signature == "void launch(const float* x, float* y, float* z, double a, int n)"
    assert "const size_t z_bytes = sizeof(float) * (n + 1) * (2 * (1LL * n));" in made.tail
    assert "launch(d_x, d_y, d_z, a, n);" in made.tail
    there, back = made.tail.split("launch(")
    assert "cudaMemcpy(d_x, x" in there
    assert "cudaMemcpy(d_z, z" in there
    assert "cudaMemcpy(d_y" not in there
    assert "cudaMemcpy(y, d_y" in back
    assert "cudaMemcpy(z, d_z" in back
    assert "cudaMemcpy(x" not in back


def test_arrays_of_the_device_are_passed_on() -> None:
    made = ported(f"{HEAD} {{ y[0] = x[0]; }}", metric="device")
    assert made.tail == f"{HEAD} {{\n    launch(x, y, n);\n}}\n"


@pytest.mark.parametrize("metric", ["call", "device"])
def test_what_is_returned_comes_back_by_a_place_on_the_device(metric: str) -> None:
    code = f'extern "C" double f(const float* x, int n) {{ double s = 1; {ADDS} return s; }}'
    made = ported(code, X, N, returns={"type": "float64"}, metric=metric)
    assert made.signature == "void launch(const float* x, int n, double* result)"
    assert "cudaMemcpy(result, &returned, sizeof(returned), cudaMemcpyHostToDevice);" in made.start
    assert "cudaMemcpy(&result, d_result, sizeof(double), cudaMemcpyDeviceToHost);" in made.tail
    assert "return result;" in made.tail


def test_a_size_that_is_passed_otherwise_tells_it_too() -> None:
    rows = {"name": "n", "type": "int64", "role": "size", "size": "n + 1"}
    code = 'extern "C" void f(const float* x, float* y, long long n) { y[0] = x[0]; }'
    made = ported(code, X, Y, rows)
    assert "const size_t x_bytes = sizeof(float) * (n - 1);" in made.tail


def test_a_length_that_no_parameter_tells_is_refused() -> None:
    why = refused('extern "C" void f(const float* x, float* y) { y[0] = x[0]; }', X, Y)
    assert why == "the length of x needs n, which no parameter tells"


def test_what_the_function_calls_and_reads_is_there_on_the_device() -> None:
    code = """
#include <algorithm>
#include <cmath>
#define TWICE 2
constexpr float LEAST = 0.5f;
static const int TABLE[2] = {1, 2};
static inline float bounded(float v) { return std::max(LEAST, std::sqrt(v)); }
float unused(float v) { return v; }
extern "C" void f(const float* x, float* y, int n) {
    y[0] = TWICE * TABLE[1] * bounded(x[0]);
}
"""
    made = ported(code)
    assert made.head == "#include <cuda_runtime.h>\n#include <cmath>\n"
    assert "__device__ static const int TABLE[2]" in made.start
    assert "\nconstexpr float LEAST" in made.start
    assert "__device__ static inline float bounded(float v)" in made.start
    assert "return std_max(LEAST, std::sqrt(v));" in made.start
    assert "__global__ void f_kernel(const float* x, float* y) {" in made.start
    assert "unused" not in made.start


def test_a_struct_is_the_parts_and_is_there_where_an_answer_forgets_it() -> None:
    p = {"name": "p", "type": "struct", "struct": "P", "fields": {"x": "float32", "v": "float32"}}
    code = """
struct P { float x, v; float sum() const { return x + v; } };
extern "C" void f(P* p, int n) { for (int i = 0; i < n; ++i) p[i].x = p[i].sum(); }
"""
    made = ported(code, {**p, "role": "inout", "shape": ["n"]}, N)
    assert "struct P { float x, v; __host__ __device__ float sum()" in made.start
    assert made.whole(made.start).count("struct P {") == 1
    assert made.whole("void launch(P* p, int n) {}").count("struct P {") == 1


def test_a_struct_of_a_namespace_goes_by_the_name_that_the_entry_has_for_it() -> None:
    p = {"name": "p", "type": "struct", "struct": "a_P", "fields": {"x": "float32"}}
    code = """namespace a {
struct P { float x; };
void move(P* p, int n) { for (int i = 0; i < n; ++i) p[i].x += 1; }
}
using a_P = a::P;
extern "C" void f(a_P* p, int n) { a::move(p, n); }
"""
    made = ported(code, {**p, "role": "inout", "shape": ["n"]}, N)
    assert made.parallel
    assert "using a_P = a::P;\nvoid launch(a_P* p, int n)" in made.start
    for part in (made.start, "void launch(a_P* p, int n) {}"):
        assert made.whole(part).count("struct P {") == 1
        assert made.whole(part).count("using a_P = a::P;") == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("std::partial_sort(y, y + 2, y + n);", "std::partial_sort does not run on a GPU"),
        (
            "std::vector<float> v; while (v.size() < y[0]) v.push_back(x[0]);",
            "a vector of a length that is not told",
        ),
        ("float* t; t = new float[n]; y[0] = t[0];", "new: it allocates"),
        ("float* t = 0; t = (float*)malloc(n); y[0] = t[0];", "malloc: it allocates or frees"),
        ("if (n < 0) throw 1;", "throw: a GPU has no exceptions"),
        ("static int calls = 0; y[0] = ++calls;", "f has a static variable"),
        ("if (n) { float t[4096]; y[0] = t[n]; }", "f has 16384 bytes of arrays of its own"),
        ("if (n) { float t[WIDTH]; y[0] = t[n]; }", "an array of WIDTH elements"),
        ("std::vector<std::vector<float>> v(n);", "a vector of vectors"),
        ("std::cout << y[0];", "std::cout does not run on a GPU"),
        ("long double t = x[0]; y[0] = t;", "long double"),
        ("if (n) f(x, y, n - 1);", "f calls itself"),
        ("y[0] = seen;", "a global variable"),
        ("y[0] = twice(x[0]);", "a constant that is computed before main"),
        ("y[0] = Table::w[n];", "a table in a struct"),
        ("y[0] = rsqrt(x[0]);", "rsqrt: CUDA has something of that name"),
        ("float3 v{x[0]}; y[0] = v.x;", "float3: CUDA has something of that name"),
        ("using std::min; y[0] = min(x[0], x[1]);", "hides which names are of std"),
        ('const char* s = R"(\n\n\n)"; y[0] = s[0];', "a raw string"),
        ("static const float k = twice(2);", "f has a static variable"),
        (
            "std::sort(y, y + n, [](float a, float b) { return -a < b; });",
            "sort(y, y + n, [](float a, float b) { return -a < b; });: a GPU sorts",
        ),
        ("TURN(y);", "std::reverse does not run on a GPU"),
    ],
)
def test_what_does_not_run_on_a_gpu_is_refused(body: str, why: str) -> None:
    before = """
int seen;
static const double PI = std::acos(-1.0);
static constexpr auto twice = [](float v) { return 2 * v; };
struct Table { static constexpr float w[2] = {1, 2}; };
static float rsqrt(float v) { return 1 / std::sqrt(v); }
struct float3 { float x, y, z; };
#define TURN(p) std::reverse(p, p + 3)
"""
    assert why in refused(f"{before}{HEAD} {{ {body} }}")


def test_types_that_the_device_spells_otherwise_are_refused() -> None:
    wave = {**X, "type": "complex64"}
    code = 'extern "C" void f(const std::complex<float>* x, float* y, int n) {}'
    assert refused(code, wave, Y, N) == "x is complex64: a GPU has another type for that"


def test_a_file_without_the_entry_is_refused() -> None:
    assert "does not define f once" in refused("void g() {}")


def test_a_vector_of_the_works_own_is_memory_of_launch() -> None:
    made = ported(f"{HEAD} {{ std::vector<float> t(2 * n); t[0] = x[0]; y[0] = t.size(); }}")
    assert "size_t t_size = 2 * n;" in made.start
    assert "cudaMalloc(&t, sizeof(float) * t_size);" in made.start
    assert "cudaMemset(t, 0, sizeof(float) * t_size);" in made.start
    assert "f_kernel<<<1, 1>>>(x, y, t, t_size);" in made.start
    assert "y[0] = t_size;" in made.start
    assert "std::vector" not in made.start


VIEW = """
#include <vector>
template <class T> class View { public: View(T*, std::size_t); };
"""


def test_vectors_that_problem_new_views_are_pointers_and_lengths() -> None:
    code = f"""{VIEW}
static float most(View<const float> v) {{ return v[v.size() - 1]; }}
void work(View<const float> x, View<float> y) {{
    for (auto& one : y) {{
        one = most(x) + x.size();
    }}
}}
{HEAD} {{
    work(View<const float>(x, n), View<float>(y, n));
}}
"""
    made = ported(code)
    assert "most(const float* v, size_t v_size) { return v[v_size - 1]; }" in made.start
    assert "work_kernel(const float* x, float* y, size_t x_size, size_t y_size)" in made.start
    assert "one = most(x, x_size) + x_size;" in made.start
    assert "size_t x_size = n;" in made.start
    assert "threads>>>(x, y, x_size, y_size);" in made.start
    assert "View" not in made.start


def test_a_vector_that_is_returned_goes_where_the_entry_says() -> None:
    code = f"""{VIEW}
std::vector<float> work(View<const float> x) {{
    std::vector<float> out(x.size());
    for (size_t i = 0; i < x.size(); ++i) {{
        out[i] = 2 * x[i];
    }}
    return out;
}}
{HEAD} {{
    const auto returned = work(View<const float>(x, n));
    if (returned.size() != std::size_t(n)) std::abort();
    std::copy(returned.begin(), returned.end(), y);
}}
"""
    made = ported(code)
    assert made.parallel
    assert "work_kernel(const float* x, float* out, size_t x_size)" in made.start
    assert "float* out = y;" in made.start
    assert "cudaMemset(out, 0, sizeof(float) * out_size);" in made.start
    assert "return" not in made.start


def test_an_algorithm_of_the_library_is_its_loop() -> None:
    code = f"""{VIEW}
double work(View<const float> x, View<float> y) {{
    std::transform(x.begin(), x.end(), y.begin(), [](float x) {{ return 2 * x; }});
    return std::accumulate(x.cbegin(), x.cend(), 0.0);
}}
extern "C" double f(const float* x, float* y, int n) {{
    const auto returned = work(View<const float>(x, n), View<float>(y, n));
    return returned;
}}
"""
    made = ported(code, returns={"type": "float64"})
    assert "__device__ T std_accumulate(In first, In last, T sum) {" in made.start
    assert "std_transform(x, (x + x_size), y, [](float x) { return 2 * x; });" in made.start
    assert "*result = std_accumulate(x, (x + x_size), 0.0);" in made.start


def test_vectors_of_bool_that_problem_new_copies_are_pointers_too() -> None:
    flags = {"name": "y", "type": "bool", "role": "inout", "shape": ["n"]}
    code = f"""{VIEW}
void work(View<const float> x, std::vector<bool>& y) {{
    for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0;
}}
extern "C" void f(const float* x, bool* y, int n) {{
    std::vector<bool> y_copy(y, y + n);
    work(View<const float>(x, n), y_copy);
    if (y_copy.size() != std::size_t(n)) std::abort();
    std::copy(y_copy.begin(), y_copy.end(), y);
}}
"""
    made = ported(code, X, flags, N)
    assert made.parallel
    assert "work_kernel(const float* x, bool* y, size_t x_size)" in made.start


def test_a_constant_that_is_computed_before_main_is_computed_by_a_kernel() -> None:
    code = f"""#include <array>
#include <cmath>
namespace a {{
static std::array<int, 4> made() {{ std::array<int, 4> t{{}}; t[1] = 2; return t; }}
const std::array<int, 4> TABLE = made();
const auto PI = std::acos(-1.0);
}}
{HEAD} {{ for (int i = 0; i < n; ++i) y[i] = a::TABLE[i % 4] * a::PI; }}
"""
    made = ported(code)
    assert "__device__ static std_array<int, 4> made()" in made.start
    assert "__device__ std_array<int, 4> TABLE;" in made.start
    assert "__device__ decltype(std::acos(-1.0)) PI;" in made.start
    assert "a::set_TABLE<<<1, 1>>>();\n    a::set_PI<<<1, 1>>>();" in made.start
    assert made.parallel
