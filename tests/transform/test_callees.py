"""Bodies in place of calls, and counting `while` loops as `for`."""

import pytest

from regraph_kg.search.transform.callees import inlined
from regraph_kg.search.transform.transform import Transform, carried_out

HELPER = """static long beats(const int* ticks, int begin, int count) {
    long s = 0;
    for (int q = 0; q < count; q++) s += ticks[begin + q];
    return s;
}
"""
CALLER = """void pulse(const int* ticks, long* rate, int w, int n) {
    for (int i = 0; i < n - w; ++i) { rate[i] = beats(ticks, i, w); }
}
"""


def test_a_helpers_loop_stands_in_place_of_its_call() -> None:
    new = inlined(HELPER + CALLER).partition("void pulse")[2]
    assert "for (int q_1 = 0; q_1 < w; q_1++) s_1 += ticks[i + q_1];" in new
    assert "rate[i] = beats_result_1;" in new


def test_a_pointer_into_an_array_becomes_an_offset() -> None:
    helper = HELPER.replace("int begin, ", "").replace("begin + ", "")
    new = inlined(helper + CALLER.replace("ticks, i", "ticks + 2 * i")).partition("void pulse")[2]
    assert "const long ticks_at_1 = 2 * i;" in new
    assert "s_1 += ticks[ticks_at_1 + q_1];" in new


def test_an_argument_that_the_helper_changes_is_read_into_a_variable_of_its_own() -> None:
    new = inlined(HELPER.replace("s = 0;", "s = 0; ++begin;") + CALLER).partition("void pulse")[2]
    assert "int begin_1 = i;" in new
    assert "++begin_1;" in new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("long s = 0;", "if (count < 0) return 0; long s = 0;"),  # an early return
        ("long s = 0;", "static long s = 0;"),
        ("long s = 0;", "long s = n;"),  # a name that the caller has, too
        ("return s;", "return s + beats(ticks, begin, count - 1);"),
        ("static long beats", "template <class T> static long beats"),
        ("static long beats", "struct Lock { ~Lock(); };\nstatic long beats"),
        ("static long beats", "#define begin 3\nstatic long beats"),
        ("int count)", "int count, int (*f)(int))"),
        (
            "void pulse",
            "static long beats(int);\nstatic long beats(int a) { return a; }\nvoid pulse",
        ),
        ("= beats(ticks, i, w)", "= w > 3 && beats(ticks, i, w)"),
        ("= beats(ticks, i, w)", "+= beats(ticks, i++, w) + i"),
    ],
)
def test_a_call_stays_where_a_body_may_compute_something_else(old: str, new: str) -> None:
    code = (HELPER + CALLER).replace(old, new)
    assert inlined(code) == code != HELPER + CALLER


def test_a_while_loop_that_counts_is_a_for_loop() -> None:
    code = "void f(int* a, int n) {\n    int k = 0;\n    while (k < n) { a[k] = 1; ++k; }\n}\n"
    assert "for (int k = 0; k < n; ++k) { a[k] = 1;" in inlined(code)
    skips = code.replace("a[k] = 1;", "if (a[k]) continue;")
    assert inlined(skips) == skips
    assert inlined(kept := code.replace("}\n}", "}\n    a[0] = k;\n}")) == kept


def test_a_transform_sees_the_body_only_where_it_fits_nowhere_else() -> None:
    text = "technique = 'openmp/x'\nname = 'y'\nsays = 'z'\n"
    inner = Transform.of(f"{text}match = '$s += ticks[i + $q]'\nbecomes = '$s += 7'\n")
    (_, made), *_ = carried_out(inner, HELPER + CALLER)
    assert "s_1 += 7" in made
    plain = Transform.of(f"{text}match = 'n - w'\nbecomes = '(n - w)'\n")
    (_, made), *_ = carried_out(plain, HELPER + CALLER)
    assert "= beats(ticks, i, w)" in made
