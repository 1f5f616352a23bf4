"""Conditions that narrow an index, row starts, single indices: which sizes and inputs follow."""

from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import understand
from regraph_kg.cpp.functions import parsed

GATHER = "void f(const float* t, int m, const int* k, float* y, int n) {"
EACH = "for (int i = 0; i < n; ++i)"
SPMV = (
    "void f(int n, const int* start, const int* col, const double* v, const double* x, double* y) {"
    f" {EACH} {{ double s = 0; for (int j = start[i]; j < start[i + 1]; ++j) s += v[j] * x[col[j]];"
    " y[i] = s; } }"
)


def of(code: str, said: Said | None = None) -> Draft:
    if "std::" in code:
        code = f"#include <algorithm>\n#include <vector>\n{code}"
    return Draft(understand(parsed(Path("own.cpp"), code.encode()), "f"), said or Said())


def given(one: Draft, name: str) -> str:
    """What is known of an argument: `size`, its value, or shape and range."""
    told = next(arg for arg in one.arguments() if arg["name"] == name)
    if told["role"] == "size" or "value" in told:
        return str(told.get("value", "size"))
    ends = " in {}..{}".format(*told["range"]) if "range" in told else ""
    return " ".join(told["shape"]) + ends


@pytest.mark.parametrize(
    ("body", "table", "index"),
    [
        ("if (k[i] >= 0 && k[i] < m) y[i] = t[k[i]];", "m", "n in -1..m"),
        ("if (k[i] < m) y[i] = t[k[i]];", "m", "n in 0..m"),
        ("if (k[i] < 1 || k[i] > m) continue; y[i] = t[k[i] - 1];", "m", "n in -1..m + 1"),
        ("int j = k[i] + 1; if (!(j < m)) continue; y[i] = t[j];", "m", "n in -1..m - 1"),
    ],
)
def test_an_integer_that_bounds_an_index_is_a_size(body: str, table: str, index: str) -> None:
    one = of(f"{GATHER} {EACH} {{ {body} }} }}")
    assert (given(one, "t"), given(one, "m"), given(one, "k")) == (table, "size", index)


def test_an_index_below_zero_is_given_where_only_that_is_asked_for() -> None:
    head = "void f(const std::vector<float>& t, const std::vector<int>& k, std::vector<float>& y) {"
    loop = "for (unsigned i = 0; i < k.size(); ++i)"
    asked = of(f"{head} {loop} {{ if (k[i] < 0) continue; y[i] = t[k[i]]; }} }}")
    assert given(asked, "k") == "k_size in -1..t_size - 1"
    assert given(of(f"{head} {loop} y[i] = t[k[i]]; }}"), "k") == "k_size in 0..t_size - 1"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (  # a kernel's loop over whole blocks
            "void f(const float* x, float* y, int n, int all) {"
            " for (int i = 0; i < all; ++i) if (i < n) y[i] = 2 * x[i]; }",
            {"x": "n", "y": "n", "n": "size", "all": "size"},
        ),
        (
            "void f(const float* x, float* y, int n, int all) {"
            " for (int i = 0; i < all; ++i) { if (i < n) y[i] = x[i]; else y[i] = 0; } }",
            {"x": "n", "y": "all"},
        ),
        (
            "void f(const float* x, float* y, int n) {"
            f" {EACH} {{ int a = i > 0 ? i - 1 : 0, b = i + 1 < n ? i + 1 : n - 1;"
            " y[i] = x[a] + x[b]; } }",
            {"x": "n", "y": "n"},
        ),
        (
            "void f(const float* x, int w, int h, float* y, int n, float by) {"
            f" {EACH} {{ int u = (int)(i * by), v = (int)(i / by);"
            " y[i] = u >= 0 && v >= 0 && u < w && v < h ? x[v * w + u] : 0; } }",
            {"x": "", "y": "n"},  # how far x reaches depends on by: a person is asked
        ),
        (  # i + 4 <= n, and no more
            "void f(const std::vector<float>& x, float* y) {"
            " for (size_t i = 0; i + 4 <= x.size(); ++i) y[i] = x[i] + x[i + 3]; }",
            {"x": "n", "y": "n"},
        ),
        (  # what is compared is no index
            f"int f(const int* x, int n, int most) {{ int c = 0; {EACH} if (x[i] < most) ++c;"
            " return c; }",
            {"x": "n", "most": "3"},
        ),
    ],
)
def test_a_condition_narrows_an_index(code: str, expected: dict[str, str]) -> None:
    one = of(code)
    assert {name: given(one, name) for name in expected} == expected


