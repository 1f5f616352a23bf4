"""What is understood of a function: shapes, roles, sizes; what is refused, and why."""

from functools import cache
from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import Read, understand
from regraph_kg.adopt.texts import home, serial_code
from regraph_kg.cpp.functions import parsed, read
from regraph_kg.errors import BadInput

TASKS = Path(__file__).parent / "tasks.cpp"


@cache
def understood(function: str) -> Read:
    return understand(read(TASKS), function)


def draft(function: str, said: Said | None = None) -> Draft:
    return Draft(understood(function), said or Said())


def of(code: str, function: str = "f") -> Draft:
    return Draft(understand(parsed(Path("own.cpp"), code.encode()), function), Said())


def told(one: Draft) -> dict[str, str]:
    """Role and shape of each array, by name."""
    listed = [arg for arg in one.arguments() if "shape" in arg]
    return {arg["name"]: f"{arg['role']} {' '.join(arg['shape'])}" for arg in listed}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("dot", {"x": "in n", "y": "in n"}),
        ("relu", {"x": "in n", "out": "out n"}),
        ("gemm", {"A": "in m k", "B": "in k n", "C": "out m n"}),
        ("prefix_sum", {"x": "in n", "result": "out n"}),
        ("jacobi", {"grid": "in rows cols", "next": "inout rows cols"}),
        ("transpose", {"A": "in m n", "B": "out n m"}),
        ("convolve", {"x": "in x_size", "w": "in w_size", "out": "out -w_size + x_size + 1"}),
        ("sort_ascending", {"x": "inout n"}),
        ("image::gain", {"pixels": "inout n", "by": "in 4"}),
        ("Filters::rows", {"in": "in 64*count", "out": "out 64*count"}),
        ("largest<float>", {"x": "in n"}),
        ("mark", {"x": "in n", "marks": "out n"}),
    ],
)
def test_roles_and_shapes_come_from_the_body(function: str, expected: dict[str, str]) -> None:
    assert told(draft(function)) == expected


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("says", r"line 102: says prints \(printf\)"),
        ("counts", "line 105: counts uses calls, which is global and may change"),
        ("rows_apart", "line 108: rows: a pointer to pointers"),
        ("nested", r"line 109: rows: std::vector of std::vector<float>"),
        ("twice", r"'twice\(float\*, int\)' \(line 110\).*'twice\(double\*, int\)' \(line 111\)"),
        ("Model::apply", "line 114: Model::apply is called on an object"),
        ("largest", "--function 'largest<float>'"),
        ("nope", "no function 'nope'; it defines dot"),
    ],
)
def test_what_cannot_be_a_problem_is_refused_with_line_and_reason(function: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        draft(function)


def test_an_overload_is_chosen_by_its_types() -> None:
    assert told(draft("twice(double*, int)"))["x"] == "in n"


def test_serial_code_holds_what_the_function_reaches_and_no_more() -> None:
    one = draft("relu")
    code = serial_code(one, one.plain())
    assert "float positive(float x)" in code  # of the header beside it
    assert "main" not in code
    assert "gemm" not in code
    assert "using real" not in code
    one = draft("jacobi")
    assert "using real = double;" in serial_code(one, one.plain())


def test_a_function_that_is_plain_c_becomes_the_entry_itself() -> None:
    one = draft("transpose")
    code = serial_code(one, one.plain())
    assert 'extern "C" void transpose_entry(const float* A, float* B, int m, int n) {' in code
    assert code.count("{") == 1


def test_home_goes_before_the_functions_own_code_and_its_offsets_are_the_files() -> None:
    one, content = draft("prefix_sum"), TASKS.read_bytes()
    kept = home(one, one.plain(), TASKS.parent / "prefix")
    assert kept.path(TASKS.parent / "prefix") == TASKS
    assert kept.fits(content)
    assert kept.replace[0] == kept.replace[1]
    assert content[: kept.replace[0]].endswith(b"const& x) {")
    assert content[kept.replace[1] :].startswith(b"\n    std::vector<float> sums")
    assert kept.signature == "std::vector<float> prefix_sum(std::vector<float> const& x)"
    assert "std::vector<float> result(x.size());" in kept.wrapper


def test_home_of_a_template_calls_for_its_instance_alone() -> None:
    one, content = draft("largest<float>"), TASKS.read_bytes()
    kept = home(one, one.plain(), TASKS.parent)
    assert kept.replace[0] == kept.replace[1] < kept.definition[1]
    assert content[: kept.replace[0]].endswith(b"{")
    assert kept.wrapper.startswith("\n    if constexpr (std::is_same<T, float>::value) {\n")
    assert kept.includes == ("<type_traits>",)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < n; ++i) x[i] = 0;", "out n"),
        ("for (int i = 0; i < n; ++i) x[i] += 1;", "inout n"),
        ("for (int i = 0; i < n; ++i) if (i % 2) x[i] = 0;", "inout 2*(n // 2)"),
        ("for (int i = 0; i < n / 2; ++i) x[2 * i + 1] = 0;", "inout 2*(n // 2)"),
        ("for (int i = 0; i < n; ++i) for (int j = 0; j <= i; ++j) x[i * n + j] = 0;", "inout n n"),
        ("float* row = x + n; for (int j = 0; j < n; ++j) row[j] = 1;", "inout 2*n"),
    ],
)
def test_extents_and_roles_of_index_expressions(body: str, expected: str) -> None:
    assert told(of(f"void f(float* x, int n) {{ {body} }}"))["x"] == expected


