"""A loop's iterations are threads only where no two of them touch one element."""

import time

import pytest

from regraph_kg.models.port import Port
from regraph_kg.port.port import port

from .test_port import HEAD, problem


def is_parallel(body: str, before: str = "") -> bool:
    made = port(problem(f"{before}\n{HEAD} {{ {body} }}"))
    assert isinstance(made, Port), made
    return made.parallel


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; ++i) y[i] = x[i];",
        "for (int i = 0; i < n; i++) { y[i] += x[n - i - 1]; }",
        "for (int i = 1; i <= n - 2; i += 1) { y[i + 1] = x[i]; }",
        "for (int i = 0; i < n / 3; ++i) { y[3 * i] = 1; y[3 * i + 2] = 2; }",
        "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) { y[i * n + j] = j; } }",
        "for (int i = 0; i < n; ++i) { for (int j = 1; j < n - 1; ++j) { y[j + n * i] = j; } }",
        "for (int i = 0; i < n; ++i) { for (int d = 0; d < 3; ++d) { y[3 * i + d] = d; } }",
        "for (int i = 0; i < n; ++i) { float s = 0, t[2]; s += x[i]; t[0] = s; y[i] = t[0]; }",
        "for (int i = 0; i < n; ++i) { for (;;) { break; } y[i] = std::sqrt(x[i]); }",
        "(void)n; const float a = 2; for (int i = 0; i < n; ++i) y[i] = a * x[i];",
        "for (int i = 0; i < n; ++i) { int j = 7; y[i * n + j] = j; }",
        "for (int i = 0; i < n; ++i) { float* p = y + i; p[1] = 1; }",
        "for (int i = 0; i < n; ++i) { if (x[i] < 0) continue; y[i] = 1; }",
        "int m = n; for (int i = 0; i < n; ++i) { m = i; y[i] = m; }",
        "int i; double t; for (i = 0; i < n; i++) { t = x[i]; y[i] = y[i] + t; }",
        "int i = 0; while (i != n) { y[i] = x[i]; ++i; }",
        "const int k[2] = {1, 2}; for (int i = 0; i < n; ++i) y[i] = k[i % 2];",
        "int m = n - 1; for (int i = 0; i < m; ++i) y[i] = x[i];",
        "if (n == 3) return; for (int i = 0; i < n; ++i) y[i] = 1;",
        "for (int i = 0; i < n; ++i) y[0] += x[i];",
        "float s = 0; for (int i = 0; i < n; ++i) { s += x[i]; y[i] = s; }",
        "for (int i = 1; i < n; ++i) y[i] = y[i - 1] + x[i];",
        "const int m = x[0]; for (int i = 0; i < m; ++i) y[i] = 1;",
    ],
)
def test_iterations_that_are_apart_are_threads(body: str) -> None:
    assert is_parallel(body)


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0; for (int i = 0; i < n; ++i) { s = s / 2 + x[i]; y[i] = s; }",  # carried
        "for (int i = 1; i < n; ++i) y[i] = y[i - 1] / 2 + x[i];",
        "for (int i = 0; i < n; ++i) y[i / 2] = x[i];",
        "int k[2] = {1, 2}; for (int i = 0; i < n; ++i) y[i] = k[i % 2]++;",
        "int i; for (i = 0; i < n; i++) y[i] = x[i]; y[0] = i;",
        "float t = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) t = x[i]; y[i] = t; }",
        "float t; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t; } if (x[0] > 0) y[0] = t;",
        "for (int i = 0; i < n; ++i) y[(int)x[i]] = 1;",
        "for (int i = 0; i < n; ++i) y[i % 4] = 1;",
        "for (int i = 0; i < n; ++i) { y[2 * i] = 1; y[2 * i + 2] = 2; }",
        "for (int i = 0; i < n; ++i) { y[i] = 1; y[i + 1] = 2; }",
        "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) { y[i * n + j] = y[j]; } }",
        "float s = 0; for (int i = 0; i < n; ++i) { float& r = s; r += x[i]; y[i] = r; }",
        "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) { ++j; y[i * n + j] = j; } }",
        "for (int i = 0; i < n; ++i) { float& p = y[0]; p = 1; }",
        "for (int i = 0; i < n; ++i) { *(y + i / 2) = 1; }",
        "for (int i = 0; i < n; ++i) { if (x[i] < 0) break; y[i] = 1; }",
        "for (int i = 0; i < n; ++i) { if (x[i] < 0) return; y[i] = 1; }",
        "for (int i = 0; i < n; ++i) { y[i] = 1; ++i; }",
        "for (int i = 0; i < n; ++i) { y[i] = 1; n -= 1; }",
        "for (auto i = 0; i < n; ++i) y[i] = 1;",
        "for (int i = n - 1, j = 0; j < n; ++j) y[j] = x[j] * i;",
        "for (int i = 0; i < x[0]; ++i) y[i] = 1;",
    ],
)
def test_others_are_the_work_of_one_thread(body: str) -> None:
    assert not is_parallel(body)


