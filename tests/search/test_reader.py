"""What a search reads of a store that comes and goes."""

import signal
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, cast

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.llm.ngrams import HASHED, HashEmbedder
from regraph_kg.models.graph import (
    EmbeddingSpace,
    Example,
    KnownFailure,
    Neighbourhood,
    Successor,
    Vector,
)
from regraph_kg.search.reader import KNOWN, OVERSAMPLED, SHOWN, GraphReader


class Store:
    """Notes what it is asked."""

    def __init__(
        self, space: EmbeddingSpace | None = HASHED, holds: tuple[Example, ...] = ()
    ) -> None:
        self.space = space
        self.holds = holds
        self.asked: list[Any] = []

    def neighbourhood(self, technique: str, **given: object) -> Neighbourhood:
        self.asked.append((technique, given))
        return Neighbourhood(technique, ())

    def examples(self, source: str, target: str, **given: object) -> tuple[Example, ...]:
        self.asked.append((source, target, given))
        return self.holds

    def nearest(self, vector: Vector, **given: object) -> tuple[Example, ...]:
        self.asked.append((vector, given))
        return self.holds

    def pooled(self, target: str, **given: object) -> tuple[Successor, ...]:
        self.asked.append((target, given))
        return ()

    def failures(self, source: str, target: str, **given: object) -> tuple[KnownFailure, ...]:
        self.asked.append((source, target, given))
        return ()

    def embedding_space(self) -> EmbeddingSpace | None:
        return self.space


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


FIRST = Example(
    **dict.fromkeys([field.name for field in fields(Example)], cast(Any, None))
    | {"id": "first", "before": "int a;", "after": "int b;"}
)


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
    reader.failures("openmp/start", "openmp/a")
    reader.pooled("openmp")
    given = {"device": "cpu", "exclude_problem": "matmul"}
    assert store.asked == [
        ("openmp/start", given | {"kind": ""}),
        ("openmp/start", "openmp/a", given | {"limit": OVERSAMPLED * SHOWN}),
        ("openmp/start", "openmp/a", {"exclude_problem": "matmul", "limit": KNOWN}),
        ("openmp", given | {"kind": ""}),
    ]


def test_examples_that_hold_the_same_codes_are_told_once_in_their_order() -> None:
    other = replace(FIRST, id="other", after="int other;")
    again = replace(FIRST, id="again", verified=False)
    many = tuple(replace(FIRST, id=str(n), after=f"int x{n};") for n in range(SHOWN + 9))
    reader = GraphReader(Opened(Store(holds=(FIRST, other, again, *many))), "cpu", None)
    told = [example.id for example in reader.examples("openmp/start", "openmp/a")]
    assert told == ["first", "other", *map(str, range(SHOWN - 2))]


def test_the_nearest_examples_of_the_target_anywhere_are_told_once() -> None:
    store = Store(holds=(FIRST, replace(FIRST, id="again"), replace(FIRST, id="b", after="int c;")))
    reader = GraphReader(Opened(store), "cpu", "matmul", lambda space: HashEmbedder())
    assert [one.id for one in reader.nearest("int a;", 2, "openmp")] == ["first", "b"]
    vector = Vector(HASHED, HashEmbedder().embed(["int a;"])[0], "code")
    given = {"k": 2 * OVERSAMPLED, "target": "openmp", "exclude_problem": "matmul"}
    assert store.asked == [(vector, given)]


def test_nearest_examples_are_asked_for_in_the_graphs_own_space() -> None:
    store, opened = Store(), list[EmbeddingSpace]()

    def open_embedder(space: EmbeddingSpace) -> HashEmbedder:
        opened.append(space)
        return HashEmbedder()

    reader = GraphReader(Opened(store), "cpu", None, open_embedder)
    for code in ("int a;", "int b;"):
        reader.nearest(code, 1)
    expected = HashEmbedder().embed(["int a;", "int b;"])
    assert [asked[0] for asked in store.asked] == [
        Vector(HASHED, packed, "code") for packed in expected
    ]
    assert opened == [HASHED]


@pytest.mark.parametrize("space", [None, HASHED])
def test_without_embeddings_nothing_is_nearest(space: EmbeddingSpace | None) -> None:
    """None in the graph, or nothing that could make them."""
    store = Store(space=space)
    open_embedder = None if space else lambda space: pytest.fail("nothing to compare with")
    reader = GraphReader(Opened(store), "cpu", None, open_embedder)
    assert reader.nearest("int a;", 1) == ()
    assert store.asked == []


def test_a_store_that_is_lost_is_asked_once() -> None:
    opened = Opened()
    with pytest.raises(StoreError, match="not reachable"):
        GraphReader(opened, "cpu", None).neighbours("openmp/start")
    assert opened.times == 1


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
