"""Backup and restore of 100k examples: time, and the memory of the process that does it.

`python -m benchmarks.backup [EXAMPLES...]` prints one JSON object. A graph is made of trajectories
of five steps with about 2 kB of code each, merged into a fresh store; then `regraph graph export
--format backup` and, into another fresh store, `regraph graph restore` run as processes of their
own, whose peak memory is taken. Both stores' backups are compared byte by byte. Not measured: the
server's memory.
"""

import filecmp
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path

from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Measurement, Step, Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store, stop_embedded
from tests import install_neo4j
from tests.neo4j_server import started
from tests.stores import environment

SIZES = (10_000, 100_000)
STEPS, TECHNIQUES, PROBLEMS, BATCH = 5, 36, 8, 200
CODE = "    x[i] = a * x[i] + y[i]; // what a step of about two kilobytes says\n" * 28
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Runs a command and prints its peak kilobytes: a child of ours would begin with our own."""
REGRAPH = str(Path(sys.executable).parent / "regraph")


def plans(count: int) -> Iterator[MergePlan]:
    """Trajectories of a random walk."""
    rng = random.Random(1)
    for number in range(count):
        names = [f"openmp/t-{rng.randrange(TECHNIQUES)}" for _ in range(STEPS)]
        steps = tuple(
            Step(
                label=name,
                technique=name,
                reasoning=f"why {name} helps {number}",
                code=f"// {number} {at}\n{CODE}",
                measurements=(measured(rng),),
            )
            for at, name in enumerate(names)
        )
        trajectory = Trajectory(
            schema=1,
            target="openmp",
            problem=f"p{number % PROBLEMS}",
            serial=f"// {number}\n{CODE}",
            steps=steps,
        )
        new = tuple(Technique(id=name, name=name[7:], target="openmp") for name in set(names))
        labels = tuple(Relabelled(name, name, "given") for name in names)
        yield MergePlan(trajectory, labels, new=new)


def measured(rng: random.Random) -> Measurement:
    seconds = rng.uniform(0.1, 2)
    return Measurement(
        device="a CPU x2 threads",
        toolchain="g++",
        evaluator="1",
        run="r",
        outcome="passed",
        seconds=seconds,
        before_seconds=1,
        serial_seconds=2,
    )


@contextmanager
def embedded() -> Iterator[Settings]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store="embedded", data_dir=Path(folder))
        try:
            yield settings
        finally:
            stop_embedded(settings)


@contextmanager
def server() -> Iterator[Settings]:
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as settings:
        yield settings


def run(settings: Settings, *words: str) -> tuple[float, float]:
    """Seconds and peak megabytes of a command."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PEAK, REGRAPH, "graph", *words],
        env=environment(settings),
        stdout=subprocess.PIPE,
        check=True,
    )
    return round(time.perf_counter() - start, 1), round(int(done.stdout) / 1024)


def measure(store: str, size: int) -> dict[str, object]:
    """A graph of `size` examples there and back."""
    opened = embedded if store.startswith("embedded") else server
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        first, second = folder / "first.jsonl", folder / "second.jsonl"
        with opened() as settings:
            with closing(open_store(settings)) as graph:
                rest = plans(size // STEPS)
                while some := list(islice(rest, BATCH)):
                    graph.merge(some)
            saved = run(settings, "backup", str(first))
        with opened() as settings:
            open_store(settings).close()
            restored = run(settings, "restore", str(first))
            run(settings, "backup", str(second))
        assert filecmp.cmp(first, second, shallow=False)
        return {
            "store": store,
            "examples": size,
            "file_mb": round(first.stat().st_size / 1e6, 1),
            "backup_s": saved[0],
            "backup_peak_mb": saved[1],
            "restore_s": restored[0],
            "restore_peak_mb": restored[1],
        }


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    stores = ["embedded (ArcadeDB)"]
    if install_neo4j.missing() is None:
        stores.append(f"Neo4j {install_neo4j.VERSION}")
    rows = []
    for store in reversed(stores):
        for size in sizes:
            rows.append(measure(store, size))
            print(rows[-1], file=sys.stderr, flush=True)
    print(json.dumps({"rows": rows}, indent=2))


if __name__ == "__main__":
    main()
