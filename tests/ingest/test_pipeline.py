"""Files into real stores: what is added, known, refused; and two ingests at once."""

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.models.graph import MergeCounts
from regraph_kg.models.technique import Technique
from regraph_kg.settings import Settings
from tests.contract.holdings import contents
from tests.ingest.trajectories import VOCABULARY, lexical, many, measured, row, write
from tests.stores import wipe

Rows = list[dict[str, Any]]


def grow(store: GraphStore, rows: Rows, batch_lines: int = 100) -> list[pipeline.Batch]:
    data = "\n".join(json.dumps(row) for row in rows).encode()
    cascade = lexical(pipeline.open_vocabulary(store, VOCABULARY))
    lines = read(split(io.BytesIO(data)))
    return list(pipeline.ingest(lines, store, cascade, batch_lines=batch_lines))


def counts(batches: list[pipeline.Batch]) -> tuple[int, int, int]:
    """Trajectories added and known, lines rejected."""
    return (
        sum(batch.counts.added for batch in batches),
        sum(batch.counts.known for batch in batches),
        sum(len(batch.rejected) for batch in batches),
    )


def test_the_same_file_twice_changes_nothing(store: GraphStore) -> None:
    rows = many(10)
    assert counts(grow(store, rows, batch_lines=3)) == (10, 0, 0)
    once = contents(store)
    assert counts(grow(store, rows, batch_lines=4)) == (0, 10, 0)
    assert contents(store) == once


def test_names_land_on_techniques_whatever_order_and_batches(
    store: GraphStore, store_settings: Settings
) -> None:
    rows = many(10)
    grow(store, rows)
    forth = contents(store)
    wipe(store_settings)
    store.apply_schema()
    grow(store, rows[::-1], batch_lines=1)
    assert contents(store) == forth
    assert {one["id"] for one in forth["techniques"]} == {
        *(technique.id for technique in VOCABULARY),
        "cuda/odd-trick",
        "cuda/odd-tricking",
        "cuda/bad-idea-0",
        "cuda/bad-idea-1",
    }


def test_a_verdict_of_the_labeller_becomes_an_alias(store: GraphStore) -> None:
    grow(store, [row(0, "tiling with shared memory")])
    (technique,) = (t for t in store.techniques() if t.id == "cuda/shared-memory-tiling")
    assert "tiling with shared memory" in technique.aliases
    (example,) = store.examples("cuda/start", technique.id)
    assert (example.original_label, example.relabel_stage) == (
        "tiling with shared memory",
        "lexical",
    )


def test_a_remembered_verdict_holds_when_the_vocabulary_no_longer_says_so(
    store: GraphStore,
) -> None:
    grow(store, [row(0, "tiling with shared memory")])
    vocabulary = pipeline.open_vocabulary(store, ())
    match = vocabulary.find("tiling with shared memory", "cuda")
    assert match is not None
    assert (match.technique, match.stage) == ("cuda/shared-memory-tiling", "alias")


def test_measurements_of_a_known_trajectory_are_added_once(store: GraphStore) -> None:
    plain, timed = row(1), row(1)
    timed["steps"][0]["measurements"] = [measured(0.25)]
    grow(store, [plain])
    (batch,) = grow(store, [timed])
    assert (batch.counts.known, batch.counts.measurements) == (1, 1)
    (batch,) = grow(store, [timed])
    assert (batch.counts.known, batch.counts.measurements) == (1, 0)
    (example,) = store.examples("cuda/start", "cuda/tiling")
    assert (example.effect, example.speedup) == (4.0, 8.0)


@pytest.mark.parametrize("batch_lines", [1, 100], ids=["in other batches", "in one batch"])
def test_a_ref_with_other_content_is_rejected_with_its_line(
    store: GraphStore, batch_lines: int
) -> None:
    rows = [row(1, ref="A"), row(2, ref="A"), row(3)]
    batches = grow(store, rows, batch_lines)
    assert counts(batches) == (2, 0, 1)
    (rejected,) = (one for batch in batches for one in batch.rejected)
    assert "ref 'A' already names other content" in rejected.reason
    refs = [trajectory.ref for trajectory in store.export()]
    assert sorted(ref or "" for ref in refs) == ["", "A"]
    kept = next(one for one in store.export() if one.ref == "A")
    line = {1: 2, 2: 1}[int(kept.steps[0].code.split()[1])]
    assert rejected.line.number == line


def test_rejected_lines_come_in_the_files_order(store: GraphStore) -> None:
    (batch,) = grow(store, [row(1, ref="A"), {"bad": 1}, row(2, ref="A"), {"bad": 2}])
    numbers = [rejected.line.number for rejected in batch.rejected]
    assert numbers in ([2, 3, 4], [1, 2, 4])


