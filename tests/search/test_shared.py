"""Searches that share threads are what they are alone; what waits is cancelled at the end."""

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.executor import Threads
from regraph_kg.search.world import Evaluate
from tests.search.toy import Toy, header, noisy_script, searching

GRAPH = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def test_searches_that_share_threads_are_those_that_they_are_alone() -> None:
    def search(seed: int, *, alone: bool) -> list[SimulationRecord]:
        world = Toy(GRAPH, noisy_script(seed)).world
        executor = None if alone else Threads(world, callers, judges)
        return list(searching(world, header(15, seed), executor=executor))

    pool = ThreadPoolExecutor
    with pool(2) as callers, pool(1) as judges, pool(3) as threads:
        together = list(threads.map(lambda seed: search(seed, alone=False), range(3)))
    assert together == [search(seed, alone=True) for seed in range(3)]


def test_one_thread_for_all_gives_existing_answers_in_their_order() -> None:
    def search(threads: ThreadPoolExecutor | None) -> list[SimulationRecord]:
        world = Toy(GRAPH, noisy_script(1)).world
        executor = threads and Threads(world, threads, threads)
        return list(searching(world, header(15, 1, parallel=4), executor=executor))

    with ThreadPoolExecutor(1) as one:
        assert search(one) == search(None)


def test_what_waits_is_cancelled_at_the_end_and_what_is_under_way_ends() -> None:
    busy, gate = threading.Event(), threading.Event()
    judges = ThreadPoolExecutor(1)
    executor = Threads(Toy(GRAPH, noisy_script(0)).world, judges, judges)

    def occupy() -> str:
        busy.set()
        gate.wait(30)
        return "done"

    first = judges.submit(occupy)
    busy.wait(30)
    executor.start(Evaluate(Candidate("openmp", "int a;")))
    judges.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(CancelledError):
        executor.finish()
    gate.set()
    assert first.result(30) == "done"
