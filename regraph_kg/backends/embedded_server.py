"""The embedded store's own process: ArcadeDB with its Bolt plugin, in a JVM beside this Python.

    python -m regraph_kg.backends.embedded_server FOLDER IDLE_SECONDS

returns once its child serves, with one line on stderr and exit code 3 when it cannot. The child
outlives the caller, listens on localhost only, and ends on SIGTERM or when no client was connected
for IDLE_SECONDS. It may be killed at any time: commits are in the write-ahead log.
"""

import json
import os
import secrets
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from regraph_kg import locks
from regraph_kg.backends import queries
from regraph_kg.backends.embedded import DATABASE, READER, USER, ServerState

HEAP = "1g"
MESSAGE_BYTES = 256 * 2**20  # largest Bolt message taken: a batch of trajectories with their code
LIBRARY = "regraph"  # library of the functions that cypher/embedded/start.cypher defines
LOCK_SECONDS = 1.0
GRACE_SECONDS = 1.0  # for a client that has just read the state file to connect


def main() -> int:
    """Fork; the parent reports, the child serves."""
    folder, idle_seconds = Path(sys.argv[1]), float(sys.argv[2])
    os.umask(0o077)
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        with os.fdopen(reader) as report:
            reason = report.read()
        sys.stderr.write(reason)
        return 3 if reason else 0
    os.close(reader)
    os.setsid()
    with os.fdopen(writer, "w") as report:
        try:
            serve(folder, idle_seconds, report)
        except Exception as error:  # noqa: BLE001 - a line for the caller, the rest for the log
            traceback.print_exc()
            if not report.closed:
                report.write(f"{type(error).__name__}: {error}".splitlines()[0])
    os._exit(0)  # not by return: a client's open connection would keep the JVM alive


def serve(folder: Path, idle_seconds: float, report: IO[str]) -> None:
    """Serve `folder` until told to end, or unused; `report` is closed, empty, once it serves."""
    # never closed: held for as long as this process lives
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    # a client that looks whether it is held holds it for an instant
    if not locks.take(lock, seconds=LOCK_SECONDS):
        return
    _detach(folder)
    ending = threading.Event()
    (folder / "state.json").unlink(missing_ok=True)
    password, reader = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    server, port, connections = start(folder, password)
    _add_reader(server, reader)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: ending.set())
    state = ServerState(str(folder), os.getpid(), port, password, reader)
    state.write()
    report.close()
    while wait_until_unused(ending, idle_seconds, connections) and not _removed(folder, lock):
        (folder / "state.json").unlink()
        ending.wait(GRACE_SECONDS)
        if not connections():
            break
        state.write()
    if _removed(folder, lock):
        return
    (folder / "state.json").unlink(missing_ok=True)
    server.stop()


def start(folder: Path, password: str) -> tuple[Any, int, Callable[[], int]]:
    """Start ArcadeDB on free ports of localhost: the server, its Bolt port, its connections."""
    # HTTP cannot be left out; it is bound to localhost too and wants the same password (no MCP)
    from arcadedb_embedded.jvm import start_jvm  # type: ignore[import-untyped]  # noqa: PLC0415
    from arcadedb_embedded.server import ArcadeDBServer  # type: ignore[import-untyped]  # noqa: PLC0415

    (folder / "config" / "server-users.jsonl").unlink(missing_ok=True)  # a password per start
    start_jvm(heap_size=HEAP, interrupt=False)
    server = ArcadeDBServer(
        str(folder),
        password,
        {
            "mode": "production",  # the write-ahead log reaches the disk before a commit returns
            "host": "127.0.0.1",
            "http_port": 0,
            "bolt_port": 0,
            "bolt_maxMessageSize": MESSAGE_BYTES,
            "bolt_packstream_maxValueLength": MESSAGE_BYTES,
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server_defaultDatabases": f"{DATABASE}[{USER}]",
            "server_saltIterations": 1000,  # stretching is for human passwords: ours has 256 bits
            "serverMetrics": False,
        },
    )
    server.start()
    # the types and functions that Bolt clients cannot make, as this version has them
    database = server.get_database(DATABASE)
    schema = database._java_db.getSchema()
    if schema.hasFunctionLibrary(LIBRARY):
        schema.unregisterFunctionLibrary(LIBRARY)
    for statement in queries.statements("start", "embedded"):
        database.command("sql", statement)
    bolt = next(
        plugin
        for plugin in server._java_server.getPlugins()
        if plugin.getClass().getSimpleName() == "BoltProtocolPlugin"
    )
    field = bolt.getClass().getDeclaredField("listener")
    field.setAccessible(True)
    listener = field.get(bolt)
    active = listener.getClass().getDeclaredField("activeConnections")
    active.setAccessible(True)
    return server, int(listener.getPort()), lambda: int(active.get(listener).size())


def _add_reader(server: Any, password: str) -> None:
    """A user whom the server lets read, and nothing else."""
    # A transaction's access mode binds no client of ArcadeDB.
    from jpype import JClass  # type: ignore[import-untyped]  # noqa: PLC0415

    java_json = JClass("com.arcadedb.serializer.json.JSONObject")
    reading = {"*": {"access": ["readRecord"]}}
    group = {"access": [], "types": reading, "resultSetLimit": -1, "readTimeout": -1}
    security = server._java_server.getSecurity()
    security.saveGroup("*", READER, java_json(json.dumps(group)))
    user = {
        "name": READER,
        "password": str(security.encodePassword(password)),
        "databases": {DATABASE: [READER]},
    }
    security.createUser(java_json(json.dumps(user)))


def wait_until_unused(
    ending: threading.Event, idle_seconds: float, connections: Callable[[], int]
) -> bool:
    """Wait for the end: True after `idle_seconds` without a connection, False on `ending`."""
    last_used = time.monotonic()
    while not ending.wait(min(1.0, idle_seconds / 4)):
        now = time.monotonic()
        if connections():
            last_used = now
        elif now - last_used >= idle_seconds:
            return True
    return False


def _detach(folder: Path) -> None:
    """Leave the caller's terminal and folder; both outputs go to the log from now on."""
    os.chdir(folder)  # ArcadeDB writes ./log
    log = os.open("server.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, copy in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, copy)


def _removed(folder: Path, lock: int) -> bool:
    """Whether the folder was removed since: what is there now may be another server's."""
    try:
        return not os.path.samestat(os.fstat(lock), (folder / "lock").stat())
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main())
