"""After `apply` a user's program stays right where it calls otherwise than what was tested."""

import subprocess
from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import understand
from regraph_kg.adopt.texts import home, serial_code
from regraph_kg.cli.problem import _shaped
from regraph_kg.cpp.functions import parsed
from regraph_kg.errors import BadInput
from regraph_kg.runs.take_home import _in_namespace, _with_call

HEAD = "#include <cmath>\n#include <cstdio>\n#include <span>\n#include <vector>\n"
BINS = """void f(const std::vector<double>& value, std::vector<double>& bins) {
    const std::size_t m = bins.size();
    for (std::size_t k = 0; k < value.size(); ++k) {
        std::size_t bin = static_cast<std::size_t>(std::fabs(value[k]) * 0.2 * m);
        if (bin < m) bins[bin] += value[k];
    }
}
"""
PAIR = "void f(const std::vector<int>& x, std::vector<int>& y) {"
TYPES = """void f(const float* x, int* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = int(x[i]) + 1;
}"""
FOUR = """void f(const float* x, float (&y)[4], int n) {
    for (int i = 0; i < n; ++i) y[i % 4] += x[i];
}"""
NAMED = """void f(const float* regraph_len, float* regraph_apart, int n) {
    for (int i = 0; i < n; ++i) regraph_apart[i] = regraph_len[i] + 1;
}"""
SHIFT = "void f(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] + 1; }"


def drafted(code: str, function: str = "f", **shapes: tuple[str, ...]) -> Draft:
    read = understand(parsed(Path("own.cpp"), f"{HEAD}{code}".encode()), function)
    return _shaped(Draft(read, Said(shapes=shapes)))


@pytest.mark.parametrize(
    "code",
    [
        BINS,
        BINS.replace("value[k]) * 0.2", "std::log1p(value[k]))"),
        BINS.replace("std::vector<double>& bins", "std::span<double> bins"),
        "void f(const std::vector<double>& value, const std::vector<int>& to,"
        " std::vector<double>& bins)"
        " { for (std::size_t i = 0; i < value.size(); ++i) bins[to[i]] += value[i]; }",
    ],
)
def test_a_container_that_data_index_has_a_length_of_its_own(code: str) -> None:
    one = drafted(code)
    assert one.shape("bins") == ("bins_size",)
    assert one.sizes["bins_size"] == "bins.size()"
    again = _shaped(Draft(one.read, Said(sizes={"bins_size": 100})))
    assert again.said.sizes == {"bins_size": 100}


@pytest.mark.parametrize(
    "body",
    ["for (int i = 0; i < n; ++i) y[k[i]] += x[i];", "for (int i = 0; i < n; ++i) y[i] = x[k[i]];"],
)
def test_how_much_a_pointer_points_to_is_asked_where_data_index_it(body: str) -> None:
    with pytest.raises(BadInput, match=r"own.cpp, line 5: how long [xy] is cannot.* --shape [xy]="):
        drafted(f"void f(const float* x, const int* k, float* y, int n) {{ {body} }}")


def printed(tmp_path: Path, one: Draft, code: str, calls: str) -> str:
    """What a program of these calls prints; the new code says so, and reads all it was promised."""
    plain, file = one.plain(), f"{HEAD}{code}\nint main() {{ {calls} }}\n".encode()
    (tmp_path / "own.cpp").write_bytes(_with_call(file, home(one, plain, tmp_path), "entry.cpp"))
    entry = f"#include <cstdio>\n{serial_code(one, plain)}"
    begin = entry.index("{", entry.rindex(f" {plain.entry}(")) + 1
    entry = f'{entry[:begin]} std::puts("new"); {entry[begin:]}'
    (tmp_path / "entry.cpp").write_text(_in_namespace(entry, plain.entry))
    flags = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsanitize=address"]
    words = [*flags, "own.cpp", "entry.cpp", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120)
    return subprocess.check_output(["./program"], cwd=tmp_path, text=True, timeout=60)


SHOWN = 'std::printf("%g\\n", double(y[1]));'
GROWS = f"{PAIR} for (unsigned i = 0; i < x.size(); ++i) y[i] = x[i] + (i ? y[i - 1] : 0); }}"
SPAN = f"{PAIR} for (unsigned i = 0; i < x.size(); ++i) y[i] = x[i]; }}".replace(
    "std::vector<int>& y", "std::span<int> y"
)
SCALED = """void f(std::vector<int>& y, const int& by) {
    for (unsigned i = 0; i < y.size(); ++i) y[i] *= by;
}"""
MEAN = """void f(const float* x, int n, float& mean) {
    mean = 0;
    for (int i = 0; i < n; ++i) mean += x[i] / n;
}"""
LARGEST = """template <typename T> T f(const std::vector<T>& x) {
    T found = T(x[0]);
    for (const T& each : x) found = each > found ? each : found;
    return found;
}"""

