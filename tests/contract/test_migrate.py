"""Contract: a graph of an older version is refused, and carried to ours without loss."""

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import neo4j
import pytest

from regraph_kg import wiring
from regraph_kg.backends import migrate
from regraph_kg.errors import StoreError
from regraph_kg.graph import SCHEMA_VERSION, GraphStore
from regraph_kg.llm.ngrams import HASHED, HashEmbedder
from regraph_kg.settings import Settings
from tests.contract.plans import A100, failure, measured, plan
from tests.graph_v1 import drop_schema, fill, golden, indexed, load
from tests.stores import cypher, environment, wipe

REGRAPH = str(Path(sys.executable).parent / "regraph")
KEYS = {
    *((label, "id") for label in ("Technique", "Trajectory", "Archived", "Edge", "Failure")),
    ("Share", "id"),
    ("Decision", "id"),
    ("Meta", "product"),
    ("Trajectory", "ref"),
}


@pytest.fixture
def old_settings(store_settings: Settings) -> Settings:
    """Each backend in turn, with a graph of version 1."""
    load(store_settings)
    return store_settings


def exported(settings: Settings) -> list[dict[str, Any]]:
    with closing(wiring.open_store(settings)) as store:
        found = tuple(store.export())
    return [one.model_dump(mode="json", by_alias=True, exclude_defaults=True) for one in found]


def statistics(settings: Settings) -> list[dict[str, Any]]:
    rows = cypher(settings, "MATCH ()-[n:NEXT]->() RETURN properties(n) AS p ORDER BY n.id")
    return [counted(row["p"]) for row in rows]