NEXT = "float next(float& s) { return s += 1; }"
TYPES = """
struct Draw { float s; float next() { return s += 1; } };
struct Sum { float& to; void add(float v) { to += v; } };
struct View { float* at; void add(int i, float v) const { at[i] += v; } };
struct Two { Sum a; };
"""


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (TYPES, "Draw d{1}; for (int i = 0; i < n; ++i) y[i] = d.next();"),
        (TYPES, "for (int i = 0; i < n; ++i) { Sum s{y[0]}; s.add(x[i]); }"),
        (TYPES, "for (int i = 0; i < n; ++i) { Sum s = {y[0]}; s.add(x[i]); }"),
        (TYPES, "for (int i = 0; i < n; ++i) { View v(y); v.add(0, x[i]); }"),
        (TYPES, "for (int i = 1; i < n; ++i) { View v{y}; y[i] = v.at[i - 1]; }"),
        (
            f"{TYPES} struct Two {{ Sum a; }};",
            "for (int i = 0; i < n; ++i) { Two t{{y[0]}}; t.a.to += x[i]; }",
        ),
        (TYPES, "const View v{y}; for (int i = 0; i < n; ++i) v.add(i / 2, x[i]);"),
        (f"{NEXT}\n#define N2 next", "float s = 0; for (int i = 0; i < n; ++i) y[i] = N2(s);"),
        (NEXT, "float s = 0; for (int i = 0; i < n; ++i) y[i] = next(s);"),
        ("int next(int& j);", "for (int i = 0; i < n; ++i) { y[i] = 1; next(n); }"),
        (
            "int next(int& j);",
            "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) y[i * n + j] = next(j);",
        ),
        ("", "const auto p = y; for (int i = 1; i < n; ++i) y[i] = p[i - 1];"),
        ("", "const double m = n; for (int i = 0; i < m; ++i) y[i] = 1;"),
        ("#define Y(k) y[(k)]", "for (int i = 1; i < n; ++i) y[i] = Y(i - 1);"),
        (
            "float before(const float& v) { return *(&v - 1); }",
            "for (int i = 1; i < n; ++i) y[i] = before(y[i]);",
        ),
        ("#define PREV(e) *(&(e) - 1)", "for (int i = 1; i < n; ++i) y[i] = PREV(y[i]);"),
        (
            "struct S { float v; void operator<<(float a) { v += a; } };",
            "S s; for (int i = 0; i < n; ++i) { s << x[i]; y[i] = s.v; }",
        ),
        ("#define P y", "for (int i = 1; i < n; ++i) y[i] = *(P + i - 1);"),
        (
            "#define ADD(k) k = k / 2 + 1",
            "float s = 0; for (int i = 0; i < n; ++i) { ADD(s); y[i] = s; }",
        ),
        (
            "#define LEAVE(v) if (v) return",
            "for (int i = 0; i < n; ++i) { LEAVE(x[i]); y[i] = 1; }",
        ),
    ],
)
def test_what_is_changed_out_of_sight_is_the_work_of_one_thread(before: str, body: str) -> None:
    assert not is_parallel(body, before)


