"""`--flags`: how a user's build reads a file."""

import subprocess
from pathlib import Path

import pytest

from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.preprocessed import build_of
from regraph_kg.adopt.reading import understand
from regraph_kg.adopt.texts import home, serial_code
from regraph_kg.cpp.functions import read
from regraph_kg.cpp.slice import whole_text
from regraph_kg.errors import BadInput
from regraph_kg.runs.take_home import _renamed, _with_call

CODE = """#include <real.h>
#ifndef STEP
#error set STEP
#endif
void f(const real* x, real* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] * STEP;
}
"""
HEADER = "#pragma once\n#ifdef SINGLE\ntypedef float real;\n#else\ntypedef double real;\n#endif\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "my include").mkdir()
    (tmp_path / "my include" / "real.h").write_text(HEADER)
    (tmp_path / "own.cpp").write_text(CODE)
    return tmp_path / "own.cpp"


@pytest.mark.parametrize(
    ("flags", "kind", "ignored"),
    [
        ("-I '{}' -DSTEP=3 -DSINGLE", "float32", []),
        ("'-I{}' -D STEP=3 -O2 -std=c++17", "float64", ["-O2", "-std=c++17"]),
        ("-isystem '{}' -DSTEP=2 -DSINGLE -USINGLE", "float64", []),
    ],
)
def test_flags_say_what_of_a_file_is_read(
    file: Path, flags: str, kind: str, ignored: list[str]
) -> None:
    build, kept, others = build_of(flags.format(file.parent / "my include"))
    source = read(file, build)
    draft = Draft(understand(source, "f"), Said(flags=kept))
    assert (draft.arguments()[0]["type"], others) == (kind, ignored)
    assert f"#define STEP {flags.partition('STEP=')[2][0]}" in serial_code(draft, draft.plain())
    told = home(draft, draft.plain(), file.parent)
    assert told.lines == (5, 7)
    again = read(file, build_of(told.flags)[0])  # as a later command does
    assert told.was_read_from(whole_text(again))
    assert not told.was_read_from(whole_text(read(file)))


SET = """#ifndef FACTOR
#define FACTOR 2
#endif
#ifndef LARGER
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifdef UNRELATED
int unrelated;
#endif
void f(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = LARGER(x[i], 0) * FACTOR;
#if LEVEL > 3
    y[i] += 1;
#endif
  }
}
#include <cstdio>
int main() { float x[2] = {1, 2}, y[2]; f(x, y, 2); std::printf("%g\\n", y[1]); }
"""


@pytest.mark.slow
def test_a_build_with_other_macros_runs_the_functions_own_code(tmp_path: Path) -> None:
    (tmp_path / "own.cpp").write_text(SET)
    draft = Draft(understand(read(tmp_path / "own.cpp"), "f"), Said())
    assert [*draft.read.switches] == ["FACTOR", "LARGER(a,b)", "LEVEL"]
    plain = draft.plain()
    kept = home(draft, plain, tmp_path)
    entry = serial_code(draft, plain).replace("FACTOR;", "FACTOR + 0.5f;")  # tells which one ran
    entry, kept = _renamed(entry, kept, tmp_path / "own.cpp")
    (tmp_path / "entry.cpp").write_text(entry)
    (tmp_path / "own.cpp").write_bytes(_with_call(SET.encode(), kept, "entry.cpp"))
    flags = ["-DFACTOR=2", "-DFACTOR=3", "-DLEVEL=4", "-DUNRELATED", "-DLARGER(a,b)=(a+(b))"]
    words = ["g++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "own.cpp", "entry.cpp", "-o"]
    for flag, expected in zip(flags, ["4.5", "6", "5", "4.5", "4"], strict=True):
        subprocess.run([*words, "program", flag], cwd=tmp_path, check=True, timeout=120)
        said = subprocess.check_output(["./program"], cwd=tmp_path, text=True, timeout=60)
        assert (flag, said) == (flag, f"{expected}\n")


@pytest.mark.parametrize(
    ("flags", "said"),
    [("-I nowhere", "no folder"), ("STEP", "no flag"), ("-D 'A", "as for g")],
)
def test_flags_that_cannot_be_read_are_told(flags: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        build_of(flags)


def test_a_file_that_its_build_decides_says_so(file: Path) -> None:
    with pytest.raises(BadInput, match="--flags"):
        understand(read(file), "f")
