"""Contract: what is read back is whole, whoever writes between two statements or within one."""

from collections.abc import Callable
from contextlib import closing

import pytest

from regraph_kg.backends import store
from regraph_kg.backends.bolt import Bolt, GraphRow, Query, T
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.settings import Settings
from tests.contract.plans import plan
from tests.stores import address, cypher

pytestmark = pytest.mark.neo4j("slow")

Seen = Callable[[str, list[GraphRow]], list[GraphRow]]


class Watched(Bolt):
    """Every statement's rows go through `seen`."""

    seen: Seen = staticmethod(lambda _name, rows: rows)

    def read(self, work: Callable[[Query], T]) -> T:
        def watched(ask: Query) -> T:
            return work(lambda name, /, **given: self.seen(name, ask(name, **given)))

        return super().read(watched)


def exported(settings: Settings, seen: Seen) -> list[str]:
    with closing(Watched(address(settings))) as bolt:
        bolt.seen = seen  # type: ignore[method-assign]
        return [one.trajectory.problem for one in store.GraphStore(bolt).stored()]


def test_a_trajectory_that_a_server_shows_in_mid_commit_is_read_again(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge([plan("ab", problem=f"p{n}", code=f"int x{n};") for n in range(4)])
    hidden = iter(range(3))

    def torn(name: str, rows: list[GraphRow]) -> list[GraphRow]:
        if name == "page_of_trajectories" and next(hidden, None) is not None:
            return [*rows[:-1], rows[-1] | {"steps": None}]
        return rows

    assert sorted(exported(store_settings, torn)) == ["p0", "p1", "p2", "p3"]


def test_an_export_of_a_graph_that_lacks_steps_says_so(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge([plan("ab")])
    cypher(store_settings, "MATCH (s:Steps) DELETE s")
    with pytest.raises(StoreError):
        list(store.export())
