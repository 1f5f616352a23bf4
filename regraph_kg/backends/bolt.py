"""Bolt: managed transactions against Neo4j or the embedded store; nothing else opens a driver.

The driver retries deadlocks, conflicts and lost connections; any other failure becomes a
`StoreError` of one line without the password. Not covered: in a cluster, reads that follow another
process's write at once may miss it.
"""

import re
import shutil
import signal
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import neo4j
from neo4j import exceptions

from regraph_kg import locks
from regraph_kg.backends import queries
from regraph_kg.backends.address import Address, Engine, require_bolt, shown, unusable
from regraph_kg.errors import BadInput, StoreError, file_errors

GraphRow = dict[str, Any]
T = TypeVar("T")

CONNECT_SECONDS = 10.0
LEAST_ROOM = 64 * 2**20
"""Bytes; an embedded store that fails with less free space has failed for want of space."""
FIRST_RETRY_SECONDS = 0.05
FETCH_ROWS = 500  # rows per fetch: at 10 kB of code a row this is 5 MB in flight
CLASH_TRIES = 8
SEARCH_SINCE = 2026
UNKNOWN = "Neo.DatabaseError.General.UnknownError"
_LONGEST = 300  # characters of the store's message
GONE_MEANWHILE = "Neo.ClientError.Statement.EntityNotFound"
"""Another client deleted the entity between its lookup and its lock."""
GONE = "Neo.ClientError.Transaction.TransactionNotFound"
"""The server ended a transaction by itself: where it cannot write, for want of room."""
DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"


Query = Callable[..., list[GraphRow]]
"""Runs the statement of cypher/ that its first argument names inside a transaction: all rows."""


