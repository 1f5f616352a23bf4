"""Loops are called independent only where that is proven, and dependent only where it is sure."""

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import is_parallel, shareable

PARAMETERS = "const double* x, double* y, double** r, const int* k, int n, int m, int hop"
LOOP = "for (int i = 1; i < n; ++i)"
ROWS = "for (int j = 0; j < n; ++j) row[j] = 0.5 * (row[j] + prev[j]);"
HELPERS = """
static int state = 1;
static int next() { state = state * 3; return state; }
static double twice(double v) { double t = v; t += v; return t; }
static double dot(const double* a, int n) { double s = 0; s += a[n]; return s; }
static void relax(double* r, const double* up) { r[0] = r[0] + up[0]; }
"""


BODIES = "struct P { double x, v; }; union U { double x, v; };"


@pytest.mark.parametrize(
    ("code", "carries"),
    [
        ("for (int j = 0; j < n; ++j) p[i].v += p[j].x;", "no"),
        ("for (int j = 0; j < n; ++j) { const P& o = p[j]; p[i].v += o.x - p[i].x; }", "no"),
        ("for (int j = 0; j < n; ++j) { const P& o = p[j]; p[i].v += o.v; }", "unknown"),
        ("for (int j = 0; j < n; ++j) { P o = p[j]; p[i].v += o.x; }", "unknown"),
        ("p[i].v += u[i].x; for (int j = 0; j < n; ++j) u[i].v += u[j].x;", "unknown"),
    ],
)
def test_fields_of_elements_are_apart(code: str, carries: str) -> None:
    loop = f"for (int i = 0; i < n; ++i) {{ {code} }}"
    before = BODIES if "u[" in code else BODIES.partition(" union")[0]
    facts = facts_of(f"{before} void f(P* p, U* u, int n) {{ {loop} }}")
    assert facts.loops[0].carries == carries


TAKES = """
static unsigned next(unsigned& s) { return s = s * 5 + 1; }
static std::uint32_t next(std::uint32_t& s) { return s = s * 5 + 1; }
static unsigned same(const unsigned& s) { return s; }
static unsigned step(unsigned s) { return s * 5 + 1; }
"""


@pytest.mark.parametrize("kind", ["unsigned", "std::uint32_t"])
@pytest.mark.parametrize(
    ("body", "carries"),
    [
        ("y[i] = next(s);", "unknown"),
        ("auto more = [](unsigned& t) { return ++t; }; y[i] = more(s);", "unknown"),
        ("KIND t = i; y[i] = next(t);", "no"),
        ("y[i] = same(s) + step(s) + step(i);", "no"),
    ],
)
def test_a_number_that_a_call_may_change_is_of_all_iterations(
    kind: str, body: str, carries: str
) -> None:
    loop = f"for (int i = 0; i < n; ++i) {{ {body.replace('KIND', kind)} }}"
    facts = facts_of(f"{TAKES} void f(float* y, int n, {kind} s) {{ {loop} }}")
    assert facts.loops[0].carries == carries


def loops(code: str, before: str = "") -> tuple[LoopFacts, ...]:
    facts = facts_of(f"{before} void f({PARAMETERS}) {{ {code} }}")
    assert facts.read_whole
    return tuple(loop for loop in facts.loops if loop.function == "f")


@pytest.mark.parametrize(
    ("code", "carries"),
    [
        ("y[(unsigned char)i] = x[i];", "unknown"),
        ("y[(int)(i * 0.5)] = x[i];", "unknown"),
        ("const int e = i * 0.5f; y[e] = x[i];", "unknown"),
        ("double* p = m > 2 ? y : r[0]; p[i] = y[i + 1];", "unknown"),
        ("(m > 2 ? y : r[0])[i] = y[i + 1];", "unknown"),
        ("double v = y[0] += x[i]; r[0][i] = v;", "yes"),
        ("y[i] = x[i - 1] + x[i + 1];", "no"),
    ],
)
def test_what_stands_between_a_name_and_an_element_counts(code: str, carries: str) -> None:
    assert loops(f"for (int i = 1; i < n; ++i) {{ {code} }}")[0].carries == carries