THROWS = SHIFT.replace("int n) {", "int n, int s) { if (s < 0) throw s; if (n > 9) { throw n; }")
DECLARED = "template <typename T> T f(const std::vector<T>& x);"
WIDE = """template <class T, int by> void f(const T* x, T* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = x[i] * by;
}"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "function", "calls", "expected"),
    [
        (SHIFT, "f", f"float x[3] = {{1, 2, 3}}, y[3]; f(x, y, 3); {SHOWN}", "new\n3\n"),
        # what is written lies one element beside what is read: the user's own loop is a scan
        (SHIFT, "f", f"float y[4] = {{1}}; f(y, y + 1, 3); {SHOWN}", "2\n"),
        (SHIFT, "f", f"float y[2] = {{1, 2}}; f(nullptr, nullptr, 0); {SHOWN}", "2\n"),
        (TYPES, "f", f"float x[3] = {{1, 2, 3}}; int y[3]; f(x, y, 3); {SHOWN}", "new\n3\n"),
        (TYPES, "f", "float x[3] = {}; f(x, reinterpret_cast<int*>(x), 3);", ""),
        (FOUR, "f", f"float x[2] = {{1, 2}}, y[4] = {{}}; f(x, y, 2); {SHOWN}", "new\n2\n"),
        (FOUR, "f", f"float y[4] = {{1, 2}}; f(y + 1, y, 2); {SHOWN}", "2\n"),
        (THROWS, "f", f"float x[2] = {{1, 2}}, y[2]; f(x, y, 2, 0); {SHOWN}", "new\n3\n"),
        (
            THROWS,
            "f",
            'float x[1] = {}, y[1]; try { f(x, y, 1, -1); } catch (int) { puts("thrown"); }',
            "thrown\n",
        ),
        (NAMED, "f", f"float x[2] = {{1, 2}}, y[2]; f(x, y, 2); {SHOWN}", "new\n3\n"),
        (GROWS, "f", f"std::vector<int> x{{1, 2}}, y(2); f(x, y); {SHOWN}", "new\n3\n"),
        # a reference to a number may be an element of what is written, or read
        (SCALED, "f", f"std::vector<int> y{{2, 3}}; int by = 2; f(y, by); {SHOWN}", "new\n6\n"),
        (SCALED, "f", f"std::vector<int> y{{2, 3}}; f(y, y[0]); {SHOWN}", "12\n"),
        (MEAN, "f", f"float y[2] = {{2, 4}}, mean; f(y, 2, mean); {SHOWN}", "new\n4\n"),
        (MEAN, "f", f"float y[2] = {{2, 4}}; f(y, 2, y[1]); {SHOWN}", "1.5\n"),
        (GROWS, "f", f"std::vector<int> y{{1, 2}}; f(y, y); {SHOWN}", "3\n"),
        (SPAN, "f", f"std::vector<int> x{{1, 2}}, y(3); f(x, y); {SHOWN}", "new\n2\n"),
        (SPAN, "f", f"std::vector<int> y{{1, 2}}; f(y, y); {SHOWN}", "2\n"),
        (
            BINS,
            "f",
            "std::vector<double> v(2000, 1.0), y(100), beside(9, 7.0); f(v, y);"
            ' std::printf("%g %g\\n", y[20], beside[0]);',
            "new\n2000 7\n",
        ),
        (LARGEST, "f<int>", 'std::printf("%d\\n", f(std::vector<int>{3, 9, 4}));', "new\n9\n"),
        # other instances keep their own code
        (LARGEST, "f<int>", 'std::printf("%g\\n", f(std::vector<double>{3, 9}));', "9\n"),
        # it is used before it is defined, where no specialization may follow
        (
            f"{DECLARED}\nint g(const std::vector<int>& x) {{ return f(x); }}\n{LARGEST}",
            "f<int>",
            'std::printf("%d\\n", g({3, 9, 4}));',
            "new\n9\n",
        ),
        (
            WIDE,
            "f<float, 2>",
            f"float x[2] = {{1, 2}}, y[2]; f<float, 2>(x, y, 2); {SHOWN}",
            "new\n4\n",
        ),
        (WIDE, "f<float, 2>", f"float x[2] = {{1, 2}}, y[2]; f<float, 3>(x, y, 2); {SHOWN}", "6\n"),
    ],
)
def test_what_was_not_tested_is_computed_by_the_functions_own_code(
    tmp_path: Path, code: str, function: str, calls: str, expected: str
) -> None:
    assert printed(tmp_path, drafted(code, function), code, calls) == expected


@pytest.mark.parametrize(
    ("body", "sign"),
    [("y[i] = x[i];", ">="), ("y[i] = x[i] / float(y.size());", "==")],
)
def test_a_longer_container_will_do_unless_the_function_asks_how_long_it_is(
    tmp_path: Path, body: str, sign: str
) -> None:
    head = "void f(const float* x, std::vector<float>& y, int n) {"
    one = drafted(f"{head} for (int i = 0; i < n; ++i) {body} }}", y=("n",))
    assert (
        f"regraph_len(y.size()) {sign} regraph_len(n)" in home(one, one.plain(), tmp_path).wrapper
    )


@pytest.mark.parametrize("name", ["system", "open", "exit"])
def test_a_parameter_may_have_the_name_of_what_a_function_must_not_call(name: str) -> None:
    at = f"inline int at(int {name}, int i) {{ return {name} * 4 + i; }}"
    one = drafted(
        f"{at} void f(float* y, int n) {{ for (int i = 0; i < n; ++i) y[at(0, i)] = i; }}"
    )
    assert one.shape("y") == ("n",)


def test_a_stride_that_is_no_size_must_not_be_zero(tmp_path: Path) -> None:
    strided = SHIFT.replace("int n)", "int n, int s)").replace("y[i]", "y[i * s]")
    assert "s >= 1" in home(drafted(strided), drafted(strided).plain(), tmp_path).wrapper
    one = drafted(strided, y=("100",))
    assert "s != 0" in home(one, one.plain(), tmp_path).wrapper