class Bolt:
    """A connection to one Bolt server."""

    def __init__(self, address: Address, *, retry_seconds: float = 15.0) -> None:
        """Connect and log in; `retry_seconds` bounds the retries of one transaction."""
        self._address = address
        # Any server of a cluster answers reads; bookmarks make it wait for our own writes.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        require_bolt(address.uri)
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
            raise unusable(address.uri) from None
        try:
            with self._driver_call():
                agent = self._driver.get_server_info().agent
        except StoreError:
            self._driver.close()
            raise
        # From 2026 on Neo4j has the clause SEARCH, and calls the procedure before it deprecated.
        year = re.match(r"Neo4j/(20\d\d)\.", agent)
        newer = address.engine == "neo4j" and year is not None and int(year[1]) >= SEARCH_SINCE
        self._engine: Engine = "neo4j_2026" if newer else address.engine

    def read(self, work: Callable[[Query], T]) -> T:
        """Run `work` in a read transaction; it may run more than once."""
        with self._driver_call(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda tx: work(self._query(tx)))

    def rows(self, name: str, /, **parameters: object) -> list[GraphRow]:
        """The rows of one reading statement of cypher/."""
        return self.read(lambda ask: ask(name, **parameters))

    def write(self, work: Callable[[Query], T]) -> T:
        """Run `work` in a write transaction; it may run more than once, and counts once.

        The driver tries again what it takes for passing. Besides, a violated constraint means that
        another writer was first (every statement is a MERGE on the constrained key), a lost entity
        that another one deleted it, and many writers on an empty graph may deadlock for longer
        than the driver waits. A connection lost during the commit may have committed: `work`
        must find its own earlier effect.
        """
        clash = 0
        with self._writers_turn(), self._driver_call():
            while True:
                try:
                    with self._session(neo4j.WRITE_ACCESS) as session:
                        return session.execute_write(lambda tx: work(self._query(tx)))
                except (exceptions.IncompleteCommit, exceptions.Neo4jError) as error:
                    # another writer was in the way: the next try sees its changes
                    first = (exceptions.ConstraintError, exceptions.IncompleteCommit)
                    met = getattr(error, "code", None) in (GONE_MEANWHILE, DEADLOCK)
                    if clash == CLASH_TRIES or not (met or isinstance(error, first)):
                        raise
                time.sleep(FIRST_RETRY_SECONDS * 2**clash)
                clash += 1

    def define_all(self, name: str) -> None:
        """Run every statement of a file that changes the schema, each by itself."""
        for number in range(len(queries.statements(name, self._engine))):
            self.define(name, number)

    def ask(
        self, statement: str, parameters: Mapping[str, Any], *, limit: int, seconds: float
    ) -> tuple[list[str], list[list[Any]]]:
        """A person's own statement, in a transaction that reads and is rolled back.

        Returns columns and first rows. Raises `BadInput` for a statement that the store refuses,
        and `TimeoutError` where the store ends it after `seconds`.
        """
        log_start = len(self._log())
        with self._driver_call(), self._session(neo4j.READ_ACCESS) as session:
            try:
                with session.begin_transaction(timeout=seconds) as tx:
                    answer = tx.run(statement, dict(parameters))
                    # Not all rows: a person's query may match the whole graph.
                    rows = [record.values() for record in islice(answer, limit)]
                    tx.rollback()
                    return list(answer.keys()), rows
            except (OverflowError, UnicodeError, RecursionError):
                raise BadInput(
                    "query: the store takes whole numbers of 64 bits and Unicode text, not nested"
                    " too deeply; change --param"
                ) from None
            except exceptions.Neo4jError as error:
                code = error.code or ""
                if "TransactionTimedOut" in code:
                    raise TimeoutError from None
                # The store's own refusal, where the words alone did not show the write.
                if code in _READ_ONLY:
                    raise BadInput("query: refused, as only reading is allowed") from None
                embedded = self._address.folder is not None and code == UNKNOWN
                if not (embedded or code.startswith(_OF_STATEMENT)):
                    raise
                raise BadInput(f"query: {self._statement_error(error, log_start)}") from None

    def _log(self, start: int = 0) -> bytes:
        """The embedded store's log, from a byte on."""
        folder = self._address.folder
        with suppress(OSError):
            return (folder / "server.log").read_bytes()[start:] if folder else b""
        return b""

    def _statement_error(self, error: exceptions.Neo4jError, log_start: int) -> str:
        """The store's message about a statement; the embedded store writes it to its log alone."""
        concealed = _CONCEALED.findall(self._log(log_start).decode("utf-8", "replace"))
        message = concealed[-1] if concealed else error.message or error.code or ""
        return " ".join(message.split())[:_LONGEST]

    def define(self, name: str, number: int = 0, /, **parameters: object) -> None:
        """Run statement `number` (from 0) of a file that changes the schema, by itself.

        Every constraint and index, of vectors too, is made and dropped here. A change that another
        client makes at the same time is retried, and is then done already.
        """
        statement = queries.statements(name, self._engine)[number]
        with (
            self._writers_turn(),
            self._driver_call(),
            self._session(neo4j.WRITE_ACCESS) as session,
        ):
            for clash in range(CLASH_TRIES + 1):
                try:
                    # Not in a managed transaction: Neo4j forbids schema and data in one.
                    session.run(statement, parameters).consume()
                except exceptions.Neo4jError as error:
                    # another client made or dropped it after the check of IF [NOT] EXISTS
                    overtaken = error.is_retryable() or ".Schema." in (error.code or "")
                    if not overtaken or clash == CLASH_TRIES:
                        raise
                    time.sleep(FIRST_RETRY_SECONDS * 2**clash)
                else:
                    return

    def close(self) -> None:
        """Close every connection; idempotent."""
        self._driver.close()

    @property
    def place(self) -> str:
        """The store's address, for messages."""
        return f"graph store at {shown(self._address.uri)}"

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(
            database=self._address.database,
            default_access_mode=access,
            fetch_size=FETCH_ROWS,
            bookmark_manager=self._bookmarks,
        )

    @contextmanager
    def _writers_turn(self) -> Iterator[None]:
        """Wait until no other writer works, where the server leaves that to its clients."""
        writers = self._address.writers
        if writers is None:
            yield
            return
        remedy = "its folder must be there and writable (REGRAPH_DATA_DIR)"
        with file_errors(f"{self.place}: {writers}", remedy, StoreError):
            file = writers.open("ab")
        with file:
            locks.wait(file)
            yield

    def _query(self, tx: neo4j.ManagedTransaction) -> Query:
        def ask(name: str, /, **parameters: object) -> list[GraphRow]:
            statement = queries.text(name, self._engine)
            shown = {
                key: _HiddenRows(value) if isinstance(value, list) else value
                for key, value in parameters.items()
            }
            answer = [dict(record) for record in tx.run(statement, shown)]  # data() is slow
            for value in shown.values():  # the driver keeps what was sent until the commit
                if isinstance(value, _HiddenRows):
                    value.clear()
            return answer

        return ask

    @contextmanager
    def _driver_call(self) -> Iterator[None]:
        """Turn the driver's errors into one line; a Ctrl-C waits for the end."""
        with _undisturbed():
            try:
                yield
            except (exceptions.DriverError, exceptions.Neo4jError) as error:
                raise StoreError(f"{self.place}: {self._reason(error)}") from None

    def _reason(self, error: exceptions.DriverError | exceptions.Neo4jError) -> str:
        code = getattr(error, "code", None) or ""
        if isinstance(error, exceptions.ServiceUnavailable | exceptions.SessionExpired):
            return _unreachable(error)
        if isinstance(error, exceptions.AuthError) or code.endswith("AuthenticationRateLimit"):
            return (
                f"login of {self._address.user!r} refused;"
                " see REGRAPH_STORE_USER and REGRAPH_STORE_PASSWORD"
            )
        if code == "Neo.ClientError.Database.DatabaseNotFound":
            return f"has no database {self._address.database!r}; see REGRAPH_STORE_DATABASE"
        if code in _MESSAGES:
            return _MESSAGES[code]
        # The embedded store's errors do not name their cause.
        folder = self._address.folder
        if folder is not None and (code.startswith("Neo.DatabaseError") or code == GONE):
            return _embedded_failure(folder)
        text = getattr(error, "message", None) or str(error) or type(error).__name__
        return f"{code or type(error).__name__}: {text.splitlines()[0][:200]}"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put a Ctrl-C off until the end of a driver's call: a half-read answer is of no use.

    A second one acts at once. Any other error after a Ctrl-C is its consequence, and is dropped.
    Not covered: other signals, and calls from other threads, which Ctrl-C never reaches.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    pressed = False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            signal.default_int_handler(number, frame)
        pressed = True

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    except BaseException:
        if not pressed:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


