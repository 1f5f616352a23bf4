"""How long arrays are whose lengths neither one product nor a container says."""

from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import understand
from regraph_kg.cpp.functions import parsed


def of(code: str, **shapes: tuple[str, ...]) -> Draft:
    code = f"#include <cmath>\n#include <vector>\n{code}"
    return Draft(understand(parsed(Path("own.cpp"), code.encode()), "f"), Said(shapes))


TABLE = "void f(const int* used, const float* x, float* y, int n, int most)"
ROWS = {
    "a pointer to each row": f"{TABLE} {{ for (int i = 0; i < n; ++i) {{ const float* row"
    " = x + i * most; float s = 0; for (int k = 0; k < used[i]; ++k) s += row[k]; y[i] = s; } }",
    "an index": f"{TABLE} {{ for (int i = 0; i < n; ++i) {{ y[i] = 0; for (int k = used[i] - 1;"
    " k >= 0; --k) y[i] += x[k + most * i]; } }",
    "a length that is looked at again": f"{TABLE} {{ for (int i = 0; i < n; ++i) {{ int k = 0;"
    " y[i] = 1; while (k != used[i]) { if (x[i * most + k] > 2) y[i] = 0; ++k; } } }",
}


@pytest.mark.parametrize("code", ROWS.values(), ids=ROWS)
def test_rows_that_are_partly_used_are_as_wide_as_they_lie_apart(code: str) -> None:
    draft = of(code)
    told = {one["name"]: one for one in draft.arguments()}
    assert told["x"]["shape"] == ["n", "most"]
    assert (told["used"]["shape"], told["used"]["range"]) == (["n"], [0, "most"])


def test_rows_of_a_constant_width_are_rows_too() -> None:
    draft = of(
        "struct Cell { int used; float weight; };\nfloat f(const Cell* c, const std::vector<float>&"
        " x, int n) { float s = 0; for (int i = 0; i < n; ++i) for (int k = 0; k < c[i].used; ++k)"
        " s += c[i].weight * x[40 * i + k]; return s; }"
    )
    told = {one["name"]: one for one in draft.arguments()}
    assert told["x"]["shape"] == ["n", "40"]
    assert told["c"]["ranges"]["used"] == [0, "40"]


LOOP = (
    "for (int k = 0; k < times; ++k)"
    " {{ for (size_t i = 0; i < b.size(); ++i) t[i] = a[i] + b[i]; {} }}"
)
HEAD = "void f(std::vector<float>& a, const std::vector<float>& b, int times)"
SWAPS = {
    "swap": "std::swap(a, t);",
    "a member": "t.swap(a);",
    "a copy": "a = t;",
}


@pytest.mark.parametrize("how", SWAPS.values(), ids=SWAPS)
def test_a_vector_that_is_another_one_now_and_then_has_its_length(how: str) -> None:
    draft = of(f"{HEAD} {{ std::vector<float> t(b.size()); {LOOP.format(how)} }}")
    assert draft.shape("a") == draft.shape("b") == ("b_size",) or draft.shape("a") == ("n",)
    assert not draft.read.watched.arrays["a"].counted
    assert draft.role("a") == "inout"


def test_a_vector_that_is_made_longer_where_it_is_too_short_has_that_length() -> None:
    draft = of(
        "void f(std::vector<float>& a, const std::vector<float>& b) { if (a.size() < b.size())"
        " a.resize(b.size()); for (size_t i = 0; i < b.size(); ++i) a[i] = 2 * b[i]; }"
    )
    assert draft.shape("a") == draft.shape("b") == ("n",)


FOUR = {
    "in order": ("((i * b + j) * c + k) * d + l", "a*b*c*d"),
    "turned round": ("((l * c + k) * b + j) * a + i", "a*b*c*d"),
}


@pytest.mark.parametrize(("index", "length"), FOUR.values(), ids=FOUR)
def test_products_of_four_sizes_are_lengths(index: str, length: str) -> None:
    loops = "".join(
        f"for (int {i} = 0; {i} < {n}; ++{i}) " for i, n in zip("ijkl", "abcd", strict=True)
    )
    draft = of(
        "void f(const float* x, float* y, int a, int b, int c, int d)"
        f" {{ {loops} y[{index}] = 2 * x[{index}]; }}"
    )
    for name in "xy":
        assert sorted("*".join(draft.shape(name)).split("*")) == length.split("*")


