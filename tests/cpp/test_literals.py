"""Numbers at which a source may branch, and what they are compared with."""

import pytest

from regraph_kg.cpp.literals import Literal, literals

HEAD = 'extern "C" void f(const float* x, float* y, int count, int cols) {'


def compared(body: str, before: str = "") -> set[tuple[int, str]]:
    """Numbers with each name that they are compared with."""
    found = literals(f"{before}\n{HEAD}\n{body}\n}}\n", "f").numbers
    return {(literal.value, name) for literal in found for name in literal.names}


@pytest.mark.parametrize(
    "cut", ["100000", "100'000", "0x186A0", "1e5", "100000ull", "1000 * 100", "(100000)"]
)
def test_a_number_is_read_however_it_is_written(cut: str) -> None:
    assert (100000, "count") in compared(f"if (count < {cut}) return;")


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("#define CUT (1 << 16)", "if (count >= CUT) return;"),
        ("constexpr int CUT = 64 * 1024;", "while (CUT < count) --count;"),
        ("enum { CUT = 65536 };", "y[0] = count > CUT ? 1 : 2;"),
        ("", "const long total = 2 * count; if (total > 65536) return;"),
        ("", "#pragma omp parallel for if(count > 65536)\nfor (int i = 0; i < count; ++i);"),
        ("", "#pragma omp parallel for \\\n  if (count > 65536)\nfor (int i = 0; i < 1; ++i);"),
    ],
)
def test_a_threshold_comes_with_the_size_that_it_cuts(before: str, body: str) -> None:
    assert (65536, "count") in compared(body, before)


def test_tiles_come_after_thresholds_and_lengths_of_arrays_are_known() -> None:
    body = "float part[16]; for (int i = 0; i < cols; i += 512) if (count < 4096) y[i] = x[i];"
    found = literals(f"{HEAD} {body} }}", "f")
    assert found.numbers[0] == Literal(4096, frozenset({"count"}))
    assert Literal(512, frozenset()) in found.numbers
    assert found.lengths == {16}
    assert found.parameters == ("x", "y", "count", "cols")


@pytest.mark.parametrize(
    "body",
    [
        f"int a = {'(' * 5000}1{')' * 5000};",
        f"int a = {'1 + ' * 5000}1;",
        f"int a = {'9' * 5000};",
        "int a = 1 << 1000000000;",
        "if (count < ",
        "\0 #pragma omp (((",
    ],
)
def test_hostile_sources_cost_little_and_raise_nothing(body: str) -> None:
    assert len(literals(f"{HEAD} {body} }}", "f").numbers) < 9
