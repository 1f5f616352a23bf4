"""`regraph ingest`, `graph`, `techniques`, `examples` as they are typed, on the embedded store."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.cli.docs import trajectory_schema
from regraph_kg.settings import Settings
from tests.in_process import Ended, typed
from tests.ingest.trajectories import VOCABULARY, many, measured, row, write
from tests.stores import environment


@dataclass(frozen=True)
class Desk:
    """A folder to work in, and the command."""

    folder: Path
    patch: pytest.MonkeyPatch

    def run(self, *words: str | Path) -> Ended:
        """`regraph WORDS` in this process."""
        return typed(*words)

    def write(self, name: str, *lines: dict[str, Any] | str) -> Path:
        return write(self.folder / name, *lines)


@pytest.fixture
def desk(
    embedded_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Desk]:
    (tmp_path / "corpus").mkdir()
    vocabulary = [technique.model_dump() for technique in VOCABULARY]
    (tmp_path / "corpus" / "techniques.json").write_text(json.dumps(vocabulary))
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, monkeypatch)


def test_ingest_says_what_became_of_the_lines(desk: Desk) -> None:
    file = desk.write("file.jsonl", *many(4), "{broken", many(1)[0])
    told = desk.run("ingest", file, "--json").json()
    assert (told["added"], told["known"], told["rejected"]) == (4, 1, 1)
    assert (told["examples"], told["measurements"], told["techniques"]) == (10, 10, 2)
    assert told["nameless_failures"] == 5
    assert told["rejected_files"] == [f"{file}.rejected.jsonl"]


def test_a_mended_file_takes_its_list_of_rejected_lines_away(desk: Desk) -> None:
    file = desk.write("file.jsonl", "{broken")
    desk.run("ingest", file)
    assert Path(f"{file}.rejected.jsonl").stat().st_mode & 0o077 == 0
    desk.write("file.jsonl", row(1))
    desk.run("ingest", file)
    assert sorted(path.name for path in desk.folder.iterdir()) == ["corpus", "file.jsonl"]


def test_a_list_of_rejected_lines_is_not_ingested(desk: Desk) -> None:
    good = desk.write("file.jsonl", row(1))
    report = desk.write("file.jsonl.rejected.jsonl", {"line": 1, "reason": "", "text": ""})
    done = desk.run("ingest", good, report)
    assert done.code == 0
    assert "left out" in done.err
    assert "0 rejected" in done.out


@pytest.mark.parametrize("text", ["", "{broken\n", "\n\n"])
def test_a_file_without_one_good_line_ends_with_1(desk: Desk, text: str) -> None:
    file = desk.folder / "bad.jsonl"
    file.write_text(text)
    done = desk.run("ingest", file)
    assert done.code == 1


@pytest.mark.parametrize("name", ["absent.jsonl", "."])
def test_an_unreadable_file_is_bad_input_before_anything_is_added(desk: Desk, name: str) -> None:
    good = desk.write("file.jsonl", row(1))
    done = desk.run("ingest", good, name)
    assert done.code == 2
    assert done.err.startswith(f"regraph: {name}: ")
    assert len(done.err.splitlines()) == 1
    assert desk.run("graph", "report", "--json").json()["totals"]["trajectories"] == 0


def test_a_list_of_rejected_lines_that_cannot_be_written_loses_no_good_line(desk: Desk) -> None:
    file = desk.write("file.jsonl", row(1), "{broken")
    Path(f"{file}.rejected.jsonl").mkdir()
    assert desk.run("ingest", file).code == 3
    assert desk.run("graph", "report", "--json").json()["totals"]["trajectories"] == 1


def test_a_store_that_is_down_ends_with_3(desk: Desk) -> None:
    desk.patch.setenv("REGRAPH_STORE", "bolt://127.0.0.1:1")
    done = desk.run("ingest", desk.write("file.jsonl", row(1)))
    assert done.code == 3
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        *(None, "{}", "[", '[{"id": "cuda/Bad", "name": "x", "target": "cuda"}]'),
        '[{"id": "cuda/a", "name": "x", "target": "openmp"}]',
        '[{"id": "cuda/a", "name": "x\\u001b[2J", "target": "cuda"}]',
        '[{"id": "cuda/a", "name": "x", "target": "cuda"},'
        ' {"id": "cuda/a", "name": "y", "target": "cuda"}]',
        '[{"id": "cuda/a", "name": "x", "target": "cuda"},'
        ' {"id": "cuda/b", "name": "b", "target": "cuda", "aliases": ["X"]}]',
    ],
)
def test_an_unusable_vocabulary_is_bad_input_that_names_it(desk: Desk, text: str | None) -> None:
    path = desk.folder / "other.json"
    if text is not None:
        path.write_text(text)
    done = desk.run("ingest", desk.write("file.jsonl", row(1)), "--vocabulary", path)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert f"{path}: " in done.err


def test_the_schema_accepts_what_is_exported(desk: Desk) -> None:
    schema = json.loads(trajectory_schema())
    desk.run("ingest", desk.write("file.jsonl", *many(1)))
    exported = json.loads(desk.run("graph", "export").out)
    assert set(schema["required"]) <= set(exported) <= set(schema["properties"])


def test_an_export_without_found_names_has_them_looked_up_anew(desk: Desk) -> None:
    given = {"label": "Mine", "technique": "cuda/memory-coalescing", "code": "int a;"}
    found = {"label": "Memory coalescing", "code": "int b;"}
    assert desk.run("ingest", desk.write("file.jsonl", row(steps=[given, found]))).code == 0
    for words, technique in (((), "cuda/memory-coalescing"), (("--unnamed",), None)):
        first, last = json.loads(desk.run("graph", "export", *words).out)["steps"]
        assert first["technique"] == "cuda/memory-coalescing"
        assert last.get("technique") == technique


def test_techniques_are_listed_with_their_aliases(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1, "smem tiling")))
    listed = desk.run("techniques", "show", "--target", "cuda").out
    assert "cuda/shared-memory-tiling" in listed
    assert "tiled kernel" in listed
    assert "openmp/" not in listed


@pytest.mark.parametrize("name", ["cuda/shared-memory-tiling", "SMEM tiling", "tiled-kernel"])
def test_a_technique_is_shown_by_id_name_or_alias(desk: Desk, name: str) -> None:
    one = row(1, "Tiled kernel", "Odd trick")
    one["steps"][1]["measurements"] = [measured(0.25)]
    desk.run("ingest", desk.write("file.jsonl", one))
    shown = desk.run("techniques", "show", name).out
    assert shown.startswith("Shared memory tiling (cuda/shared-memory-tiling)")
    (successor,) = (line.split() for line in shown.splitlines() if "odd-trick" in line)
    assert successor == ["cuda/odd-trick", "1", "1", "1", "4x"]
    found = desk.run("techniques", "show", name, "--json").json()
    assert found["technique"]["id"] == "cuda/shared-memory-tiling"
    assert [one["technique"]["id"] for one in found["successors"]] == ["cuda/odd-trick"]


def test_an_unknown_technique_is_bad_input_that_names_what_is_near(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1)))
    done = desk.run("techniques", "show", "shared memory tilling")
    assert done.code == 2
    assert "near it: cuda/shared-memory-tiling" in done.err


def test_a_name_of_two_targets_needs_one(desk: Desk) -> None:
    rows = [row(1, "Odd trick"), row(2, "Odd trick", target="openmp")]
    desk.run("ingest", desk.write("file.jsonl", *rows))
    done = desk.run("techniques", "show", "odd trick")
    assert (done.code, "cuda/odd-trick and openmp/odd-trick" in done.err) == (2, True)
    assert desk.run("techniques", "show", "odd trick", "--target", "openmp").code == 0


def test_examples_show_the_change_of_the_code_and_its_effect(desk: Desk) -> None:
    one = row(1, "Odd trick", serial="int x;\nint same;", source={"model": "big-model"})
    step = one["steps"][0]
    step.update(code="int y;\nint same;", reasoning="because [red]", measurements=[measured(0.25)])
    desk.run("ingest", desk.write("file.jsonl", one))
    shown = desk.run("examples", "start", "odd trick").out
    assert "p1, step 1: 'Odd trick', by big-model (no licence named)" in shown
    assert "4x by this step, 8x against the serial code, on GPU, nvcc" in shown
    assert "because [red]" in shown
    assert "\n-int x;\n+int y;\n int same;\n" in shown


def test_examples_are_limited(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1, "Odd trick"), row(2, "Odd trick")))
    words = ("examples", "start", "cuda/odd-trick", "--json")
    assert len(desk.run(*words).json()) == 2
    assert len(desk.run(*words, "-k", "1").json()) == 1


def test_no_example_is_an_honest_negative(desk: Desk) -> None:
    desk.run("ingest", desk.write("file.jsonl", row(1, "Odd trick")))
    assert desk.run("examples", "odd trick", "smem tiling").code == 1
    assert desk.run("examples", "start", "unheard of").code == 2


def names(desk: Desk) -> Path:
    """A file whose names each stage but the last recognizes some of."""
    labels = ("Tiled kernel", "Shared-memory tiling", "Odd trick", "Odd trick")
    return desk.write("names.jsonl", row(1, *labels), row(2, "Odd trick"))


def test_a_dry_run_prints_every_name_once_and_changes_nothing(desk: Desk) -> None:
    told = desk.run("ingest", names(desk), "--dry-run")
    assert told.code == 0
    rows = [line.split() for line in told.out.splitlines()]
    assert ["Tiled", "kernel", "cuda/shared-memory-tiling", "alias", "1"] in rows
    assert [row for row in rows if row[:4] == ["Odd", "trick", "cuda/odd-trick", "new"]]
    assert len(rows) == 1 + 3 + 1
    assert rows[-1] == ["new", "techniques:", "1"]
    assert desk.run("techniques", "show", "--json").json() == []
    assert desk.run("graph", "report", "--json").json()["totals"]["trajectories"] == 0
    assert sorted(path.name for path in desk.folder.iterdir()) == ["corpus", "names.jsonl"]


def test_a_dry_run_tells_the_new_techniques_that_an_ingest_makes(desk: Desk) -> None:
    """Spellings of a name make one technique, and an unknown failure's name makes none."""
    file = desk.write("file.jsonl", *many(4))
    told = desk.run("ingest", file, "--dry-run", "--json").json()
    made = desk.run("ingest", file, "--json").json()["techniques"]
    ids = {one["technique"] for one in told if one["new"]}
    assert len(ids) == made == 2
    by_alias = {one["technique"] for one in told if one["stage"] == "alias"}
    assert "cuda/shared-memory-tiling" in by_alias


