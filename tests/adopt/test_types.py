"""Types that people use: what a parameter is, in the problem and on both ways to the function."""

import subprocess
from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import understand
from regraph_kg.adopt.texts import home, serial_code
from regraph_kg.cpp.functions import parsed
from regraph_kg.errors import BadInput


def of(code: str, **said: dict[str, tuple[str, ...]]) -> Draft:
    code = f"#include <array>\n#include <vector>\n{code}"
    return Draft(understand(parsed(Path("own.cpp"), code.encode()), "f"), Said(**said))


def compiled(draft: Draft) -> str:
    code = serial_code(draft, draft.plain())
    command = ["g++", "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    subprocess.run(command, input=code.encode(), check=True)
    return code


EACH = "{ for (int i = 0; i < n; ++i) for (int k = 0; k < 3; ++k) x[i][k] *= 2; }"


@pytest.mark.parametrize(
    ("head", "shape"),
    [
        ("using V = std::array<float, 3>; void f(std::vector<V>& x, int n)", ["n", "3"]),
        ("typedef std::array<float, 3> V; void f(V* x, int n)", ["n", "3"]),
        ("constexpr int D = 2; void f(std::array<float, D + 1>* x, int n)", ["n", "3"]),
        ("enum { D = 3 }; void f(std::array<float, D>* x, int n)", ["n", "3"]),
        ("struct C { static constexpr int D = 3; };\nvoid f(float (*x)[C::D], int n)", ["3*n"]),
        ("#define D 6\nvoid f(float x[][D / 2], int n)", ["3*n"]),
        ("void f(float (*x)[3], int n)", ["3*n"]),
    ],
)
def test_rows_of_a_fixed_length_are_one_array(head: str, shape: list[str]) -> None:
    draft = of(f"{head} {EACH}")
    told = draft.arguments()[0]
    assert (told["type"], told["shape"], told["role"]) == ("float32", shape, "inout")
    assert serial_code(draft, draft.plain()).count("float* x") == 1


def test_lanes_that_are_said_again_are_no_extents() -> None:
    code = f"void f(std::vector<std::array<float, 3>>& x, int n) {EACH}"
    for said in (("n",), ("n", "3")):
        assert of(code, shapes={"x": said}).arguments()[0]["shape"] == ["n", "3"]


def test_arrays_of_arrays_are_returned_and_nest() -> None:
    draft = of(
        "using M = std::array<std::array<double, 2>, 2>;\nstd::vector<M> f(const std::vector<M>& x)"
        " { std::vector<M> y(x.size()); for (size_t i = 0; i < x.size(); ++i) y[i][0][1] ="
        " x[i][1][0]; return y; }"
    )
    told = {arg["name"]: arg.get("shape") for arg in draft.arguments()}
    assert told["x"] == ["n", "2", "2"]
    assert told["result"] == ["n", "2", "2"]


@pytest.mark.parametrize(
    ("enum", "kind", "value"),
    [
        ("enum Mode { ADD, MULTIPLY };\nvoid f(float* x, int n, enum Mode m)", "int32", 0),
        (
            "enum class Mode : unsigned char { A = 4, B };\nvoid f(float* x, int n, Mode m)",
            "uint8",
            4,
        ),
        ("typedef enum { A = 1, B } Mode;\nvoid f(float* x, int n, Mode m = B)", "int32", 2),
        (
            "namespace a { enum class Mode { A, B = 7 };\n"
            "void f(float* x, int n, const Mode m = Mode::B)",
            "int32",
            7,
        ),
    ],
)
def test_an_enumeration_is_one_of_its_values(enum: str, kind: str, value: int) -> None:
    body = " { for (int i = 0; i < n; ++i) x[i] *= 1 + (int)m; }" + "}" * ("namespace" in enum)
    draft = of(enum + body)
    assert draft.arguments()[2] == {"name": "m", "type": kind, "role": "in", "value": value}
    plain = draft.plain()
    assert "Mode>(m)" in serial_code(draft, plain)
    assert "static_cast<" in home(draft, plain, Path()).wrapper


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("void f(float *x[3], int n)", "a pointer to pointers"),
        ("void f(std::vector<std::vector<float>>& x, int n)", "not one array of numbers"),
        ("void f(std::array<float, m>* x, int n)", "of a length that this file lacks"),
        ("struct P { float a; };\nvoid f(std::array<P, 3>* x, int n)", "an array of structs"),
    ],
)
def test_what_is_no_array_is_refused_with_the_true_reason(head: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        of(f"{head} {EACH}")


@pytest.mark.parametrize(
    "head",
    [
        "float f(const std::vector<std::pair<float, float>>& x)",
        "using P = std::pair<float, float>; float f(std::vector<P> x)",
    ],
)
def test_pairs_are_structs_of_two_numbers(head: str) -> None:
    draft = of(
        f"#include <utility>\n{head} {{ float s = 0; for (auto& p : x) s += p.second; return s; }}"
    )
    told = draft.arguments()[0]
    assert told["fields"] == {"first": "float32", "second": "float32"}
    assert "std::pair<float, float>" in serial_code(draft, draft.plain())


def test_a_pair_with_padding_is_refused() -> None:
    with pytest.raises(BadInput, match="padding"):
        of("void f(std::vector<std::pair<int, double>>& x) { x[0].first = 1; }")


@pytest.mark.parametrize("kind", ["int", "const double", "bool"])
def test_a_parameter_without_a_name_is_passed_on_as_nothing(kind: str) -> None:
    draft = of(f"void f({kind}, float* x, int n) {{ for (int i = 0; i < n; ++i) x[i] *= 2; }}")
    told = home(draft, draft.plain(), Path())
    assert "f_entry({}, x, n)" in told.wrapper
    assert draft.arguments()[0]["name"] == "unnamed_1"


def test_an_array_without_a_name_is_refused() -> None:
    with pytest.raises(BadInput, match="parameter 1 has no name"):
        of("void f(const int*, float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }")


@pytest.mark.parametrize("scope", ["", "static ", "namespace {{ {} }}"])
def test_a_parameter_may_be_called_like_its_function(scope: str) -> None:
    code = "void f(const std::vector<int>& x, std::vector<int>& f) { f[0] += x[1]; }"
    draft = of(scope.format(code) if "{" in scope else scope + code)
    assert "    regraph_own(View<const int>(x, 2), View<int>(f, 1));" in compiled(draft)


def test_a_macro_for_a_word_of_the_language_is_kept() -> None:
    draft = of(
        "#ifdef __cplusplus\n#define restrict __restrict\n#endif\n"
        "void f(float *restrict x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }"
    )
    assert "#define restrict __restrict" in serial_code(draft, draft.plain())
