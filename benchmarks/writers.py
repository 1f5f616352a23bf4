"""Processes that write to one store at the same time, slice by slice, as they are told.

A slice is some batches: prepared first, which nobody times, then merged, or ingested from their
lines; and what the store was sent for them is written once more, to nodes of no meaning. So
whatever disturbs the machine for a while disturbs a store and its ceiling alike.
"""

import io
import logging
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal, TypeVar

from benchmarks.bare import Bare, Rows, open_bare
from benchmarks.servers import Server, peak_mb
from benchmarks.walks import CODE_LINES, STEPS, Walks, vocabulary
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.store import BoltStore
from regraph_kg.ingest.pipeline import BATCH_LINES, ingest, open_vocabulary
from regraph_kg.ingest.plan import plan
from regraph_kg.ingest.read import Accepted, read, split
from regraph_kg.models.graph import MergePlan
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade
from regraph_kg.wiring.stores import store_address

RETRY_SECONDS = 60.0
VECTOR = 384
PROCESSES = multiprocessing.get_context("fork")

Work = Literal["merge", "ingest", "written", "plain"]
"""Merge plans; ingest lines; write bare nodes with what the store wrote, or of a plain layout."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Span:
    """What one writer did, or several at once."""

    start: float
    end: float
    examples: int
    cpu_seconds: float
    retries: int
    peak_mb: int


class Noting(Bolt):
    """A connection that notes the properties of what it creates."""

    noting = False
    created: Rows

    def write(self, work: Callable[[Query], T]) -> T:
        """See `Bolt`; of several tries the last one counts."""
        if not self.noting:
            return super().write(work)

        def noted(ask: Query) -> T:
            self.created = []
            coined: set[str] = set()

            def asked(name: str, /, **parameters: Any) -> list[GraphRow]:
                told = ask(name, **parameters)
                if name == "claim_shares":
                    coined.update(parameters["ids"])
                    coined.difference_update(row["share"]["id"] for row in told)
                elif name == "set_shares":
                    self.created += [row for row in parameters["rows"] if row["id"] in coined]
                elif name.startswith("create_") or name in ("claim_trajectories", "write_failures"):
                    self.created += [row.get("properties", row) for row in parameters["rows"]]
                return told

            return work(asked)

        return super().write(noted)


class Retries(logging.Handler):
    """Counts the driver's words about transactions that it tries again."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += "will be retried" in record.getMessage()


class Writer:
    """One process's part."""

    def __init__(self, settings: Settings, seed: int, bare: Bare) -> None:
        self._bolt = Noting(store_address(settings), retry_seconds=RETRY_SECONDS)
        self._store = BoltStore(self._bolt)
        self._walks, self._bare = Walks(seed), bare
        self._cascade = open_cascade(
            settings, open_vocabulary(self._store, vocabulary()), "lexical"
        )
        self._retries = Retries()
        log = logging.getLogger("neo4j.session")
        log.setLevel(logging.WARNING)
        log.propagate = False
        log.addHandler(self._retries)
        self._lines: list[bytes] = []
        self._plans: list[list[MergePlan]] = []
        self.written: list[Rows] = []
        """What the store was sent, batch by batch, while noting."""

    def prepare(self, work: Work, batches: int, noting: bool) -> None:
        """Make what the next call of `do` will write."""
        self._bolt.noting = noting
        if work == "merge":
            lines = [self._walks.lines(BATCH_LINES) for _ in range(batches)]
            self._plans = [[self._planned(one) for one in _read(some)] for some in lines]
        elif work == "ingest":
            self._lines = [self._walks.lines(BATCH_LINES * batches)]
        elif work == "plain":
            self.written = [_plain(BATCH_LINES * STEPS) for _ in range(batches)]

    def do(self, work: Work) -> int:
        """Write it; the number of examples."""
        if work in ("written", "plain"):
            return sum(map(self._create, self.written))
        self.written, examples = [], 0
        for count in self._merged() if work == "merge" else self._ingested():
            examples += count
            if self._bolt.noting:
                self.written.append(self._bolt.created)
        return examples

    def _merged(self) -> Iterator[int]:
        for plans in self._plans:
            yield self._store.merge(plans).examples

    def _ingested(self) -> Iterator[int]:
        for lines in self._lines:
            for batch in ingest(read(split(io.BytesIO(lines))), self._store, self._cascade):
                assert not batch.rejected
                yield batch.counts.examples

    def _create(self, rows: Rows) -> int:
        assert self._bare.create(rows) == len(rows)
        return BATCH_LINES * STEPS

    def _planned(self, line: Accepted) -> MergePlan:
        labels, known = self._cascade.relabel(line.trajectory), self._cascade.vocabulary.known
        created = line.trajectory.source.created
        return plan(line.trajectory, labels.steps, labels.failures, known, created, labels.coined)

    def answer(self, orders: Connection) -> None:
        """Do as told until told to end."""
        while order := orders.recv():
            work, batches, noting = order
            if batches:
                self.prepare(work, batches, noting)
                orders.send(None)
                continue
            start, cpu, retries = time.perf_counter(), time.process_time(), self._retries.count
            examples = self.do(work)
            cpu, retries = time.process_time() - cpu, self._retries.count - retries
            orders.send(Span(start, time.perf_counter(), examples, cpu, retries, peak_mb()))
        orders.send(self._walks.pairs)

    def close(self) -> None:
        self._store.close()