def test_a_model_that_answers_by_file_decides_before_anything_is_added(desk: Desk) -> None:
    words = ("ingest", names(desk), "--relabel", "model", "--model", "batch:asked")
    waiting = desk.run(*words)
    assert (waiting.code, "1 prompt pending in" in waiting.err) == (5, True)
    assert desk.run("techniques", "show", "--json").json() == []
    (line,) = (desk.folder / "asked" / "pending.jsonl").read_text().splitlines()
    group = {"members": [1], "technique": "new", "name": "Odd trickery"}
    text = {"groups": [group | {"definition": "A trick that is odd."}]}
    answer = {"custom_id": json.loads(line)["custom_id"], "text": json.dumps(text)}
    (desk.folder / "asked" / "answers.jsonl").write_text(json.dumps(answer) + "\n")
    assert desk.run(*words).code == 0
    shown = desk.run("techniques", "show", "odd trick", "--json").json()["technique"]
    assert (shown["id"], shown["definition"]) == ("cuda/odd-trickery", "A trick that is odd.")
    assert shown["review"]
    (desk.folder / "asked" / "answers.jsonl").unlink()
    more = desk.write("more.jsonl", row(3, "Odd trick"))
    assert desk.run("ingest", more, *words[2:]).code == 0, "the verdict is remembered"


