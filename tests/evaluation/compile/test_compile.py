"""Source rules, the cache, limits and the trimming of compiler errors."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler, signature_header, trimmed
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome

from ..conftest import problem_named

CODE = 'extern "C" int seven() { return 7; }\n'


@pytest.mark.parametrize(
    "code",
    [
        '#include "/etc/passwd"',
        "# include </etc/passwd>",
        "%:include <../x.h>",
        '#include \\\n  "/etc/passwd"',
        '/* */ #/* */include "/etc/passwd"',
        "#include NAME",
        '#embed "x"',
        '#include_next "../x"',
        'asm(".incbin \\"/etc/passwd\\"");',
        'asm(".inc" "bin \\"/etc/passwd\\"");',
        'asm(".\\x69ncbin \\"x\\"");',
        'asm(".include \\"x\\"");',
    ],
)
def test_sources_that_reach_for_files_are_rejected(code: str) -> None:
    failure = rejected(f"{code}\n{CODE}")
    assert failure is not None
    assert failure.outcome is Outcome.REJECTED_SOURCE


@pytest.mark.parametrize(
    "code",
    [
        "#include <vector>",
        '#include "immintrin.h"',
        '// #include "/etc/passwd"',
        '/*\n#include "/etc/passwd"\n*/',
        'asm volatile("" ::: "memory");',
        'const char* s = "see ../x and /etc";',
        "#pragma omp parallel for",
        "#include <thrust/device_vector.h>",
    ],
)
def test_ordinary_sources_are_not(code: str) -> None:
    assert rejected(f"{code}\n{CODE}") is None


def test_errors_are_trimmed_to_the_candidates_lines() -> None:
    errors = (
        "In file included from /usr/include/c++/12/vector:1,\n"
        "/usr/include/c++/12/bits/stl.h:5:1: error: deep inside\n"
        "candidate.cpp:3:7: error: 'q' was not declared\n"
        "candidate.cpp:3:7: note: suggested alternative\n"
        'candidate.cu(9): error: identifier "z" is undefined\n'
    )
    assert trimmed(errors).splitlines() == [
        "candidate.cpp:3:7: error: 'q' was not declared",
        'candidate.cu(9): error: identifier "z" is undefined',
        "stl.h:5:1: error: deep inside",
    ]


def test_the_same_source_is_compiled_once(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits())
    first = compiler.host(CODE, ["-O2"])
    assert isinstance(first, Path)
    stamp = first.stat().st_mtime_ns
    assert compiler.host(CODE, ["-O2"]) == first
    assert first.stat().st_mtime_ns == stamp
    assert compiler.host(CODE, ["-O1"]) != first
    assert compiler.host(CODE + "//", ["-O2"]) != first


def test_a_compilation_that_takes_too_long_fails(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits(compile_seconds=0.01))
    failure = compiler.host(f"#include <regex>\n{CODE}", ["-O3"])
    assert isinstance(failure, Failure)
    assert failure.outcome is Outcome.COMPILE_FAILED
    assert "needs more than" in failure.diagnosis


def test_an_unwritable_cache_is_our_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="compile cache"):
        Compiler(tmp_path / "file" / "cache", find_gcc(), JudgeLimits()).host(CODE, ["-O2"])


@pytest.mark.nightly
def test_a_killed_judge_leaves_no_half_entry(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from regraph_kg.evaluation.compile.compile import Compiler\n"
        "from regraph_kg.evaluation.rules import JudgeLimits\n"
        "from regraph_kg.evaluation.compile.toolchain import find_gcc\n"
        "compiler = Compiler(Path(sys.argv[1]), find_gcc(), JudgeLimits())\n"
        "print('ready', flush=True)\n"
        f"for i in range(1000): compiler.host({CODE!r} + f'int x{{i}};', ['-O0'])\n"
    )
    rng = random.Random(3)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        end = time.monotonic() + 30
        while not list(tmp_path.glob("*.so")) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.05, 0.3))
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
    entries = list(tmp_path.glob("*.so"))
    assert entries
    for entry in entries:
        done = subprocess.run(["nm", "-D", entry], capture_output=True, text=True, check=True)
        assert "seven" in done.stdout


def test_the_harness_is_told_how_to_call() -> None:
    header = signature_header(problem_named("bump"))
    assert "ARGUMENTS = 4" in header
    assert "{true, true, false, false}" in header
    assert "(int*)a[0], (unsigned char*)a[1], *(int*)a[2], *(int*)a[3]" in header
