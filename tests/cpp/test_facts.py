"""What is read from a code's tree: loops and what their iterations share."""

import json
import random
import time
from functools import cache
from pathlib import Path

import pytest

from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.loop_facts import LoopFacts

CORPUS = Path(__file__).parents[2] / "corpus"


def loops(body: str, more: str = "") -> tuple[LoopFacts, ...]:
    """The loops of a function with this body."""
    parameters = f"const float* a, const int* b, float* c, float* d, int n, int m{more}"
    facts = facts_of(f"void f({parameters}) {{ {body} }}")
    assert facts.read_whole
    return facts.loops


def serial(problem: str) -> Facts:
    return facts_of((CORPUS / "problems" / problem / "serial.cpp").read_text())


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("for (int i = 0; i < n; ++i)", ("i", "0", "n", "1", None)),
        ("for (int i = n - 1; i >= 0; i--)", ("i", "n - 1", "0", "-1", None)),
        ("for (int i = 2; i <= 8; i += 3)", ("i", "2", "8", "3", 3)),
        ("for (int i = 8; i > 0; i -= 2)", ("i", "8", "0", "-2", 4)),
        ("for (int i = 0; n > i; i = i + 4)", ("i", "0", "n", "4", None)),
        ("for (int i = 1; i < n; i *= 2)", ("i", "1", "n", "", None)),
        ("for (int i = 0; i != 5; i++)", ("i", "0", "5", "1", 5)),
    ],
)
def test_a_loop_has_a_head(head: str, expected: tuple[object, ...]) -> None:
    (one,) = loops(f"{head} {{ c[i] = 1; }}")
    assert (one.variable, one.start, one.end, one.step, one.trips) == expected


def test_nests_are_perfect_or_not() -> None:
    outer, inner = loops("for (int i=0;i<n;++i) { for (int j=0;j<m;++j) { c[i*m+j] = 1; } }")
    assert (outer.perfect, outer.innermost, inner.perfect, inner.innermost) == (
        True,
        False,
        False,
        True,
    )
    assert inner.parent == outer.number
    assert inner.depth == 1
    outer, inner = loops(
        "for (int i=0;i<n;++i) { float s=0; for (int j=0;j<m;++j) s+=a[j]; c[i]=s; }"
    )
    assert not outer.perfect


@pytest.mark.parametrize(
    ("body", "carries"),
    [
        ("c[i] = a[i] * 2;", "no"),
        ("c[i] = c[i - 1] + a[i];", "yes"),
        ("c[i + 4] = c[i];", "yes"),
        ("c[2 * i] = c[2 * i + 1];", "no"),
        ("float t = a[i]; c[i] = t * t;", "no"),
        ("c[b[i]] = a[i];", "unknown"),
        ("c[b[i]] += a[i];", "no"),
        ("c[0] = c[0] * 0.5f + a[i] / c[0];", "yes"),
        ("s = a[i] - s;", "yes"),
        ("s = s * 31 + a[i];", "yes"),
        ("s = 0.1 * a[i] + (1 - 0.1) * s;", "yes"),
        ("s = std::max(s - 1, a[i]);", "yes"),
        ("s = (s && a[i] > 0) || a[i] > 5;", "yes"),
        ("c[i] = c[m];", "unknown"),
        ("unknown(c, i);", "unknown"),
        ("c[i] = std::sqrt(a[i]);", "no"),
        ("for (int j = 0; j < m; ++j) c[i * m + j] = c[i * m + j + 1];", "unknown"),
        ("for (int j = 0; j < m - 1; ++j) c[i * m + j] = c[i * m + j + 1];", "no"),
        ("for (int j = 0; j < m; ++j) c[i * m + j] = c[(i - 1) * m + j];", "yes"),
        ("for (int j = 0; j < m; ++j) c[i + j] = a[j];", "unknown"),
    ],
)
def test_a_loop_carries_a_dependence_or_not(body: str, carries: str) -> None:
    assert loops(f"float s; for (int i = 0; i < n; ++i) {{ {body} }}")[0].carries == carries


def test_elimination_is_serial_outside_and_parallel_inside() -> None:
    step, rows, columns = loops(
        "for (int k=0;k<n;++k) for (int i=k+1;i<n;++i) { float t = c[i*n+k] / c[k*n+k];"
        " c[i*n+k] = t; for (int j=k+1;j<n;++j) c[i*n+j] -= t * c[k*n+j]; }"
    )
    assert (step.carries, rows.carries, columns.carries) == ("yes", "no", "no")
    assert not step.time


