"""Contract: writers at once lose nothing, double nothing, and their sums are exact."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from regraph_kg.backends import write
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.store import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.technique import Technique
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.overlapping import VOCABULARY, holdings, ingest_in_turn, write_files
from tests.contract.plans import A100, H200, measured, plan
from tests.ingest.trajectories import by_name
from tests.recount import transitions, wrong_counts
from tests.stores import address, wipe

WRITERS, TRAJECTORIES, BATCH = 4, 30, 4
RETRY_SECONDS = 60.0


def ingest_file(settings: Settings, path: Path) -> int:
    """Ingest a file in small batches, in a process of its own; the number of batches."""
    with closing(open_store(settings, retry_seconds=RETRY_SECONDS)) as store:
        cascade = by_name(pipeline.open_vocabulary(store, VOCABULARY))
        with path.open("rb") as file:
            batches = (
                one.merged(store)
                for one in pipeline.portions(read(split(file)), cascade, batch_lines=BATCH)
            )
            return sum(not batch.rejected for batch in batches)


@pytest.mark.slow
def test_processes_that_ingest_overlapping_files_make_the_graph_of_one_that_does_it_in_turn(
    store: GraphStore, store_settings: Settings, tmp_path: Path
) -> None:
    files = write_files(tmp_path, WRITERS, trajectories=TRAJECTORIES)
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WRITERS, fresh) as pool:
        assert all(pool.map(partial(ingest_file, store_settings), files))
    assert wrong_counts(store) == []
    together = holdings(store)
    assert together["stats"].trajectories == TRAJECTORIES
    wipe(store_settings)
    store.apply_schema()
    ingest_in_turn(store, files)
    assert holdings(store) == together


def at_once(*steps: Callable[[], object]) -> None:
    with ThreadPoolExecutor(len(steps)) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()


def merge_each(settings: Settings, plans: list[MergePlan]) -> None:
    with closing(open_store(settings, retry_seconds=RETRY_SECONDS)) as store:
        for one in plans:
            store.merge([one])


def test_who_read_a_trajectory_before_it_grew_reads_it_again(
    store: GraphStore, store_settings: Settings
) -> None:
    """Both writers read the trajectory before either writes (where the store lets them)."""
    store.merge([plan("a")])
    both_read = Barrier(2)

    def add(device: str) -> None:
        def work(ask: Query) -> None:
            def waiting(name: str, /, **parameters: object) -> list[GraphRow]:
                rows = ask(name, **parameters)
                if name == "claim_trajectories":
                    with suppress(BrokenBarrierError):
                        both_read.wait(2)
                return rows

            write.merge(waiting, [plan("a", measurements=[measured(device)])])

        with closing(Bolt(address(store_settings))) as bolt:
            bolt.write(work)

    at_once(partial(add, H200), partial(add, A100))
    (exported,) = store.export()
    assert {measurement.device for measurement in exported.steps[0].measurements} == {H200, A100}
    assert [(row.device, row.tried) for row in transitions(store)] == [(A100, 1), (H200, 1)]
    assert wrong_counts(store) == []


def test_of_two_contents_sent_at_once_under_one_ref_one_is_refused(
    store: GraphStore, store_settings: Settings
) -> None:
    def sent(who: str) -> list[MergePlan]:
        return [plan("a", code=f"{who} {n}", ref=f"ref {n}") for n in range(6)]

    at_once(*(partial(merge_each, store_settings, sent(who)) for who in "xy"))
    assert store.stats().trajectories == 6


def test_writers_that_deadlock_longer_than_the_driver_tries_go_on(
    neo4j_settings: Settings,
) -> None:
    """Each locks one technique and then wants the other's; the driver gives up at once."""
    open_store(neo4j_settings).close()
    names = [Technique(id=f"cuda/{name}", name=name, target="cuda") for name in "ab"]
    both_hold_one, begun = Barrier(2), set[str]()

    def create(first: Technique, second: Technique) -> None:
        def work(ask: Query) -> None:
            write.create_techniques(ask, [first])
            if first.id not in begun:
                begun.add(first.id)
                both_hold_one.wait(30)
            write.create_techniques(ask, [second])

        with closing(Bolt(address(neo4j_settings), retry_seconds=0.001)) as bolt:
            bolt.write(work)

    at_once(partial(create, *names), partial(create, *reversed(names)))
    with closing(open_store(neo4j_settings)) as store:
        assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/b"]
