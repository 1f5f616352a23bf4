"""Contract: an ingest that runs while a curator works loses nothing and doubles nothing."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from regraph_kg.graph import GraphStore
from regraph_kg.models.curation import Note
from regraph_kg.models.graph import MergePlan
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_curator, open_store
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.stores import wipe

pytestmark = pytest.mark.slow

ME = Note("curator")
ROUNDS = 4
VOCABULARY = [technique(name, aliases=(f"Label {name}",)) for name in "abc"]


def plans(number: int) -> list[MergePlan]:
    """A batch that overlaps with its neighbours, on every pair of the three techniques."""
    paths = ("abc", "bba", "cab", "b", "ca")
    return [
        plan(
            paths[i % 5],
            code=f"int x{i};",
            problem=f"p{i % 4}",
            measurements=[measured(effect=1 + i / 7), measured(A100, effect=2.0)],
            failures=[failure("b", 1)] if i % 3 == 0 else (),
        )
        for i in range(4 * number, 4 * number + 8)
    ]


def test_curations_among_ingests_keep_everything_exactly_once(
    store: GraphStore, store_settings: Settings
) -> None:
    store.add_techniques(VOCABULARY)
    store.merge(plans(0))
    done = threading.Event()

    def ingest() -> int:
        number = 0
        with closing(open_store(store_settings)) as writer:
            while not done.is_set() or number < 4:
                number += 1
                writer.merge(plans(number))
        return number

    def curate() -> None:
        try:
            with closing(open_curator(store_settings)) as curator:
                for _ in range(ROUNDS):
                    curator.merge("cuda/a", ["cuda/b"], ME)
                    curator.undo(None, ME)
        finally:
            done.set()

    with ThreadPoolExecutor(2) as pool:
        ingests, curations = pool.submit(ingest), pool.submit(curate)
        curations.result()
        last = ingests.result()
    assert store.check() == ()
    concurrent = (store.transitions(), tuple(store.export()), store.techniques())

    wipe(store_settings)
    store.apply_schema()
    store.add_techniques(VOCABULARY)
    for number in range(last + 1):
        store.merge(plans(number))
    assert (store.transitions(), tuple(store.export()), store.techniques()) == concurrent
