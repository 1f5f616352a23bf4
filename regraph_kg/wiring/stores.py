"""Stores of graphs, and operations on a whole graph.

The driver is loaded with the store that needs it: it takes a third of a second.
"""

import logging
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from pydantic import JsonValue

from regraph_kg.backends import embedded
from regraph_kg.backends.address import Address
from regraph_kg.backends.embedded import ServerState
from regraph_kg.models.graph import GraphTable
from regraph_kg.settings import Settings

if TYPE_CHECKING:
    from regraph_kg.backends.bolt import Bolt
    from regraph_kg.backends.store import GraphStore


def open_store(settings: Settings, *, retry_seconds: float = 15.0) -> "GraphStore":
    """The graph store of these settings, its schema applied; the embedded one is started if needed.

    Close it after use. Raises `StoreError` when it is down, foreign, of another version, or rejects
    the login; passing conflicts and outages are retried for `retry_seconds`.
    """
    from regraph_kg.backends.store import GraphStore  # noqa: PLC0415

    store = GraphStore(_bolt(store_address(settings), retry_seconds))
    try:
        store.apply_schema()
    except BaseException:
        store.close()
        raise
    return store


def _bolt(where: Address, retry_seconds: float = 15.0) -> "Bolt":
    from regraph_kg.backends.bolt import Bolt  # noqa: PLC0415

    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # what matters becomes a StoreError
    return Bolt(where, retry_seconds=retry_seconds)


def query(
    settings: Settings,
    statement: str,
    parameters: Mapping[str, JsonValue],
    *,
    limit: int,
    seconds: float,
) -> GraphTable:
    """A person's own query of these settings' graph, which changes nothing (backends/reader.py)."""
    from regraph_kg.backends import reader  # noqa: PLC0415

    is_embedded = settings.store == "embedded"
    where = start_embedded(settings).reading if is_embedded else store_address(settings)
    with closing(_bolt(where)) as bolt:
        return reader.query(bolt, statement, parameters, limit=limit, seconds=seconds)


def store_address(settings: Settings) -> Address:
    """Address and login of the store; starts the embedded one if needed."""
    if settings.store == "embedded":
        return start_embedded(settings).address
    password = settings.store_password.get_secret_value()
    return Address(settings.store, settings.store_user, password, settings.store_database)


def start_embedded(settings: Settings) -> ServerState:
    """The embedded store of `data_dir`, started if it does not run."""
    return embedded.ensure(settings.data_dir / "store", settings.store_idle_seconds)
