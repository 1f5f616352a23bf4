"""Searches that share a model and a judge take turns at them, and are what they are alone."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from regraph_kg.errors import ModelError
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.executor import Alone, Turns, shared
from tests.search.toy import Toy, header, noisy_script, searching


@pytest.fixture
def turns() -> Iterator[Turns]:
    made = Turns(1, "test")
    yield made
    made.close()


def test_who_waits_longest_gets_the_slot_however_much_others_have_waiting(turns: Turns) -> None:
    """A search that asks for much gets every second slot, not all."""
    order: list[str] = []
    gate, busy = threading.Event(), threading.Event()

    def piece(search: str) -> Callable[[], None]:
        return lambda: order.append(search)

    def occupy() -> None:
        busy.set()
        gate.wait(30)

    with ThreadPoolExecutor(8) as askers:
        done = [askers.submit(turns.do, "first", occupy)]
        busy.wait(30)
        for count, search in enumerate(("much", "much", "much", "little", "late", "little"), 1):
            done.append(askers.submit(turns.do, search, piece(search)))
            while waiting(turns) < count:
                pass
        gate.set()
        for one in done:
            one.result(30)
    assert order == ["much", "little", "late", "much", "little", "much"]


def waiting(turns: Turns) -> int:
    return sum(len(pieces) for pieces in list(turns._waiting.values()))


def test_slots_bound_what_is_done_at_once() -> None:
    turns, most, now, lock = Turns(3, "test"), 0, 0, threading.Lock()
    meet = threading.Barrier(3, timeout=30)

    def work() -> None:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        meet.wait()  # all three are busy
        with lock:
            now -= 1

    with ThreadPoolExecutor(9) as askers:
        for one in [askers.submit(turns.do, index % 2, work) for index in range(9)]:
            one.result(30)
    turns.close()
    assert most == 3


def test_what_goes_wrong_is_raised_where_it_was_asked_for(turns: Turns) -> None:
    def fail() -> None:
        raise ModelError("gone")

    with pytest.raises(ModelError, match="gone"):
        turns.do("a", fail)
    assert turns.do("a", lambda: 7) == 7


def test_closing_ends_who_waits_and_awaits_what_is_under_way() -> None:
    turns, busy, gate = Turns(1, "test"), threading.Event(), threading.Event()

    def occupy() -> str:
        busy.set()
        gate.wait(30)
        return "done"

    with ThreadPoolExecutor(3) as askers:
        first = askers.submit(turns.do, "a", occupy)
        busy.wait(30)
        second = askers.submit(turns.do, "b", lambda: "never")
        while not waiting(turns):
            pass
        closing = askers.submit(turns.close)
        with pytest.raises(CancelledError):
            second.result(30)
        gate.set()
        closing.result(30)
        assert first.result(30) == "done"
    with pytest.raises(CancelledError):
        turns.do("a", lambda: "never")


def test_searches_that_share_a_world_are_those_that_they_are_alone() -> None:
    graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}
    callers, judges = Turns(2, "model"), Turns(1, "judge")

    def search(seed: int, *, alone: bool) -> list[SimulationRecord]:
        toy = Toy(graph, noisy_script(seed))
        world = toy.world if alone else shared(toy.world, callers, judges)
        return list(searching(world, header(15, seed), executor=Alone(world)))

    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(lambda seed: search(seed, alone=False), range(3)))
    for one in (callers, judges):
        one.close()
    assert together == [search(seed, alone=True) for seed in range(3)]
