"""Files that hold no trajectories, and stores that Neo4j Browser opens."""

import gzip
import json
from pathlib import Path

import pytest

from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import row

__all__ = ["desk"]


def test_a_file_of_something_else_is_told_and_leaves_no_litter(desk: Desk) -> None:
    file = desk.write("heat3d.cpp", "#include <cmath>", "void f()", "{", "}")
    done = desk.run("ingest", file)
    assert done.code == 1
    assert (
        f"{file}: no lines of JSON; give Trajectory JSONL (regraph docs trajectory-schema)"
        in done.err
    )
    assert sorted(path.name for path in desk.folder.iterdir()) == ["corpus", "heat3d.cpp"]
    learned = desk.run("learn", file)
    assert (learned.code, "start a new run" in learned.err) == (2, False)
    assert "give a trace as this version's regraph optimize wrote it" in learned.err


@pytest.mark.parametrize(
    "data", [gzip.compress(b"{}", mtime=0), json.dumps(row(1)).encode("utf-16")]
)
def test_what_is_packed_or_no_utf_8_is_told_and_leaves_no_list(desk: Desk, data: bytes) -> None:
    good, bad = desk.write("file.jsonl", row(1)), desk.folder / "other"
    bad.write_bytes(data)
    done = desk.run("ingest", good, bad)
    assert (done.code, len(done.err.splitlines())) == (0, 1)
    assert done.err.startswith(f"{bad}: no lines of JSON")
    assert not Path(f"{bad}.rejected.jsonl").exists()


def test_a_device_is_no_file(desk: Desk) -> None:
    done = desk.run("ingest", "/dev/null")
    assert (done.code, "is no file" in done.err) == (2, True)
    assert not Path("/dev/null.rejected.jsonl").exists()


def test_what_strangers_wrote_steers_no_terminal_wherever_it_is_printed(desk: Desk) -> None:
    evil = "T\x9b31m\u202eil"
    steps = [{"label": "Tiling", "code": "a\x1b[31m\u202e", "reasoning": f"\x1b[2J{evil}"}]
    steps += [{"label": evil, "code": "b"}]
    source = {"licence": "\x1b]0;x\x07", "model": "m\n2. forged\x1b[2J\u202e"}
    one = row(1, problem=f"p{evil}", source=source, ref=f"r{evil}") | {"steps": steps}
    file = desk.write("file.jsonl", one)
    for words in (
        ("ingest", file),
        ("ingest", file, "--dry-run"),
        ("examples", "start", "tiling"),
        ("techniques", "show"),
        ("techniques", "show", "tiling"),
        ("techniques", "audit"),
        ("graph", "stats"),
    ):
        done = desk.run(*words)
        said = (done.out + done.err).replace("\n", "")
        assert said.isprintable(), (words, said)
        assert "\n2. forged" not in done.out
