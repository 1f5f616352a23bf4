"""What g++ reads of a file is what is read: marks, calls of OpenMP, intrinsics, what is missing."""

import time
from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import Read, understand
from regraph_kg.adopt.texts import home, serial_code
from regraph_kg.cpp.functions import read
from regraph_kg.errors import BadInput

TWICE = "void f(float* x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }\n"


HEAD = "void f(const float* x, float* y, int n) {"


def of(folder: Path, code: str, name: str = "own.cpp") -> Read:
    (folder / name).write_bytes(code.encode())
    return understand(read(folder / name), "f")


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeff{TWICE}",
        f"\ufeffstatic {TWICE}",
        f'\ufeff#include "two.h"\n{TWICE}',
        TWICE.replace(" ", "\t").replace("{", "{\r\n"),
        f"int before;\f\n\f{TWICE}",
        TWICE.replace("x", "größe"),
    ],
)
def test_marks_and_white_space_of_editors_do_not_matter(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "a folder with späces"
    folder.mkdir()
    (folder / "two.h").write_bytes("\ufeff#define TWO 2\r\n".encode())
    draft = Draft(of(folder, text), Said())
    assert [draft.shape(name) for name in draft.names] == [("n",)]
    plain = draft.plain()
    assert "\ufeff" not in serial_code(draft, plain)
    kept = home(draft, plain, folder)
    begun = text.encode()[kept.definition[0] :].decode().lstrip("\f")
    assert begun.startswith(("void", "static"))
    assert kept.declare_at <= kept.definition[0]
    assert kept.declare_at >= 3 * text.startswith("\ufeff")


def test_calls_of_openmp_are_those_of_one_thread_unless_it_is_openmp(tmp_path: Path) -> None:
    body = (
        "#pragma omp parallel\n{ int me = omp_get_thread_num(), all = omp_get_num_threads();"
        " for (int i = me; i < n; i += all) y[i] = 2 * x[i]; }"
    )
    one = of(
        tmp_path, f"#include <omp.h>\nvoid f(const float* x, float* y, int n) {{\n{body}\n}}\n"
    )
    assert (one.watched.arrays["y"].shape, one.watched.arrays["y"].role) == (("n",), "out")
    assert "#ifndef _OPENMP\n#define omp_get_num_threads(...) 1\n" in one.part.text
    assert one.part.text.index("#include <omp.h>") < one.part.text.index("#ifndef _OPENMP")


def test_intrinsics_of_this_machine_are_compiled(tmp_path: Path) -> None:
    code = (
        "#include <immintrin.h>\nvoid f(float* x, int n) { for (int i = 0; i + 8 <= n; i += 8)"
        " _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(1))); }\n"
    )
    if " avx " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("needs AVX")
    assert of(tmp_path, code).watched.arrays["x"].role == "inout"


@pytest.mark.parametrize(
    ("code", "name", "why"),
    [
        (
            "double g(double);\nvoid f(double* x, int n) { for (int i = 0; i < n; i++) x[i] ="
            " g(x[i]); }",
            "own.cpp",
            r"own\.cpp: f calls g\(double\), which neither the file nor a header beside it defines",
        ),
        (
            "namespace far { extern int most; }\nvoid f(double* x, int n) {"
            " for (int i = 0; i < n; i++) x[i] = far::most; }",
            "own.cpp",
            r"f calls far::most, which neither",
        ),
        (
            "#include <stdlib.h>\nvoid f(int* x, int n) {\n  int *t = malloc(n);\n  x[0] = t[0];"
            "\n}",
            "own.c",
            r"own\.c, line 3 \(int \*t = .*\): f does not compile: .*; a \.c file is read as C\+\+",
        ),
        (
            "#include <far/away.h>\nvoid f(int* x, int n) {\n  far::away(x, n);\n}",
            "own.cpp",
            r"line 3 \(far::away\(x, n\);\): f does not compile: .*not here: far/away\.h",
        ),
    ],
)
def test_what_is_missing_is_named_with_the_statement(
    tmp_path: Path, code: str, name: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        of(tmp_path, code, name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        # a header for C and C++, whose braces match only once its conditions are decided
        '#include "both.h"\n#include <cstdio>\n' + TWICE + 'int main() { f(0, 0); printf("x"); }\n',
        # what is switched off may print, or be another function of this name
        f'#ifdef CHECKED\nvoid f(float* x, int n) {{ puts("x"); }}\n#else\n{TWICE}#endif\n',
        "void f(float* x, int n) {\n#if defined(CHECKED) && \\\n  CHECKED > 1\nputs(x);\n#endif\n"
        "#if 1\nfor (int i = 0; i < n; i++) {\n#else\nfor (;;) {\n#endif\nx[i] *= 2;\n}\n}\n",
        f"#if 0\nisn't C++ {{{{ at all\n#endif\n{TWICE}",
        f'/*\n#if 0\n*/\nconst char* said = "#if 0";\n{TWICE}// "\n',
        f"#if __has_include(<nowhere/at_all.h>)\n#include <nowhere/at_all.h>\n#endif\n{TWICE}",
        f"#ifdef __CUDACC__\n#include <cuda_runtime.h>\n__device__\n#endif\n{TWICE}",
    ],
)
def test_conditions_are_decided_as_the_preprocessor_does(tmp_path: Path, text: str) -> None:
    (tmp_path / "both.h").write_text(
        '#ifndef BOTH\n#define BOTH\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
        "void f(float* x, int n);\n#ifdef __cplusplus\n}\n#endif\n#endif\n"
    )
    one = of(tmp_path, text)
    assert one.watched.arrays["x"].shape == ("n",)
    assert "#if" not in one.part.text
    assert "main" not in one.part.text
    assert "CHECKED" not in one.part.text
    start, end = one.function.body.start_byte, one.function.body.end_byte
    own = text.encode()[start:end].decode()
    assert own.startswith("{")
    assert own.endswith("}")


def test_a_function_under_a_condition_that_does_not_hold_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="it defines no function, as its conditions"):
        of(tmp_path, f"#ifdef SLOW\n{TWICE}#endif\n")


def test_an_error_of_the_preprocessor_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"line 2: #error say REAL: the preprocessor stops"):
        of(tmp_path, f"#ifndef REAL\n#error say REAL\n#endif\n{TWICE}")


@pytest.mark.timing
def test_fifty_thousand_lines_are_read_in_five_seconds(tmp_path: Path) -> None:
    one = "static float h{0}(float* x) {{\n#ifdef A{0}\n  return 0;\n#endif\n  return *x;\n}}\n"
    text = "".join(one.format(number) for number in range(50_000 // 7 + 1)) + TWICE
    begun = time.process_time()
    assert of(tmp_path, text).watched.arrays["x"].shape == ("n",)
    assert time.process_time() - begun < 5
