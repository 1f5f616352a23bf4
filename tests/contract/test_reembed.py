"""A graph changes to another model's vectors while the old ones serve."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice

import pytest

from regraph_kg import wiring
from regraph_kg.errors import StoreError
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import EmbeddingProgress, EmbeddingSpace
from regraph_kg.settings import Settings
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
        assert {one.step for one in steps} == {"embedding", "clearing"}
        assert all(one.done <= one.total == 5 for one in steps)
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
        with closing(wiring.open_store(store_settings)) as own:
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


class Interrupted(Exception):
    """What ends an embedder in these tests."""


@pytest.mark.slow
def test_writers_at_once_divide_what_is_to_be_embedded(
    monkeypatch: pytest.MonkeyPatch, store: GraphStore, store_settings: Settings
) -> None:
    """Nothing is embedded twice: each text is of one example alone."""
    monkeypatch.setattr("regraph_kg.backends.embeddings.AT_ONCE", 1)
    names = "abcdefgh"
    for number in range(4):
        whys = [f"{name} {number}" for name in names]
        store.merge([reasoned(names[number:] + names[:number], whys, code=str(number))])
    tables = [Table(TINY) for _ in range(3)]

    def work(table: Table) -> None:
        with closing(wiring.open_store(store_settings)) as own:
            embed(own, table)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, tables))
    asked = [text for table in tables for text in table.asked if text in every_reasoning(names)]
    assert sorted(asked) == every_reasoning(names)
    assert None not in every_vector(store_settings, "embedding").values()
    assert claims_left(store_settings) == 0


def every_reasoning(names: str) -> list[str]:
    return sorted(f"{name} {number}" for number in range(4) for name in names)


def claims_left(settings: Settings) -> int:
    (row,) = cypher(settings, "MATCH (e:Edge) RETURN count(e.claimed_by) AS claims")
    return int(str(row["claims"]))


def test_an_embedder_that_fails_leaves_no_claim(
    store: GraphStore, store_settings: Settings
) -> None:
    small_graph(store)

    def fail(_: object) -> list[bytes]:
        raise Interrupted

    with pytest.raises(Interrupted):
        list(store.embed(TINY, fail))
    assert claims_left(store_settings) == 0


@pytest.mark.parametrize("holder", ["expired elsewhere", "dead here", "a zombie here"])
def test_a_dead_writers_claim_holds_nobody_up(
    holder: str, store: GraphStore, store_settings: Settings
) -> None:
    table = small_graph(store)
    host = "elsewhere" if holder == "expired elsewhere" else socket.gethostname()
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it ended, and nobody reaped it
    if holder != "a zombie here":
        child.wait()
    left = -1 if holder == "expired elsewhere" else 600_000
    cypher(
        store_settings,
        f"MATCH (e:Edge) SET e.claimed_by = '{host} {child.pid} x',"
        f" e.claimed_until = timestamp() + {left}",
    )
    started = time.monotonic()
    embed(store, table)
    child.wait()
    assert time.monotonic() - started < 20
    assert None not in every_vector(store_settings, "embedding").values()
    assert claims_left(store_settings) == 0


def test_a_living_writers_claim_is_waited_for(store: GraphStore, store_settings: Settings) -> None:
    table = small_graph(store)
    cypher(
        store_settings,
        "MATCH (e:Edge {id: 'cuda/start cuda/a'}) SET e.claimed_by = 'elsewhere 1 x',"
        " e.claimed_until = timestamp() + 1500",
    )
    started = time.monotonic()
    embed(store, table)
    assert time.monotonic() - started > 1
    assert None not in every_vector(store_settings, "embedding").values()
