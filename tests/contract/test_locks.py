"""Contract: whoever writes takes locks in one order, so that writers wait instead of clashing."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any, TypeVar

import pytest

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.purge import BoltPurge
from regraph_kg.backends.store import BoltStore
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import GraphFinding, MergePlan
from regraph_kg.models.purge import Provenance
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.contract.whole_graphs import some_plans, sound
from tests.stores import address

ROUNDS = 8
ORDER = ("trajectories", "Edges", "techniques", "Shares", "NEXT")
"""docs/dev/graph.md, section 4."""
LOCKS = {
    "claim_trajectories": "trajectories",
    "hold_trajectories": "trajectories",
    "add_to_edges": "Edges",
    "lock_techniques": "techniques",
    "lock_shares": "Shares",
    "claim_shares": "Shares",
    "lock_next": "NEXT",
    "claim_next": "NEXT",
}
"""What the statements lock first that lock anything another writer may want."""


T = TypeVar("T")
Locks = list[tuple[str, list[str]]]
"""What each statement of a transaction locks: of which level, and which ids."""


class Recording(Bolt):
    """A connection that notes what each transaction locks."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(address(settings))
        self.writes: list[Locks] = []

    def write(self, work: Callable[[Query], T]) -> T:
        """See `Bolt`."""

        def noted(ask: Query) -> T:
            locks: Locks = []
            self.writes.append(locks)

            def asked(name: str, /, **parameters: object) -> list[GraphRow]:
                if name in LOCKS:
                    locks.append((LOCKS[name], _ids(parameters)))
                return ask(name, **parameters)

            return work(asked)

        return super().write(noted)


def _ids(parameters: Mapping[str, Any]) -> list[str]:
    rows = parameters.get("rows", parameters.get("ids", [""]))
    return [
        row if isinstance(row, str) else str(row.get("id") or f"{row['source']} {row['target']}")
        for row in rows
    ]


def clashing(locks: Locks) -> list[str]:
    """What a transaction locks although it holds what comes later in the order."""
    found, held = [], set[tuple[str, str]]()
    reached = 0
    for level, ids in locks:
        new = [key for key in ids if (level, key) not in held]
        if level != "NEXT" and new != sorted(new):
            found.append(f"{level}: not sorted")
        if new and ORDER.index(level) < reached:
            found.append(f"{level} {new[:3]} after {ORDER[reached]}")
        if new:
            reached = max(reached, ORDER.index(level))
        held.update((level, key) for key in new)
    return found


def batch(number: int) -> list[MergePlan]:
    """Overlaps with its neighbours; new pairs, devices, failures with code, names."""
    paths = ("abc", "bba", "cab", "b", "ca", "dae")
    return [
        plan(
            paths[i % 6],
            code=f"int x{i};",
            problem=f"p{i % 4}",
            measurements=[
                measured(effect=1 + i / 7, run=f"{number}"),
                measured(A100 if i % 2 else f"GPU {number}", effect=2.0),
            ],
            failures=[failure("b", 1, code=f"int bad{i};"), failure("cde"[i % 3], 0)],
        )
        for i in range(4 * number, 4 * number + 8)
    ]


def every_finding(store: GraphStore) -> list[GraphFinding]:
    """As if every pair were wrong."""
    pairs = sorted({(row.source, row.target) for row in store.transitions()})
    return [GraphFinding("statistics", *pair, "", "", "") for pair in pairs]


def test_every_writer_takes_locks_in_the_one_order(
    store: GraphStore, store_settings: Settings
) -> None:
    recording = Recording(store_settings)
    with closing(recording):
        ours, purge = BoltStore(recording), BoltPurge(recording)
        list(ours.set_bound(4))
        for number in range(3):
            ours.merge(batch(number))
        ours.add_techniques([technique("a", aliases=("Ay",))])
        ours.repair(every_finding(store))
        list(ours.set_bound(2))
        list(purge.run(Provenance("problem", "p1")))
    assert sound(store)
    assert [clashing(locks) for locks in recording.writes if clashing(locks)] == []
    assert {level for locks in recording.writes for level, _ in locks} == set(ORDER)


def ingest(settings: Settings, seed: int) -> None:
    """As often as the test lasts."""
    with closing(open_store(settings)) as writer:
        for number in range(ROUNDS):
            writer.merge(batch(number + seed))


def repair(settings: Settings, done: threading.Event) -> None:
    """All pairs, over and over."""
    with closing(open_store(settings)) as store:
        while not done.is_set():
            store.repair(every_finding(store))


@pytest.mark.slow
def test_ingests_and_repairs_at_once_end_without_an_error(
    store: GraphStore, store_settings: Settings
) -> None:
    list(store.set_bound(4))
    store.add_techniques([technique(name) for name in "abcde"])
    store.merge(some_plans())
    done = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        ingests = [pool.submit(ingest, store_settings, seed) for seed in range(3)]
        repairs = [pool.submit(repair, store_settings, done)]
        wait(ingests)
        done.set()
        for one in (*ingests, *repairs):
            one.result()
    assert sound(store)
