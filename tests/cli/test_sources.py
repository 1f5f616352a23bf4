"""Files of code as `regraph evaluate` reads them."""

from pathlib import Path

import pytest

from regraph_kg.api.sources import read_source
from regraph_kg.errors import BadInput


def test_a_file_without_an_end_is_not_read_for_ever() -> None:
    with pytest.raises(BadInput, match=r"^/dev/zero: longer than 16 MiB; give a source file$"):
        read_source(Path("/dev/zero"))


def test_ends_of_lines_are_made_alike(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(b"int a;\r\nint b;\rint c;\n")
    assert read_source(tmp_path / "a.cpp") == "int a;\nint b;\nint c;\n"
