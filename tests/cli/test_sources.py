"""Files of code as `regraph evaluate` reads them, and what it loads."""

import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.wiring.sources import read_source


def test_a_file_without_an_end_is_not_read_for_ever() -> None:
    with pytest.raises(BadInput):
        read_source(Path("/dev/zero"))


def test_ends_of_lines_are_made_alike(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(b"int a;\r\nint b;\rint c;\n")
    assert read_source(tmp_path / "a.cpp") == "int a;\nint b;\nint c;\n"


def test_the_judge_runs_alone() -> None:
    script = "import sys, regraph_kg.cli.evaluate; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"neo4j", "jpype", "arcadedb_embedded", "ollama", "httpx"}
