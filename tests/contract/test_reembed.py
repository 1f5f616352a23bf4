"""A graph changes to another model's vectors while the old ones serve."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice

import pytest

from regraph_kg.errors import StoreError
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import EmbeddingProgress, EmbeddingSpace
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.vectors import (
    OTHER,
    TINY,
    Table,
    embed,
    floats,
    reasoned,
    small_graph,
)
from tests.stores import cypher


@pytest.fixture
def table(store: GraphStore) -> Table:
    """An embedded graph's embedder."""
    table = small_graph(store)
    embed(store, table)
    return table


def every_vector(settings: Settings, slot: str) -> dict[str, list[float] | None]:
    statement = f"MATCH ()-[r:TRANSITION]->() RETURN r.reasoning AS why, r.{slot} AS vector"
    return {str(row["why"]): row["vector"] for row in cypher(settings, statement)}  # type: ignore[misc]


def assert_wholly_in(
    other: Table, store: GraphStore, settings: Settings, slot: str, empty: str
) -> None:
    assert store.embedding_space() == other.space
    for why, found in every_vector(settings, slot).items():
        assert found == pytest.approx(floats(other.vector(why).packed).tolist(), abs=1e-6), why
    assert set(every_vector(settings, empty).values()) == {None}
    assert store.check() == ()


def test_a_graph_is_changed_to_another_model_and_back(
    store: GraphStore, store_settings: Settings, table: Table
) -> None:
    for embedder, slot, empty in (
        (Table(OTHER), "embedding_2", "embedding"),
        (Table(EmbeddingSpace("third", 6)), "embedding", "embedding_2"),
    ):
        steps = list(store.reembed(embedder.space, embedder.embed))
        assert {step.step for step in steps} == {"embedding", "clearing"}
        assert all(step.done <= step.total == 5 for step in steps)
        assert_wholly_in(embedder, store, store_settings, slot, empty)


def test_the_old_vectors_serve_and_newcomers_are_taken_along(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings, table: Table
) -> None:
    monkeypatch.setattr("regraph_kg.backends.embeddings.AT_ONCE", 1)
    other = Table(OTHER)
    change = store.reembed(OTHER, other.embed)
    next(change)
    assert store.embedding_space() == TINY
    store.merge([reasoned("ac", ["west", "up"], problem="new")])
    embed(store, table)
    assert every_vector(store_settings, "embedding")["up"] is not None
    assert store.nearest(table.vector("up"), k=1)[0].reasoning == "up"
    list(change)
    assert_wholly_in(other, store, store_settings, "embedding_2", "embedding")


def stopped(change: Iterator[EmbeddingProgress], after: int) -> bool:
    """Let a change die after so many steps; whether it got that far."""
    return len(list(islice(change, after))) == after


@pytest.mark.slow
def test_a_change_that_dies_anywhere_is_finished_by_the_next(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings, table: Table
) -> None:
    monkeypatch.setattr("regraph_kg.backends.embeddings.AT_ONCE", 1)
    spaces = [EmbeddingSpace(f"model {number}", 3 + number % 2) for number in range(4)]
    slots = ["embedding_2", "embedding"]
    for number, space in enumerate(spaces):
        other = Table(space)
        assert stopped(store.reembed(space, other.embed), number)
        serving = store.embedding_space()
        assert serving is not None
        near = Table(serving).vector("north")
        assert store.examples("cuda/start", "cuda/a", limit=1, near=near)[0].similarity is not None
        list(store.reembed(space, other.embed))
        assert_wholly_in(other, store, store_settings, *slots)
        slots.reverse()


def test_one_may_think_better_of_a_change(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings, table: Table
) -> None:
    monkeypatch.setattr("regraph_kg.backends.embeddings.AT_ONCE", 1)
    first, second = Table(OTHER), Table(EmbeddingSpace("second", 3))
    assert stopped(store.reembed(OTHER, first.embed), 1)
    list(store.reembed(TINY, table.embed))
    assert_wholly_in(table, store, store_settings, "embedding", "embedding_2")
    assert stopped(store.reembed(OTHER, first.embed), 1)
    list(store.reembed(second.space, second.embed))
    assert_wholly_in(second, store, store_settings, "embedding_2", "embedding")


@pytest.mark.slow
def test_two_changes_at_once_do_not_mix(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings, table: Table
) -> None:
    monkeypatch.setattr("regraph_kg.backends.embeddings.AT_ONCE", 1)
    first, second = Table(OTHER), Table(EmbeddingSpace("second", 3))
    slow = store.reembed(OTHER, first.embed)
    next(slow)
    list(store.reembed(second.space, second.embed))
    with pytest.raises(StoreError, match="somebody else changes the graph's embeddings"):
        list(slow)
    assert_wholly_in(second, store, store_settings, "embedding_2", "embedding")


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
    assert store.check() == ()