class Writers:
    """All of them."""

    def __init__(self, orders: Sequence[Connection], server: Server) -> None:
        self._orders, self._server = orders, server

    def prepare(self, work: Work, batches: int, *, noting: bool = False) -> None:
        """Let each make so many batches for the next `do(work)`."""
        self._all((work, batches, noting))

    def do(self, work: Work) -> tuple[Span, float]:
        """Let all write at once; what they did, and the server's CPU seconds."""
        cpu = self._server.cpu_seconds()
        spans: list[Span] = self._all((work, 0, False))
        cpu = self._server.cpu_seconds() - cpu
        return together(spans), cpu

    def end(self) -> list[Any]:
        """Let all end; how often each pair was walked, by writer."""
        return self._all(None)

    def _all(self, order: tuple[Work, int, bool] | None) -> list[Any]:
        for orders in self._orders:
            orders.send(order)
        return [orders.recv() for orders in self._orders]


def together(spans: Sequence[Span]) -> Span:
    """From the first start to the last end."""
    return Span(
        min(span.start for span in spans),
        max(span.end for span in spans),
        sum(span.examples for span in spans),
        sum(span.cpu_seconds for span in spans),
        sum(span.retries for span in spans),
        max(span.peak_mb for span in spans),
    )


@contextmanager
def writing(server: Server, count: int) -> Iterator[Writers]:
    """Start `count` writers; afterwards they are gone, whatever happened."""
    pipes = [PROCESSES.Pipe() for _ in range(count)]
    processes = [
        PROCESSES.Process(target=_write, args=(server.settings, seed, theirs), daemon=True)
        for seed, (_, theirs) in enumerate(pipes)
    ]
    for process, (_, theirs) in zip(processes, pipes, strict=True):
        process.start()
        theirs.close()
    try:
        yield Writers([ours for ours, _ in pipes], server)
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _write(settings: Settings, seed: int, orders: Connection) -> None:
    with open_bare(settings) as bare, closing(Writer(settings, seed, bare)) as writer:
        writer.answer(orders)


def _read(lines: bytes) -> list[Accepted]:
    return [line for line in read(split(io.BytesIO(lines))) if isinstance(line, Accepted)]


def _plain(count: int) -> Rows:
    """About 2 kB of text and a vector as a list of floats a node: no graph yet."""
    rng = random.Random(count)
    text = "x" * 60 * CODE_LINES
    return [
        {"id": str(number), "code": text, "embedding": [rng.random() for _ in range(VECTOR)]}
        for number in range(count)
    ]
