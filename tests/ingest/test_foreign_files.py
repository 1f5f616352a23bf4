"""Files that hold no trajectories, and stores that Neo4j Browser opens."""

import pytest

from regraph_kg.cli.examples import _show
from regraph_kg.settings import Settings
from tests.ingest.test_commands import Desk, desk
from tests.search.test_reader import FIRST

__all__ = ["desk"]


def test_a_file_of_something_else_is_told_and_leaves_no_litter(desk: Desk) -> None:
    file = desk.write("heat3d.cpp", "#include <cmath>", "void f()", "{", "}")
    done = desk.run("ingest", file)
    assert done.code == 1
    assert f"{file}: not JSON; give Trajectory JSONL (regraph graph schema)" in done.err
    assert sorted(path.name for path in desk.folder.iterdir()) == ["corpus", "heat3d.cpp"]
    learned = desk.run("learn", file)
    assert (learned.code, "start a new run" in learned.err) == (2, False)
    assert "give a trace as this version's regraph optimize wrote it" in learned.err


def test_examples_of_a_shared_store_are_told_for_its_browser(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pair = ("cuda/start", "cuda/odd-trick")
    _show(Settings(store="bolt://shared:7687"), (FIRST,), pair, None)
    assert 'WITH ["cuda/start", "cuda/odd-trick"] AS path' in capsys.readouterr().out
    _show(Settings(), (FIRST,), pair, None)
    assert "AS path" not in capsys.readouterr().out