@pytest.mark.parametrize(
    ("body", "reduces"),
    [
        ("s += a[i];", ("s",)),
        ("s = s + a[i];", ("s",)),
        ("s = std::max(s, a[i]);", ("s",)),
        ("if (a[i] > s) { s = a[i]; }", ("s",)),
        ("c[0] += a[i];", ("c",)),
        ("c[b[i]]++;", ("c",)),
        ("(c[b[i]])++;", ("c",)),
        ("(*c) += a[i];", ("c",)),
        ("(s) += a[i];", ("s",)),
        ("s = a[i];", ()),
        ("s = a[i]; c[i] = s;", ()),
        ("c[i] += a[i];", ()),
        ("s += a[i]; c[i] = s;", ()),
    ],
)
def test_a_loop_reduces_or_not(body: str, reduces: tuple[str, ...]) -> None:
    (one,) = loops(f"float s = 0; for (int i = 0; i < n; ++i) {{ {body} }} d[0] = s;")
    assert one.reduces == reduces


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("s += a[i];", "+"),
        ("s -= a[i];", "+"),
        ("s = s - a[i];", "+"),
        ("s = a[i] * s;", "*"),
        ("s = a[i] + (s + 1) + c[i];", "+"),
        ("s = a[i] > 0 ? s + 1 : s;", "+"),
        ("s = std::max({s, a[i], d[i]});", "max"),
        ("if (b[i] && a[i] > s) s = a[i];", "max"),
        ("if (fabs(a[i]) > s) s = a[i];", ""),
        ("s ^= a[i];", "^"),
        ("s = s && a[i] > 0;", "&&"),
        ("s = std::max(s, a[i]);", "max"),
        ("s = fminf(a[i], s);", "min"),
        ("s = a[i] > s ? a[i] : s;", "max"),
        ("s = s > a[i] ? a[i] : s;", "min"),
        ("s = (s < a[i]) ? s : a[i];", "min"),
        ("if (a[i] > s) { s = a[i]; }", "max"),
        ("if (s > a[i]) s = a[i];", "min"),
        ("s += a[i]; s *= 2;", ""),
        ("if (a[i] > s) { s = a[i]; k = i; }", ""),
        ("c[b[i]]++;", "+"),
        ("c[0] = c[0] | b[i];", "|"),
        ("c[0] += a[i]; c[0] = std::max(c[0], a[i]);", ""),
    ],
)
def test_a_reduction_combines_by_an_operator(body: str, sign: str) -> None:
    (one,) = loops(f"float s = 0; for (int i = 0; i < n; ++i) {{ {body} }} d[0] = s;")
    assert one.combines[0] == sign


@pytest.mark.parametrize(
    ("body", "scan"),
    [
        ("s += a[i]; c[i] = s;", True),
        ("c[i] = c[i - 1] + a[i];", True),
        ("if (a[i] > 0) { c[k++] = a[i]; }", True),
        ("s += a[i];", False),
        ("c[i] = a[i];", False),
    ],
)
def test_a_running_value_is_stored_or_not(body: str, scan: bool) -> None:
    (one,) = loops(f"float s = 0; int k = 0; for (int i = 1; i < n; ++i) {{ {body} }}")
    assert one.scan is scan


def test_loops_over_time() -> None:
    sweep = "for (int i=1;i<n-1;++i) d[i] = c[i-1] + c[i+1];"
    back = "for (int i=1;i<n-1;++i) c[i] = d[i];"
    time_loop, first, copy = loops(f"for (int s=0;s<m;++s) {{ {sweep} {back} }}")
    assert time_loop.time
    assert not first.time
    assert copy.copies
    assert loops(f"for (int s=0;s<m;++s) {{ {sweep} std::swap(c, d); }}")[0].time
    assert not loops(f"for (int s=0;s<m;++s) {{ {sweep} }}")[0].time
    assert loops(f"while (m-- > 0) {{ {sweep} {back} }}")[0].time


def test_strides_of_each_loop() -> None:
    *_, inner = loops(
        "for (int i=0;i<n;++i) for (int j=0;j<m;++j) { const float* row = a + i * m;"
        " c[j * n + i] = row[j] + a[7] + a[3 * j] + a[b[j]]; }"
    )
    found = {access.index: access.strides for access in inner.accesses}
    assert found["j*n+i"] == ("1", "n")
    assert found["i*m+j"] == ("m", "1")
    assert found["7"] == ("0", "0")
    assert found["3*j"] == ("0", "3")
    assert found["@b[j]"] == ("0", "indirect")


