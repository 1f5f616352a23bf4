"""Bolt: managed transactions against Neo4j or the embedded store; the only user of the driver.

Reads and writes go through the driver's retries (deadlocks, conflicts, a lost connection); whatever
remains becomes a `StoreError` of one line. The password is in no message.
"""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions

from regraph_kg.backends import queries
from regraph_kg.backends.address import Address
from regraph_kg.errors import BadInput, StoreError

Row = dict[str, Any]
T = TypeVar("T")

SCHEMES = {f"{name}{tls}" for name in ("bolt", "neo4j") for tls in ("", "+s", "+ssc")}
CONNECT_SECONDS = 10.0
FIRST_RETRY_SECONDS = 0.05
FETCH_ROWS = 500
"""Rows per fetch: at 10 kB of code a row this is 5 MB in flight."""
CLASH_TRIES = 8


class Ask(Protocol):
    """Runs a statement of cypher/ inside a transaction."""

    def __call__(self, name: str, /, **parameters: object) -> list[Row]:
        """All rows of statement `name`."""


class Bolt:
    """A connection to one Bolt server."""

    def __init__(self, address: Address, *, retry_seconds: float = 15.0) -> None:
        """Connect and log in; `retry_seconds` bounds the retries of one transaction.

        Raises `BadInput` for an unusable URI and `StoreError` for a server that is down or refuses.
        """
        if urlsplit(address.uri).scheme not in SCHEMES:
            raise _unusable(address.uri)
        self._address = address
        try:
            self._driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.user, address.password),
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=2 * CONNECT_SECONDS,
                max_transaction_retry_time=retry_seconds,
                initial_retry_delay=FIRST_RETRY_SECONDS,
                telemetry_disabled=True,
            )
        except (exceptions.ConfigurationError, ValueError):
            raise _unusable(address.uri) from None
        try:
            with self._one_line():
                self._driver.verify_connectivity()
        except StoreError:
            self._driver.close()
            raise

    def read(self, work: Callable[[Ask], T]) -> T:
        """Run `work` in a read transaction; it may run more than once."""
        with self._one_line(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda tx: work(self._asking(tx)))

    def write(self, work: Callable[[Ask], T]) -> T:
        """Run `work` in a write transaction; it may run more than once, and counts once.

        A violated constraint means that another writer was first (every statement is a MERGE on
        the constrained key): the next try sees its rows.
        """
        with self._turn(), self._one_line(), self._session(neo4j.WRITE_ACCESS) as session:
            for clash in range(CLASH_TRIES):
                try:
                    return session.execute_write(lambda tx: work(self._asking(tx)))
                except exceptions.ConstraintError:
                    time.sleep(FIRST_RETRY_SECONDS * 2**clash)
            return session.execute_write(lambda tx: work(self._asking(tx)))

    def run_each(self, name: str) -> None:
        """Run every statement of a schema file, each in a transaction of its own."""
        with self._turn(), self._one_line(), self._session(neo4j.WRITE_ACCESS) as session:
            for statement in queries.statements(name, self._address.engine):
                session.run(statement).consume()

    def close(self) -> None:
        """Close every connection; idempotent."""
        self._driver.close()

    @property
    def place(self) -> str:
        """Where this is, for messages."""
        return f"graph store at {_host(self._address.uri)}"

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(
            database=self._address.database, default_access_mode=access, fetch_size=FETCH_ROWS
        )

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until no other writer is at work, where the server leaves that to its clients."""
        if self._address.writers is None:
            yield
            return
        try:
            file = self._address.writers.open("ab")
        except OSError as error:
            reason = f"cannot open {self._address.writers} ({error.strerror})"
            raise StoreError(f"{self.place}: {reason}") from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _asking(self, tx: neo4j.ManagedTransaction) -> Ask:
        def ask(name: str, /, **parameters: object) -> list[Row]:
            statement = queries.text(name, self._address.engine)
            return tx.run(statement, parameters).data()

        return ask

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except (exceptions.DriverError, exceptions.Neo4jError) as error:
            raise StoreError(f"{self.place}: {self._reason(error)}") from None

    def _reason(self, error: exceptions.DriverError | exceptions.Neo4jError) -> str:
        code = getattr(error, "code", None) or ""
        if isinstance(error, exceptions.ServiceUnavailable | exceptions.SessionExpired):
            return "not reachable; is the server running? (REGRAPH_STORE, `regraph store status`)"
        if isinstance(error, exceptions.AuthError) or code.endswith("AuthenticationRateLimit"):
            return (
                f"login of {self._address.user!r} refused;"
                " see REGRAPH_STORE_USER and REGRAPH_STORE_PASSWORD"
            )
        if code == "Neo.ClientError.Database.DatabaseNotFound":
            return f"has no database {self._address.database!r}; see REGRAPH_STORE_DATABASE"
        text = getattr(error, "message", None) or str(error) or type(error).__name__
        return f"{code or type(error).__name__}: {text.splitlines()[0][:200]}"


def _unusable(uri: str) -> BadInput:
    return BadInput(
        f"store {_host(uri)}: not a Bolt URI; say embedded, neo4j://HOST:7687"
        " or bolt://HOST:7687 (REGRAPH_STORE)"
    )


def _host(uri: str) -> str:
    """The URI without user, password and options."""
    parts = urlsplit(uri)
    return parts.netloc.rpartition("@")[2] or parts.path
