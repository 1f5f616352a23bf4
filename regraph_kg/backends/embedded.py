"""The embedded store seen from outside: find and start its process.

One process per folder, shared by every command; `embedded_server` is what runs in it. Files:

    FOLDER/lock         held (flock) by the process as long as it lives: who holds it, serves
    FOLDER/state.json   pid, port and passwords while it serves (0600); stale without the lock
    FOLDER/writers      held (flock) by a client while it writes
    FOLDER/server.log   the process's output
    FOLDER/databases/   the data
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from regraph_kg import atomic, locks, private
from regraph_kg.backends.address import Address
from regraph_kg.errors import StoreError, file_errors

DATABASE = "regraph"
USER = "root"
READER = "reader"
START_SECONDS = 60.0
POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class ServerState:
    """A running store's state, as it publishes it for clients."""

    folder: str
    pid: int
    port: int
    password: str = field(repr=False)
    reader_password: str = field(default="", repr=False)

    @property
    def reading(self) -> Address:
        """The address of a user who can change nothing."""
        return replace(self.address, user=READER, password=self.reader_password, writers=None)

    @property
    def address(self) -> Address:
        """The store's address. Writers take turns: at once, they would undo each other's work."""
        uri = f"bolt://127.0.0.1:{self.port}"
        folder = Path(self.folder)
        writers = folder / "writers"
        return Address(uri, USER, self.password, DATABASE, "embedded", writers, folder=folder)

    def write(self) -> None:
        """Publish for clients: whole or not at all, readable by the owner only."""
        atomic.write(Path(self.folder) / "state.json", json.dumps(asdict(self)))


def find(folder: Path) -> ServerState | None:
    """The store that serves `folder` now, or None; a dead store's state file is ignored."""
    if not running(folder):
        return None
    try:
        return ServerState(**json.loads((folder / "state.json").read_text()))
    except FileNotFoundError:
        return None  # it is starting, or about to end
    except (ValueError, TypeError):
        raise StoreError(
            f"embedded store in {folder}: state.json is damaged; stop the store's process (its id:"
            f" fuser {folder / 'lock'}), delete the file, and run the same command again"
        ) from None


def running(folder: Path) -> bool:
    """Whether a process holds `folder`, serving already or not."""
    return locks.is_held(folder / "lock")


def ensure(folder: Path, idle_seconds: float) -> ServerState:
    """The store that serves `folder`, started if need be; safe when several processes ask at once.

    `idle_seconds` is how long a store started here waits for clients before it ends. Raises
    `StoreError` when it does not come up.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        state = find(folder)
        if state is not None:
            return state
        if running(folder):  # another process starts or ends it: wait
            time.sleep(POLL_SECONDS)
        else:
            _start(folder, idle_seconds)
    raise StoreError(
        f"embedded store in {folder}: not ready after {START_SECONDS:.0f} s;"
        f" see {folder / 'server.log'}"
    )


def _start(folder: Path, idle_seconds: float) -> None:
    """Run the launcher, which returns once its child serves or has given up."""
    with file_errors(f"embedded store: {folder}", "set REGRAPH_DATA_DIR", StoreError):
        private.make_folder(folder)
    command = [sys.executable, "-P", "-m", "regraph_kg.backends.embedded_server"]
    launched = subprocess.run(
        [*command, str(folder.resolve()), str(idle_seconds)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    if launched.returncode != 0:
        reason = (launched.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise StoreError(
            f"embedded store in {folder}: did not start ({reason}); see {folder / 'server.log'};"
            " to restore a damaged store, move that folder away, and ingest an export or your files"
        )
