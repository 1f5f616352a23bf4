"""A head that OpenMP takes begins and ends each loop as the head that a person wrote."""

import subprocess
from pathlib import Path

import pytest

from regraph_kg.cpp.facts import facts_of

CASES = [
    ("int i = 0; i + 1 < n; ++i", "int"),
    ("int i = 0; i + k <= n - m; ++i", "int"),
    ("int i = 1; i - 1 < n; i += 2", "int"),
    ("int i = 0; n > i + (k - 1); ++i", "int"),
    ("long i = n; i - k >= m; --i", "int"),
    ("std::size_t i = 0; i + 1 < n; ++i", "std::size_t"),
    ("unsigned i = 2; i + 2 <= n; i += 3", "unsigned"),
    ("std::size_t i = 0; i + k <= n; ++i", "std::size_t"),
    ("std::size_t i = 0; i + k < n - m; ++i", "std::size_t"),
    ("int i = 0; i + 1 < v.size(); ++i", "int"),
    ("std::size_t i = 0; i + w.size() <= v.size(); ++i", "int"),
]
LEFT = [
    ("std::size_t i = s; i + k < n; ++i", "std::size_t"),  # the sum wraps around
    ("std::size_t i = 0; i + k < n; ++i", "int"),  # `k` below 0
    ("int i = 0; n - i > 0; ++i", "int"),
    ("int i = 0; i + 1 < n && m > 0; ++i", "int"),
    ("int i = 0; i + 1 < n + i; ++i", "int"),
    ("int i = 0; 2 * i + 1 < n; ++i", "int"),
    ("std::size_t i = 0; i + 1 != n; ++i", "std::size_t"),
    ("int i = 0; i + 1 < n; ++i", "double"),
    ("std::size_t i = 0; i + v.size() < n; ++i", "const float"),
    ("int i = 0; i + 1 < q.n; ++i", "int"),
]
TAKES = "const std::vector<char>& v, const std::vector<char>& w, KIND n, KIND m, KIND k, KIND s"


def function(name: str, head: str, kind: str, body: str) -> str:
    takes = TAKES.replace("KIND", kind)
    return f"void {name}(int* y, {takes}) {{ for ({head}) {{ {body} }} }}\n"


def spelled(head: str, kind: str) -> str:
    loop = facts_of(function("f", head, kind, "y[i] = 1;")).loops[0]
    return loop.comparison if loop.canonical else ""


def test_the_iterations_are_the_same(tmp_path: Path) -> None:
    code, calls = "#include <cstddef>\n#include <vector>\n", ""
    for number, (head, kind) in enumerate(CASES):
        first, _, step = head.split(";")
        new = f"{first}; {spelled(head, kind)};{step}"
        assert spelled(head, kind)
        for name, text in (("a", head), ("b", new)):
            body = "if (i < 40) y[i] += 1; else y[40] = 1;"
            made = function(f"{name}{number}", text, kind, body)
            shared = '_Pragma("omp parallel for num_threads(1)") for'
            code += made.replace("for", shared, 1) if name == "b" else made
        calls += f"differ += other(a{number}, b{number}, ({kind})0);\n"
    code += (
        """
template <class F, class K> int other(F a, F b, K) {
    int found = 0;
    for (int n = 0; n < 6; ++n) for (int m = 0; m <= n; ++m) for (int k = 0; k < 4; ++k) {
        std::vector<char> v(n), w(m);
        int x[41] = {0}, y[41] = {0};
        a(x, v, w, K(n), K(m), K(k), K(0));
        b(y, v, w, K(n), K(m), K(k), K(0));
        for (int e = 0; e < 41; ++e) found |= x[e] != y[e];
    }
    return found;
}
"""
        + f"int main() {{ int differ = 0; {calls} return differ > 0; }}"
    )
    (tmp_path / "all.cpp").write_text(code)
    words = ["g++", "-O1", "-std=c++20", "-fopenmp", "-w", "all.cpp", "-o", "all"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120)
    assert subprocess.run(["./all"], cwd=tmp_path, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(("head", "kind"), LEFT)
def test_a_head_is_left_where_its_end_may_be_another_one(head: str, kind: str) -> None:
    assert spelled(head, kind) == ""
