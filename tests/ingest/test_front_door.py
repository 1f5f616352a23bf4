"""What `regraph ingest` takes, keeps and says: files at once, rejected lines, a lost embedder."""

import json
from pathlib import Path

import pytest

from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import row

__all__ = ["desk"]


def test_rejected_lines_are_listed_whatever_their_bytes_and_length(desk: Desk) -> None:
    rejected = [b'{"caf\xe9"', b"not JSON at all", "{\u00e9".encode() * 3_000_000]
    file = desk.write("file.jsonl", row(1))
    file.write_bytes(b"\n".join([file.read_bytes().strip(), *rejected]) + b"\n")
    assert desk.run("ingest", file).code == 0
    text = Path(f"{file}.rejected.jsonl").read_text(encoding="utf-8")
    listed = [json.loads(line) for line in text.splitlines()]
    assert [one["line"] for one in listed] == [2, 3, 4]
    assert [one["reason"][:11] for one in listed] == ["not UTF-8 a", "broken JSON", "longer than"]


def test_an_embedder_that_cannot_be_reached_is_a_warning(desk: Desk) -> None:
    desk.patch.setenv("REGRAPH_EMBEDDER", "ollama:none")
    desk.patch.setenv("REGRAPH_OLLAMA_URL", "http://127.0.0.1:1")
    desk.patch.setenv("REGRAPH_PATIENCE_SECONDS", "0")
    done = desk.run("ingest", desk.write("file.jsonl", row(1)), "--json")
    assert (done.code, done.json()["added"]) == (0, 1)
    (said,) = done.err.splitlines()
    assert said.startswith("warning: some examples have no embedding: ")
    assert said.endswith("; later: regraph graph embed")
    desk.patch.delenv("REGRAPH_EMBEDDER")
    assert desk.run("graph", "embed").code == 0
    (found,) = desk.run("examples", "--near", "tiling", "--json").json()
    assert found["problem"] == "p1"


@pytest.mark.parametrize("spec", ["sentence-transformer:x", "other"])
def test_an_embedder_that_is_none_is_bad_input_before_anything_is_added(
    desk: Desk, spec: str
) -> None:
    desk.patch.setenv("REGRAPH_EMBEDDER", spec)
    assert desk.run("ingest", desk.write("file.jsonl", row(1))).code == 2
    desk.patch.delenv("REGRAPH_EMBEDDER")
    assert desk.run("graph", "stats", "--json").json()["trajectories"] == 0
