"""`regraph graph export`, `diff` and `import` as they are typed, on the embedded store."""

import json
from pathlib import Path

import pytest

from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import many, measured, row

__all__ = ["desk"]


def exported(desk: Desk, name: str = "export.jsonl") -> Path:
    path = desk.folder / name
    assert desk.run("graph", "export", "--output", path).code == 0
    return path


def test_a_graph_its_export_and_its_backup_hold_the_same(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", *many(4)))
    export, backup = exported(desk), desk.folder / "backup.jsonl"
    desk.run("graph", "export", "--format", "backup", "-o", backup)
    for a, b in ((export, backup), (backup, "embedded"), ("embedded", export)):
        done = desk.run("graph", "check", a, b)
        assert (done.code, len(done.out.splitlines())) == (0, 3), done.out
    assert done.out.startswith("trajectories: 4 the same\n")


def test_what_differs_is_counted_and_listed(desk: Desk) -> None:
    first, second = row(1, "Tiled kernel"), row(2, "Odd trick")
    desk.run("ingest", desk.write("file.jsonl", first, second))
    before = exported(desk)
    first["steps"][0]["measurements"] = [measured(0.5)]
    desk.run("ingest", desk.write("file.jsonl", first, row(3, "Other trick")))
    done = desk.run("graph", "check", before, "embedded")
    assert done.code == 1
    assert "trajectories: 1 the same, 1 only in embedded, 1 other" in done.out
    assert "  only in embedded: cuda/other-trick" in done.out
    told = desk.run("graph", "check", "embedded", before, "--json").json()
    assert told["techniques"]["only_a"] == ["cuda/other-trick"]
    assert told["statistics"]["only_a"] == [
        "cuda/start -> cuda/other-trick on unmeasured",
        "cuda/start -> cuda/shared-memory-tiling on GPU",
    ]


def test_the_order_in_which_measurements_came_is_no_difference(desk: Desk) -> None:
    files = []
    for name, runs in (("a", "xy"), ("b", "yx")):
        one = row(1, "Tiled kernel")
        one["steps"][0] |= {
            "technique": "cuda/shared-memory-tiling",
            "measurements": [measured(0.5, run=run) for run in runs],
        }
        files.append(desk.write(f"{name}.jsonl", one))
    assert desk.run("graph", "check", *files).code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(row(1)), "has steps without a technique"),
        ("{}", "bad.jsonl:1: Field required; give what regraph graph export"),
        ('{"format":"regraph-kg backup","version":1,"bound":1}\n', "not a whole backup"),
    ],
)
def test_a_file_that_is_neither_is_bad_input(desk: Desk, text: str, said: str) -> None:
    (desk.folder / "bad.jsonl").write_text(text)
    done = desk.run("graph", "check", "bad.jsonl", "bad.jsonl")
    assert (done.code, said in done.err) == (2, True), done.err


def test_an_import_keeps_the_techniques_that_an_export_names(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1, "Odd trick")))
    desk.run("techniques", "mend", "rename", "odd trick", "Even trick", "--id", "cuda/even-trick")
    export = exported(desk)
    done = desk.run("ingest", "--relabel", "exact", export, "--json").json()
    assert (done["added"], done["known"]) == (0, 1)
    assert desk.run("graph", "check", export, "embedded").code == 0


def test_the_starter_graph_can_be_imported(desk: Desk) -> None:
    (desk.folder / "corpus" / "trajectories").mkdir()
    desk.write("corpus/trajectories/one.jsonl", row(1))
    assert desk.run("ingest", "--starter", "--json").json()["added"] == 1


def test_a_backup_is_for_restore(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1)))
    desk.run("graph", "export", "--format", "backup", "-o", "backup.jsonl")
    done = desk.run("ingest", "--relabel", "exact", "backup.jsonl")
    assert (done.code, "regraph graph restore" in done.err) == (2, True)


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
    every = desk.run("graph", "export", "--format", "sft", "--unverified").out.splitlines()
    assert [len(json.loads(line)["effects"]) for line in every] == [1, 0]
    assert desk.run("graph", "export", "--unverified").code == 2


def test_a_step_that_a_newer_judge_found_wrong_is_no_training_example(desk: Desk) -> None:
    one = row(1, "Tiled kernel")
    wrong = {**measured(1.0, run="b"), "outcome": "wrong_answer", "evaluator": "2"}
    one["steps"][0]["measurements"] = [measured(0.5), wrong]
    desk.run("ingest", desk.write("file.jsonl", one))
    assert desk.run("graph", "export", "--format", "sft").out == ""


def test_a_backup_takes_the_place_of_another_file_only_if_told_to(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1, "Odd trick")))
    kept = desk.folder / "backup.jsonl"
    kept.write_text("mine")
    done = desk.run("graph", "export", "--format", "backup", "-o", kept)
    assert (done.code, "is there already" in done.err, kept.read_text()) == (2, True, "mine")
    assert desk.run("graph", "export", "--format", "backup", "-o", kept, "--force").code == 0
    assert desk.run("graph", "check", kept, "embedded").code == 0
