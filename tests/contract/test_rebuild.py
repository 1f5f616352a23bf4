"""Contract: a graph is written anew from its own trajectories, under today's names."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import (
    SCHEMA_VERSION,
    MergePlan,
    Relabelled,
    StoredTrajectory,
)
from regraph_kg.runs.progress import outcome
from regraph_kg.runs.rebuild import rebuild_graph
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.recount import wrong_counts
from tests.stores import cypher, wipe


def as_before(page: Sequence[StoredTrajectory]) -> list[MergePlan]:
    """Plans under the names that the graph has."""
    return [renamed(stored, {}) for stored in page]


def renamed(stored: StoredTrajectory, names: dict[str, str]) -> MergePlan:
    """A plan with other techniques for some."""
    one = stored.trajectory
    steps = zip(one.steps, stored.stages, strict=True)
    labels = (Relabelled(s.label, names.get(_id(s), _id(s)), stage) for s, stage in steps)
    failed = (Relabelled(f.label, names.get(_id(f), _id(f)), "given") for f in one.failures)
    return MergePlan(one, tuple(labels), tuple(failed))


def _id(part: Any) -> str:
    assert part.technique is not None
    return str(part.technique)


def fill(store: GraphStore) -> None:
    store.merge(
        [
            plan(
                "ab",
                code=f"int x{number};",
                measurements=[measured(effect=1 + number), measured(A100, effect=None)],
                failures=[failure("c", 1, code=f"int bad{number};")],
                ref=f"ref {number}",
            )
            for number in range(5)
        ]
    )


def test_a_rebuild_under_the_same_names_changes_nothing(store: GraphStore) -> None:
    fill(store)
    store.merge([replace(plan("a", code="late", failures=[failure("c", 1)]), created="2026")])
    before = store.transitions(), tuple(store.export()), store.stats()
    told = store.failures("cuda/a", "cuda/c", limit=9)
    steps = list(store.rebuild((), as_before))
    assert steps[-1] == (6, 6)
    assert (store.transitions(), tuple(store.export()), store.stats()) == before
    assert store.failures("cuda/a", "cuda/c", limit=9) == told
    assert wrong_counts(store) == []


def test_techniques_that_others_replaced_go_with_their_last_use(store: GraphStore) -> None:
    fill(store)
    heir = technique("d", replaces=("cuda/b",))
    moved = {"cuda/b": "cuda/d"}
    list(store.rebuild((heir,), lambda page: [renamed(one, moved) for one in page]))
    assert [one.id for one in store.techniques()] == ["cuda/a", "cuda/c", "cuda/d"]
    assert {(row.source, row.target) for row in store.transitions()} == {
        ("cuda/start", "cuda/a"),
        ("cuda/a", "cuda/c"),
        ("cuda/a", "cuda/d"),
    }
    assert wrong_counts(store) == []


def test_a_rebuild_that_was_stopped_loses_nothing_and_is_run_again(
    store: GraphStore, store_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regraph_kg.backends.write.REBUILT_AT_ONCE", 2)
    fill(store)
    before = store.transitions(), tuple(store.export())
    assert next(iter(store.rebuild((), as_before))) == (2, 5)
    assert tuple(store.export()) == before[1]
    with pytest.raises(StoreError):
        open_store(store_settings)
    with pytest.raises(StoreError):
        store.merge([plan("a", code="meanwhile")])
    with closing(open_store(store_settings, rebuild=True)) as again:
        list(again.rebuild((), as_before))
    open_store(store_settings).close()
    assert (store.transitions(), tuple(store.export())) == before
    assert wrong_counts(store) == []


def test_of_two_rebuilds_at_once_the_later_one_goes_on(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regraph_kg.backends.write.REBUILT_AT_ONCE", 2)
    fill(store)
    before = store.transitions(), tuple(store.export())
    first, second = store.rebuild((), as_before), store.rebuild((), as_before)
    next(iter(first))
    next(iter(second))
    with pytest.raises(StoreError):
        list(first)
    list(second)
    assert (store.transitions(), tuple(store.export())) == before
    assert wrong_counts(store) == []


def write_schema_2(settings: Settings) -> dict[str, Any]:
    """A graph that the last release of schema 2 wrote: bounded, curated, with a free run."""
    old: dict[str, Any] = json.loads(Path(__file__).with_name("schema_2.json").read_bytes())
    for row in old["nodes"]:
        cypher(settings, f"CREATE (n:{row['label']}) SET n = $had", had=row["had"])
    for row in old["relationships"]:
        cypher(
            settings,
            "MATCH (s:Technique {id: $source}), (d:Technique {id: $target})"
            f" CREATE (s)-[r:{row['type']}]->(d) SET r = $had",
            **{name: row[name] for name in ("source", "target", "had")},
        )
    return old


def test_a_graph_of_schema_2_is_refused_in_one_line_and_brought_over(
    store: GraphStore, store_settings: Settings, tmp_path: Path
) -> None:
    wipe(store_settings)
    old = write_schema_2(store_settings)
    with pytest.raises(StoreError) as refused:
        open_store(store_settings)
    assert "regraph ingest --rebuild" in str(refused.value)
    assert "\n" not in str(refused.value)
    tiling = technique("shared-memory-tiling", aliases=("Fold twice",))
    (tmp_path / "techniques.json").write_text(f"[{tiling.model_dump_json()}]")
    assert outcome(rebuild_graph(store_settings, tmp_path / "techniques.json", "lexical")) == 3

    texts = {row["had"]["id"]: row["had"] for row in old["nodes"] if row["label"] == "Steps"}
    for one in store.export():
        assert [step.code for step in one.steps] == texts[one.id]["codes"]
        assert all(step.measurements for step in one.steps)
        assert [failed.code for failed in one.failures] == [f"int bad{one.ref[-1:]};"]  # type: ignore[index]
    names = {step.label: step.technique for one in store.export() for step in one.steps}
    assert names == {
        "Shared memory tiling": "cuda/shared-memory-tiling",
        "SMEM tiles": "cuda/shared-memory-tiling",  # merged by a curation of then
        "Fold twice": "cuda/shared-memory-tiling",  # an alias of today's vocabulary
        "My own name": "cuda/loop-unrolling",  # given by the sender
    }
    assert wrong_counts(store) == []
    assert store.stats().schema_version == SCHEMA_VERSION
    left = cypher(store_settings, "MATCH (n) RETURN DISTINCT labels(n)[0] AS label")
    assert {row["label"] for row in left} == {
        *("Meta", "Technique", "Trajectory", "Steps", "Failure")
    }
    assert "cuda/fold-twice" not in {one.id for one in store.techniques()}
