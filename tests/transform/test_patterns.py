"""Patterns match what means the same, and nothing else."""

import pytest

from regraph_kg.cpp.syntax import tree_of
from regraph_kg.search.transform.pattern import Pattern, PatternError

SUM = """
void f(const float* a, float* y, int n, int m) {
#pragma omp parallel for
    for (int i = 0; i < n; i += 1) {  // rows
        float s = 0;
        for (int j = 0; j < m; j++) s += a[i * m + j];
        y[i] = s;
    }
}
"""


def found(pattern: str, code: str = SUM) -> list[dict[str, str]]:
    places = Pattern.of(pattern).places(tree_of(code).root)
    return [{name: part.text for name, part in bound.items()} for _, bound in places]


@pytest.mark.parametrize(
    "pattern",
    [
        "for (int $i = $a; $i < $n; ++$i) { $$$body; }",
        "for (int $i = $a; $i < $n; $i++) $$$body;",
        "for (int $i = $a; $i < $n; $i += 1) { $$$body; }",
        "for (int $i = $a; $i < $n; $i += $k) { $$$body; }",
        "for ($$$head;;) { $$$body; }",
    ],
)
def test_the_spelling_of_a_loop_does_not_matter(pattern: str) -> None:
    assert len(found(pattern)) == 2


def test_braces_comments_and_const_do_not_matter() -> None:
    assert found("float $s = 0; for ($$$h;;) { $s += $e; } $y[$i] = $s;") == [
        {"s": "s", "h": "int j = 0; j < m; j++", "e": "a[i * m + j]", "y": "y", "i": "i"}
    ]
    assert found("float $s = $e;", "void f() { const float t = 1; }") == [{"s": "t", "e": "1"}]


def test_one_name_holds_one_text() -> None:
    assert found("$x + $x", "int f(int a, int b) { return a + b; }") == []
    assert found("$x + $x", "int f(int a) { return a + (a); }") == [{"x": "a"}]


def test_operands_of_sums_and_products_may_change_places_and_those_of_a_difference_not() -> None:
    assert found("$A[$k + $i * $n]") == [{"A": "a", "k": "j", "i": "i", "n": "m"}]
    assert found("1 - $x", "int f(int a) { return a - 1; }") == []


def test_a_named_statement_brings_the_directives_before_it() -> None:
    (outer, _) = found("outer: for ($$$h;;) { $$$body; }")
    assert outer["outer"].startswith("#pragma omp parallel for\n")


def test_lists_take_as_little_as_they_can() -> None:
    code = "void f() { a(); b(); c(); b(); }"
    assert found("$$$before; b(); $$$after;", code)[0] == {"before": "a();", "after": "c(); b();"}


@pytest.mark.parametrize("pattern", ["for (", "int $x = ;", "a + ", ""])
def test_what_is_no_code_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        Pattern.of(pattern)
