"""What a search reads of a store that comes and goes."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.search.reader import GraphReader


class Store:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def neighbourhood(self, technique: str, **given: object) -> Neighbourhood:
        self.asked.append((technique, given))
        return Neighbourhood(technique, ())

    def pooled(self, target: str, **given: object) -> tuple[Successor, ...]:
        self.asked.append((target, given))
        return ()


class Opened:
    """Hands out `stores` one after the other, an error where there is none; counts."""

    def __init__(self, *stores: Store) -> None:
        self._stores: Iterator[Store] = iter(stores)
        self.times = 0

    def __call__(self) -> GraphStore:
        self.times += 1
        store = next(self._stores, None)
        if store is None:
            raise StoreError("not reachable")
        return cast(GraphStore, store)


def test_nothing_is_opened_before_the_first_question() -> None:
    opened = Opened(Store())
    reader = GraphReader(opened, "cpu", None)
    assert opened.times == 0
    reader.close()
    reader.neighbours("openmp/start")
    reader.pooled("openmp")
    assert opened.times == 1


def test_device_and_excluded_problem_go_into_every_question() -> None:
    store = Store()
    reader = GraphReader(Opened(store), "cpu", "matmul")
    reader.neighbours("openmp/start")
    reader.pooled("openmp")
    given = {"device": "cpu", "exclude_problem": "matmul", "model": ""}
    assert store.asked == [
        ("openmp/start", given | {"kind": ""}),
        ("openmp", given | {"kind": ""}),
    ]


def test_a_store_that_is_lost_is_asked_once() -> None:
    opened = Opened()
    with pytest.raises(StoreError, match="not reachable"):
        GraphReader(opened, "cpu", None).neighbours("openmp/start")
    assert opened.times == 1
