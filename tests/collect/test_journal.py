"""The journal: what was paid for is found again, whatever ended the process."""

import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.collect.journal import Journal
from regraph_kg.errors import BadInput

ABOUT = {"source": "model x", "created": "now"}


def test_entries_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, ABOUT) as journal:
        journal.write("a", {"x": 1})
        with pytest.raises(BadInput):
            Journal(path, ABOUT)  # two at once
    with Journal(path, {**ABOUT, "created": "later"}) as journal:
        assert journal.find("a") == {"x": 1}
        assert journal.find("b") is None
        assert journal.about["created"] == "now"
    assert path.stat().st_mode & 0o077 == 0


def test_a_journal_that_a_kill_cut_short_has_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j"
    words = [sys.executable, "-c", KILLED, str(path)]
    subprocess.run(words, check=False)
    with Journal(path, ABOUT) as journal:
        assert journal.find("k99") == 99


def test_another_collections_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, ABOUT) as journal:
        journal.write("a", 1)
    with pytest.raises(BadInput):
        Journal(path, {**ABOUT, "source": "model y"})


def test_a_collection_that_came_to_nothing_binds_nobody(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for about in (ABOUT, {**ABOUT, "source": "model y"}):
        with Journal(path, about):
            pass


@pytest.mark.parametrize(
    "text", ["hello\n" * 200, '{"format": 1}\n{"key": "a", "value": 1}\n' * 20]
)
def test_what_is_no_journal_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "j"
    path.write_text(text)
    with pytest.raises(BadInput):
        Journal(path, ABOUT)
    assert path.read_text() == text


KILLED = """
import os, sys
from pathlib import Path
from regraph_kg.collect.journal import Journal
with Journal(Path(sys.argv[1]), {"source": "model x", "created": "now"}) as journal:
    for number in range(100):
        journal.write(f"k{number}", number)
    os.kill(os.getpid(), 9)
"""
FILLS_THE_DISK = """
import resource, sys
from pathlib import Path
from regraph_kg.collect.journal import Journal
from regraph_kg.errors import ToolError
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    with Journal(Path(sys.argv[1]), {"source": "model x", "created": "now"}) as journal:
        for number in range(100):
            journal.write(f"k{number}", "x" * 1000)
except ToolError:
    print("full")
"""


def test_a_full_disk_is_one_line_and_what_was_written_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    words = [sys.executable, "-c", FILLS_THE_DISK, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "full\n"
    with Journal(path, ABOUT) as journal:
        assert journal.find("k10")