TWICE = """technique = "cuda/memory-coalescing"
name = "by-three"
says = "Three in place of two."
match = "$x *= 2;"
becomes = "$x *= 3;"
"""
DOUBLED = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }"


ODD_NAME = TWICE.replace("cuda/memory-coalescing", "openmp/simd").replace("by", "A").encode()


def brought(**fields: object) -> dict[str, object]:
    replays = [{"example": "t/1", "problem": "p", "device": "GPU", "evaluator": "6",
                "outcome": "passed", "gain": 2.0}]  # fmt: skip
    usual = {"transform": 1, "technique": "cuda/memory-coalescing", "name": "by-three"}
    return usual | {"text": TWICE, "replays": replays} | fields


def transforms(desk: Desk) -> list[list[object]]:
    ask = "MATCH (x:Transform) RETURN x.id, x.accepted, x.reason"
    rows: list[list[object]] = desk.run("graph", "query", ask, "--json").json()["rows"]
    return rows


def test_transforms_travel_in_an_export_and_come_as_drafts(desk: Desk) -> None:
    file = desk.write("file.jsonl", row(), brought())
    for _ in range(2):
        done = desk.run("ingest", file)
        assert done.code == 0, done
        assert "1 transforms in the files" in done.out
        id = "cuda/memory-coalescing/by-three"
        assert transforms(desk) == [[id, False, "not replayed here"]]
    lines = [json.loads(line) for line in desk.run("graph", "export").out.splitlines()]
    assert [("transform" in line, "steps" in line) for line in lines] == [
        (False, True),
        (True, False),
    ]
    assert lines[1]["replays"][0]["claimed"]


def test_a_file_brings_no_transform_that_says_it_ships(desk: Desk) -> None:
    line = brought(source={"run": "starter"})
    assert desk.run("ingest", desk.write("file.jsonl", row(), line)).code == 0
    assert transforms(desk) == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": "other"}, "its text is of by-three, a step of cuda/memory-coalescing"),
        ({"text": TWICE.replace('coalescing"', 'coalescing\\r\\n"')}, "of cuda/memory-coalescing"),
        ({"text": TWICE.replace("/memory-coalescing", "").replace("by", "memory-coalescing/by")},
         "its text is of memory-coalescing/by-three, a step of cuda"),
        ({"text": "match = 1"}, "match.str"),
        ({"transform": 7}, "unknown version"),
        ({"technique": "cuda/nobody", "text": TWICE.replace("memory-coalescing", "nobody")},
         "no such technique"),
        ({"accepted": True, "more": 1}, "more"),
    ],
)  # fmt: skip
def test_a_bad_transform_is_a_rejected_line(desk: Desk, fields: dict[str, Any], why: str) -> None:
    done = desk.run("ingest", desk.write("file.jsonl", row(), brought(**fields)))
    assert done.code == 0, done
    rejected = (desk.folder / "file.jsonl.rejected.jsonl").read_text()
    assert why in json.loads(rejected)["reason"]
    assert done.err.count("\n") == 1
    assert transforms(desk) == []


