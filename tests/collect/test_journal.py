"""The journal: what was paid for is found again, whatever ended the process."""

import subprocess
import sys
from pathlib import Path

import pytest

from regraph_kg.collect.journal import Journal, count_entries, key_of
from regraph_kg.errors import BadInput

ABOUT = {"source": "model x", "created": "now"}


def test_entries_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, ABOUT) as journal:
        journal.write("a", {"x": 1})
    with Journal(path, {**ABOUT, "created": "later"}) as journal:
        assert journal.find("a") == {"x": 1}
        assert journal.find("b") is None
        assert journal.about["created"] == "now"
    assert path.stat().st_mode & 0o077 == 0


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, ABOUT) as journal:
        journal.write("a", 1)
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with Journal(path, ABOUT) as journal:
            assert journal.find("a") is None
            journal.write("b", 2)
        with Journal(path, ABOUT) as journal:
            assert journal.find("b") == 2


def test_another_collections_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, ABOUT) as journal:
        journal.write("a", 1)
    with pytest.raises(BadInput, match="of another collection"):
        Journal(path, {**ABOUT, "source": "model y"})


def test_a_collection_that_came_to_nothing_binds_nobody(tmp_path: Path) -> None:
    path = tmp_path / "j"
    Journal(path, ABOUT).close()
    Journal(path, {**ABOUT, "source": "model y"}).close()


@pytest.mark.parametrize("text", ["hello\n", "[]\n", '{"x": 1}\n'])
def test_what_is_no_journal_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "j"
    path.write_text(text)
    with pytest.raises(BadInput, match="journal"):
        Journal(path, ABOUT)
    assert path.read_text() == text


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", ABOUT), pytest.raises(BadInput, match="another process"):
        Journal(tmp_path / "j", ABOUT)


def test_keys_differ_by_all_that_counts() -> None:
    assert key_of("a", 1, ("x", "y")) != key_of("a", 1, ("x", "z"))
    assert key_of("a", "bc") != key_of("a", "b", "c")


FILLS_THE_DISK = """
import resource, sys
from pathlib import Path
from regraph_kg.collect.journal import Journal
from regraph_kg.errors import ToolError
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    with Journal(Path(sys.argv[1]), {"source": "model x", "created": "now"}) as journal:
        for number in range(100):
            journal.write(f"k{number}", "x" * 100)
except ToolError as error:
    print(error)
"""


def test_a_full_disk_is_one_line_and_what_was_written_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    words = [sys.executable, "-c", FILLS_THE_DISK, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "free space and run the same command again" in done.stdout
    with Journal(path, ABOUT) as journal:
        assert journal.find("k10")


def test_the_answers_that_are_there_are_counted_without_taking_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "j"
    assert count_entries(path, "reply") == 0
    with Journal(path, ABOUT) as journal:
        for number in range(3):
            journal.write(key_of("reply", number), {"text": "x"})
        journal.write(key_of("report", 1), {})
        assert count_entries(path, "reply") == 3
