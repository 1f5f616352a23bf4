"""The plain form of a code means what the code meant."""

import subprocess
from pathlib import Path

import pytest

from regraph_kg.port.buffers import with_local_arrays
from regraph_kg.port.normal import plain
from regraph_kg.port.templates import with_plain_work

HEAD = "void f(const float* x, float* y, int n)"
PLAIN = [
    (
        "int i; double t; i = 0; while (i < n) { t = x[i]; y[i] = t; i++; }",
        "for (int i = 0; i < n; i++) { double t = x[i]; y[i] = t; }",
    ),
    (
        "int i, j; float s; for (i = 0; i < n; i++) {"
        " s = 0; for (j = 0; j < i; j++) s += x[j]; y[i] = s; }",
        "for (int i = 0; i < n; i++) {"
        " float s = 0; for (int j = 0; j < i; j++) s += x[j]; y[i] = s; }",
    ),
    (
        "float t; for (int i = 0; i < n; i++) { t = x[i]; float u = t; y[i] = u; }",
        "for (int i = 0; i < n; i++) { float t = x[i]; float u = t; y[i] = u; }",
    ),
    (
        "const float* row; for (int i = 1; i < n; ++i) { row = x + i - 1; y[i] = row[0]; }",
        "for (int i = 1; i < n; ++i) { const float* row = x + i - 1; y[i] = row[0]; }",
    ),
    (
        "int i = n; while (i > 1) { if (x[i - 1] < 0) break; y[i - 1] = 1; i -= 2; } y[0] = i;",
        "int i;  for (i = n; i > 1; i -= 2) { if (x[i - 1] < 0) break; y[i - 1] = 1; } y[0] = i;",
    ),
]
KEPT = [
    "struct P { int v; P(int a = 0) : v(a) {} }; P p(3); for (int i = 0; i < 3; ++i) p.v += i;",
    "V<float> t(n); for (int i = 0; i < n; ++i) { t[0] = x[i]; y[i] = t[0]; }",
    "int i; for (i = 0; i < n; i++) { if (x[i] > 0) break; } y[0] = i;",
    "float t = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) t = x[i]; y[i] = t; }",
    "float t; for (int i = 0; i < n; i++) { t = x[i]; y[i] = t; } if (x[0] > 0) y[0] = t;",
    "float t = 0; for (int k = 0; k < 3; ++k) { y[k] = t; for (int i = 0; i < 3; ++i) t = x[i]; }",
    "float t; do { t = x[0]; y[1] += t; } while (t > y[1]);",
    "float t; float* p = &t; for (int i = 0; i < n; i++) { t = x[i]; y[i] = *p; }",
    "float t; for (int i = 0; i < n; i++) {"
    " t = x[i]; for (int k = 0; k < 2; ++k) { int t = k; y[t] = 1; } }",
    "int i = 0; while (i < n) { if (x[i] > 0) { i += 2; continue; } y[i] = 1; i++; }",
    "for (int i = 2; i < n; i += 2) y[i] = y[i - 2] + x[i];",
    "float t = 1; for (int i = 0; i < n; i++) { t = t * x[i]; y[i] = t; }",
]


def words(code: str) -> str:
    return " ".join(code.split())


@pytest.mark.parametrize(("code", "said"), PLAIN)
def test_a_loop_is_written_in_its_plain_form(code: str, said: str) -> None:
    assert words(plain(f"{HEAD} {{ {code} }}")) == words(f"{HEAD} {{ {said} }}")


@pytest.mark.parametrize("code", KEPT)
def test_what_lasts_stays_as_it_is(code: str) -> None:
    assert plain(f"{HEAD} {{ {code} }}") == f"{HEAD} {{ {code} }}"


def test_the_plain_form_gives_the_same(tmp_path: Path) -> None:
    codes = [code for code, _ in PLAIN] + KEPT
    text = "#include <cstdio>\n#include <cstring>\n#include <vector>\n"
    text += "template <class T> using V = std::vector<T>;\n"
    for number, code in enumerate(codes):
        own = f"{HEAD.replace('f(', f'f{number}(')} {{ {code} }}"
        text += f"{own}\n{plain(own).replace(f'f{number}(', f'g{number}(', 1)}\n"
    calls = "".join(
        f"for (int n = 3; n < 9; ++n) {{ float a[9] = {{}}, b[9] = {{}};"
        f" f{number}(x, a, n); g{number}(x, b, n);"
        f' if (std::memcmp(a, b, sizeof a)) std::puts("{number}"); }}\n'
        for number in range(len(codes))
    )
    source = tmp_path / "both.cpp"
    source.write_text(
        f"{text}int main() {{ float x[9] = {{3, -1, 4, 0, 5, -9, 2, 6, 5}};\n{calls}}}"
    )
    subprocess.run(["g++", "-w", str(source), "-o", str(tmp_path / "both")], check=True)
    assert not subprocess.run([tmp_path / "both"], check=True, capture_output=True).stdout