def counted(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Statistics without what counts nothing, when they last grew, and what version 1 had not."""
    later = ("last_seen", "gain", "tries", "best_problem", "best_other", "written", "checksum")
    return {key: value for key, value in properties.items() if value and key not in later}


def whole(settings: Settings) -> list[str]:
    """Every node and relationship, without when it was changed, and how often."""
    rows = cypher(settings, "MATCH (n) RETURN labels(n)[0] AS k, properties(n) AS p")
    rows += cypher(settings, "MATCH ()-[r]->() RETURN type(r) AS k, properties(r) AS p")
    for row in rows:
        for name in ("last_seen", "written", "checksum"):
            row["p"].pop(name, None)
    return sorted(repr((row["k"], sorted(row["p"].items()))) for row in rows)


def carry(settings: Settings, stop_after: int | None = None) -> int:
    """Migrate, or stop after so many steps as a killed process does; the number of steps taken."""
    with closing(wiring.open_migrator(settings)) as migrator:
        for number, _ in enumerate(migrator.run(), 1):
            if number == stop_after:
                return number
    return 0


def assert_carried(settings: Settings) -> None:
    assert exported(settings) == golden()["export"]
    before = [
        counted(one["properties"]) for one in golden()["relationships"] if one["type"] == "NEXT"
    ]
    assert statistics(settings) == before
    with closing(wiring.open_store(settings)) as store:
        assert store.check() == ()
        stats = store.stats()
    assert (stats.trajectories, stats.transitions) == (4, 11)
    assert cypher(settings, "MATCH (f:Failure) RETURN count(f) AS n") == [{"n": 4}]
    assert cypher(settings, "MATCH (m:Meta) RETURN m.bound AS bound, m.schema_version AS v") == [
        {"bound": 128, "v": SCHEMA_VERSION}
    ]


def test_an_old_graph_is_refused_in_one_line_that_names_the_command(old_settings: Settings) -> None:
    before = whole(old_settings)
    with pytest.raises(StoreError) as caught:
        wiring.open_store(old_settings)
    message = f"graph has schema 1, this program needs {SCHEMA_VERSION}: run regraph graph update"
    assert str(caught.value).endswith(message)
    assert whole(old_settings) == before


def test_an_old_graph_with_data_is_carried_to_the_newest_version(old_settings: Settings) -> None:
    carry(old_settings)
    assert_carried(old_settings)
    found = cypher(
        old_settings,
        "MATCH (t:Technique) WHERE t.review RETURN t.id AS id, t.replaces AS r, t.disowned AS d",
    )
    assert found == [{"id": "openmp/folding-in-whisper", "r": [], "d": []}]
    after = whole(old_settings)
    assert carry(old_settings) == 0
    assert whole(old_settings) == after


def test_vectors_of_an_older_version_are_forgotten(old_settings: Settings) -> None:
    """They were of reasonings; what they took the place of is made by whoever embeds next."""
    cypher(old_settings, "MATCH ()-[r:TRANSITION]->() SET r.embedding_2 = [1.0, 0.0]")
    cypher(
        old_settings,
        "MATCH (m:Meta) SET m.embedding_model = 'old', m.dimension = 2,"
        " m.embedding_slot = 'embedding_2'",
    )
    carry(old_settings)
    counted = "RETURN count(r.embedding) AS text, count(r.code_embedding) AS code,"
    counted = f"MATCH ()-[r:TRANSITION]->() {counted} count(r.embedding_2) AS old"
    assert cypher(old_settings, counted) == [{"text": 0, "code": 0, "old": 0}]
    with closing(wiring.open_store(old_settings)) as store:
        assert store.embedding_space() is None
        list(store.embed(HASHED, HashEmbedder().embed))
        assert store.embedding_space() == HASHED
    assert cypher(old_settings, counted) == [{"text": 11, "code": 11, "old": 0}]


@pytest.mark.slow
def test_a_carried_graph_has_the_constraints_and_indexes_of_a_new_one(
    old_settings: Settings,
) -> None:
    carry(old_settings)
    carried = indexed(old_settings)
    assert KEYS | {("TRANSITION", "id"), ("NEXT", "id")} <= carried
    for label, name in sorted(KEYS):
        cypher(old_settings, f"CREATE (:{label} {{{name}: 'twice'}})")
        with pytest.raises(neo4j.exceptions.Neo4jError):
            cypher(old_settings, f"CREATE (:{label} {{{name}: 'twice'}})")
    wipe(old_settings)
    drop_schema(old_settings)
    wiring.open_store(old_settings).close()
    assert indexed(old_settings) == carried


@pytest.mark.slow
def test_a_migration_killed_after_any_step_is_simply_run_again(store_settings: Settings) -> None:
    load(store_settings)
    stop, expected = 1, None
    while True:
        finished = carry(store_settings, stop) == 0
        if not finished:
            with pytest.raises(StoreError, match="run regraph graph update"):
                wiring.open_store(store_settings)
            carry(store_settings)
        found = whole(store_settings)
        assert found == (expected or found)
        expected = found
        if finished:
            break
        wipe(store_settings)
        fill(store_settings)
        stop += 1
    assert stop > 8  # statements and rebuilding
    assert_carried(store_settings)


@pytest.mark.slow
def test_two_processes_may_migrate_at_once(old_settings: Settings) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(carry, [old_settings] * 2))
    assert_carried(old_settings)


@pytest.mark.slow
def test_an_opening_cut_short_is_finished_by_the_next(store_settings: Settings) -> None:
    drop_schema(store_settings)
    for stop in range(1, 20, 4):
        wipe(store_settings)
        carry(store_settings, stop)
        with closing(wiring.open_store(store_settings)) as store:
            assert store.stats().schema_version == SCHEMA_VERSION
            assert store.merge([plan()]).added == 1


def test_the_numbers_of_the_migrations_are_without_gap_and_the_last_is_ours() -> None:
    found = migrate.known()
    numbers = [int(one.name.removeprefix("migrations/").split("_")[0]) for one in found]
    assert numbers == [one.version for one in found] == list(range(1, SCHEMA_VERSION + 1))


def test_a_graph_of_version_3_gets_statistics_per_problem_and_effects_per_device(
    store: GraphStore, store_settings: Settings
) -> None:
    """Made so by taking away what version 4 brought."""
    list(store.set_bound(4))
    store.merge(
        [
            plan(
                "ab",
                problem=f"problem {n % 3}",
                code=f"int x{n};",
                measurements=[measured(effect=1.0 + n), measured(A100, effect=9.0 - n)],
                failures=[failure("c", code=f"int bad{n};")],
            )
            for n in range(8)
        ]
    )
    right = whole(store_settings)
    for statement in (
        "MATCH (s:Share) DELETE s",
        "MATCH ()-[n:NEXT]->() REMOVE n.gain, n.tries, n.best_problem, n.best_other",
        "MATCH ()-[r:TRANSITION]->() REMOVE r.effects",
        "MATCH (a:Archived) REMOVE a.effects",
        "MATCH (m:Meta) SET m.schema_version = 3",
    ):
        cypher(store_settings, statement)
    with pytest.raises(StoreError, match="has schema 3"):
        wiring.open_store(store_settings)
    carry(store_settings)
    assert store.check() == ()
    assert whole(store_settings) == right


def run(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [REGRAPH, *words], env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_the_command_says_what_it_will_do_then_does_it(embedded_settings: Settings) -> None:
    load(embedded_settings)
    env = environment(embedded_settings)
    refused = run(env, "techniques", "show")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert refused.stderr.count("\n") == 1
    before = whole(embedded_settings)
    dry = run(env, "graph", "update", "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    assert dry.stdout.startswith("schema 2 would bring: Bounded edges")
    assert whole(embedded_settings) == before
    done = run(env, "graph", "update")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"graph has schema {SCHEMA_VERSION} now\n")
    again = run(env, "graph", "update")
    assert (again.returncode, again.stdout) == (
        0,
        f"graph has schema {SCHEMA_VERSION}: nothing to do\n",
    )
    assert_carried(embedded_settings)


@pytest.mark.slow
def test_a_killed_command_leaves_a_graph_that_the_next_one_carries_on(
    old_settings: Settings, store_env: Mapping[str, str]
) -> None:
    running = subprocess.Popen([REGRAPH, "graph", "update"], env=store_env, stdout=subprocess.PIPE)
    assert running.stdout is not None
    assert b"brings" in running.stdout.readline()
    time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    carry(old_settings)
    assert_carried(old_settings)