_READ_ONLY = ("Neo.ClientError.Security.Forbidden", "Neo.ClientError.Statement.AccessMode")
_OF_STATEMENT = ("Neo.ClientError.Statement.", "Neo.ClientError.Procedure.")
_CONCEALED = re.compile(
    r"(?:BOLT: |BOLT query error\n[\w.$]+: )(.+?)(?: \(concealed from the client.*)?$", re.MULTILINE
)
_MESSAGES = {
    "Neo.TransientError.General.DatabaseUnavailable": (
        "the database cannot write; is the server's disk full? Its log says why"
    ),
    DEADLOCK: "too many writers stand in each other's way; start fewer at once",
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": (
        "the server has too little memory for one transaction of that size; raise its"
        " server.memory.heap.max_size (or dbms.memory.transaction.total.max) and try again"
    ),
}
"""Replacements of the server's messages, by its code."""


class _HiddenRows(list[object]):
    """Parameter rows with a short repr.

    The driver makes the repr of all parameters for a debug line, logged or not; that took ten
    times longer than sending them (docs/dev/LOG.md).
    """

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"


def _embedded_failure(folder: Path) -> str:
    """The likely cause of an embedded store's failure, which its error does not name."""
    log = f"{folder / 'server.log'} says more"
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < LEAST_ROOM:
            return (
                f"no room on the disk of {folder} ({free // 2**20} MB are left); make room, or"
                f" set REGRAPH_DATA_DIR, and run the same command again; {log}"
            )
    return (
        f"failed while it read or wrote {folder}; {log}; to restore a damaged store, move that"
        " folder away, and ingest an export (regraph graph export) or your files again"
    )


def _unreachable(error: BaseException) -> str:
    """The likely cause of a server's silence."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"its certificate is not trusted ({cause.verify_message.rstrip('.')}); say the"
                " name that it is for (REGRAPH_STORE), and who signed it"
                " (a PEM file, SSL_CERT_FILE)"
            )
        if isinstance(cause, ssl.SSLError):
            return (
                f"no TLS there ({cause.reason or 'handshake failed'});"
                " without it, the URI has no +s (REGRAPH_STORE)"
            )
    if any("handshake" in str(cause) for cause in causes):
        return "hangs up; if it wants TLS, say neo4j+s:// or bolt+s:// (REGRAPH_STORE)"
    return "not reachable; is the server running? (REGRAPH_STORE)"


def _causes(error: BaseException) -> Iterator[BaseException]:
    yield error
    below = list(getattr(error, "exceptions", ()))  # of a group
    below += [error.__cause__ or error.__context__]
    for cause in filter(None, below):
        yield from _causes(cause)
