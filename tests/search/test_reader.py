"""What a search reads of a store that comes and goes."""

import signal
from collections.abc import Iterator
from typing import Any, cast

import pytest

from regraph_kg.errors import StoreError
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import Example, Neighbourhood
from regraph_kg.search import reader as module
from regraph_kg.search.reader import GraphReader


class Store:
    """Answers `answers` questions, then is lost."""

    def __init__(self, answers: int = 10**6) -> None:
        self.answers = answers
        self.asked: list[object] = []
        self.closed = False

    def neighbourhood(self, technique: str, **given: object) -> Neighbourhood:
        self._count((technique, given))
        return Neighbourhood(technique, ())

    def examples(self, source: str, target: str, **given: object) -> tuple[Example, ...]:
        self._count((source, target, given))
        return ()

    def close(self) -> None:
        self.closed = True
        raise StoreError("lost")  # as a driver may on a dead connection

    def _count(self, asked: object) -> None:
        if self.answers == 0:
            raise StoreError("lost")
        self.answers -= 1
        self.asked.append(asked)


class Opened:
    """Hands out `stores` one after the other, an error where there is none; counts."""

    def __init__(self, *stores: Store | None) -> None:
        self._stores: Iterator[Store | None] = iter(stores)
        self.times = 0

    def __call__(self) -> GraphStore:
        self.times += 1
        store = next(self._stores, None)
        if store is None:
            raise StoreError("not reachable")
        return cast(Any, store)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(module.time, "sleep", slept.append)
    return slept


def test_nothing_is_opened_before_the_first_question() -> None:
    opened = Opened(Store())
    reader = GraphReader(opened, "cpu", None)
    assert opened.times == 0
    reader.close()
    reader.neighbours("openmp/start")
    reader.examples("openmp/start", "openmp/a")
    assert opened.times == 1


def test_device_and_excluded_problem_go_into_every_question() -> None:
    store = Store()
    reader = GraphReader(Opened(store), "cpu", "matmul")
    reader.neighbours("openmp/start")
    reader.examples("openmp/start", "openmp/a")
    given = {"device": "cpu", "exclude_problem": "matmul"}
    assert store.asked == [("openmp/start", given), ("openmp/start", "openmp/a", given)]


def test_a_lost_store_is_opened_and_asked_again(pauses: list[float]) -> None:
    first = Store(answers=1)
    opened = Opened(first, None, Store())
    reader = GraphReader(opened, "cpu", None)
    reader.neighbours("openmp/start")
    assert reader.neighbours("openmp/a").technique == "openmp/a"
    assert (opened.times, first.closed, pauses) == (3, True, list(module.PAUSES))


def test_a_store_that_stays_lost_is_given_up(pauses: list[float]) -> None:
    reader = GraphReader(Opened(Store(answers=1)), "cpu", None)
    reader.neighbours("openmp/start")
    with pytest.raises(StoreError, match="not reachable"):
        reader.neighbours("openmp/a")
    assert pauses == list(module.PAUSES)


def test_a_store_that_never_worked_is_asked_once(pauses: list[float]) -> None:
    opened = Opened()
    with pytest.raises(StoreError, match="not reachable"):
        GraphReader(opened, "cpu", None).neighbours("openmp/start")
    assert (opened.times, pauses) == (1, [])


def test_ctrl_c_waits_until_the_store_has_answered() -> None:
    answered: list[str] = []

    class Interrupted(Store):
        def neighbourhood(self, technique: str, **given: object) -> Neighbourhood:
            signal.raise_signal(signal.SIGINT)
            answered.append(technique)
            return super().neighbourhood(technique, **given)

    reader = GraphReader(Opened(Interrupted()), "cpu", None)
    with pytest.raises(KeyboardInterrupt):
        reader.neighbours("openmp/start")
    assert answered == ["openmp/start"]
