"""Numbers that elements of a function's arrays are compared with."""

import pytest

from regraph_kg.cpp.compared import compared

HEAD = """#include <limits>
#define FAR 1000000000
#define AT(i, j) x[(i) * n + (j)]
enum { DEAD = 7 };
constexpr unsigned HIGH = 0x80;
struct Cell { int state; float heat; };
"""
ENTRY = 'extern "C" void f(const int* x, const float* w, Cell* c, int* y, int n)'


def found(body: str, before: str = "") -> set[tuple[str, str, float, bool]]:
    code = f"{HEAD}{before}\n{ENTRY} {{\n{body}\n}}\n"
    told = compared(code, "f").items()
    return {(*place, value, own) for place, values in told for value, own in values.items()}


@pytest.mark.parametrize(
    ("body", "argument", "value"),
    [
        ("if (AT(1, n - 1) == FAR) return;", "x", 10**9),
        ("const int* row = x + n; const int v = row[1]; if (-1 != v) y[0] = v;", "x", -1),
        ("for (int i = 0; i < n; ++i) if (x[i] & HIGH) y[i] = 0;", "x", 128),
        ("switch (x[0]) { case 255: y[0] = 1; break; case 'a': y[0] = 2; }", "x", 255),
        ("y[0] = w[0] < std::numeric_limits<float>::max();", "w", 3.4028234663852886e38),
        ("y[0] = w[0] < INFINITY;", "w", float("inf")),
        ("y[0] = x[1] == (1 << 4) || ~0 == *x;", "x", 16),
    ],
)
def test_an_element_is_followed_to_what_it_is_compared_with(
    body: str, argument: str, value: float
) -> None:
    assert (argument, "", value, True) in found(body)


def test_an_element_is_followed_into_helpers_and_fields_are_told_apart() -> None:
    helper = "static bool gone(int v) { return v == FAR - 1; }"
    assert ("x", "", 10**9 - 1, True) in found("if (gone(x[3])) return;", helper)
    assert found("for (int i = 0; i < n; ++i) if (c[i].state == DEAD) c[i].heat = 0;") == {
        ("c", "state", 7, True)
    }


def test_sizes_are_no_elements_and_what_was_changed_is_not_the_element_itself() -> None:
    assert ("x", "", 3, False) in found("if (n > 1000 && x[0] % 5 == 3) return;")
    assert not any(value == 1000 and own for _, _, value, own in found("if (n > 1000) return;"))


@pytest.mark.parametrize("body", ["if (x[0] == ", "if (x[0] == 1 << 99999999) return;", "}}}} {{"])
def test_hostile_text_raises_nothing(body: str) -> None:
    found(body)