@pytest.mark.parametrize(
    ("before", "after", "carries"),
    [
        ("", "std::swap(y, z);", "no"),
        ("", "double* t = y; y = z; z = t;", "no"),
        ("double* p = z;", "std::swap(y, p);", "no"),
        ("double* p = z;", "p = y;", "unknown"),
        ("z = y + 1;", "std::swap(y, z);", "unknown"),
    ],
)
def test_arrays_that_change_places_stay_apart(before: str, after: str, carries: str) -> None:
    read = "p" if "p" in before else "z"
    inner = f"for (int i = 1; i < n; ++i) y[i] = {read}[i - 1];"
    head = "void f(double* y, double* z, int n)"
    facts = facts_of(f"{head} {{ {before} for (int k = 0; k < n; ++k) {{ {inner} {after} }} }}")
    assert facts.loops[1].carries == carries


@pytest.mark.parametrize(
    ("code", "carries"),
    [
        (
            "for (int d = 1; d < n; ++d) for (int i = n - 1; i >= d; --i) y[i] += y[i - d];",
            "unknown",
        ),
        ("for (int k = 1; k < m; ++k) for (int i = k; i < n; ++i) y[i] -= y[i - k];", "unknown"),
        ("for (int i = 1; i < n; ++i) y[2 * i] = y[i] + 1;", "unknown"),
        ("for (int i = n; i > 0; --i) y[i] = y[2 * i] + y[2 * i + 1];", "unknown"),
        ("for (int i = 0; i < n; ++i) y[i] = y[i + m + 1] * 2;", "unknown"),
        ("for (int i = 0; i < n; ++i) y[m * n + i] = y[i - 1];", "unknown"),
        ("int h = n / 2; for (int i = 0; i + 1 < h; ++i) y[i] = y[h + i + 1];", "no"),
        ("for (int i = 1; i < n; ++i) y[2 * n + i] = y[i] - y[n + i - 1];", "no"),
        ("for (int i = 1; i < n; i += 2) y[i] = y[i - 1] + y[i + 1];", "no"),
        ("for (int j = 1; j < n; ++j) for (int i = 1; i < n; ++i) y[j*n+i] = y[j*n-n+i];", "no"),
        ("for (double* p = y; p < y + n; ++p) *p *= 2;", "no"),
        ("for (double* p = y + 1; p < y + n; ++p) *p = p[-1];", "yes"),
        ("for (double* p = y + 1; p < y + n; ++p) *p = y[m];", "unknown"),
        ("for (int i = 0; i < n / 2; ++i) std::swap(y[i], y[n - 1 - i]);", "unknown"),
    ],
)
def test_the_last_loop_carries_a_dependence_or_not(code: str, carries: str) -> None:
    assert (loops(code)[-1].carries, loops(code)[-1].reduces) == (carries, ())


@pytest.mark.parametrize(
    ("body", "carries"),
    [
        ("for (int j = 0; j < m; ++j) y[i * hop + j] = x[j];", "unknown"),
        ("for (int j = 0; j < 3; ++j) y[2 * i + j] = x[j];", "unknown"),
        ("for (int j = 0; j < 2; ++j) y[2 * i + j] = x[j];", "no"),
        ("for (int j = 0; j <= i; ++j) y[i * n + j] = 0;", "no"),
        ("int h = std::min(i + 4, m); for (int j = 0; j < h; ++j) y[i * m + j] = 0;", "no"),
        (f"auto row = y + i * n; auto prev = y + (i - 1) * n; {ROWS}", "yes"),
        (f"double* row = r[i]; const double* prev = r[i - 1]; {ROWS}", "yes"),
        (f"double *row, *prev; row = y + i * n; prev = row - n; {ROWS}", "yes"),
        (f"double* row = next(); {ROWS.replace('prev', 'x')}", "unknown"),
        (f"double row[9]; {ROWS.replace('prev', 'x')}", "no"),
        (f"double* row = new double[n]; {ROWS.replace('prev', 'x')}", "no"),
        ("A(i, 0) = 2 * A(i - 1, 0);", "unknown"),
        ("v.at(i) = 2 * v.at(i - 1);", "unknown"),
        ("y[i] = twice(x[i]);", "no"),
        ("y[i] = dot(x, i);", "no"),
        ("y[i] = next();", "unknown"),
        ("y[i] = elsewhere(x[i]);", "unknown"),
        ("relax(y + i, y + i - 1);", "unknown"),
        ("total.add(x[i]);", "unknown"),
        ("std::cout << x[i];", "yes"),
        ("auto g = [&](int q) { return x[q]; }; y[i] = g(i);", "no"),
        ("auto g = [&](int q) { y[q] = y[q - 1]; }; g(i);", "unknown"),
        ("double a = x[i], b = x[i - 1]; if (a > b) std::swap(a, b); y[i] = a;", "no"),
        (
            "std::vector<double> t; t.push_back(x[i]); std::sort(t.begin(), t.end()); y[i]=t[0];",
            "no",
        ),
        ("y[i] = x[s]; s += 3;", "unknown"),
        ("if (x[i] > 0) { ++i; continue; } y[i] = 1;", "unknown"),
    ],
)
def test_an_outer_loop_carries_a_dependence_or_not(body: str, carries: str) -> None:
    assert loops(f"int s = 0; {LOOP} {{ {body} }}", HELPERS)[0].carries == carries


