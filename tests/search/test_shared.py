"""Searches that share a model and a judge wait for them, and are what they are alone."""

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.executor import Alone, shared
from tests.search.toy import Toy, header, noisy_script, searching

GRAPH = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def test_searches_that_share_a_world_are_those_that_they_are_alone() -> None:
    def search(seed: int, *, alone: bool) -> list[SimulationRecord]:
        toy = Toy(GRAPH, noisy_script(seed))
        world = toy.world if alone else shared(toy.world, callers, judges)
        return list(searching(world, header(15, seed), executor=Alone(world)))

    pool = ThreadPoolExecutor
    with pool(2) as callers, pool(1) as judges, pool(3) as threads:
        together = list(threads.map(lambda seed: search(seed, alone=False), range(3)))
    assert together == [search(seed, alone=True) for seed in range(3)]


def test_a_shut_down_judge_cancels_who_waits_and_ends_what_is_under_way() -> None:
    busy, gate = threading.Event(), threading.Event()
    live = Toy(GRAPH, noisy_script(0)).world
    judges = ThreadPoolExecutor(1)
    world = shared(live, judges, judges)

    def occupy() -> str:
        busy.set()
        gate.wait(30)
        return "done"

    first = judges.submit(occupy)
    busy.wait(30)
    with ThreadPoolExecutor(1) as askers:
        waiting = askers.submit(world.evaluate, Candidate("openmp", "int a;"), None)
        while judges._work_queue.empty():
            pass
        judges.shutdown(wait=False, cancel_futures=True)
        with pytest.raises(CancelledError):
            waiting.result(30)
    gate.set()
    assert first.result(30) == "done"
    with pytest.raises(CancelledError):
        world.evaluate(Candidate("openmp", "int a;"), None)
