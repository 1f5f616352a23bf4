"""Fixtures: real graph stores, one server each per test session, wiped before every test.

store            a GraphStore, empty, schema applied
store_settings   Settings that open that very store (`open_store`)
store_env        the same as environment variables, for command lines
embedded_settings, neo4j_settings   Settings of one backend alone, wiped too

The store is embedded; in tests/contract it is every backend in turn.
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import neo4j
import pytest

from regraph_kg.backends import embedded
from regraph_kg.backends.address import Address
from regraph_kg.backends.embedded import ServerState
from regraph_kg.backends.store import GraphStore
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store, store_address
from tests.neo4j_server import neo4j_2026_server, neo4j_server

STOP_SECONDS = 20.0

__all__ = ["neo4j_2026_server", "neo4j_server"]


def embedded_folder(settings: Settings) -> Path:
    return settings.data_dir / "store"


def find_embedded(settings: Settings) -> ServerState | None:
    """The embedded store of `data_dir` if it runs."""
    return embedded.find(embedded_folder(settings))


def stop_embedded(settings: Settings) -> ServerState | None:
    """End the embedded store of `data_dir`; what it was, or None when none ran."""
    folder, state = embedded_folder(settings), None
    deadline = time.monotonic() + STOP_SECONDS
    while embedded.running(folder):
        if state is None:  # at first, or while it still starts
            state = embedded.find(folder)
            if state is not None:
                with suppress(ProcessLookupError):
                    os.kill(state.pid, signal.SIGTERM)
        assert time.monotonic() < deadline, f"the store in {folder} does not end"
        time.sleep(0.05)
    return state


@pytest.fixture(scope="session")
def embedded_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """An embedded store of this test session."""
    settings = Settings(store="embedded", data_dir=tmp_path_factory.mktemp("embedded"))
    yield settings
    stop_embedded(settings)


@pytest.fixture
def embedded_settings(embedded_server: Settings) -> Settings:
    """The embedded store, empty."""
    wipe(embedded_server)
    return embedded_server


@pytest.fixture
def neo4j_settings(neo4j_server: Settings) -> Settings:
    """A real Neo4j, empty."""
    wipe(neo4j_server)
    return neo4j_server


@pytest.fixture
def neo4j_2026_settings(neo4j_2026_server: Settings) -> Settings:
    """The newest Neo4j, empty."""
    wipe(neo4j_2026_server)
    return neo4j_2026_server


@pytest.fixture
def store_settings(embedded_settings: Settings) -> Settings:
    """The embedded store, empty."""
    return embedded_settings


@pytest.fixture
def store_env(store_settings: Settings) -> Mapping[str, str]:
    """The environment of a command that is to use `store_settings`."""
    return environment(store_settings)


@pytest.fixture
def store(store_settings: Settings) -> Iterator[GraphStore]:
    """The store, empty, open."""
    prepare(store_settings)
    opened = open_store(store_settings)
    yield opened
    opened.close()


def environment(settings: Settings, folder: Path | None = None) -> dict[str, str]:
    """os.environ with `settings`; `folder` replaces the data folder."""
    return os.environ | {
        "REGRAPH_STORE": settings.store,
        "REGRAPH_STORE_USER": settings.store_user,
        "REGRAPH_STORE_PASSWORD": settings.store_password.get_secret_value(),
        "REGRAPH_DATA_DIR": str(folder or settings.data_dir),
    }


def wipe(settings: Settings) -> None:
    """Delete every node; constraints stay."""
    cypher(settings, "MATCH (n) DETACH DELETE n")


_PREPARED: dict[Path, list[dict[str, Any]]] = {}
"""Data folder of a server -> the nodes of an empty graph, once it has the schema."""


def prepare(settings: Settings) -> None:
    """Make a wiped store what `apply_schema` makes of it, the second time without its statements.

    They take longer than most tests. Who drops the schema says `forget_schema`.
    """
    if settings.data_dir not in _PREPARED:
        open_store(settings).close()
        _PREPARED[settings.data_dir] = cypher(
            settings, "MATCH (n) RETURN labels(n)[0] AS label, collect(properties(n)) AS nodes"
        )
        return
    with session(settings) as run:
        for row in _PREPARED[settings.data_dir]:
            run(f"UNWIND $nodes AS node CREATE (n:{row['label']}) SET n = node", nodes=row["nodes"])


def forget_schema(settings: Settings) -> None:
    """The store has no schema any more."""
    _PREPARED.pop(settings.data_dir, None)


def cypher(settings: Settings, statement: str, **parameters: object) -> list[dict[str, Any]]:
    """Run a statement behind the store's back."""
    with session(settings) as run:
        return run(statement, **parameters)


class Run(Protocol):
    """Runs a statement; its rows."""

    def __call__(self, statement: str, /, **parameters: object) -> list[dict[str, Any]]:
        """All rows of it."""


@contextmanager
def session(settings: Settings) -> Iterator[Run]:
    """Several statements behind the store's back."""
    where = address(settings)
    with (
        neo4j.GraphDatabase.driver(where.uri, auth=(where.user, where.password)) as driver,
        driver.session(database=where.database) as opened,
    ):

        def run(statement: str, /, **parameters: object) -> list[dict[str, Any]]:
            return opened.run(statement, parameters).data()

        yield run


def address(settings: Settings) -> Address:
    """Where the store of these settings listens."""
    return store_address(settings)