def test_strides_of_tiles_rows_and_records() -> None:
    _, tile = loops("for (int t=0;t<n;t+=64) for (int i=t;i<t+64;++i) c[i] = a[i];")
    assert {access.strides for access in tile.accesses} == {("64", "1")}
    _, rows = loops("for (int i=0;i<n;++i) for (int j=0;j<m;++j) g[i][j] = g[j][i];", ", float** g")
    assert {access.strides for access in rows.accesses} == {("row", "1"), ("1", "row")}
    (over,) = facts_of(
        "float f(std::vector<float> v) { float s=0; for (float x : v) s += x; }"
    ).loops
    assert over.accesses[0].strides == ("1",)


def test_what_else_a_loop_has() -> None:
    (one,) = loops("for (int i=0;i<n;++i) { if (a[i] < 0) break; c[i] = exp(a[i]) / a[i]; }")
    assert one.branches
    assert one.exits
    assert one.math == ("exp",)
    assert one.divides
    (other,) = loops("for (int i=0;i<n;++i) { c[i] = a[i] / 2; }")
    assert not any((other.branches, other.exits, other.math, other.divides, other.uneven))
    assert loops("for (int i=0;i<n;++i) { for (int j=b[i];j<b[i+1];++j) c[j]=0; }")[1].uneven


def test_reuse() -> None:
    matmul = serial("matmul").loops
    assert [one.reuse for one in matmul] == [("B",), ("A",), ()]


def test_gathers_scatters_and_updates() -> None:
    facts = facts_of(
        "void f(float* a, int* b, float* c, int n) { for (int i=0;i<n;++i)"
        " { c[b[i]] = a[i]; int k = b[i] / 2; a[k] += 1; b[i] = c[b[i] + 1]; } }"
    )
    assert (facts.gathers, facts.scatters, facts.updates) == (("c",), ("c",), ("a",))
    assert serial("matmul").gathers == serial("matmul").updates == ()
    assert serial("histogram").updates == ("hist",)
    assert serial("spmv").gathers == ("x",)


def test_openmp() -> None:
    facts = facts_of(
        "void f(float* a, int n) {\n#pragma omp parallel\n{ int me = omp_get_thread_num();\n"
        "float mine[4]; a[me] = 0;\n#pragma omp for schedule(static) nowait\n"
        "for (int i=0;i<n;++i) a[i] = 1;\n"
        "for (int i=me*n;i<me*n+n;++i) a[i] = 2; }\nfor (int i=0;i<n;++i) a[i] = 3;\n}"
    )
    assert facts.directives == ("parallel", "for schedule(static) nowait")
    assert [loop.shared_out for loop in facts.loops] == [True, True, False]
    assert [loop.region for loop in facts.loops] == [True, True, False]
    assert facts.per_thread == ("a",)
    assert facts.region_arrays == ("mine[4]",)
    assert facts.own_arrays == ()


def test_types_pointers_and_small_elements() -> None:
    facts = serial("histogram")
    assert facts.types == ("char", "int", "void")
    assert facts.small_elements == ("keys",)
    assert facts.pointers == ("keys", "hist")
    assert not facts.restricted
    assert facts_of("void f(float* __restrict a, const float* __restrict b) {}").restricted


def test_only_what_the_entry_reaches() -> None:
    code = "void g(int n) { while (n--) ; } void f(int n) { g(n); } int main() { for (;;) ; }"
    assert [loop.function for loop in facts_of(code).loops] == ["g", "main"]
    assert [loop.function for loop in facts_of(code, "f").loops] == ["g"]


def test_facts_go_through_json() -> None:
    facts = serial("stencil")
    assert Facts.model_validate_json(facts.model_dump_json()) == facts


def test_a_marker_of_a_compiler_is_read_over() -> None:
    facts = facts_of("void NO_INLINE f(float* a, int n) { for (int i=0;i<n;++i) a[i] = 0; }")
    assert facts.read_whole
    assert len(facts.loops) == 1
    assert not facts_of("void f( { for (int i=0; i<n ++i) }").read_whole


