"""Functions of a file become problems that tell right parallel code from wrong."""

from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest

from tests.in_process import regraph

FOR = "#pragma omp parallel for"


class Case(NamedTuple):
    """A function, and for each candidate what of its serial code is replaced by what."""

    code: str
    right: tuple[tuple[str, str], ...]
    wrong: tuple[tuple[tuple[str, str], ...], ...]
    options: tuple[str, ...] = ()


def before(loop: str, line: str) -> tuple[str, str]:
    return (loop, f"\n{line}\n{loop}")


BACK = "for (int i = n - 1; i >= 0; i--) sum[i] = 6 + (x[i] & 7) + sum[i + 1];"
FIRST = "for (int i = 1; i < n - 1; ++i) a[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;"
SECOND = "for (int i = 2; i < n - 2; ++i) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;"
COUNT = "for (int i = 0; i < n; i++) seen[text[i]]++;"
ROWS = "for (int r = 0; r < rows; r++) {"
INNER = "for (int y = 1; y < rows - 1; ++y)\n      for (int x = 1; x < cols - 1; ++x) {"
CASES = {
    "after": Case(
        f"void after(const int* x, int n, int* sum) {{\n  sum[n] = 0;\n  {BACK}\n}}\n",
        right=(
            (
                BACK,
                f"\n{FOR}\nfor (int i = 0; i < n; i++) sum[i] = 6 + (x[i] & 7);\n"
                "for (int i = n - 1; i >= 0; i--) sum[i] += sum[i + 1];",
            ),
        ),
        wrong=((before(BACK, FOR),),),
    ),
    "twice": Case(
        "#include <vector>\nvoid twice(const std::vector<float>& x, std::vector<float>& a,"
        f" std::vector<float>& b) {{\n  int n = x.size();\n  {FIRST}\n  {SECOND}\n}}\n",
        right=(before(FIRST, FOR), before(SECOND, FOR)),
        wrong=(
            (
                (FIRST, f"\n#pragma omp parallel\n{{\n#pragma omp for nowait\n{FIRST}"),
                (SECOND, f"\n#pragma omp for\n{SECOND}\n}}"),
            ),
        ),
    ),
    "letters": Case(
        f"void letters(const char* text, int n, int* seen) {{\n  {COUNT}\n}}\n",
        right=(before(COUNT, f"{FOR} reduction(+ : seen[:128])"),),
        wrong=((before(COUNT, FOR),),),
    ),
    "soft": Case(
        "#include <cmath>\nvoid soft(const float* x, float* y, int rows, int cols) {\n"
        f"  {ROWS}\n    const float* in = x + (long)r * cols;\n"
        "    float *out = y + (long)r * cols, top = in[0], sum = 0;\n"
        "    for (int c = 1; c < cols; c++) top = std::fmax(top, in[c]);\n"
        "    for (int c = 0; c < cols; c++) sum += out[c] = std::exp(in[c] - top);\n"
        "    for (int c = 0; c < cols; c++) out[c] /= sum;\n  }\n}\n",
        right=(before(ROWS, FOR),),
        wrong=((("out[c] /= sum", "out[c] = 0"),), (("out[c] /= sum", "out[c] = 1.0f / cols"),)),
    ),
    "plate": Case(
        "#include <cmath>\nint plate(double* heat, double* next, int rows, int cols, int most,"
        " double eps, double* last) {\n  int round = 0;\n  double moved = 0;\n"
        f"  for (; round < most; ++round) {{\n    moved = 0;\n    {INNER}\n"
        "        const int at = y * cols + x;\n"
        "        next[at] = (heat[at - 1] + heat[at + 1]"
        " + heat[at - cols] + heat[at + cols]) / 4;\n"
        "        const double by = std::fabs(next[at] - heat[at]);\n"
        "        if (by > moved) moved = by;\n      }\n"
        "    for (int y = 1; y < rows - 1; ++y)\n"
        "      for (int x = 1; x < cols - 1; ++x) heat[y * cols + x] = next[y * cols + x];\n"
        "    if (moved <= eps) break;\n  }\n  *last = moved;\n  return round;\n}\n",
        right=(before(INNER, f"{FOR} reduction(max : moved)"),),
        wrong=((before(INNER, FOR),),),
        options=("--values", "most=3000", "--values", "eps=0.1"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_right_parallel_code_passes_and_wrong_code_does_not(
    name: str, cache: Path, tmp_path: Path
) -> None:
    def run(*words: str) -> "CompletedProcess[str]":
        env = {"REGRAPH_CACHE_DIR": str(cache), "REGRAPH_DATA_DIR": str(tmp_path / "data")}
        return regraph(*words, folder=tmp_path, env=env)

    case = CASES[name]
    (tmp_path / "own.cpp").write_text(case.code)
    made = run("problem", "new", "own.cpp", "--function", name, *case.options)
    assert made.returncode == 0, made.stdout + made.stderr
    serial = (tmp_path / name / "serial.cpp").read_text()
    for number, edits in enumerate((case.right, *case.wrong)):
        code = serial
        for old, new in edits:
            assert old in code
            code = code.replace(old, new)
        (tmp_path / f"{number}.cpp").write_text(code)
        judged = run("evaluate", name, f"{number}.cpp", "--json")
        assert (judged.returncode == 0) is (number == 0), judged.stdout + judged.stderr
