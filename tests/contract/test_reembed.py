"""A graph changes to another model's vectors: cleared, then filled."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.graph import EmbeddingProgress, EmbeddingSpace
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.vectors import OTHER, TINY, Table, embed, floats, reasoned, small_graph
from tests.recount import wrong_counts
from tests.stores import cypher

SECOND = EmbeddingSpace("second", 3)


@pytest.fixture
def table(store: GraphStore) -> Table:
    """An embedded graph's embedder."""
    table = small_graph(store)
    embed(store, table)
    return table


def assert_wholly_in(other: Table, store: GraphStore, settings: Settings) -> None:
    assert store.embedding_space() == other.space
    rows = cypher(
        settings, "MATCH ()-[r:TRANSITION]->() RETURN r.reasoning AS why, r.embedding AS vector"
    )
    assert rows
    for row in rows:
        expected = floats(other.vector(str(row["why"])).packed).tolist()
        assert row["vector"] == pytest.approx(expected, abs=1e-6), row["why"]


def test_a_graph_is_changed_to_another_model_and_back(
    store: GraphStore, store_settings: Settings, table: Table
) -> None:
    for embedder in (Table(OTHER), table):
        steps = list(store.embed(embedder.space, embedder.embed, change=True))
        assert [step.step for step in steps] == ["clearing", "embedding"]
        assert all(step.done == step.total == 5 for step in steps)
        assert_wholly_in(embedder, store, store_settings)


def stopped(change: Iterator[EmbeddingProgress], after: int) -> bool:
    """Let a change die after so many steps; whether it got that far."""
    return len(list(islice(change, after))) == after


@pytest.mark.parametrize("steps", [1, 3, 6])
def test_a_change_that_dies_anywhere_is_finished_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
    store: GraphStore,
    store_settings: Settings,
    table: Table,
    steps: int,
) -> None:
    """Of six steps, five of which clear, or of as many that clear as of the whole graph."""
    monkeypatch.setattr("regraph_kg.backends.vectors.EMBEDDED_AT_ONCE", 1)
    monkeypatch.setattr("regraph_kg.backends.vectors.CLEARED", 1)
    other = Table(OTHER)
    assert stopped(store.embed(OTHER, other.embed, change=True), steps)
    if store.embedding_space() is None:
        with pytest.raises(BadInput):
            store.nearest(table.vector("north"), k=1)
    list(store.embed(OTHER, other.embed, change=True))
    assert_wholly_in(other, store, store_settings)


def test_one_may_think_better_of_a_change(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings, table: Table
) -> None:
    """Also an ingest that comes first, with the embedder that was before."""
    monkeypatch.setattr("regraph_kg.backends.vectors.CLEARED", 1)
    assert stopped(store.embed(OTHER, Table(OTHER).embed, change=True), 2)
    embed(store, table)
    assert_wholly_in(table, store, store_settings)


def test_two_changes_at_once_do_not_mix(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings, table: Table
) -> None:
    monkeypatch.setattr("regraph_kg.backends.vectors.EMBEDDED_AT_ONCE", 1)
    first, second = Table(OTHER), Table(SECOND)
    slow = store.embed(OTHER, first.embed, change=True)
    assert [next(slow).step, next(slow).step] == ["clearing", "embedding"]
    list(store.embed(SECOND, second.embed, change=True))
    with pytest.raises(StoreError):
        list(slow)
    assert_wholly_in(second, store, store_settings)


@pytest.mark.slow
def test_writers_that_embed_at_once_leave_nothing_out(
    store: GraphStore, store_settings: Settings
) -> None:
    """Each merges and embeds, again and again, over the same pairs."""

    def write(writer: int) -> None:
        with closing(open_store(store_settings)) as own:
            for number in range(4):
                own.merge([reasoned("abc", ["x", "y", "z"], code=f"{writer} {number}")])
                embed(own, Table(TINY))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    (row,) = cypher(
        store_settings,
        "MATCH ()-[r:TRANSITION]->() RETURN count(r) AS all, count(r.embedding) AS embedded",
    )
    assert row == {"all": 36, "embedded": 36}
    assert wrong_counts(store) == []
