"""Bodies in place of calls."""

import pytest

from regraph_kg.cpp.inline import with_bodies
from regraph_kg.port.inline import with_bodies as for_a_start
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


def written(code: str) -> str:
    return with_bodies(code, lambda function, call: True)


def test_a_body_stands_in_place_of_a_call() -> None:
    new = written(HELPER + CALLER)
    assert "for (int q_1 = 0; q_1 < w; q_1++) s_1 += ticks[i + q_1];" in new
    assert "rate[i] = s_1;" in new
    assert "beats" not in new  # nobody calls it


def test_an_argument_that_the_function_changes_is_read_into_a_variable_of_its_own() -> None:
    new = written(HELPER.replace("s = 0;", "s = 0; ++begin;") + CALLER)
    assert "int begin_1 = i;" in new
    assert "++begin_1;" in new


def test_a_result_has_the_type_that_the_function_returns() -> None:
    new = written(HELPER.replace("static long", "static short") + CALLER)
    assert "const short beats_1 = s_1;" in new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("long s = 0;", "if (count < 0) return 0; long s = 0;"),  # an early return
        ("long s = 0;", "static long s = 0;"),
        ("long s = 0;", "long s = n;"),  # a name that the caller has, too
        ("return s;", "return s + beats(ticks, begin, count - 1);"),
        ("static long beats", "template <class T> static long beats"),
        ("static long beats", "struct Lock { ~Lock(); };\nstatic long beats"),
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
    assert written(code) == code != HELPER + CALLER


def test_a_transform_sees_the_body_only_where_it_fits_nowhere_else() -> None:
    text = "technique = 'openmp/x'\nname = 'y'\nsays = 'z'\n"
    inner = Transform.of(f"{text}match = '$s += ticks[i + $q]'\nbecomes = '$s += 7'\n")
    (_, made), *_ = carried_out(inner, HELPER + CALLER)
    assert "s_1 += 7" in made
    plain = Transform.of(f"{text}match = 'n - w'\nbecomes = '(n - w)'\n")
    (_, made), *_ = carried_out(plain, HELPER + CALLER)
    assert "= beats(ticks, i, w)" in made


def test_a_cuda_start_counts_calls_by_whole_names() -> None:
    code = """static void sweep(float* y, int n) {
    std::vector<float> row(n, 1.0f);
    y[0] += row[n - 1];
}
void all_sweep(float* y, int n) { for (int k = 0; k < 9; ++k) { sweep(y, n); } }
"""
    assert "std::vector<float> row_1(n, 1.0f);" in for_a_start(code, "all_sweep")