@pytest.mark.parametrize("macro", ["#define SQ(x) ((x) * (x))", "#define SQ(v) std::max(v, 1.0f)"])
def test_a_macro_that_only_reads_what_it_gets_changes_nothing(macro: str) -> None:
    assert is_parallel("float a = 2; for (int i = 0; i < n; ++i) y[i] = SQ(a) + x[i];", macro)


@pytest.mark.parametrize(("told", "parallel"), [("", False), (" const", True)])
def test_an_operator_may_change_what_it_gets(told: str, parallel: bool) -> None:
    before = f"struct S {{ float v; float operator<<(float a){told} {{ return a; }} }};"
    body = "float a = 1; for (int i = 0; i < n; ++i) { S s{x[i]}; y[i] = s << a; }"
    assert is_parallel(body, before) == parallel


@pytest.mark.parametrize("kind", ["float y[]", "vec y"])
def test_what_is_an_array_is_told_by_the_problem(kind: str) -> None:
    code = f"""typedef float* vec;
static void add({kind}, int i) {{ y[i / 2] += 1; }}
extern "C" void f(const float* x, {kind}, int n) {{ for (int i = 0; i < n; ++i) add(y, i); }}
"""
    made = port(problem(code))
    assert isinstance(made, Port)
    assert not made.parallel


def test_a_wide_index_is_computed_in_its_own_type() -> None:
    made = port(problem(f"{HEAD} {{ for (long i = -1; i < n; ++i) y[i + 1] = 1; }}"))
    assert isinstance(made, Port)
    assert "long i = (long)blockIdx.x * blockDim.x + threadIdx.x + (-1);" in made.start


def test_a_step_that_ends_early_ends_its_thread() -> None:
    made = port(
        problem(f"{HEAD} {{ for (int i = 0; i < n; ++i) {{ if (x[i] < 0) continue; y[i] = 1; }} }}")
    )
    assert isinstance(made, Port)
    assert "if (x[i] < 0) return;" in made.start


def test_many_writes_take_little_time() -> None:
    writes = " ".join(f"y[8 * i + j] += x[i + {k}];" for k in range(1000))
    start = time.process_time()
    loop = f"for (int i = 0; i < n; ++i) {{ for (int j = 0; j < 8; ++j) {{ {writes} }} }}"
    assert is_parallel(loop)
    assert time.process_time() - start < 15  # 4 s; in squared time it would be minutes


@pytest.mark.parametrize(
    ("call", "parallel"),
    [
        ("y[i] = h(&x[i], 0);", True),
        ("y[i] = h(x, i);", True),
        ("y[i] = h(y, i);", False),
        ("g(y[i]);", True),
        ("g(y[0]);", False),
        ("g(*y);", False),
        ("const auto g2 = [&](int k) { y[k] = 1; }; g2(0);", False),
    ],
)
def test_what_a_function_gets_it_may_write(call: str, parallel: bool) -> None:
    before = "float g(float& v) { return v += 1; } float h(const float* v, int i) { return v[i]; }"
    assert is_parallel(f"for (int i = 0; i < n; ++i) {{ {call} }}", before) == parallel


def test_a_bound_is_told_where_the_kernel_is_started() -> None:
    made = port(problem(f"{HEAD} {{ int m = n - 1; for (int i = 1; i < m; ++i) y[i] = x[i]; }}"))
    assert isinstance(made, Port)
    assert "int i = blockIdx.x * blockDim.x + threadIdx.x + 1;" in made.start
    launch = made.start[made.start.index("void launch") :]
    count = "const long long count = (long long)m - 1;"  # an unsigned m of 0 wraps around
    assert f"int m = n - 1;\n    {count}" in launch