def test_elements_between_which_a_loop_runs_ascend() -> None:
    open_ = of(SPMV)
    # how long x is nothing says; rows end where the last start says
    proposed = {"col": "col_size", "v": "col_size", "x": ""}
    assert {name: open_.proposed(name) for name in open_.open} == proposed
    one = of(SPMV, Said(shapes={"col": ("col_size",), "v": ("col_size",), "x": ("n",)}))
    assert one.sizes == {"n": "n", "col_size": "start[n]"}
    assert given(one, "start") == "n + 1 in 0..col_size"
    assert given(one, "col") == "col_size in 0..n - 1"
    assert next(a for a in one.arguments() if a["name"] == "start")["values"] == ["sorted"]


def test_an_array_of_starts_has_one_more_than_what_it_starts() -> None:
    one = of(
        "void f(const int* start, const int* to, int n, int from, int* far) {"
        f" std::vector<int> q; {EACH} far[i] = -1; far[from] = 0; q.push_back(from);"
        " for (size_t h = 0; h < q.size(); ++h) for (int e = start[q[h]]; e < start[q[h] + 1]; ++e)"
        " if (far[to[e]] < 0) { far[to[e]] = far[q[h]] + 1; q.push_back(to[e]); } }"
    )
    assert one.proposed("start") == "n + 1"
    assert given(one, "far") == "n"


def test_an_integer_that_is_an_index_is_no_size() -> None:
    one = of(f"void f(float* x, int n, int k) {{ {EACH} x[i] += 1; x[k] = 0; }}")
    assert (given(one, "x"), given(one, "k")) == ("n", "0")
    both = of("void f(float* x, int n, int k) { for (int i = k; i < n; ++i) x[i - k] += x[k]; }")
    assert both.open == ["x"]


AT = "int at(int i, int j, int w) { return i * w + j; }"
OVER = "for (int i = 1; i < h - 1; ++i) for (int j = 1; j < w - 1; ++j)"


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (
            f"static inline {AT}",
            f"{OVER} y[at(i, j, w)] = x[at(i - 1, j, w)] + x[at(i + 1, j, w)];",
        ),
        (
            "#define AT(i, j) \\\n  ((i) * w + \\\n  (j))\n",
            f"{OVER} y[AT(i, j)] = x[AT(i - 1, j)] + x[AT(i + 1, j)];",
        ),
        (
            "",
            "auto at = [&](int i, int j) { return i * w + j; };"
            f" {OVER} y[at(i, j)] = x[at(i - 1, j)] + x[at(i + 1, j)];",
        ),
        (  # two of one name, and one that calls itself, are not looked into
            f"{AT} int at(int i) {{ return i ? at(i - 1) : 0; }}"
            " int up(int i) { return i ? up(i - 1) : i; }",
            f"{OVER} y[i * w + j] = x[i * w + w + j] + at(up(i), j, w);",
        ),
    ],
)
def test_an_index_may_be_computed_by_a_function_a_lambda_or_a_macro(before: str, body: str) -> None:
    one = of(f"{before} void f(const float* x, float* y, int h, int w) {{ {body} }}")
    assert (given(one, "x"), given(one, "y")) == ("h w", "h w")


def test_a_clamped_index_is_drawn_a_little_wider() -> None:
    one = of(f"{GATHER} {EACH} y[i] = t[std::clamp(k[i], 0, m - 1)]; }}")
    assert (given(one, "t"), given(one, "k"), given(one, "m")) == ("m", "n in -1..m", "size")


@pytest.mark.parametrize(
    ("body", "role"),
    [
        (f"{EACH} y[i] = x[i];", "out"),
        ("for (int i = 0; i < n; i += 2) y[i] = x[i];", "inout"),
        ("for (int i = 0; i + 1 < n; ++i) y[i] = x[i];", "inout"),
        ("y[0] = 0; for (int i = 1; i < n; ++i) y[i] = y[i - 1] + x[i];", "out"),
        ("y[0] = 0; for (int i = 2; i < n; ++i) y[i] = x[i];", "inout"),
        ("y[0] = 0; y[n - 1] = x[n - 1];", "inout"),
        (f"{EACH} y[i] = 0; for (int i = 0; i < n; i += 2) y[i] = x[i];", "out"),
        (
            "for (int b = 0; b < n; b += 8) for (int i = b; i < std::min(b + 8, n); ++i)"
            " y[i] = x[i];",
            "out",
        ),
    ],
)
def test_what_is_written_in_part_only_comes_in_too(body: str, role: str) -> None:
    one = of(f"void f(const float* x, float* y, int n) {{ {body} }}")
    assert one.role("y") == role


