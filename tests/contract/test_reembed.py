"""A graph whose vectors another version made gets ours."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from regraph_kg.backends import vectors
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import BadInput
from regraph_kg.llm.ngrams import SPACE, vectors_of
from regraph_kg.models.graph import Likeness
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.vectors import embed, reasoned, small_graph
from tests.recount import wrong_counts
from tests.stores import cypher

OLDER = "hash-ngrams-1"


@pytest.fixture
def older(store: GraphStore, store_settings: Settings) -> GraphStore:
    """A graph with three numbers in each vector, of another version."""
    small_graph(store)
    store._bolt.define_all("vectors_unindex")
    cypher(
        store_settings,
        "MATCH ()-[r:TRANSITION]->() SET r.embedding = $one, r.code_embedding = $one",
        one=[0.0, 0.6, 0.8],
    )
    for number in range(2):
        store._bolt.define("vectors_index", number, dimension=3)
    told = "MATCH (m:Meta) SET m.embedding_model = $model, m.dimension = 3"
    cypher(store_settings, told, model=OLDER)
    return store


def assert_wholly_ours(store: GraphStore, settings: Settings) -> None:
    (meta,) = cypher(settings, "MATCH (m:Meta) RETURN m.embedding_model AS model, m.dimension AS n")
    assert meta == {"model": SPACE, "n": 384}
    rows = cypher(
        settings, "MATCH ()-[r:TRANSITION]->() RETURN r.before AS code, r.code_embedding AS vector"
    )
    assert len(rows) == 5
    for row in rows:
        assert row["vector"] == pytest.approx(vectors_of([row["code"]])[0].tolist(), abs=1e-6)
    assert len(store.nearest(Likeness("registers", "words"), k=9)) == 5


def test_a_graph_of_another_version_gets_our_vectors(
    older: GraphStore, store_settings: Settings
) -> None:
    assert list(older.embed(change=True))[-1] == (5, 5)
    assert_wholly_ours(older, store_settings)
    assert list(older.embed(change=True)) == []


def test_a_change_that_dies_is_finished_by_the_next_ingest(
    monkeypatch: pytest.MonkeyPatch, older: GraphStore, store_settings: Settings
) -> None:
    monkeypatch.setattr(vectors, "PAIRS_AT_ONCE", 1)
    change = older.embed(change=True)
    assert next(change) == (1, 5)
    change.close()
    with pytest.raises(BadInput, match="no embeddings yet"):
        older.nearest(Likeness("registers"), k=1)
    found = older.examples("cuda/start", "cuda/a", near=Likeness("registers"), limit=9)
    assert {one.similarity for one in found} == {None}
    assert list(older.embed())[-1] == (5, 5)
    assert_wholly_ours(older, store_settings)


def test_nothing_is_written_beside_another_version_that_comes_between(
    monkeypatch: pytest.MonkeyPatch, older: GraphStore, store_settings: Settings
) -> None:
    monkeypatch.setattr(vectors, "PAIRS_AT_ONCE", 1)
    change = older.embed(change=True)
    next(change)
    cypher(store_settings, "MATCH (m:Meta) SET m.embedding_model = $model", model="hash-ngrams-3")
    list(change)
    rows = cypher(store_settings, "MATCH ()-[r:TRANSITION]->() RETURN size(r.embedding) AS n")
    assert sorted(row["n"] for row in rows) == [3, 3, 3, 3, 384]
    (meta,) = cypher(store_settings, "MATCH (m:Meta) RETURN m.embedding_model AS model")
    assert meta == {"model": "hash-ngrams-3"}


@pytest.mark.slow
def test_writers_that_embed_at_once_leave_nothing_out(
    store: GraphStore, store_settings: Settings
) -> None:
    """Each merges and embeds, again and again, over the same pairs."""

    def write(writer: int) -> None:
        with closing(open_store(store_settings)) as own:
            for number in range(4):
                own.merge([reasoned("abc", ["x", "y", "z"], code=f"{writer} {number}")])
                embed(own)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    (row,) = cypher(
        store_settings,
        "MATCH ()-[r:TRANSITION]->() RETURN count(r) AS all, count(r.embedding) AS embedded",
    )
    assert row == {"all": 36, "embedded": 36}
    assert wrong_counts(store) == []