def hostile() -> dict[str, str]:
    rng = random.Random(1)
    loop = "void f(int* a, int n) { for (int i = 0; i < n; ++i) { "
    return {
        "bytes": "".join(chr(rng.randrange(1, 0x2FFF)) for _ in range(60_000)),
        "surrogates": "\x00\ud800" * 30_000,
        "parentheses": "int f() { return " + "(" * 29_000 + "1" + ")" * 29_000 + "; }",
        "braces": "void f() " + "{" * 59_000,
        "loops in loops": "void f(int* a, int n) { "
        + "for (int i=0;i<n;++i) " * 2_600
        + "a[i]=0; }",
        "loops": "void f(int* a, int n) { " + "for(int i=0;i<n;++i){a[i]=a[i+n];}" * 1_700 + "}",
        "sums": loop + "a[" + "i+" * 29_000 + "1] = 2; } }",
        "subscripts": "void f(int* a) { " + "a[" * 29_000,
        "statements": loop + "a[i+1] = a[i*n+2] + a[i];" * 2_300 + "} }",
        "branches": loop + "if (a[i] > x) x = a[i];" * 2_500 + "} }",
        "declarations": "void f() { " + "".join(f"int a{k + 1}=a{k}*a{k};" for k in range(3_000)),
        "templates": "a<" * 30_000,
        "assignments": "void f() { " + "x = " * 14_000 + "1; }",
        "a name like a symbol": "void f() { for(int i=0;i<9;++i) x[a(i,\n#include <v>\n)]=1; }",
    }


@pytest.mark.parametrize("size", [6_000, pytest.param(60_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", list(hostile()))
def test_no_text_makes_it_fail_or_wait(kind: str, size: int) -> None:
    # Both on the same busy machine: what else runs there may hold up some of the readings.
    assert any(seconds(hostile()[kind][:size]) < max(1, 2.5 * usual(size)) for _ in range(4))


@cache
def usual(size: int) -> float:
    return min(seconds(hostile()["statements"][:size]) for _ in range(2))


def seconds(code: str) -> float:
    """CPU time of reading a code for the first time: facts are remembered."""
    facts_of.cache_clear()
    begin = time.process_time()
    facts = facts_of(code)
    passed = time.process_time() - begin
    json.dumps(facts.model_dump(mode="json"))
    return passed


def test_pieces_of_programs() -> None:
    """Cut, joined and doubled texts of the corpus."""
    rng = random.Random(2)
    codes = [path.read_text() for path in sorted((CORPUS / "problems").glob("*/serial.cpp"))]
    for path in sorted((CORPUS / "trajectories").glob("*.jsonl")):
        codes += [step["code"] for step in json.loads(path.read_text().splitlines()[0])["steps"]]
    for _ in range(80):
        one, other = rng.choice(codes), rng.choice(codes)
        cut, place = rng.randrange(len(one)), rng.randrange(len(other))
        facts_of(one[:cut] + other[place : place + 200] + one[cut + rng.randrange(80) :])


@pytest.mark.parametrize(
    ("made", "own"),
    [
        ("std::array<float, 8> t;", True),
        ("auto t = std::vector<float>(n);", True),
        ("std::unique_ptr<float[]> t(new float[n]);", True),
        ("auto t = [](int k) { return new int(k); };", False),
    ],
)
def test_arrays_of_its_own_in_any_manner(made: str, own: bool) -> None:
    assert bool(facts_of(f"void f(int n) {{ {made} g(t); }}").own_arrays) is own


@pytest.mark.parametrize(
    "alias",
    [
        "using byte_t = unsigned char;",
        "typedef unsigned char byte_t;",
        "using b = char; typedef b byte_t;",
    ],
)
def test_small_types_by_other_names(alias: str) -> None:
    code = f"{alias} void f(const byte_t* s, int* c, int n) {{ while (n--) c[s[n]] = 1; }}"
    assert facts_of(code).small_elements == ("s",)


def test_what_is_left_out_is_not_read_and_all_else_stays_in_its_place() -> None:
    code = "void f() {\n#if 0\n for (;;) { }\n#else\n for (;;) ;\n#endif\n while (0) ; }"
    first, second = facts_of(code).loops
    assert (first.at, second.at) == (code.rindex("for"), code.index("while"))
    in_comment = "/*\n#if 0\n*/ void f() { for (;;) ; } /*\n#endif\n*/"
    assert facts_of(in_comment).loops


def test_methods_that_the_entry_calls_are_reached() -> None:
    code = "struct T { void g(int n) { while (n--) ; } }; void f(T& t) { t.g(1); }"
    assert [loop.function for loop in facts_of(code, "f").loops] == ["g"]


def test_a_name_means_the_innermost_declaration_around_it() -> None:
    (loop,) = loops(
        "for (int i = 0; i < n; ++i) { float t; t = a[i]; c[i] = t; } float t; t = 0; d[0] = t;"
    )
    assert (loop.private, loop.carries) == ((), "no")
