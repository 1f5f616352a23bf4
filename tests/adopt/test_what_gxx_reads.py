"""What g++ reads of a file is what is read: marks, calls of OpenMP, intrinsics, what is missing."""

from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import Read, understand
from regraph_kg.adopt.texts import home, serial_code
from regraph_kg.cpp.functions import read
from regraph_kg.errors import BadInput

TWICE = "void f(float* x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }\n"


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
