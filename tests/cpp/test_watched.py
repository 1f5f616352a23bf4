"""What was seen of a loop counts where its text tells too little."""

import pytest

from regraph_kg.cpp.watched import seen, watched, with_comments

from .test_facts import loops


@pytest.mark.parametrize(
    ("body", "carries"),
    [
        ("for (int i = 0; i < n; ++i) a[i] = g(a, i);", "unknown"),
        ("for (int i = 0; i < n; ++i) /* seen: iterations share nothing */ a[i] = g(a, i);", "no"),
        (
            "for (int i = 0; i < n; ++i) /* seen: iterations share memory */ a[i] = g(a, i);",
            "unknown",
        ),
        ("for (int i = 0; i < n; ++i) /* seen: iterations share s */ s += g(a, i);", "no"),
        ("for (int i = 0; i < n; ++i) /* seen: iterations share t */ s += g(a, i);", "unknown"),
        (
            "for (int i = 0; i < n; ++i) /* seen: iterations share nothing */ s = s * a[i] + 1;",
            "yes",
        ),
        ("P p; for (int i = 0; i < n; ++i) /* seen: iterations share p */ p.g(1);", "unknown"),
        ("double t; for (int i = 0; i < n; ++i) /* seen: iterations share t */ t = h(i);", "no"),
        ("int i = 0; while (g(a, i)) /* seen: iterations share nothing */ ++i;", "unknown"),
        ("for (int i = 0; g(a, i); ++i) /* seen: iterations share nothing */ a[i] = 1;", "unknown"),
    ],
)
def test_what_iterations_share_is_known_from_runs(body: str, carries: str) -> None:
    assert loops(f"double s = 0; {body}", more=", double* a")[0].carries == carries


def test_a_comment_says_what_is_shared_or_nothing() -> None:
    assert seen("/* seen: iterations share s, memory */") == {"s", "memory"}
    assert seen("/* iterations share nothing */") == frozenset()


def test_comments_stand_in_their_loops() -> None:
    code = "void f(int n) {\n    for (int i = 0; i < n; ++i) {\n    }\n}\n"
    told = with_comments(code, {20: ()})
    assert "++i) /* seen: iterations share nothing */ {" in told
    assert with_comments(code, {3: ()}) == code


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("void f(int n) { for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) g(); }", 2),
        ("void f(int n) {\n#pragma omp simd\nfor (int i = 0; i < n; ++i) g(); }", 0),
        ("constexpr int f(int n) { for (int i = 0; i < n; ++i) n += i; return n; }", 0),
        ("void f(int n) { for (int i = 0; i < n; ++i { }", 0),
        ("void f(int n) { ; for (int i = 0; i < n; ++i) ; }", 1),
    ],
)
def test_loops_that_can_tell_are_watched(code: str, count: int) -> None:
    assert len(watched(code, 64)[1]) == count


def test_the_variables_of_the_frame_around_a_loop_are_watched() -> None:
    code = """void f(int n, const double* a, double& out) {
    const int k = 3; static int calls; double sum = 0; double own[4]; int i;
    for (i = 0; i < n; ++i) { double t = a[i]; for (int j = 0; j < k; ++j) own[j] += t; }
}"""
    _, found, _ = watched(code, 64)
    assert found[0].names == ("k", "sum", "own", "n", "a", "out")
    assert found[1].names == ("t", "k", "sum", "own", "i", "n", "a", "out")


def test_a_macro_that_assigns_is_not_watched() -> None:
    code = "void f(int n) { for (int i = 0; i < n; ++i) SET(o[i], g()); }"
    assert watched(f"#define SET(a, b) a = b\n{code}", 64)[1] == []
    assert watched(f"#define SET(a, b) g(a == b)\n{code}", 64)[1]


@pytest.mark.parametrize(
    "body",
    [
        "auto [p, q] = pair(); for (int i = 0; i < n; ++i) g(p);",
        "int k = 0; if (n) { int k = 1; for (int i = 0; i < n; ++i) g(k); }",
        "if (int k = g(); k) for (int i = 0; i < n; ++i) g(k);",
        "switch (n) { case 1: int k = 0; for (int i = 0; i < n; ++i) g(k); }",
        "int i, j; for (i = 0, j = 1; i < n; ++i) g(j);",
        "int i; auto h = [&] { return i; }; for (i = 0; i < n; ++i) g(h());",
        "for (int i = 0; i < n; ++i) new (o + i) A(g());",
        "double* p = (double*)alloca(8); for (int i = 0; i < n; ++i) *p = g();",
        "struct S { int v; }; std::transform(o, o + n, o, g); for (int i = 0; i < n; ++i) g();",
    ],
)
def test_a_loop_whose_frame_is_not_clear_is_not_watched(body: str) -> None:
    assert watched(f"void f(int n) {{ {body} }}", 64)[1] == []


def test_what_an_object_is_made_of_is_another_ones_too() -> None:
    code = "double t = 0; Holder h(t); for (int i = 0; i < n; ++i) t = g(h);"
    assert watched(f"void f(int n) {{ {code} }}", 64)[1][0].names == ("memory", "h", "n")


def test_a_name_that_is_another_ones_too_counts_as_memory() -> None:
    code = "double t = 0; auto h = [&] { return t; }; for (int i = 0; i < n; ++i) g(t);"
    assert watched(f"void f(int n) {{ {code} }}", 64)[1][0].names == ("memory", "h", "n")
