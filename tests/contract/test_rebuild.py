"""Contract: a graph is written anew from its own trajectories, under today's names."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import (
    MergePlan,
    Relabelled,
    StoredTrajectory,
)
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.recount import transitions, wrong_counts


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
    before = transitions(store), tuple(store.export()), store.stats()
    told = store.failures("cuda/a", "cuda/c", limit=9)
    steps = list(store.rebuild((), as_before))
    assert steps[-1] == (6, 6)
    assert (transitions(store), tuple(store.export()), store.stats()) == before
    assert store.failures("cuda/a", "cuda/c", limit=9) == told
    assert wrong_counts(store) == []


def test_techniques_that_others_replaced_go_with_their_last_use(store: GraphStore) -> None:
    fill(store)
    heir = technique("d", replaces=("cuda/b",))
    moved = {"cuda/b": "cuda/d"}
    list(store.rebuild((heir,), lambda page: [renamed(one, moved) for one in page]))
    assert [one.id for one in store.techniques()] == ["cuda/a", "cuda/c", "cuda/d"]
    assert {(row.source, row.target) for row in transitions(store)} == {
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
    before = transitions(store), tuple(store.export())
    assert next(iter(store.rebuild((), as_before))) == (2, 5)
    assert tuple(store.export()) == before[1]
    with pytest.raises(StoreError):
        open_store(store_settings)
    with pytest.raises(StoreError):
        store.merge([plan("a", code="meanwhile")])
    with closing(open_store(store_settings, rebuild=True)) as again:
        list(again.rebuild((), as_before))
    open_store(store_settings).close()
    assert (transitions(store), tuple(store.export())) == before
    assert wrong_counts(store) == []


def test_of_two_rebuilds_at_once_the_later_one_goes_on(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regraph_kg.backends.write.REBUILT_AT_ONCE", 2)
    fill(store)
    before = transitions(store), tuple(store.export())
    first, second = store.rebuild((), as_before), store.rebuild((), as_before)
    next(iter(first))
    next(iter(second))
    with pytest.raises(StoreError):
        list(first)
    list(second)
    assert (transitions(store), tuple(store.export())) == before
    assert wrong_counts(store) == []
