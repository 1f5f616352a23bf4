"""Ingest rate and neighbourhood latency at 1k and 10k examples, beside the store's bare minimum.

`python benchmarks/run.py graph`; prints one JSON object. Every size has a fresh server. An ingest
is the whole pipeline, JSON lines to committed graph; after each of its batches the properties
that it stored are created once more by a bare UNWIND CREATE. A bare RETURN 1 follows every
neighbourhood query. Not measured: several writers, and answers from a cold page cache.
"""

import io
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j

from regraph_kg import wiring
from regraph_kg.graph import GraphStore
from regraph_kg.ingest.pipeline import BATCH_LINES, ingest, open_vocabulary
from regraph_kg.ingest.read import read, split
from regraph_kg.ingest.relabel.cascade import Cascade
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from tests import install_neo4j
from tests.neo4j_server import started

SIZES = (1_000, 10_000)
"""Examples."""
STEPS = 5
"""Steps of a trajectory: each becomes one example."""
TECHNIQUES, SUCCESSORS, PROBLEMS = 36, 6, 8
CODE_BYTES = 2_000
WARM_UP, QUERIES = 100, 500
DEVICE = "a CPU x2 threads"
CYPHER = Path(__file__).with_name("cypher")

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Bare:
    """A session beside the store's own, for statements that do the least."""

    session: neo4j.Session

    def read(self, name: str, **parameters: object) -> Rows:
        text = (CYPHER / f"{name}.cypher").read_text(encoding="utf-8")
        return self.session.execute_read(lambda tx: tx.run(text, parameters).data())

    def write(self, name: str, **parameters: object) -> Rows:
        text = (CYPHER / f"{name}.cypher").read_text(encoding="utf-8")
        return self.session.execute_write(lambda tx: tx.run(text, parameters).data())


@contextmanager
def embedded() -> Iterator[tuple[Settings, Bare]]:
    """A fresh embedded store."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store="embedded", data_dir=Path(folder))
        address = wiring.start_embedded(settings).address
        try:
            with bare(address.uri, address.user, address.password, address.database) as session:
                yield settings, session
        finally:
            wiring.stop_embedded(settings)


@contextmanager
def neo4j_server() -> Iterator[tuple[Settings, Bare]]:
    """A fresh Neo4j."""
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as settings:
        password = settings.store_password.get_secret_value()
        with bare(settings.store, settings.store_user, password, None) as session:
            yield settings, session


@contextmanager
def bare(uri: str, user: str, password: str, database: str | None) -> Iterator[Bare]:
    with (
        neo4j.GraphDatabase.driver(uri, auth=(user, password)) as driver,
        driver.session(database=database) as session,
    ):
        yield Bare(session)


def vocabulary() -> list[Technique]:
    return [
        Technique(id=f"openmp/technique-{n}", name=f"Technique {n}", target="openmp")
        for n in range(TECHNIQUES)
    ]


def code(rng: random.Random) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) < CODE_BYTES:
        lines.append(f"  for (int i = 0; i < n; ++i) x[i] += {rng.random()}f * y[i];\n")
    return f'extern "C" void work(float* x, const float* y, int n) {{\n{"".join(lines)}}}\n'


def trajectories(examples: int) -> list[Trajectory]:
    """Random walks over a graph of fixed out-degree, each step measured once."""
    rng = random.Random(examples)
    follows = [rng.sample(range(TECHNIQUES), SUCCESSORS) for _ in range(TECHNIQUES)]
    return [walk(rng, follows, n) for n in range(examples // STEPS)]


def walk(rng: random.Random, follows: Sequence[Sequence[int]], number: int) -> Trajectory:
    at, steps = rng.randrange(TECHNIQUES), []
    for step in range(STEPS):
        times = {"before_seconds": 1.0, "serial_seconds": 1.5**step, "seconds": rng.uniform(0.3, 1)}
        measurement = {
            "device": DEVICE,
            "toolchain": "g++",
            "evaluator": "1",
            "run": str(number),
            "outcome": "passed",
            **times,
        }
        steps.append(
            {
                "label": f"Technique {at}",
                "reasoning": "Because the loop is bound by memory. " * 8,
                "detail": "Interchange the loops. " * 4,
                "code": code(rng),
                "measurements": [measurement],
            }
        )
        at = rng.choice(follows[at])
    return Trajectory.model_validate(
        {
            "schema": 1,
            "target": "openmp",
            "problem": f"problem-{number % PROBLEMS}",
            "serial": code(rng),
            "steps": steps,
        }
    )


def ingest_seconds(store: GraphStore, session: Bare, examples: int) -> tuple[float, float]:
    """Seconds of the pipeline, and of the bare creation of the same payload."""
    sent = trajectories(examples)
    lines = "".join(one.model_dump_json(by_alias=True) + "\n" for one in sent).encode()
    known = open_vocabulary(store, vocabulary())
    batches = ingest(read(split(io.BytesIO(lines))), store, Cascade(known))
    own = least = 0.0
    for first in range(0, len(sent), BATCH_LINES):
        batch = sent[first : first + BATCH_LINES]
        start = time.perf_counter()
        counts = next(batches).counts
        own += time.perf_counter() - start
        assert counts.examples == STEPS * len(batch), counts
        found = session.read("payload", ids=[one.id for one in batch])
        rows = [row["properties"] for row in found]
        assert len(rows) == counts.examples
        start = time.perf_counter()
        session.write("bare_create", rows=rows)
        least += time.perf_counter() - start
    return own, least


def latencies(calls: Sequence[Callable[[str], object]]) -> list[list[float]]:
    """Milliseconds of each call, one after the other for the same technique."""
    rng = random.Random(1)
    ids = [start_id("openmp"), *(technique.id for technique in vocabulary())]
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(WARM_UP + QUERIES):
        technique = rng.choice(ids)
        for series, call in zip(taken, calls, strict=True):
            start = time.perf_counter()
            call(technique)
            series.append(1e3 * (time.perf_counter() - start))
    return [series[WARM_UP:] for series in taken]


def percentiles(name: str, series: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(series, n=100)
    return {f"{name}_p50_ms": round(cuts[49], 2), f"{name}_p99_ms": round(cuts[98], 2)}


def row(name: str, settings: Settings, session: Bare, examples: int) -> dict[str, object]:
    store = wiring.open_store(settings)
    try:
        own, least = ingest_seconds(store, session, examples)
        all_, without, one = latencies(
            (
                lambda technique: store.neighbourhood(technique, device=DEVICE),
                lambda technique: store.neighbourhood(
                    technique, device=DEVICE, exclude_problem="problem-0"
                ),
                lambda _: session.read("bare_return"),
            )
        )
    finally:
        store.close()
    return {
        "store": name,
        "examples": examples,
        "ingest_per_second": round(examples / own),
        "bare_create_per_second": round(examples / least),
        **percentiles("neighbourhood", all_),
        **percentiles("neighbourhood_less_one_problem", without),
        **percentiles("bare_return", one),
    }


def main() -> None:
    stores = {"embedded (ArcadeDB)": embedded}
    missing = install_neo4j.missing()
    if missing is None:
        stores[f"Neo4j {install_neo4j.VERSION}"] = neo4j_server
    rows = []
    for name, server in stores.items():
        for size in SIZES:
            print(f"graph: {name}, {size} examples", file=sys.stderr)
            with server() as (settings, session):
                rows.append(row(name, settings, session, size))
    print(json.dumps({"rows": rows, "not_measured": [f"Neo4j: {missing}"] if missing else []}))


if __name__ == "__main__":
    main()
