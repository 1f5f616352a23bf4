"""Rounds of SIGKILL: `python -m tests.ingest.kills STORE FOLDER SEED WRITERS SERVERS`.

STORE, "embedded" or "neo4j", gets a server of its own in FOLDER. In each round three processes
ingest overlapping files into an empty graph, until one of them (in WRITERS rounds) or the server
(in SERVERS rounds) gets SIGKILL at a random moment. Then every file is ingested again, in turn. One
JSON object a round tells what was lost of that which had been reported as done, and whether the
graph is that of an ingest which nobody disturbed.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from regraph_kg.errors import StoreError
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store, start_embedded
from tests.contract.overlapping import VOCABULARY, holdings, ingest_in_turn, write_files
from tests.ingest.trajectories import by_name
from tests.neo4j_server import prepared, running
from tests.recount import wrong_counts
from tests.stores import find_embedded, stop_embedded, wipe

FILES, TRAJECTORIES, BATCH = 3, 20, 2
LONGEST_MOMENT = 0.1  # seconds: some kills hit between two batches, others in the middle of one
RETRY_SECONDS = 0.2  # who has lost the server gives up soon
GONE = 3  # exit status of a writer that has lost the server


@dataclass(frozen=True)
class Round:
    """What a kill did."""

    victim: Literal["writer", "server"]
    reported: int  # trajectories that writers had reported as done
    held: int  # trajectories that the graph had before the second ingest
    of: int  # trajectories of the whole
    lost: int  # of those reported, not held
    equal: bool  # whether the graph was that of an undisturbed ingest in the end
    findings: int  # what `check` found then


class Embedded:
    """The embedded store: it is killed, started again on the same data, and ended in order."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(store="embedded", data_dir=folder / "embedded")
        self.start()

    def kill(self) -> None:
        state = find_embedded(self.settings)
        assert state is not None
        os.kill(state.pid, signal.SIGKILL)
        while find_embedded(self.settings) is not None:
            time.sleep(0.01)

    def start(self) -> None:
        start_embedded(self.settings)

    def stop(self) -> None:
        stop_embedded(self.settings)


class Neo4j:
    """The same with Neo4j."""

    def __init__(self, folder: Path) -> None:
        home = folder / "neo4j"
        home.mkdir()
        self.settings = prepared(home)
        self.start()

    def kill(self) -> None:
        self._process.kill()
        self.stop()

    def start(self) -> None:
        self._running = running(self.settings)
        self._process = self._running.__enter__()

    def stop(self) -> None:
        self._running.__exit__(None, None, None)


@contextmanager
def serving(store: str, folder: Path) -> Iterator[Embedded | Neo4j]:
    """A server of our own."""
    server = Embedded(folder) if store == "embedded" else Neo4j(folder)
    try:
        yield server
    finally:
        server.stop()


def write(settings: Settings, number: int, path: Path, reports: int) -> None:
    """Ingest a file in small batches; a byte in `reports` for each that is done."""
    try:
        store = open_store(settings, retry_seconds=RETRY_SECONDS)
        cascade = by_name(pipeline.open_vocabulary(store, VOCABULARY))
        with path.open("rb") as file:
            for _ in (
                one.merged(store)
                for one in pipeline.portions(read(split(file)), cascade, batch_lines=BATCH)
            ):
                os.write(reports, bytes([number]))
    except StoreError:
        os._exit(GONE)


def start_writers(settings: Settings, files: Sequence[Path]) -> tuple[list[int], int]:
    """A process for each file, and the pipe of their reports."""
    reports, reporting = os.pipe()
    pids = []
    for number, path in enumerate(files):
        pid = os.fork()
        if pid == 0:
            try:
                write(settings, number, path, reporting)
            except BaseException as error:  # noqa: BLE001 - a child must not return
                sys.stderr.write(f"writer {number}: {error!r}\n")
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    os.close(reporting)
    return pids, reports


def kill_and_repeat(
    server: Embedded | Neo4j,
    victim: Literal["writer", "server"],
    files: Sequence[Path],
    whole: dict[str, Any],
    chance: random.Random,
) -> Round:
    """One round."""
    wipe(server.settings)
    lines = [path.read_text(encoding="utf-8").splitlines() for path in files]
    batches = sum(-(-len(some) // BATCH) for some in lines)
    pids, reports = start_writers(server.settings, files)
    done = b"".join(os.read(reports, 1) for _ in range(chance.randrange(batches)))
    time.sleep(chance.uniform(0, LONGEST_MOMENT))
    if victim == "server":
        server.kill()
    else:
        os.kill(chance.choice(pids), signal.SIGKILL)
    while more := os.read(reports, 1024):
        done += more
    os.close(reports)
    for pid in pids:
        status = os.waitpid(pid, 0)[1]
        assert status in (0, GONE << 8, signal.SIGKILL), f"a writer ended with {status:#x}"
    if victim == "server":
        server.start()
    reported = {
        json.loads(line)["ref"]
        for number, count in Counter(done).items()
        for line in lines[number][: count * BATCH]
    }
    with closing(open_store(server.settings)) as store:
        held = {trajectory.ref for trajectory in store.export()}
        ingest_in_turn(store, files)
        equal, findings = holdings(store) == whole, len(wrong_counts(store))
    lost, of = len(reported - held), len(whole["trajectories"])
    return Round(victim, len(reported), len(held), of, lost, equal, findings)


def rounds(store: str, folder: Path, *, seed: int, writers: int, servers: int) -> Iterator[Round]:
    """Kill writers and servers in random order."""
    chance = random.Random(seed)
    victims: list[Literal["writer", "server"]] = ["writer"] * writers + ["server"] * servers
    chance.shuffle(victims)
    files = write_files(folder, FILES, trajectories=TRAJECTORIES, seed=seed)
    with serving(store, folder) as server:
        with closing(open_store(server.settings)) as opened:
            ingest_in_turn(opened, files)
            whole = holdings(opened)
        for victim in victims:
            yield kill_and_repeat(server, victim, files, whole, chance)


def main() -> None:
    store, folder = sys.argv[1], Path(sys.argv[2])
    seed, writers, servers = map(int, sys.argv[3:])
    for one in rounds(store, folder, seed=seed, writers=writers, servers=servers):
        print(json.dumps(asdict(one)), flush=True)  # noqa: T201 - this is its output


if __name__ == "__main__":
    main()
