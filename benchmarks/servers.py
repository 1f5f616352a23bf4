"""Fresh graph stores of a realistic size, and what their processes take."""

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.backends.embedded import stop
from regraph_kg.backends.embedded_server import HEAP
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import start_embedded
from tests.neo4j_server import prepared, running

NEO4J_JVM = ("-Xms1g", "-Xmx1g")
PAGE_CACHE = "server.memory.pagecache.size"
NEO4J_PAGE_CACHE = "1g"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """A running store."""

    settings: Settings
    pid: int
    memory: str
    """What it was told to take."""

    def cpu_seconds(self) -> float:
        """What it has computed so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident_mb(self) -> int:
        """What it holds of the machine's memory."""
        return _status_kb(self.pid, "VmRSS") // 1024

    def disk_mb(self) -> int:
        """What lies in its folder."""
        folder = self.settings.data_dir
        return sum(path.stat().st_blocks for path in folder.rglob("*")) // 2048


@contextmanager
def embedded() -> Iterator[Server]:
    """A fresh embedded store."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store="embedded", data_dir=Path(folder))
        state = start_embedded(settings)
        try:
            yield Server(settings, state.pid, f"heap {HEAP}")
        finally:
            stop(settings.data_dir / "store")


@contextmanager
def neo4j_server() -> Iterator[Server]:
    """A fresh Neo4j."""
    with tempfile.TemporaryDirectory() as folder:
        settings = prepared(Path(folder))
        conf = Path(folder) / "conf" / "neo4j.conf"
        lines = [line for line in conf.read_text().splitlines() if not line.startswith(PAGE_CACHE)]
        conf.write_text("\n".join([*lines, f"{PAGE_CACHE}={NEO4J_PAGE_CACHE}\n"]))
        with running(settings, jvm=NEO4J_JVM) as process:
            memory = f"heap {NEO4J_JVM[1][4:]}, page cache {NEO4J_PAGE_CACHE}"
            yield Server(settings, process.pid, memory)


def peak_mb() -> int:
    """The most that this process has held of the machine's memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _status_kb(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise LookupError(name)
