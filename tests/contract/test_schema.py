"""Contract: whose database it is, and what an empty one becomes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from neo4j.exceptions import Neo4jError

from regraph_kg.backends import bolt
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import SCHEMA_VERSION
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import plan
from tests.stores import address, cypher, forget_schema, session, wipe


def test_an_empty_database_is_stamped_and_lists_no_technique(store: GraphStore) -> None:
    stats = store.stats()
    assert (stats.product, stats.schema_version) == ("regraph-kg", SCHEMA_VERSION)
    assert (stats.techniques, stats.trajectories, stats.pairs, stats.transitions) == (0, 0, 0, 0)
    assert store.techniques() == ()
    assert tuple(store.export()) == ()


def test_openers_of_an_empty_database_do_not_disturb_each_other(store_settings: Settings) -> None:
    def open_and_merge(number: int) -> int:
        with closing(open_store(store_settings)) as store:
            return store.merge([plan(code=f"int x{number};")]).added

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_and_merge, range(4))) == [1, 1, 1, 1]
    stamps = cypher(store_settings, "MATCH (m:Meta) RETURN m.schema_version AS version")
    assert stamps == [{"version": SCHEMA_VERSION}]


def test_clients_that_make_and_drop_a_vector_index_at_once_all_succeed(
    store: GraphStore, store_settings: Settings
) -> None:
    def define(name: str) -> None:
        with closing(bolt.Bolt(address(store_settings))) as client:
            for _ in range(3):
                client.define(f"vectors_{name}", 1, dimension=8)

    drop_vector_indexes(store_settings)  # of the test before, of more dimensions
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(define, ["index"] * 6))
        with closing(bolt.Bolt(address(store_settings))) as client:
            rows = client.read(lambda ask: ask("vectors_indexes"))
        assert "code_embedding" in {row["property"] for row in rows}
        list(pool.map(define, ["index", "unindex"] * 3))
        list(pool.map(define, ["unindex"] * 6))
    with closing(bolt.Bolt(address(store_settings))) as client:
        rows = client.read(lambda ask: ask("vectors_indexes"))
    assert "code_embedding" not in {row["property"] for row in rows}


def test_another_schema_is_refused_in_one_line_and_left_alone(store_settings: Settings) -> None:
    open_store(store_settings).close()
    cypher(store_settings, "MATCH (m:Meta) SET m.schema_version = 99")
    with pytest.raises(StoreError, match="schema 99") as caught:
        open_store(store_settings)
    assert "\n" not in str(caught.value)
    found = cypher(store_settings, "MATCH (m:Meta) RETURN m.schema_version AS version")
    assert found == [{"version": 99}]


@pytest.mark.slow
def test_an_opening_cut_short_is_finished_by_the_next(
    store_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    define = bolt.Bolt.define
    for last in range(0, 20, 4):
        drop_schema(store_settings)
        wipe(store_settings)

        def killed(own: bolt.Bolt, name: str, number: int = 0, last: int = last) -> None:
            if number > last:
                raise Killed
            define(own, name, number)

        monkeypatch.setattr(bolt.Bolt, "define", killed)
        with suppress(Killed):
            open_store(store_settings).close()
        monkeypatch.undo()
        with closing(open_store(store_settings)) as store:
            assert store.merge([plan()]).added == 1
        twice = "CREATE (:Steps {id: 'twice'})"
        cypher(store_settings, twice)
        with pytest.raises(Neo4jError):
            cypher(store_settings, twice)


class Killed(Exception):
    """Where a process ends in these tests."""


def drop_schema(settings: Settings) -> None:
    """Drop every constraint and index; the next store that opens makes its own."""
    forget_schema(settings)
    drop_vector_indexes(settings)
    with session(settings) as run:
        for row in run("SHOW CONSTRAINTS"):
            run(f"DROP CONSTRAINT `{row['name']}` IF EXISTS")
        for row in run("SHOW INDEXES"):
            if row["type"] != "LOOKUP" and row["owningConstraint"] is None:
                run(f"DROP INDEX `{row['name']}` IF EXISTS")


def drop_vector_indexes(settings: Settings) -> None:
    with closing(bolt.Bolt(address(settings))) as client:
        client.define_all("vectors_unindex")


def test_a_database_with_foreign_data_is_refused_and_left_alone(store_settings: Settings) -> None:
    cypher(store_settings, "CREATE (:Person {name: 'Ada'})")
    with pytest.raises(StoreError, match="another product's data"):
        open_store(store_settings)
    found = cypher(store_settings, "MATCH (n) RETURN labels(n) AS labels, n.name AS name")
    assert found == [{"labels": ["Person"], "name": "Ada"}]