STEPS = "for (int i = 0; i + k <= n + 2 * pad; i += step)"


@pytest.mark.parametrize(
    ("body", "role"),
    [
        (f"int at = 0; {STEPS} y[at++] = x[i / 2];", "out"),
        (f"int at = 0; {STEPS} y[at++] += x[i / 2];", "inout"),
        (f"int at = 0; {STEPS} {{ y[at] = x[i / 2]; at += 2; }}", "inout"),
        (f"int at = 0; {STEPS} if (x[i / 2] > 0.2f) y[at++] = i;", "inout"),
    ],
)
def test_what_is_written_wholly_is_an_output_though_no_formula_says_how_long(
    body: str, role: str
) -> None:
    one = of(f"void f(const float* x, float* y, int n, int k, int pad, int step) {{ {body} }}")
    assert one.role("y") == role


@pytest.mark.parametrize(
    "head",
    [
        "void NO_INLINE f(float* x, int n)",
        "static FORCE_INLINE void f(float* RESTRICT x, int n)",
        "__host__ __device__ void f(float* x, const int n)",
    ],
)
def test_words_for_compilers_before_a_name_do_not_matter(head: str) -> None:
    code = f"{head} {{ for (int i = 0; i < n; ++i) x[i] *= 2; }}\n"
    one = of(code)
    assert told(one) == {"x": "inout n"}
    assert "INLINE" not in serial_code(one, one.plain())
    kept = home(one, one.plain(), Path())
    assert kept.fits(code.encode())
    assert kept.signature == head
    assert kept.declare_at == 0
    assert code.encode()[kept.replace[1] :].startswith(b" for")


def test_capitals_that_are_no_markers_stay() -> None:
    code = "#define N 64\ntypedef float REAL;\nvoid f(REAL x[][N], int n) { x[n - 1][0] = 1; }\n"
    assert told(of(code))["x"] == "inout 64*n - 63"


def test_what_is_said_goes_before_what_is_inferred() -> None:
    said = Said(shapes={"x": ("n", "2")}, roles={"out": "inout"}, values={"x": ("sparse",)})
    one = draft("relu", said)
    assert told(one) == {"x": "in n 2", "out": "inout n"}
    assert one.arguments()[0]["values"] == ["sparse"]


PAIRS = """#include <algorithm>
#include <vector>
void smaller(const std::vector<float>& x, const std::vector<float>& y, std::vector<float>& z) {
    std::transform(x.begin(), x.end(), y.begin(), z.begin(), [](float a, float b) {
        return std::min(a, b);
    });
}
"""


