"""Files into real stores: what is added, known, refused; and two ingests at once."""

import io
import json
from typing import Any

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.ingest.relabel.aliases import new_technique
from regraph_kg.models.graph import Relabelled, RelabelStage
from regraph_kg.models.technique import Match
from regraph_kg.settings import Settings
from tests.contract.overlapping import holdings
from tests.ingest.trajectories import VOCABULARY, by_name, many, row, trajectory
from tests.stores import wipe

Rows = list[dict[str, Any]]


def grow(store: GraphStore, rows: Rows, batch_lines: int = 100) -> list[pipeline.Batch]:
    data = "\n".join(json.dumps(row) for row in rows).encode()
    cascade = by_name(pipeline.open_vocabulary(store, VOCABULARY))
    lines = read(split(io.BytesIO(data)))
    return list(
        one.merged(store) for one in pipeline.portions(lines, cascade, batch_lines=batch_lines)
    )


def counts(batches: list[pipeline.Batch]) -> tuple[int, int, int]:
    """Trajectories added and known, lines rejected."""
    return (
        sum(batch.counts.added for batch in batches),
        sum(batch.counts.known for batch in batches),
        sum(len(batch.rejected) for batch in batches),
    )


def test_names_land_on_techniques_whatever_order_and_batches(
    store: GraphStore, store_settings: Settings
) -> None:
    rows = many(10)
    grow(store, rows)
    forth = holdings(store)
    wipe(store_settings)
    store.apply_schema()
    grow(store, rows[::-1], batch_lines=1)
    assert holdings(store) == forth
    assert {one.id for one in forth["techniques"]} == {
        *(technique.id for technique in VOCABULARY),
        "cuda/odd-trick",
        "cuda/odd-tricking",
    }


@pytest.mark.parametrize("stage", ["model", "lexical"])
def test_a_verdict_becomes_an_alias_that_holds_without_the_vocabulary(
    store: GraphStore, stage: RelabelStage
) -> None:
    known = pipeline.open_vocabulary(store, VOCABULARY).known
    label = Relabelled("tiling with shared memory", "cuda/shared-memory-tiling", stage)
    store.merge([pipeline.plan(trajectory(0, label.label), [label], (), known, "2026-11-30")])
    (technique,) = (t for t in store.techniques() if t.id == "cuda/shared-memory-tiling")
    assert "tiling with shared memory" in technique.aliases
    (example,) = store.examples("cuda/start", technique.id)
    assert (example.original_label, example.relabel_stage) == (
        "tiling with shared memory",
        stage,
    )
    remembered = pipeline.open_vocabulary(store, ()).find("tiling with shared memory", "cuda")
    assert remembered == Match("cuda/shared-memory-tiling", "alias")


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


def test_a_failure_whose_name_no_technique_has_is_counted_until_the_name_is_known(
    store: GraphStore,
) -> None:
    failed = {"after_step": 0, "label": "Warp Magic", "outcome": "wrong_answer", "code": "x"}
    rows = [row(1, failures=[failed, failed | {"label": "smem tiling"}])]
    (batch,) = grow(store, rows)
    assert (batch.nameless_failures, batch.counts.failures) == (1, 1)
    assert "cuda/warp-magic" not in {technique.id for technique in store.techniques()}
    store.add_techniques([new_technique("cuda", "Warp Magic")])
    (batch,) = grow(store, rows)
    assert (batch.nameless_failures, batch.counts.failures) == (0, 1)


def test_what_a_curator_merged_away_stays_away(store: GraphStore) -> None:
    heir = VOCABULARY[1].model_copy(update={"replaces": ("cuda/shared-memory-tiling",)})
    store.add_techniques([heir])
    given = row(1, "Tiled kernel", "smem tiling", "whatever")
    given["steps"][2]["technique"] = "cuda/shared-memory-tiling"
    for _ in range(2):
        grow(store, [given])
    ids = {technique.id for technique in store.techniques()}
    assert ids == {technique.id for technique in VOCABULARY} - {"cuda/shared-memory-tiling"}
    assert [step.technique for one in store.export() for step in one.steps] == [heir.id] * 3


def test_batches_end_by_lines_or_bytes(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(1), row(2), row(3, serial="x" * 1000), row(4), row(5)]
    assert [batch.counts.added for batch in grow(store, rows, 2)] == [2, 2, 1]
    monkeypatch.setattr(pipeline, "BATCH_BYTES", 1000)
    assert [batch.counts.known for batch in grow(store, rows, 9)] == [3, 2]
