"""`regraph graph export` and what it wrote ingested again, on the embedded store."""

import json
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


def test_training_examples_are_verified_steps_with_their_effects(desk: Desk) -> None:
    one = row(1, "Tiled kernel", "Odd trick", serial="int x;", source={"licence": "MIT"})
    first, second = one["steps"]
    slow = measured(1.0, run="b", device="CPU") | {"outcome": "crashed"}
    first |= {"reasoning": "because", "measurements": [measured(0.5), measured(0.25, run="b")]}
    second["measurements"] = [slow]
    desk.run("ingest", desk.write("file.jsonl", one))
    (line,) = desk.run("graph", "export", "--format", "sft").out.splitlines()
    found = json.loads(line)
    question, answer = found["messages"]
    assert (question["role"], answer["role"]) == ("user", "assistant")
    assert question["content"].endswith("```cpp\nint x;\n```")
    assert answer["content"] == (
        f"because\n\nTechnique: Tiled kernel\n\n```cpp\n{first['code']}\n```"
    )
    effect = {"device": "GPU", "metric": "call", "effect": 4.0, "speedup": 8.0}
    assert (found["effects"], found["licence"], found["step"]) == ([effect], "MIT", 1)


def test_a_step_that_a_newer_judge_found_wrong_is_no_training_example(desk: Desk) -> None:
    one = row(1, "Tiled kernel")
    wrong = {**measured(1.0, run="b"), "outcome": "wrong_answer", "evaluator": "2"}
    one["steps"][0]["measurements"] = [measured(0.5), wrong]
    desk.run("ingest", desk.write("file.jsonl", one))
    assert desk.run("graph", "export", "--format", "sft").out == ""