def test_a_parameter_named_as_a_length_is_itself() -> None:
    copy = "for (int i = 0; i < x_size; ++i) y[i] = x[i];"
    head = "void f(const std::vector<float>& x, int x_size, std::vector<float>& y)"
    one = of(f"#include <vector>\n{head} {{ {copy} }}")
    assert one.sizes == {"x_size": "x_size"}
    assert told(one) == {"x": "in x_size", "y": "out x_size"}


@pytest.mark.parametrize("length", ["x_size", "y_size"])
def test_a_length_that_is_said_to_be_anothers_is_no_size_of_its_own(length: str) -> None:
    read = of(PAIRS, "smaller").read
    one = Draft(read, Said(shapes=dict.fromkeys("xyz", (length,))))
    assert one.sizes == {"n": f"{length[0]}.size()"}
    assert told(one) == {"x": "in n", "y": "in n", "z": "out n"}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(shapes={"z": ("n",)}), "--shape z: no such argument; there are x, out"),
        (Said(shapes={"x": ("q",)}), "--shape: no size q"),
        (Said(sizes={"q": 3}), "--size q: no such size; there are n"),
    ],
)
def test_a_name_that_there_is_not_is_named(said: Said, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        draft("relu", said)


def test_a_file_of_ten_thousand_lines_takes_seconds() -> None:
    many = "".join(
        f"void g{i}(float* x, int n) {{\n  for (int j = 0; j < n; ++j)\n    x[j] += {i};\n}}\n\n"
        for i in range(2000)
    )
    one = of(f"{many}void f(float* x, int n) {{ g7(x, n); }}", "f")
    assert told(Draft(one.read, Said(shapes={"x": ("n",)})))["x"] == "inout n"
    assert "g7(" in one.read.part.text
    assert "g8(" not in one.read.part.text


def test_text_that_is_not_utf_8_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "own.cpp"
    path.write_bytes(b"// one\n// caf\xe9\n")
    with pytest.raises(BadInput, match="line 2: not UTF-8"):
        read(path)


def test_what_is_const_must_not_be_written_by_a_cast() -> None:
    with pytest.raises(BadInput, match="line 1: const_cast"):
        of("void f(const float* x, int n) { const_cast<float*>(x)[n - 1] = 0; }")


def test_functions_of_one_name_have_entries_of_their_own() -> None:
    code = "void f(float* x) { x[0] = 1; } void f(double* x) { x[0] = 1; }"
    code += " namespace a { void g(float* x) { x[0] = 1; } }"
    entries = {of(code, name).plain().entry for name in ("f(float*)", "f(double*)", "g")}
    assert len(entries) == 3
    assert "a_g_entry" in entries


@pytest.mark.parametrize(
    "around",
    [
        "#if defined(__GNUC__)\n__attribute__((noinline))\n#endif\n{}",
        "{}\n#ifdef A\nint a;\n#else\nint b;\n#endif\n",
        "#ifndef A\n{}\n#endif\n",
    ],
)
def test_what_is_left_out_takes_no_half_of_a_condition_with_it(around: str) -> None:
    other = around.format("void g(float* x) {\n#ifdef A\nx[0] = 1;\n#endif\n}")
    one = of(f"{other}\nvoid f(float* x, int n) {{ x[n - 1] = 0; }}\n")
    code = serial_code(one, one.plain())
    assert "void g" not in code
    assert code.count("#if") == code.count("#endif")


OVER_Q = "void f(const Q* q, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = q[i].x; }"
UNFIT = [
    ("struct alignas(32) Q { float x, y; };", "Q takes other bytes than its members do"),
    ("struct alignas(2 * 16) Q { float x, y; };", "Q takes other bytes"),
    ("struct Q { float x, y; } __attribute__((aligned(0x10)));", "Q takes other bytes"),
    ("struct Q { float x; alignas(8) float y; };", "Q takes other bytes"),
    ("struct Q { union { float f; int i; }; float x; };", "Q takes other bytes"),
    ("struct Q { float x; struct { float y; }; };", "Q takes other bytes"),
]
FIT = [
    "struct alignas(8) Q { float x, y; };",
    "struct Q { alignas(8) float x; float y; };",
    "struct Q { float x;\n#ifdef A\nfloat z;\n#else\nfloat y;\n#endif\n};",
    "struct Q { struct P { int i; }; enum { A }; float x; /* alignas(64) */ float y; };",
]


@pytest.mark.parametrize("struct", FIT)
def test_what_moves_no_member_of_a_struct_makes_it_no_less_plain(struct: str) -> None:
    fields = of(f"{struct}\n{OVER_Q}").arguments()[0]["fields"]
    assert list(fields) == ["x", "y"]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "struct P { float x; }; struct Q { P a; };\n"
            "void f(const Q* q, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = q[i].a.x; }",
            "struct Q has the member a, which is a struct itself",
        ),
        *((f"{struct}\n{OVER_Q}", why) for struct, why in UNFIT),
        (
            "void f(float* x, int n) { x[n] = 1; }\nvoid f(float* x, int n) { x[n] = 2; }",
            "'f' is defined more than once .lines 1 and 2.: keep one",
        ),
    ],
)
def test_what_a_reader_found_is_refused_in_words(code: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        of(code).arguments()


def test_a_default_argument_is_the_value_of_a_scalar() -> None:
    values = "float a = 2.5f, double b = 1e-3, int k = 7, bool c = false, float d = zero()"
    body = "{ int s = 0; return s + x[n]; }"
    one = of(f"constexpr float zero() {{ return 0; }} int f(const int* x, int n, {values}) {body}")
    said = {argument["name"]: argument.get("value") for argument in one.arguments()}
    assert {name: said[name] for name in "abkcd"} == {
        "a": 2.5, "b": 1e-3, "k": 7, "c": 0, "d": 0.125,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scalars", "body", "expected"),
    [
        ("float alpha, float beta", "x[0] = alpha * x[0] + beta;", [0.25, 0.75]),
        ("float a = 1.5f, float b = 2", "x[0] = a * x[0] + b;", [1.5, 2.0]),
        ("float a, float b = 0.25f", "x[0] = a * x[0] + b;", [0.75, 0.25]),
        ("int r, int s, bool u, bool v", "x[0] = r + 2 * s + u - v;", [3, 13, 1, 0]),
        # what x is compared with lies within where it is drawn, one after the other
        ("float lo, float hi", "if (x[0] >= lo && x[0] < hi) x[0] = 1;", [0.25, 0.75]),
        ("float hi, float lo", "if (x[0] >= lo && x[0] < hi) x[0] = 1;", [0.75, 0.25]),
        ("float a, float b, float c", "x[0] = x[0] < b ? a : c;", [0.125, 0.375, 0.625]),
        (
            "int maxCount, int minCount",
            "if (x[0] > minCount && x[0] < maxCount) x[0] = 1;",
            [13, 3],
        ),
    ],
)
def test_no_two_scalars_are_alike(scalars: str, body: str, expected: list[float]) -> None:
    one = of(f"void f(float* x, int n, {scalars}) {{ x[n - 1] = 0; {body} }}")
    assert [arg["value"] for arg in one.arguments() if "value" in arg] == expected


def test_a_scalar_is_unlike_one_that_was_given() -> None:
    code = b"void f(float* x, float a, float b) { x[0] = a * x[0] + b; }"
    read = understand(parsed(Path("own.cpp"), code), "f")
    told = Draft(read, Said(values={"b": ("0.25",)})).arguments()
    assert [arg["value"] for arg in told if "value" in arg] == [0.75, 0.25]


@pytest.mark.parametrize("head", ["float (*x)[3]", "float x[][3]", "float (*const x)[D]"])
def test_rows_of_a_fixed_length_are_one_array_however_they_are_written(head: str) -> None:
    draft = of(
        f"constexpr int D = 3;\nvoid f({head}, int n) {{ for (int i = 0; i < n; ++i)"
        " for (int k = 0; k < 3; ++k) x[i][k] *= 2; }"
    )
    assert (draft.arguments()[0]["shape"], draft.arguments()[0]["role"]) == (["3*n"], "inout")
