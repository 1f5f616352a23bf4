"""What a client holds and takes while it changes a technique that most examples lead to.

`python -m benchmarks.hot [--examples N] [--stores NAMES] [--folder FOLDER]`; prints one JSON
object. Each store is filled with trajectories that come to one technique twice; then a process of
its own merges that technique into another one, takes it back, and rebuilds all its statistics.
FOLDER keeps the filled embedded store for the next call. Not measured: the server's memory.
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from benchmarks.servers import neo4j_server
from regraph_kg.models.curation import Note
from regraph_kg.models.graph import GraphFinding, MergePlan, Relabelled
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_curator, open_store, stop_embedded

EXAMPLES = 68_000
"""Examples that lead to the hot technique."""
HOT, HEIR, OTHERS = "cuda/hot", "cuda/heir", tuple(f"cuda/other-{number}" for number in range(20))
DEVICES = ("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S")
PROBLEMS, FAILURES, BATCH = 100, 0.15, 250
CODE = "x[i] += y[i];\n" * 20
NOTE = Note("benchmark")


def trajectories(count: int) -> Iterator[MergePlan]:
    """To the hot technique, to another one, and to the hot one again."""
    rng = random.Random(1)
    for number in range(count):
        path = (HOT, rng.choice(OTHERS), HOT)
        failed = [_failed(number, rng)] if rng.random() < FAILURES else []
        told = {
            "schema": 1,
            "target": "cuda",
            "problem": f"problem-{rng.randrange(PROBLEMS)}",
            "serial": f"// {number}\n{CODE}",
            "steps": [_step(number, at, name, rng) for at, name in enumerate(path)],
            "failures": failed,
        }
        labels = tuple(Relabelled(name, name, "given") for name in path)
        yield MergePlan(Trajectory.model_validate(told), labels)


def _step(number: int, at: int, name: str, rng: random.Random) -> dict[str, object]:
    return {
        "label": name,
        "reasoning": f"why {number} {at}",
        "code": f"// {number} {at}\n{CODE}",
        "measurements": [
            {
                "device": rng.choice(DEVICES),
                "toolchain": "nvcc 13.0.88 -O3",
                "evaluator": "1",
                "run": f"{number}",
                "outcome": "passed",
                "seconds": rng.uniform(0.3, 1.1),
                "before_seconds": 1.0,
                "serial_seconds": 1.5**at,
            }
        ],
    }


def _failed(number: int, rng: random.Random) -> dict[str, object]:
    return {
        "after_step": rng.randrange(4),
        "label": HOT,
        "technique": HOT,
        "outcome": "crashed",
        "diagnosis": f"signal 11 at {number}",
        "device": rng.choice(DEVICES),
    }


def fill(settings: Settings, examples: int) -> None:
    """Nothing, where that has been done."""
    with closing(open_store(settings)) as store:
        if store.stats().trajectories:
            return
        store.add_techniques(
            [Technique(id=name, name=name, target="cuda") for name in (HOT, HEIR, *OTHERS)]
        )
        plans = list(trajectories(examples // 2))
        for first in range(0, len(plans), BATCH):
            store.merge(plans[first : first + BATCH])


def merge(settings: Settings) -> None:
    """The hot technique becomes another one."""
    with closing(open_curator(settings)) as curator:
        curator.merge(HEIR, [HOT], NOTE)


def undo(settings: Settings) -> None:
    """It is itself again."""
    with closing(open_curator(settings)) as curator:
        curator.undo(None, NOTE)


def repair(settings: Settings) -> None:
    """Rebuild every pair of the hot technique."""
    with closing(open_store(settings)) as store:
        pairs = [("cuda/start", HOT), *((one, HOT) for one in OTHERS)]
        pairs += [(HOT, one) for one in OTHERS]
        store.repair([GraphFinding("statistics", *pair, "", "", "") for pair in pairs])


def taken(work: Callable[[Settings], None], settings: Settings) -> dict[str, float]:
    """Seconds, and megabytes by which a process of its own grew."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, settings))


def _measured(work: Callable[[Settings], None], settings: Settings) -> dict[str, float]:
    with closing(open_store(settings)) as store:
        store.stats()
    before, start, cpu = _peak_mb(), time.perf_counter(), time.process_time()
    work(settings)
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "client_cpu_seconds": round(time.process_time() - cpu, 1),
        "grown_mb": _peak_mb() - before,
        "before_mb": before,
    }


def _peak_mb() -> int:
    """The most that this process has held; getrusage would tell of the one that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


@contextmanager
def kept(folder: Path) -> Iterator[Settings]:
    """An embedded store that stays."""
    settings = Settings(store="embedded", data_dir=folder)
    try:
        yield settings
    finally:
        stop_embedded(settings)


@contextmanager
def fresh(server: Callable[[], AbstractContextManager[object]]) -> Iterator[Settings]:
    """A store that goes."""
    with server() as found:
        yield found.settings  # type: ignore[attr-defined]


def measured(
    settings: Settings, examples: int, works: Sequence[str]
) -> dict[str, dict[str, float]]:
    """What each of the works takes on a filled store."""
    fill(settings, examples)
    found: dict[str, dict[str, float]] = {}
    known = {"merge": merge, "undo": undo, "repair": repair}
    for name in works:
        found[name] = taken(known[name], settings)
        print(f"hot: {name}: {found[name]}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure changes of a hot technique.")
    parser.add_argument("--examples", type=int, default=EXAMPLES)
    parser.add_argument("--stores", default="embedded,neo4j")
    parser.add_argument("--works", default="repair,merge,undo")
    parser.add_argument("--folder", type=Path, help="of an embedded store that is kept")
    options = parser.parse_args()
    rows = {}
    for name in options.stores.split(","):
        with tempfile.TemporaryDirectory() as empty:
            folder = options.folder or Path(empty)
            opened = kept(folder) if name == "embedded" else fresh(neo4j_server)
            with opened as settings:
                rows[name] = measured(settings, options.examples, options.works.split(","))
    print(json.dumps({"examples": options.examples, "stores": rows}))


if __name__ == "__main__":
    main()