def test_new_techniques_are_counted_once(store: GraphStore) -> None:
    (batch,) = grow(store, [row(1, "Odd trick"), row(2, "odd tricks"), row(3, "Odder trick")])
    assert batch.counts.techniques == 2


def test_an_export_in_a_fresh_store_exports_the_same(
    store: GraphStore, store_settings: Settings
) -> None:
    grow(store, many(6))
    exported = [json.loads(one.model_dump_json(by_alias=True)) for one in store.export()]
    before = contents(store)
    wipe(store_settings)
    store.apply_schema()
    grow(store, exported)
    after = contents(store)
    for what in ("export", "transitions", "stats"):
        assert after[what] == before[what]


def test_an_export_keeps_its_techniques_where_the_vocabulary_is_another(
    store: GraphStore, store_settings: Settings
) -> None:
    grow(store, many(6))
    exported = [json.loads(one.model_dump_json(by_alias=True)) for one in store.export()]
    before = contents(store)["export"]
    wipe(store_settings)
    store.apply_schema()
    vocabulary = pipeline.open_vocabulary(store, ())
    lines = io.BytesIO("\n".join(map(json.dumps, exported)).encode())
    list(pipeline.ingest(read(split(lines)), store, lexical(vocabulary)))
    assert contents(store)["export"] == before


@pytest.mark.slow
def test_two_ingests_at_once_lose_and_double_nothing(
    store: GraphStore, store_env: Mapping[str, str], store_settings: Settings, tmp_path: Path
) -> None:
    rows = many(30)
    corpus = tmp_path / "techniques.json"
    corpus.write_text(json.dumps([one.model_dump() for one in VOCABULARY]))
    files = [write(tmp_path / "one.jsonl", *rows[:20]), write(tmp_path / "two.jsonl", *rows[10:])]
    command = [str(Path(sys.executable).parent / "regraph"), "ingest", "--json", "--vocabulary"]
    subprocess.run([*command, corpus, *files], env=store_env, stdout=subprocess.PIPE, check=True)
    alone = contents(store)
    wipe(store_settings)
    store.apply_schema()
    both = [
        subprocess.Popen(
            [*command, corpus, *order], env=store_env, stdout=subprocess.PIPE, text=True
        )
        for order in (files, files[::-1])
    ]
    said = [json.loads(one.communicate(timeout=120)[0]) for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert sum(one["added"] for one in said) == 30
    assert contents(store) == alone


def test_a_vocabulary_that_contradicts_itself_adds_nothing(store: GraphStore) -> None:
    clash = Technique(id="cuda/other", name="SMEM tiling", target="cuda")
    with pytest.raises(BadInput, match="share the name"):
        pipeline.open_vocabulary(store, (*VOCABULARY, clash))
    assert store.techniques() == ()


def test_what_a_curator_merged_away_stays_away(store: GraphStore) -> None:
    heir = VOCABULARY[1].model_copy(update={"replaces": ("cuda/shared-memory-tiling",)})
    store.add_techniques([heir])
    given = row(1, "Tiled kernel", "tiling with shared memory", "whatever")
    given["steps"][2]["technique"] = "cuda/shared-memory-tiling"
    for _ in range(2):
        grow(store, [given])
    ids = {technique.id for technique in store.techniques()}
    assert ids == {technique.id for technique in VOCABULARY} - {"cuda/shared-memory-tiling"}
    assert [step.technique for one in store.export() for step in one.steps] == [heir.id] * 3


def test_new_techniques_wait_for_review_and_known_ones_do_not(store: GraphStore) -> None:
    grow(store, [row(1, "Odd trick", "smem tiling")])
    assert [technique.id for technique in store.techniques() if technique.review] == [
        "cuda/odd-trick"
    ]


def test_batches_end_by_lines_or_bytes(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(1), row(2), row(3, serial="x" * 1000), row(4), row(5)]
    assert [batch.counts.added for batch in grow(store, rows, 2)] == [2, 2, 1]
    monkeypatch.setattr(pipeline, "BATCH_BYTES", 1000)
    assert [batch.counts.known for batch in grow(store, rows, 9)] == [3, 2]


def test_a_file_of_bad_lines_asks_the_store_nothing_bad(store: GraphStore) -> None:
    (batch,) = grow(store, [{"bad": 1}, {"bad": 2}])
    assert batch.counts == MergeCounts()
    assert len(batch.rejected) == 2
