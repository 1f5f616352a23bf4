"""Ingest and neighbourhood of both stores as they grow, beside counting what NEXT keeps.

`python benchmarks/run.py graph [--sizes N,N] [--stores NAME,NAME]`; prints a JSON object. Files of
trajectories go through the whole pipeline (names, plans, merge) over one connection; making the
lines is not timed. One problem has a tenth of all trajectories, the others share a thousand. What
NEXT saves is asked of the same graph: counting the TRANSITIONs out of a technique, and recounting
the pairs of a batch, which is all of them. Not measured: several writers; a cold page cache.
"""

import argparse
import io
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import neo4j

from benchmarks.servers import Server, embedded, neo4j_server
from benchmarks.walks import DEVICES, HOTTEST, IDS, START, STEPS, Walks, vocabulary
from regraph_kg.backends.store import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.wiring.names import open_cascade
from regraph_kg.wiring.stores import open_store, store_address
from tests import install

SIZES = (100_000, 1_000_000)
"""Examples."""
STORES = {"embedded": embedded, "neo4j": neo4j_server}
ORDINARY = "problem-7"
LINES, WARM_UP, ASKED, RECOUNTS = 2_000, 20, 200, 3
COUNTED = """
MATCH (:Technique {id: $technique})-[r:TRANSITION]->(d:Technique)
WHERE r.problem <> $problem
RETURN d.id AS target, r.device AS device, count(*) AS examples, sum(log(r.effect)) AS gain
"""
RECOUNTED = """
MATCH (s:Technique)-[r:TRANSITION]->(d:Technique)
RETURN s.id AS source, d.id AS target, r.device AS device, count(*) AS examples,
       sum(log(r.effect)) AS gain
"""

Ask = Callable[[str], object]
"""Asks about a technique."""


def grow(server: Server, walks: Walks, examples: int) -> dict[str, int]:
    """Ingest so many examples more: how many a second, and microseconds of CPU for each.

    The CPU's part stands whatever else the machine does; examples a second do not.
    """
    seconds = client = cpu = 0.0
    with closing(open_store(server.settings)) as store:
        names = pipeline.open_vocabulary(store, vocabulary())
        cascade = open_cascade(server.settings, names)
        for _ in range(examples // (LINES * STEPS)):
            lines = io.BytesIO(walks.lines(LINES))
            start, used, served = time.perf_counter(), time.process_time(), server.cpu_seconds()
            for batch in (
                one.merged(store) for one in pipeline.portions(read(split(lines)), cascade)
            ):
                assert not batch.rejected
            seconds += time.perf_counter() - start
            client += time.process_time() - used
            cpu += server.cpu_seconds() - served
    return {
        "ingest_per_second": round(examples / seconds),
        "client_us": round(1e6 * client / examples),
        "server_us": round(1e6 * cpu / examples),
    }


def milliseconds(ask: Ask, times: int = ASKED) -> list[float]:
    """Seconds of each call, for one technique after the other."""
    taken = []
    for number in range(WARM_UP + times if times == ASKED else times):
        technique = [START, *IDS][number * 7 % (len(IDS) + 1)]
        start = time.perf_counter()
        ask(technique)
        taken.append(1e3 * (time.perf_counter() - start))
    return taken[-times:]


def figures(store: GraphStore, run: Callable[..., object]) -> Iterator[tuple[str, float]]:
    """Medians of what is asked, in milliseconds, and the 99th percentile of a neighbourhood."""

    def near(problem: str | None) -> Ask:
        return lambda technique: store.neighbourhood(
            technique, device=DEVICES[0], exclude_problem=problem
        )

    plain = milliseconds(near(None))
    yield "neighbourhood_ms", statistics.median(plain)
    yield "neighbourhood_p99_ms", statistics.quantiles(plain, n=100)[98]
    yield "without_problem_ms", statistics.median(milliseconds(near(ORDINARY)))
    yield "without_hottest_ms", statistics.median(milliseconds(near(HOTTEST)))
    hot = store.neighbourhood(START, device=DEVICES[0]).successors[0].technique.id
    best = milliseconds(lambda _: store.examples(START, hot, device=DEVICES[0]), ASKED // 10)
    yield "hottest_examples_ms", statistics.median(best)
    counted = milliseconds(
        lambda technique: run(COUNTED, technique=technique, problem=HOTTEST), ASKED // 10
    )
    yield "counted_when_asked_ms", statistics.median(counted)
    yield "batch_recounted_ms", statistics.median(milliseconds(lambda _: run(RECOUNTED), RECOUNTS))
    yield "bare_ms", statistics.median(milliseconds(lambda _: run("RETURN 1 AS one")))


def rows(name: str, sizes: list[int]) -> Iterator[dict[str, object]]:
    """A row for each size that a fresh store grows to."""
    walks, held = Walks(1), 0
    with STORES[name]() as server:
        with closing(open_store(server.settings)) as store:
            store.add_techniques(vocabulary())
        where = store_address(server.settings)
        for size in sizes:
            rate = grow(server, walks, size - held)
            held = size
            with (
                closing(open_store(server.settings)) as store,
                neo4j.GraphDatabase.driver(where.uri, auth=(where.user, where.password)) as driver,
                driver.session(database=where.database) as session,
            ):

                def run(statement: str, session: neo4j.Session = session, **given: object) -> None:
                    session.run(statement, given).consume()

                asked = dict(figures(store, run))
            row: dict[str, object] = {"store": name, "examples": size, **rate}
            row |= {what: round(taken, 2) for what, taken in asked.items()}
            row |= {"disk_mb": server.disk_mb()}
            print(json.dumps(row), file=sys.stderr, flush=True)
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure ingest and reads of the graph stores.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--stores", default=",".join(STORES), help=f"of {', '.join(STORES)}")
    options = parser.parse_args()
    sizes, found, left_out = sorted(map(int, options.sizes.split(","))), [], []
    for name in options.stores.split(","):
        missing = install.neo4j_missing() if name == "neo4j" else None
        if missing is not None:
            left_out.append(f"Neo4j: {missing}")
            continue
        found += rows(name, sizes)
    print(json.dumps({"rows": found, "not_measured": left_out}))


if __name__ == "__main__":
    main()