@pytest.mark.parametrize(
    ("loop", "parallel", "shared"),
    [
        ("for (int i = 0; i < n; ++i) y[i] = x[i];", True, True),
        ("for (const double* p = x; p < x + n; ++p) s += *p;", True, True),
        ("for (int i = 0; i + 4 <= n; i += 4) y[i] = x[i];", True, True),
        ("for (double t = 0; t < n; t += 0.5) s += t;", True, False),
        ("for (int i = 0, j = 1; i < n; ++i) y[i] = x[i];", True, False),
        ("for (int i = 0; i < n && x[i] > 0; ++i) y[i] = 1;", None, False),
        ("for (int i = 0; x[i] != 0; ++i) y[i] = 1;", None, False),
        ("for (int i = 1; i * i <= n; ++i) y[i] = 1;", None, False),
        ("for (int i = 1; i < n; i *= 2) s += x[i];", None, False),
        ("int i = 0; while (i < n) { y[i] = x[i]; ++i; }", None, False),
        ("for (int i = 0; i < n; ++i) { if (x[i] < 0) throw 1; y[i] = 1; }", None, False),
        ("for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) if (k[j]) return;", None, False),
        ("for (int i = 0; i < n; ++i) if (x[i] > 0) s = i;", None, False),
        ("for (int i = 0; i < n; ++i) y[k[i]] += x[i];", True, False),
        ("for (int i = 0; i < n; ++i) p.s += x[i];", True, False),
    ],
)
def test_a_loop_can_be_dealt_out_or_not(loop: str, parallel: bool | None, shared: bool) -> None:
    one = loops(f"double s = 0; {loop}")[0]
    assert (is_parallel(one), shareable(one)) == (parallel, shared)


@pytest.mark.parametrize(
    ("value", "carries"),
    [
        ("(byte)(s + 1)", "no"),  # a cast by a name of the text
        ("(kind_of_a_header)(s)", "no"),
        ("clamp(a + b, 0, 9)", "no"),  # variables declared in one line go in by value
        ("(clamp)(s, 0, 9)", "unknown"),
        ("(counts)(s)", "unknown"),
        ("kept(s)", "unknown"),
    ],
)
def test_casts_by_a_name_and_variables_of_one_line_are_no_calls_that_change(
    value: str, carries: str
) -> None:
    head = "typedef unsigned char byte; int seen; int clamp(int v, int l, int h)"
    head += " { return v < l ? l : v > h ? h : v; } int counts(int v) { return seen += v; }"
    body = "int a, b, s; for (a = 0; a < n; a++) for (b = 0; b < n; b++) { s = k[b];"
    found = loops(f"{body} y[a * n + b] = {value}; }}", head)
    assert [loop.carries for loop in found] == [carries, carries]


LINKED = "struct N { double v; N* p; }; using V = std::vector<double>;"
HALVES = """template <class T> void half(T& x) { x /= 2; } void half2(int* x) { *x /= 2; }
int plus(int x, const int& y) { return x + y; }"""


