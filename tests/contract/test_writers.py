"""Contract: several writers at once lose nothing, double nothing, and their sums are exact."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from regraph_kg.backends import merge, techniques
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import MergeCounts, MergePlan
from regraph_kg.models.technique import Technique
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import A100, H200, measured, plan
from tests.stores import address

Batches = Sequence[Sequence[MergePlan]]


def write_at_once(settings: Settings, writers: Sequence[Batches]) -> list[MergeCounts]:
    """Each writer merges its batches over a connection of its own, all at the same time."""

    def write(batches: Batches) -> list[MergeCounts]:
        store = open_store(settings)
        try:
            return [store.merge(batch) for batch in batches]
        finally:
            store.close()

    with ThreadPoolExecutor(len(writers)) as pool:
        return [counts for written in pool.map(write, writers) for counts in written]


@pytest.mark.slow
def test_measurements_sent_at_once_to_one_trajectory_are_all_kept(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge([plan("ab")])
    writers = [
        [[plan("ab", measurements=[measured(device, run=f"r{i}")])] for i in range(10)]
        for device in (H200, A100)
    ]
    counts = write_at_once(store_settings, writers)
    assert sum(count.measurements for count in counts) == 40
    (exported,) = store.export()
    assert [len(step.measurements) for step in exported.steps] == [20, 20]
    assert {(row.target, row.device): row.tried for row in store.transitions()} == {
        (f"cuda/{name}", device): 10 for name in "ab" for device in (H200, A100)
    }
    assert sum(row.examples for row in store.transitions()) == 2


def test_who_read_a_trajectory_before_it_grew_reads_it_again(
    store: GraphStore, store_settings: Settings
) -> None:
    """Both writers read the trajectory before either writes (where the store lets them)."""
    store.merge([plan("a")])
    both_read = threading.Barrier(2)

    def add(device: str) -> None:
        bolt = Bolt(address(store_settings))
        batch = [plan("a", measurements=[measured(device)])]

        def work(ask: Query) -> None:
            def waiting(name: str, /, **parameters: object) -> list[GraphRow]:
                rows = ask(name, **parameters)
                if name == "claim_trajectories":
                    with suppress(threading.BrokenBarrierError):
                        both_read.wait(2)
                return rows

            merge.merge(waiting, batch)

        with closing(bolt):
            bolt.write(work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, (H200, A100)))
    (exported,) = store.export()
    assert {measurement.device for measurement in exported.steps[0].measurements} == {H200, A100}
    rows = store.transitions()
    assert [(row.device, row.tried) for row in rows] == [(A100, 1), (H200, 1)]
    assert sum(row.examples for row in rows) == 1


def test_of_two_contents_sent_at_once_under_one_ref_one_is_refused(
    store: GraphStore, store_settings: Settings
) -> None:
    writers = [
        [[plan("a", code=f"{who} {i}", ref=f"ref {i}")] for i in range(10)] for who in ("x", "y")
    ]
    counts = write_at_once(store_settings, writers)
    assert sum(count.added for count in counts) == 10
    assert sum(len(count.conflicts) for count in counts) == 10
    assert store.stats().trajectories == 10


def test_writers_that_deadlock_longer_than_the_driver_tries_go_on(
    neo4j_settings: Settings,
) -> None:
    """Each locks one technique and then wants the other's; the driver gives up at once."""
    open_store(neo4j_settings).close()
    names = [Technique(id=f"cuda/{name}", name=name, target="cuda") for name in "ab"]
    both_hold_one, begun = threading.Barrier(2), set[str]()

    def write(first: Technique, second: Technique) -> None:
        def work(ask: Query) -> None:
            techniques.add(ask, [first])
            if first.id not in begun:
                begun.add(first.id)
                both_hold_one.wait(30)
            techniques.add(ask, [second])

        with closing(Bolt(address(neo4j_settings), retry_seconds=0.001)) as bolt:
            bolt.write(work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, names, reversed(names)))
    with closing(open_store(neo4j_settings)) as store:
        assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/b"]
