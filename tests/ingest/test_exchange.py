"""`regraph graph export` and what it wrote ingested again, on the embedded store."""

from pathlib import Path

from regraph_kg.settings import Settings
from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import measured, row
from tests.stores import wipe

__all__ = ["desk"]


def exported(desk: Desk, name: str = "export.jsonl") -> Path:
    path = desk.folder / name
    assert desk.run("graph", "export", "--output", path).code == 0
    return path


def test_the_starter_graph_can_be_imported(desk: Desk) -> None:
    (desk.folder / "corpus" / "trajectories").mkdir()
    desk.write("corpus/trajectories/one.jsonl", row(1))
    assert desk.run("ingest", "--starter", "--json").json()["added"] == 1


def test_an_export_and_the_list_of_techniques_bring_a_graph_back(
    desk: Desk, embedded_settings: Settings
) -> None:
    one = row(1, "Odd trick", "Tiled kernel")
    one["steps"][0]["measurements"] = [measured(0.5)]
    failed = {"label": "Tiled kernel", "after_step": 1, "outcome": "wrong_answer", "code": "int y;"}
    desk.run("ingest", desk.write("file.jsonl", one | {"failures": [failed]}))
    export = exported(desk)
    techniques = desk.folder / "techniques.json"
    techniques.write_text(desk.run("techniques", "show", "--json").out)
    wipe(embedded_settings)
    assert desk.run("ingest", export, "--vocabulary", techniques).code == 0
    assert exported(desk, "again.jsonl").read_bytes() == export.read_bytes()
    assert desk.run("techniques", "show", "--json").out == techniques.read_text()
