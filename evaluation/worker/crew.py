"""Runs one trusted program on several inputs at once, each run in a process of its own.

For long runs that are not timed: no timed code may run meanwhile.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from queue import SimpleQueue
from threading import Lock
from typing import TypeVar

from regraph_kg.evaluation.problem.problem import Array, Sizes
from regraph_kg.evaluation.worker.runner import Fill, Runner

_MOST = 8  # processes at once; more would wait for memory
_Kept = TypeVar("_Kept")


def most_at_once() -> int:
    """Count of runs that this machine does at once with a core for each."""
    return min(_MOST, len(os.sched_getaffinity(0)))


def run_all(
    make: Callable[[], Runner],
    sizes: Sizes,
    fills: Sequence[Fill],
    keep: Callable[[str, Array], _Kept],
) -> Iterator[dict[str, _Kept]]:
    """Results of `keep` on the outputs of one run for each of `fills`, as they come.

    `make` gives the runner of one process. Fills are called one after another, from several
    threads. Raises `BadInput` where a run fails; what has not begun then does not begin.
    """
    one_fills, free = Lock(), SimpleQueue[Runner]()

    def one(fill: Fill) -> dict[str, _Kept]:
        def filled(views: Mapping[str, Array]) -> None:
            with one_fills:
                fill(views)

        runner = free.get()
        try:
            return runner.run(sizes, filled, keep)
        finally:
            free.put(runner)

    count = min(most_at_once(), len(fills))
    with ExitStack() as stack:
        for _ in range(count):
            free.put(stack.enter_context(closing(make())))
        threads = stack.enter_context(ThreadPoolExecutor(count, "reference"))
        runs = [threads.submit(one, fill) for fill in fills]
        try:
            for run in as_completed(runs):
                yield run.result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