def test_arrays_that_are_searched_do_not_hold_the_same_things_at_a_time() -> None:
    one = of(
        "bool f(const std::vector<int>& x, const std::vector<int>& y, int v) {"
        " return (std::find(x.begin(), x.end(), v) != x.end())"
        " != (std::find(y.begin(), y.end(), v) != y.end()); }"
    )
    values = [arg["values"] for arg in one.arguments() if "values" in arg]
    assert values == [["sparse", "uniform", "small-int"], ["sparse", "small-int", "uniform"]]


def test_a_table_that_bytes_index_has_256_elements() -> None:
    head = "void f(const unsigned char* k, const float* t, float* y, int n)"
    code = f"{head} {{ {EACH} y[i] = t[k[i]]; }}"
    assert of(code).proposed("t") == "256"
    one = of(code, Said(shapes={"t": ("256",)}))
    assert given(one, "k") == "n in 0..256 - 1"


HEAD = "void f(const double* t, int n, const double* q, int* y, int m)"
QUERY = "for (int j = 0; j < m; ++j)"
LOWER = (
    "int lo = 0, hi = n; while (lo < hi) { int mid = lo + (hi - lo) / 2;"
    " if (t[mid] < q[j]) lo = mid + 1; else hi = mid; } y[j] = lo;"
)


@pytest.mark.parametrize(
    "body",
    [
        f"{QUERY} {{ {LOWER} }}",
        f"{QUERY} y[j] = std::lower_bound(t, t + n, q[j]) - t;",
    ],
)
def test_what_is_bisected_is_as_long_as_the_search_and_ascends(body: str) -> None:
    one = of(f"{HEAD} {{ {body} }}")
    assert (given(one, "t"), given(one, "n")) == ("n", "size")
    assert given(one, "y").split(" in ")[0] == "m"
    ascends = [arg["name"] for arg in one.arguments() if arg.get("values") == ["sorted"]]
    assert ascends == ["t"]


def test_a_vector_that_an_integer_bounds_is_no_longer_than_that() -> None:
    head = HEAD.replace("const double* t", "const std::vector<double>& t")
    assert given(of(f"{head} {{ {QUERY} {{ {LOWER} }} }}"), "t") == "n"


def test_a_loops_condition_bounds_an_index_that_steps_by_itself() -> None:
    one = of(
        f"{HEAD} {{ int i = 0, j = 0; while (i < n && j < m) {{ t[i] < q[j] ? ++i : ++j; }} }}"
    )
    assert (given(one, "t"), given(one, "q")) == ("n", "m")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "body",
    [
        "int u = k; while (y[u] >= 0) { u = y[u]; }",  # where it begins
        "for (int i = 0; i < n; ++i) { int h = i ^ 5; while (y[h & k] > 0) ++h; y[h & k] = 1; }",
    ],
)
def test_an_integer_that_leads_to_an_index_otherwise_leaves_the_shape_open(body: str) -> None:
    one = of(f"void f(float* x, int* y, int n, int k) {{ {EACH} x[i] = 1; {body} }}")
    assert one.open == ["y"]
    assert not one.proposed("y")


def test_a_number_and_an_unknown_index_say_no_shape() -> None:
    one = of(
        f"void f(const float* t, const int* k, float* y, int n) {{ {EACH} y[i] = t[0] + t[k[i]]; }}"
    )
    assert one.open == ["t"]


JOINT = (
    "void f(const int* a, const int* b, int n, int classes, int* t) {"
    f" {EACH} t[a[i] * classes + b[i]]++; }}"
)


@pytest.mark.parametrize(
    ("said", "a", "b"),
    [
        (
            {"a": ("0..classes-1",), "b": ("0..classes-1",)},
            "n in 0..classes-1",
            "n in 0..classes-1",
        ),
        ({"a": ("sorted", "1..7"), "b": ("-1..classes - 2",)}, "n in 1..7", "n in -1..classes - 2"),
    ],
)
def test_a_range_that_a_person_says_goes_before_what_was_found(
    said: dict[str, tuple[str, ...]], a: str, b: str
) -> None:
    one = of(JOINT, Said(shapes={"t": ("classes", "classes")}, values=said))
    assert (given(one, "a"), given(one, "b")) == (a, b)
    kinds = {arg["name"]: arg.get("values") for arg in one.arguments()}
    assert kinds["a"] == (
        ["sorted"] if "sorted" in said["a"] else ["uniform", "normal", "small-int"]
    )