def test_the_instance_that_an_entry_calls_is_a_function() -> None:
    code = """
namespace a {
template <typename T, int N>
void g(const T* x, T* y, int n) { for (int i = 0; i < n; ++i) y[i] = T(N) * x[i] + p.T; }
template void g<float, 2>(const float*, float*, int);
}
extern "C" void f(const float* x, float* y, int n) { a::g<float, 2>(x, y, n); }
"""
    made = with_plain_work(code, "f")
    assert "void g(const float* x, float* y, int n)" in made
    assert "y[i] = float(2) * x[i] + p.T;" in made
    assert "a::g(x, y, n)" in made
    assert "template" not in made
    assert with_plain_work(code.replace("<float, 2>(x", "<float>(x"), "f").count("template <") == 1


def test_the_size_of_a_local_array_stays_when_it_becomes_memory() -> None:
    code = (
        "void f(float* p, int n) { int a[8]; memset(a, 0, sizeof(a)); g(sizeof p, sizeof a[0]); }"
    )
    made = with_local_arrays(code)
    assert "memset(a, 0, (sizeof(int) * (8)))" in made
    assert "g(sizeof p, sizeof a[0])" in made


@pytest.mark.parametrize(
    ("index", "made"),
    [
        (
            "static inline int at(int i, int j, int n) { return i * n + j; }",
            "x[((int)(i) * (int)(n) + (int)(2))]",
        ),
        (
            "std::size_t at(int i, std::size_t j, int n)\n{\n    return i * n + j;\n}",
            "x[((int)(i) * (int)(n) + (size_t)(2))]",
        ),
    ],
)
def test_a_function_that_computes_an_index_is_written_out(index: str, made: str) -> None:
    code = f"{index}\n{HEAD} {{ for (int i = 0; i < n; ++i) y[i] = x[at(i, 2, n)]; }}"
    assert made in plain(code)
    assert "at(" not in plain(code).replace("float", "")
    for other in ("m.at(i, 2, n)", "at(i++, 2, n)", "of(at)"):
        again = code.replace("at(i, 2, n)]", f"{other}] + x[at(i, 2, n)]")
        assert "x[at(i, 2, n)]" in plain(again)


def test_a_lambda_that_computes_an_index_is_written_out_where_what_it_holds_stays() -> None:
    body = (
        "auto at = [n](int i) { return n - 1 - i; }; for (int i = 0; i < n; ++i) y[at(i)] = x[i];"
    )
    assert "y[(n - 1 - (int)(i))]" in plain(f"{HEAD} {{ {body} }}")
    assert "y[at(i)]" in plain(f"{HEAD} {{ {body.replace('; for', '; n = 3; for')} }}")


def test_a_lambda_that_names_an_element_is_written_out() -> None:
    body = "auto at = [&](int i) -> float& { return y[n - 1 - i]; }; at(0) = x[0]; // looked at"
    assert "y[n - 1 - (int)(0)] = x[0];" in plain(f"{HEAD} {{ {body}\n }}")


SET_FIRST = [
    "for (int j = 0; j < n; ++j) t[j] = x[j] + i; for (int j = 0; j < n; ++j) s += t[j];",
    "t[0] = x[i]; for (int j = 1; j < n; ++j) { t[j] = 0.5f * t[j - 1]; } s = t[n / 2];",
    "const int m = i < 2 ? i : 2; for (int j = 0; j <= m; ++j) { t[j] = j; s += t[j]; }",
    "t[0] = i; t[1] = t[0] + 1; s = t[1];",
]
READ_FIRST = [
    "for (int j = 0; j < n; ++j) s += t[j]; for (int j = 0; j < n; ++j) t[j] = x[j];",
    "for (int j = 1; j < n; ++j) t[j] = x[j]; for (int j = 0; j < n; ++j) s += t[j];",
    "for (int j = 0; j < n - 1; ++j) t[j] = x[j]; for (int j = 0; j < n; ++j) s += t[j];",
    "for (int j = 0; j < n; ++j) if (x[j] > 0) t[j] = 1; for (int j = 0; j < n; ++j) s += t[j];",
    "for (int j = 0; j < n; ++j) { s += t[j]; t[j] = x[j]; }",
    "t[i] = x[i]; for (int j = 0; j < n; ++j) s += t[j];",
    "t[0] = i; s = t[1];",
    "for (int j = 0; j < n; j += 2) t[j] = x[j]; s = t[1];",
    "for (int j = 0; j < n; ++j) { if (j == 3) break; t[j] = x[j]; } s = t[n - 1];",
]


@pytest.mark.parametrize("body", SET_FIRST + READ_FIRST)
@pytest.mark.parametrize("array", ["float t[n];", "std::vector<float> t(n);"])
def test_an_array_that_each_iteration_sets_first_is_its_own(array: str, body: str) -> None:
    code = f"{HEAD} {{ {array} for (int i = 0; i < n; ++i) {{ float s = 0; {body} y[i] = s; }} }}"
    assert ("++i) { float t[n];" in plain(code)) == (body in SET_FIRST)
    used = code[:-1] + "y[0] = t[0]; }"
    assert "++i) { float t[n];" not in plain(used)