def ship(desk: Desk, text: str) -> None:
    folder = desk.folder / "corpus" / "transforms"
    folder.mkdir()
    (folder / "shipped.toml").write_text(text)


def test_a_transform_made_a_step_or_a_failure_of_a_file_only_where_it_makes_it(desk: Desk) -> None:
    ship(desk, TWICE)
    claim = {"label": "Memory coalescing", "transform": "cuda/memory-coalescing/by-three"}
    after = DOUBLED.replace("*= 2", "*= 3")
    steps = [claim | {"code": after}, claim | {"code": "int b;"}, claim | {"code": "int c;"}]
    steps[2]["transform"] = "cuda/memory-coalescing/nobody"
    failed = claim | {"after_step": 0, "outcome": "crashed"}
    failures = [failed | {"code": after}, failed | {"code": "int d;"}, failed]
    file = desk.write("file.jsonl", row(serial=DOUBLED, steps=steps, failures=failures))
    assert "1 of 3 new steps are facts" in desk.run("ingest", file).out
    exported = json.loads(desk.run("graph", "export").out.splitlines()[0])
    names = [[one.get("transform") for one in exported[of]] for of in ("steps", "failures")]
    assert names == [[claim["transform"], None, None], [claim["transform"]]]
    assert "1 of 3 examples: a transform makes them" in desk.run("graph", "report").out


def test_a_transform_that_cannot_be_replayed_stops_no_other(desk: Desk) -> None:
    endless = TWICE.replace("*= 3", "*= {% for a in range(10**9) %}x{% endfor %}")
    silent = TWICE.replace("*= 2", "*= 7").replace("by-three", "silent")
    desk.run("ingest", desk.write("file.jsonl", row(0, "SIMD vectorization", target="openmp",
             serial=DOUBLED), *(brought(text=text.replace("cuda/memory-coalescing", "openmp/simd"),
             technique="openmp/simd", name=name) for text, name in [(endless, "by-three"),
             (silent, "silent")])))  # fmt: skip
    done = desk.run("lift", "openmp/simd")
    assert done.code == 1
    assert "a draft: it takes more than 1.5 seconds" in done.out
    assert "openmp/simd/silent: 0 of 0 right, 0 steps reproduced, silent on 1" in done.out
    assert sorted(reason[:20] for _, _, reason in transforms(desk)) == [
        "it takes more than 1",
        "right on 0 problems ",
    ]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * 200_000, ODD_NAME, None])
def test_a_file_that_is_no_transform_is_refused_in_one_line(
    desk: Desk, content: bytes | None
) -> None:
    file = desk.folder / "mine.toml" if content is not None else Path("/dev/zero")
    if content is not None:
        file.write_bytes(content)
    desk.run("ingest", desk.write("file.jsonl", row(0, "SIMD vectorization", target="openmp")))
    done = desk.run("lift", "openmp/simd", "--transform", file)
    assert done.code == 2
    assert done.err.startswith((f"regraph: {file}: ", "regraph: transform: name: "))
    assert done.err.count("\n") == 1


def test_an_ingest_tells_which_new_steps_a_transform_makes(desk: Desk) -> None:
    ship(desk, TWICE)
    steps = [
        {"label": "Memory coalescing", "code": DOUBLED.replace("*= 2", " *=  3")},
        {"label": "Shared memory tiling", "code": "int a;"},
        {"label": "Memory coalescing", "code": "int b;"},
    ]
    file = desk.write("file.jsonl", row(serial=DOUBLED, steps=steps))
    said = desk.run("ingest", file).out
    assert "1 of 3 new steps are facts" in said
    assert "2 are stories" in said
    assert "regraph lift cuda/" in said
    assert "facts" not in desk.run("ingest", file).out  # nothing is new
    report = desk.run("graph", "report").out
    assert "1 of 3 examples: a transform makes them" in report
    assert "shipped, right on 0 problems" in report
    found = desk.run("graph", "report", "--json").json()
    assert found["totals"]["trajectories"] == 1
    assert {one["technique"] for one in found["techniques"]} == {
        "cuda/memory-coalescing",
        "cuda/shared-memory-tiling",
    }
