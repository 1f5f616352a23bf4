"""Compiler errors are cut to the candidate's own lines, with the source and a caret."""

import os
import subprocess
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import _PLAIN_ERRORS, HOST_FLAGS
from regraph_kg.evaluation.compile.diagnostics import trimmed
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from tests.requirement import require

ENTRY = 'extern "C" void f(float* y, int n) {'


def compiled(folder: Path, code: str) -> str:
    """What g++ says of `code`."""
    (folder / "candidate.cpp").write_text(code)
    flags = ("-fPIC", "-shared", "-w", "-Wl,--no-undefined", *_PLAIN_ERRORS)
    return said(folder, [str(find_gcc().path), *HOST_FLAGS, *flags, "candidate.cpp"])


def compiled_cuda(folder: Path, code: str) -> str:
    """What nvcc, ptxas and the linker say of `code`."""
    try:
        cuda = find_cuda()
    except ToolError as error:
        require("nvcc", str(error))
    (folder / "candidate.cu").write_text(code)
    nvcc = [str(cuda.nvcc), "-std=c++17", "-O3", "-w", "-arch=sm_90", "-Xcompiler=-fPIC"]
    errors = said(folder, [*nvcc, "-c", "candidate.cu", "-o", "candidate.o"])
    link = [str(find_gcc().path), "-shared", "-Wl,--no-undefined", "candidate.o"]
    runtime = [f"-L{cuda.runtime.parent}", f"-l:{cuda.runtime.name}"]
    return errors or said(folder, [*link, *runtime, "-o", "out.so"])


def said(folder: Path, command: list[str]) -> str:
    environment = {"PATH": os.environ["PATH"], "LANG": "C"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            f"{ENTRY}\n\ty[0] = nothing;\n}}",
            "candidate.cpp:2:16: error: 'nothing' was not declared in this scope\n"
            "    2 |         y[0] = nothing;\n"
            "      |                ^",
        ),
        (
            f"template <class T> T g(T t) {{ return t.none(); }}\n{ENTRY}\n  g(3);\n}}",
            "which is of non-class type 'int'\n    1 | template <class T>",
        ),
        (
            "#include <algorithm>\nstruct S { int a; };\n"
            f"{ENTRY}\n  S s[4]; std::sort(s, s + 4);\n}}",
            " error: no match for 'operator<'",
        ),
        (f"void g(float*);\n{ENTRY} g(y); }}", "undefined reference to `g(float*)'"),
        (
            f"#include <nothing.h>\n{ENTRY} }}",
            "candidate.cpp:1:10: fatal error: nothing.h: No such file",
        ),
        (f"{ENTRY}\n  y[0] = 1\n}}", "candidate.cpp:2"),
        (f"{ENTRY}", "expected '}' at end of input"),
    ],
)
def test_gcc_is_cut_to_the_candidates_lines(tmp_path: Path, code: str, says: str) -> None:
    text = trimmed(compiled(tmp_path, code))
    assert says in text
    assert len(text) < 700
    assert "/usr/" not in text


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "__global__ void k(float* y) {\n  if (y) y[0] = nothing;\n}",
            'candidate.cu(2): error: identifier "nothing" is undefined\n'
            "    if (y) y[0] = nothing;\n"
            "                  ^",
        ),
        (
            'template <int N> __global__ void k() { static_assert(N > 4, "small"); }\n'
            f"{ENTRY}\n  k<3><<<1, 1>>>();\n}}",
            'static assertion failed with "small"',
        ),
        (
            "#include <algorithm>\n#include <vector>\nstruct S { int a; };\n"
            f"{ENTRY}\n  std::vector<S> s; std::sort(s.begin(), s.end());\n}}",
            'error: no operator "<" matches these operands',
        ),
        (
            "__global__ void k(float* y) {\n  __shared__ float s[99999];\n"
            "  s[threadIdx.x] = y[threadIdx.x];\n  __syncthreads();\n"
            "  y[threadIdx.x] = s[99 - threadIdx.x];\n}",
            "Entry function 'k' uses too much shared data",
        ),
        (
            '__global__ void k(float* y) { asm volatile("mov.u33 %0, 1;" : "=f"(y[0])); }',
            "Unknown modifier '.u33'",
        ),
        (f"void g(float*);\n{ENTRY} g(y); }}", "undefined reference to `g(float*)'"),
        (f"{ENTRY}", 'At end of source: error: expected a "}"'),
        (
            "#include <cub/nothing.cuh>",
            "candidate.cu:1:10: fatal error: cub/nothing.cuh: No such file",
        ),
    ],
)
def test_nvcc_is_cut_to_the_candidates_lines(tmp_path: Path, code: str, says: str) -> None:
    text = trimmed(compiled_cuda(tmp_path, code))
    assert says in text
    assert len(text) < 700
    assert "tmpxft" not in text


def test_as_many_whole_errors_are_kept_as_fit() -> None:
    errors = "\n".join(f"candidate.cpp:1:1: error: number {i} {'x' * 90}" for i in range(50))
    text = trimmed(errors, limit=600)
    assert 300 < len(text) <= 600
    assert text.endswith("x" * 90)


def test_an_error_is_told_once_and_long_lines_are_cut() -> None:
    error = "candidate.cpp:1:451: error: what"
    text = trimmed(f"{error}\n{' ' * 50}{'x' * 400}\n{error}\n")
    assert text.count(error) == 1
    assert len(text) < 340


@pytest.mark.parametrize("errors", ["", "candidate.cpp:99:1: error: x", "\x00\n: error: "])
def test_odd_output_is_no_trouble(errors: str) -> None:
    assert len(trimmed(errors)) <= len(errors)


def test_an_error_deep_in_headers_is_told_when_nothing_else_is() -> None:
    errors = "/usr/include/a/b.h:3:4: error: deep inside\ncompilation terminated.\n"
    assert trimmed(errors) == "b.h:3:4: error: deep inside"


TRICKS = "\x1b[2J\x1b]0;title\x07\r\x08\x9b31m\u202e\u2066\u200b"


@pytest.mark.parametrize("where", ["error", "source", "name"])
def test_nothing_that_a_terminal_acts_upon_is_told(tmp_path: Path, where: str) -> None:
    code = {
        "error": f"#error {TRICKS} red",
        "source": f"int x = nothing; /* {TRICKS} */",
        "name": f'#line 1 "{TRICKS}candidate.cpp"\nint x = nothing;',
    }[where]
    text = trimmed(compiled(tmp_path, code))
    assert text
    assert all(one.isprintable() or one == "\n" for one in text)


def test_the_line_that_led_into_a_header_is_told_from_behind_notes() -> None:
    errors = (
        "/usr/include/c++/13/bits/ops.h(45): error: no operator\n"
        "        { return *__it1 < *__it2; }\n                        ^\n"
        "/usr/include/c++/13/bits/x.h(1258): note #3327-D: failed deduction\n"
        "          detected during:\n"
        f'            instantiation of "{"T" * 400}" at line 233 of /usr/include/y.h\n'
        f'            instantiation of "{"T" * 400}" at line 5 of candidate.cu\n'
    )
    text = trimmed(errors)
    assert text.startswith("ops.h(45): error: no operator\n")
    assert text.endswith("\n    at line 5 of candidate.cu")
    assert len(text) < 200
