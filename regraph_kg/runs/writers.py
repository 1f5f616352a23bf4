"""Several writers of one command: each has its own connection and its own thread.

The caller's thread reads lines and decides their names; the writers merge, which is mostly waiting
for the store. Results come back in the order of the lines. A Ctrl-C reaches the caller's thread
alone, so that a merge at that moment still counts (`uncounted`). Not here: several commands at
once, which the store keeps apart.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

from regraph_kg.graph import GraphStore
from regraph_kg.ingest.pipeline import Batch, Portion

AHEAD = 2
"""Portions under way or waiting for each writer: a bound of reading ahead."""


@dataclass(frozen=True, slots=True)
class Errand:
    """A portion, and where it stands: which of the files, and the byte after it."""

    file: int
    end: int
    portion: Portion


Done = tuple[Errand, Batch]


class Writers:
    """Merges portions through several stores at once."""

    def __init__(self, stores: Sequence[GraphStore]) -> None:
        """Use `stores`, one a writer; the caller closes them."""
        self._stores = stores
        self._free = SimpleQueue[GraphStore]()
        for store in stores:
            self._free.put(store)
        self._under_way: deque[tuple[Errand, Future[Batch]]] = deque()

    def merge(self, errands: Iterable[Errand]) -> Generator[Done, None, None]:
        """Merge; yield results in order of the errands. The first failure ends all: `uncounted`."""
        with self._threads() as threads:
            for errand in errands:
                self._under_way.append((errand, threads.submit(self._merge_one, errand)))
                if len(self._under_way) >= AHEAD * len(self._stores):
                    yield self._next()
            while self._under_way:
                yield self._next()

    def uncounted(self) -> Iterator[Done]:
        """Results from before an early end that `merge` has not yielded."""
        for errand, future in self._under_way:
            if future.done() and not future.cancelled() and future.exception() is None:
                yield errand, future.result()

    def _next(self) -> Done:
        errand, future = self._under_way[0]
        batch = future.result()
        self._under_way.popleft()
        return errand, batch

    def _merge_one(self, errand: Errand) -> Batch:
        store = self._free.get()
        try:
            return errand.portion.merged(store)
        finally:
            self._free.put(store)

    @contextmanager
    def _threads(self) -> Iterator[ThreadPoolExecutor]:
        """Threads; at any end, waiting portions are cancelled and running ones finish."""
        threads = ThreadPoolExecutor(len(self._stores), "writer")
        try:
            yield threads
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