def test_a_filter_that_is_cut_off_at_borders_is_as_long_as_its_loops() -> None:
    draft = of(
        "void f(const float* x, const float* w, float* y, int n, int r) { for (int i = 0;"
        " i < n; ++i) { y[i] = 0; for (int k = 0; k < r; ++k) {"
        " int at = i + k - r / 2; if (at < 0 || at >= n)"
        " continue; y[i] += w[k] * x[at]; } } }"
    )
    assert [draft.shape(name) for name in "xwy"] == [("n",), ("r",), ("n",)]


CHOSEN = {
    "a table of rows": (
        "float s = 0; for (int i = 0; i < n; ++i) for (int r = 0; r < k; ++r)"
        " s += t[r * m + at[i]]; return s;",
        ["k", "m"],
    ),
    "planes": (
        "float s = 0; for (int c = 0; c < 3; ++c) for (int i = 0; i < n; ++i)"
        " s += t[at[i] + c * m] / k; return s;",
        ["3", "m"],
    ),
}


@pytest.mark.parametrize(("body", "shape"), CHOSEN.values(), ids=CHOSEN)
def test_what_chooses_an_element_of_each_row_is_less_than_its_width(
    body: str, shape: list[str]
) -> None:
    draft = of(f"float f(const float* t, const int* at, int n, int k, int m) {{ {body} }}")
    told = {one["name"]: one for one in draft.arguments()}
    assert (told["t"]["shape"], told["at"]["range"]) == (shape, [0, "m - 1"])


def test_what_is_appended_has_room_for_the_most_that_was_seen() -> None:
    draft = of(
        "std::vector<int> f(const std::vector<int>& a, const std::vector<int>& b)"
        " { std::vector<int> y; for (size_t i = 0; i < a.size(); ++i) for (size_t k = 0;"
        " k < b.size(); ++k) if (a[i] == b[k]) y.push_back(int(i)); return y; }"
    )
    assert draft.proposed("result") == "a_size*b_size"


def test_a_returned_length_is_exact() -> None:
    draft = of(
        "std::vector<float> f(const std::vector<float>& x) { std::vector<float> y;"
        " for (size_t i = 0; i + 1 < x.size(); ++i) y.push_back(x[i + 1] - x[i]); return y; }"
    )
    assert draft.shape("result") == ("n - 1",)


def test_a_person_names_a_length_that_two_vectors_have() -> None:
    draft = of(
        "void f(const std::vector<float>& x, std::vector<float>& y) {"
        " for (size_t i = 0; i < x.size(); ++i) y[i] += x[i]; }",
        x=("rows",),
        y=("rows",),
    )
    assert draft.sizes["rows"] == "x.size()"
    assert draft.shape("x") == draft.shape("y") == ("rows",)


def test_a_length_that_is_given_a_value_is_no_size() -> None:
    code = "void f(const float* x, float* y, int n, int k) { if (k > 9) k = 9; for (int i = 0;"
    code += " i < n; ++i) for (int j = 0; j < k; ++j) y[i * k + j] = x[i] * j; }"
    source = parsed(Path("own.cpp"), code.encode())
    said = Said(shapes={"y": ("n", "k")}, values={"k": ("4",)})
    draft = Draft(understand(source, "f"), said)
    told = {one["name"]: one for one in draft.arguments()}
    assert (told["k"]["role"], told["k"]["value"], told["y"]["shape"]) == ("in", 4, ["n", "4"])
    assert list(draft.sizes) == ["n"]


def test_a_length_that_is_anothers_follows_the_shape_that_is_said() -> None:
    draft = of(
        "void f(const std::vector<float>& x, const std::vector<int>& rows, std::vector<float>& y)"
        " { for (size_t i = 0; i < x.size(); ++i) y[i] = x[i]; for (size_t r = 0; r < rows.size();"
        " ++r) y[0] += rows[r]; }",
        x=("rows_size", "10"),
    )
    (rows,) = draft.sizes
    assert draft.shape("x") == (rows, "10")
    assert draft.shape("y") == (f"({rows})*(10)",)
