"""Files that nobody wrote to be read: each ends in one clear line, and soon."""

from pathlib import Path

import pytest

from regraph_kg.adopt.adopt import _validated
from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.reading import Read, understand
from regraph_kg.cpp.functions import parsed, read
from regraph_kg.errors import BadInput

GOOD = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }\n"


def of(code: str) -> Read:
    return understand(parsed(Path("own.cpp"), code.encode()), "f")


def test_brackets_within_brackets_do_no_harm() -> None:
    deep = "(" * 3000 + "1" + ")" * 3000
    one = of(f"void f(float* x, int n) {{ for (int i = 0; i < n; ++i) x[i] = {deep}; }}")
    assert one.watched.arrays["x"].shape == ("n",)


@pytest.mark.nightly
def test_a_function_that_takes_too_long_everywhere_is_unknown_and_asked_for() -> None:
    names = [f"n{number}" for number in range(16)]
    most = " * ".join(f"({name} + 1L)" for name in names)
    given = ", ".join(f"int {name}" for name in names)
    one = of(f"void f(float* x, {given}) {{ for (long i = 0; i < {most}; ++i) x[i % 9] = 1; }}")
    assert Draft(one, Said()).open == ["x"]


def test_headers_outside_of_the_files_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("int secret;\n")
    (tmp_path / "in" / "part").mkdir(parents=True)
    (tmp_path / "in" / "part" / "near.h").write_text('#include "../other.h"\nint near_;\n')
    (tmp_path / "in" / "other.h").write_text("int other;\n")
    own = tmp_path / "in" / "own.cpp"
    far = f'#include "../secret.h"\n#include "{tmp_path}/secret.h"\n'
    own.write_text(f'{far}#include "part/near.h"\n{GOOD}')
    content = understand(read(own), "f").source.content
    assert b"int secret" not in content
    assert b"int other" in content
    assert b"int near_" in content


@pytest.mark.parametrize("target", ["own.cpp", "/dev/zero"])
def test_a_link_to_no_file_is_one_line(tmp_path: Path, target: str) -> None:
    (tmp_path / "own.cpp").symlink_to(target)
    with pytest.raises(BadInput, match=r"own\.cpp: no regular file; give a C\+\+ source file"):
        read(tmp_path / "own.cpp")


def test_a_header_behind_which_nothing_can_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "good.h").write_text("int good;\n")
    (tmp_path / "bad.h").write_text("root:x:0:0:root:/root:/bin/bash\nof:x:1:1::/:/bin/sh\n")
    own = tmp_path / "own.cpp"
    own.write_text(f'#include "good.h"\n#include "bad.h"\n{GOOD}')
    with pytest.raises(BadInput, match="some of it, or of a header beside it, cannot be read"):
        understand(read(own), "f")


def test_a_fault_of_no_field_has_no_empty_place() -> None:
    arg = {"name": "x", "type": "float32", "role": "inout", "shape": ["n"]}
    sizes = {"check": [{"n": 2**33}], "time": {"n": 2**33}}
    fields = {"schema": 1, "name": "large", "entry": "f", "args": [arg], "sizes": sizes}
    with pytest.raises(BadInput, match=r"^large: sizes: 64 GiB"):
        _validated(fields, "void f(float*);")
