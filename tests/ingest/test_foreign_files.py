"""Files that hold no trajectories, and stores that Neo4j Browser opens."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import row

__all__ = ["desk"]


def test_a_file_of_something_else_is_told_and_leaves_no_litter(desk: Desk) -> None:
    file = desk.write("heat3d.cpp", "#include <cmath>", "void f()", "{", "}")
    done = desk.run("ingest", file)
    assert done.code == 1
    assert f"{file}: no lines of JSON" in done.err
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
        ("graph", "report"),
    ):
        done = desk.run(*words)
        said = (done.out + done.err).replace("\n", "")
        assert said.isprintable(), (words, said)
        assert "\n2. forged" not in done.out


def tar_of(data: bytes, mode: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        entry = tarfile.TarInfo("problems.jsonl")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def zipped(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("problems.jsonl", data)
    return stream.getvalue()


LINE = json.dumps(row(1)).encode() + b"\n"
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
FILES = {
    "a.tar": (tar_of(LINE, "w"), "no lines of JSON"),
    "b.jsonl": (gzip.compress(LINE), "no lines of JSON"),
    "b.zip": (zipped(LINE), "no lines of JSON"),
    "w.jsonl": (LINE.decode().encode("utf-16"), "no lines of JSON in UTF-8"),
    "d.f90": (b"PROGRAM heat\nEND\n", "no lines of JSON"),
    "n.ipynb": (
        json.dumps(NOTEBOOK, indent=1).encode(),
        "only cells, metadata, nbformat, nbformat",
    ),
    "m.ipynb": (json.dumps(NOTEBOOK).encode(), "only cells, metadata, nbformat, nbformat"),
    "c.jsonl": (b'{"messages": [{"role": "user", "content": "x"}]}\n', "only messages"),
    "s.json": (
        b'[\n {"think": "", "method": "Tiling", "code": "x"}\n]\n',
        "only think, method, code",
    ),
    "graph_final.json": (b'{"node": [], "edge": []}', "only node, edge; give Trajectory JSONL"),
    "o.json": (b'{\n "a": 1\n}\n', "only a; give Trajectory JSONL"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_kind_is_told_by_one_sentence(desk: Desk, name: str) -> None:
    content, said = FILES[name]
    (desk.folder / name).write_bytes(content)
    done = desk.run("ingest", name)
    told = done.err.splitlines()
    assert (done.code, len(told)) == (1, 1), done
    assert said in told[0]
    assert "give Trajectory JSONL (regraph docs trajectory-schema)" in told[0]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([row(1), row(2)]),
        json.dumps([row(1), row(2)], indent=2),
        "\ufeff" + json.dumps([row(1), row(2)], indent=2),
        "\n\n" + json.dumps([row(1), row(2), {"a": 1}]),
    ],
)
def test_an_array_of_trajectories_is_read(desk: Desk, content: str) -> None:
    (desk.folder / "a.json").write_text(content, encoding="utf-8")
    assert desk.run("ingest", "a.json", "--json").json()["added"] == 2


def test_one_trajectory_over_several_lines_is_read(desk: Desk) -> None:
    (desk.folder / "a.json").write_text(json.dumps(row(1), indent=2))
    assert desk.run("ingest", "a.json", "--json").json()["added"] == 1