@pytest.mark.parametrize(
    ("takes", "loop", "carries"),
    [
        ("std::vector<N>& a", "for (N& x : a) x.v += 1;", "no"),
        ("std::vector<N>& a", "for (N& x : a) x.p->v += x.v;", "unknown"),
        ("std::vector<N>& a", "for (N& x : a) x.v += x.p->v;", "unknown"),
        ("std::vector<N>& a", "for (N& x : a) x.v += (*x.p).v + x.p[0].v;", "unknown"),
        ("std::vector<N>& a", "for (N& x : a) { N* q = x.p; x.v += q->v; }", "unknown"),
        ("N* a, int n", "for (int i = 0; i < n; ++i) a[i].p->p->v += a[i].v;", "unknown"),
        (
            "N* a, std::vector<double>& y",
            "for (int i = 0; i < y.size(); ++i) y[i] += a[i].p->v;",
            "no",
        ),
        ("std::vector<double>& a", "for (double& x : a) x += a.size();", "no"),
        ("std::vector<double>& a", "for (double& x : a) x += a.front();", "unknown"),
        ("std::vector<double>& a", "for (double& x : a) x += a.back() + a.at(0);", "unknown"),
        ("std::vector<double>& a, const V& b", "for (double& x : a) x += b.front();", "no"),
        ("std::vector<double>& a, double m", "for (double& x : a) x /= m;", "no"),
        ("std::vector<double>& a, double& m", "for (double& x : a) x /= m;", "unknown"),
        ("int* a, int& n", "for (int i = 0; i < n; ++i) a[i] = 3;", "unknown"),
        ("std::vector<bool>& a", "for (auto x : a) x = !x;", "unknown"),
        ("", "auto a = std::vector<bool>(99); for (int i = 0; i < 99; ++i) a[i] = 1;", "unknown"),
    ],
)
def test_what_else_may_reach_an_element_counts(takes: str, loop: str, carries: str) -> None:
    assert facts_of(f"{LINKED} void f({takes}) {{ {loop} }}").loops[0].carries == carries


@pytest.mark.parametrize(
    ("change", "carries"),
    [
        ("", "no"),
        ("y[m] = x[m] + plus(m, m);", "no"),
        *((one, "unknown") for one in ("half(m);", "half2(&m);", "half(std::move(m));")),
        *((one, "unknown") for one in ("int* p = &m; *p /= 2;", "int& p{m}; p /= 2;")),
        *((one, "unknown") for one in ("(k, m) /= 2;", "std::memcpy(&m, k, 4);", "std::cin >> m;")),
    ],
)
def test_an_index_that_something_else_may_change_is_unknown(change: str, carries: str) -> None:
    body = f"int m = i; {change} y[m] = x[i];" if "y[" not in change else f"int m = i; {change}"
    code = f"void f({PARAMETERS}) {{ for (int i = 0; i < n; ++i) {{ {body} }} }}"
    loop = next(one for one in facts_of(HALVES + code).loops if one.function == "f")
    assert (loop.carries == "no") is (carries == "no")


@pytest.mark.parametrize("kind", ["my_array", "vector_like", "vector"])
def test_a_container_of_the_text_may_have_no_order(kind: str) -> None:
    loop = f"void f({kind}& v) {{ for (int& x : v) x += 1; }}"
    code = f"struct {kind} {{ It begin(); It end(); }}; {loop}"
    assert not facts_of(code).loops[0].canonical


@pytest.mark.parametrize(
    ("before", "section"),
    [
        ("for (int j = 0; j < m; ++j) h[j] = 0;", "h[:m]"),
        ("for (int j = 0; j < m; ++j) for (int q = 0; q < 3; ++q) h[j] = 0;", ""),
        ("for (int j = 0; j < m; ++j) { h[j] = 0;", ""),  # others are not cleared there
    ],
)
def test_the_length_of_what_is_added_up_is_that_of_a_loop_before(before: str, section: str) -> None:
    loop = f"{before} for (int i = 0; i < n; ++i) h[k[i]] += 1; {'}' * before.count('{')}"
    facts = facts_of(f"void f(const int* k, int* h, int n, int m) {{ {loop} }}")
    assert facts.loops[-1].sections == (section,)
