"""Ingest, neighbourhood and nearest examples at up to a million examples, beside bare minimums.

`python benchmarks/run.py graph [--sizes N,N] [--runs NAME]`; prints one JSON object. A store grows
from size to size. Writers are processes; in turn they merge prepared plans and ingest lines of
JSON, whole pipeline. After that they write once more what the store was sent, every property of
examples, trajectories, shares and failures, to nodes without constraint, index or relationship: the
ceiling; and a plain layout, 2 kB of text and 384 floats a node. A warm-up goes before all that,
and is deleted. Embeddings are made after an ingest, for the examples that stay at their pair. Reads
have the server to themselves; RETURN 1 follows each. Not measured: answers from a cold page cache.
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from itertools import pairwise

from benchmarks.bare import open_bare
from benchmarks.servers import Server, embedded, neo4j_server, peak_mb
from benchmarks.walks import DEVICES, HOTTEST, IDS, START, STEPS, Walks, reasonings
from benchmarks.writers import BATCH_LINES, Span, Work, Writers, writing
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import Vector
from regraph_kg.wiring.open_model import embedder_of
from regraph_kg.wiring.stores import open_store
from tests import install_neo4j

SIZES = (10_000, 100_000, 1_000_000)
"""Examples."""
SLICES = 24
"""Slices of a size that are measured with their ceilings."""
MOST_BATCHES = 4
"""Of a writer, in a slice."""
WARM_EXAMPLES = 40_000
"""Written before anything is timed: compiling what runs often takes a JVM that long."""
WARM_UP, QUERIES, NEAREST = 100, 500, 5
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Run:
    """Which store, and how many writers."""

    store: str
    server: Callable[[], AbstractContextManager[Server]]
    writers: int


def runs() -> dict[str, Run]:
    """By the names that --runs takes."""
    newest = f"Neo4j {install_neo4j.LONG_TERM.version}"
    return {
        "neo4j-4": Run(newest, neo4j_server, 4),
        "embedded-1": Run("embedded (ArcadeDB)", embedded, 1),
        "embedded-4": Run("embedded (ArcadeDB)", embedded, 4),
    }


@dataclass(slots=True)
class Total:
    """What all slices of one kind of work add up to."""

    seconds: float = 0.0
    examples: int = 0
    client_cpu: float = 0.0
    server_cpu: float = 0.0
    retries: int = 0

    def add(self, span: Span, server_cpu: float) -> None:
        self.seconds += span.end - span.start
        self.examples += span.examples
        self.client_cpu += span.cpu_seconds
        self.server_cpu += server_cpu
        self.retries += span.retries

    @property
    def per_second(self) -> float:
        return self.examples / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Growth:
    """A store on its way to a size."""

    totals: dict[str, Total] = field(default_factory=dict)
    ceilings: dict[str, Total] = field(default_factory=dict)
    """By the work that they followed."""
    peak_mb: int = 0

    def do(self, writers: Writers, work: Work, of: dict[str, Total], name: str) -> int:
        span, cpu = writers.do(work)
        of.setdefault(name, Total()).add(span, cpu)
        self.peak_mb = max(self.peak_mb, span.peak_mb)
        return span.examples


def grow(writers: Writers, count: int, examples: int) -> Growth:
    """Write `examples` more, in turn by merge and by ingest; every so often with the ceilings."""
    grown, sent, batch = Growth(), 0, BATCH_LINES * STEPS
    batches = max(1, min(MOST_BATCHES, examples // (batch * count * SLICES)))
    slices = -(-examples // (batch * count * batches))
    every = max(1, slices // SLICES)
    for number in range(slices):
        work: Work = "merge" if number % 2 == 0 else "ingest"
        measured = number // 2 % every == 0  # in pairs, one of each kind
        left = min(batches, -(-(examples - sent) // (batch * count)))
        writers.prepare(work, left, noting=measured)
        sent += grown.do(writers, work, grown.totals, work if measured else f"other {work}")
        if measured:
            grown.do(writers, "written", grown.ceilings, work)
            writers.prepare("plain", left)
            grown.do(writers, "plain", grown.ceilings, PLAIN)
    return grown


def latencies(calls: Sequence[Callable[[str], object]], count: int) -> list[list[float]]:
    """Milliseconds of each call, one after the other for the same technique."""
    turns = ([START, *IDS][number * 7 % (len(IDS) + 1)] for number in range(WARM_UP + count))
    taken: list[list[float]] = [[] for _ in calls]
    for technique in turns:
        for series, call in zip(taken, calls, strict=True):
            start = time.perf_counter()
            call(technique)
            series.append(1e3 * (time.perf_counter() - start))
    return [series[WARM_UP:] for series in taken]


def percentiles(name: str, series: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(series, n=100)
    return {f"{name}_p50_ms": round(cuts[49], 2), f"{name}_p99_ms": round(cuts[98], 2)}


def reads(
    store: GraphStore, server: Server, vectors: Iterator[Vector], hottest: tuple[str, str]
) -> dict[str, float]:
    """What the search asks, and RETURN 1 after each."""
    with open_bare(server.settings) as bare:
        all_, without, examples, near, one = latencies(
            (
                lambda technique: store.neighbourhood(technique, device=DEVICES[0]),
                lambda technique: store.neighbourhood(
                    technique, device=DEVICES[0], exclude_problem=HOTTEST
                ),
                lambda _: store.examples(*hottest, device=DEVICES[0]),
                lambda _: store.examples(*hottest, limit=NEAREST, near=next(vectors)),
                lambda _: bare.read("bare_return"),
            ),
            QUERIES,
        )
    return {
        **percentiles("neighbourhood", all_),
        **percentiles("neighbourhood_less_one_problem", without),
        **percentiles("best_examples", examples),
        **percentiles("nearest_examples", near),
        **percentiles("bare_return", one),
    }


def rates(grown: Growth) -> dict[str, float]:
    """Examples a second of each kind of work, and how near to its ceiling it came."""
    figures: dict[str, float] = {}
    for work in ("merge", "ingest"):
        own, ceiling = grown.totals.get(work, Total()), grown.ceilings.get(work, Total())
        figures[f"{work}_per_second"] = round(own.per_second)
        figures[f"{work}_ceiling_per_second"] = round(ceiling.per_second)
        figures[f"{work}_of_ceiling"] = round(own.per_second / (ceiling.per_second or 1), 3)
    merged, written = grown.totals["merge"], grown.ceilings["merge"]
    return {
        **figures,
        "plain_per_second": round(grown.ceilings[PLAIN].per_second),
        "merge_client_us": round(1e6 * merged.client_cpu / merged.examples),
        "merge_server_us": round(1e6 * merged.server_cpu / merged.examples),
        "ceiling_client_us": round(1e6 * written.client_cpu / written.examples),
        "ceiling_server_us": round(1e6 * written.server_cpu / written.examples),
        "retries": sum(total.retries for total in grown.totals.values()),
    }


def warm_up(writers: Writers, server: Server, count: int, examples: int) -> None:
    """Write some examples and their ceilings, and delete all but the techniques."""
    grow(writers, count, examples)
    with open_bare(server.settings) as bare:
        bare.forget()


def measured(
    run: Run, server: Server, sizes: Sequence[int], warm: int
) -> Iterator[dict[str, object]]:
    """A row for each size that the store grows to."""
    embedder = embedder_of(server.settings)
    texts = (Vector(embedder.space, embedder.embed([text])[0]) for text in reasonings(0))
    with closing(open_store(server.settings)) as store:
        hottest = most_walked()
        with writing(server, run.writers) as writers:
            warm_up(writers, server, run.writers, warm)
            for before, size in pairwise((0, *sizes)):
                say(f"{run.store}, {run.writers} writers, {size:,} examples")
                start = time.perf_counter()
                grown = grow(writers, run.writers, size - before)
                written = time.perf_counter()
                vectors = list(store.embed(embedder.space, embedder.embed))
                embedded_at = time.perf_counter()
                total = store.stats().transitions
                assert size <= total < size + MOST_BATCHES * run.writers * BATCH_LINES * STEPS
                say(f"  {json.dumps(rates(grown))}")
                figures = reads(store, server, texts, hottest)
                checked_at = time.perf_counter()
                assert store.check() == (), "statistics are wrong"
                yield {
                    "store": run.store,
                    "writers": run.writers,
                    "examples": total,
                    **rates(grown),
                    **figures,
                    "hottest_pair": hottest_examples(store, hottest),
                    "vectors": bool(vectors),
                    "seconds": round(written - start),
                    "embed_seconds": round(embedded_at - written, 1),
                    "check_seconds": round(time.perf_counter() - checked_at, 1),
                    "writer_peak_mb": grown.peak_mb,
                    "reader_peak_mb": peak_mb(),
                    "server_mb": server.resident_mb(),
                    "server_memory": server.memory,
                    "disk_mb": server.disk_mb(),
                }


def most_walked() -> tuple[str, str]:
    """The pair that will have most examples, whoever walks."""
    sample = Walks(-1)
    sample.lines(1_000)
    return Counter(sample.pairs).most_common(1)[0][0]


def hottest_examples(store: GraphStore, pair: tuple[str, str]) -> int:
    """How many examples a pair has."""
    near = store.neighbourhood(pair[0], device=DEVICES[0]).successors
    return next(one.examples for one in near if one.technique.id == pair[1])


def say(text: str) -> None:
    print(f"graph: {text}", file=sys.stderr, flush=True)


def main() -> None:
    known = runs()
    parser = argparse.ArgumentParser(description="Measure ingest and reads of the graph stores.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--runs", default=",".join(known), help=f"of {', '.join(known)}")
    parser.add_argument("--warm", type=int, default=WARM_EXAMPLES, help="examples to warm up with")
    options = parser.parse_args()
    sizes = sorted(int(size) for size in options.sizes.split(","))
    missing, rows, left_out = install_neo4j.missing(), [], []
    for name in options.runs.split(","):
        run = known[name]
        if missing is not None and run.server is neo4j_server:
            left_out.append(f"Neo4j: {missing}")
            continue
        with run.server() as server:
            rows += measured(run, server, sizes, options.warm)
    print(json.dumps({"rows": rows, "not_measured": left_out}))


if __name__ == "__main__":
    main()
