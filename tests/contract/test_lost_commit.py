"""Contract: a connection that is lost during a commit makes no change twice and loses none."""

from contextlib import closing

import pytest

from regraph_kg.backends import write
from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.store import GraphStore
from regraph_kg.settings import Settings
from tests.contract.plans import failure, measured, plan
from tests.contract.proxy import lossy
from tests.recount import wrong_counts


@pytest.mark.parametrize("arrives", [True, False], ids=["committed", "not committed"])
def test_an_ingest_and_a_purge_are_made_once(
    store: GraphStore, store_settings: Settings, *, arrives: bool
) -> None:
    plans = [plan("ab", problem=name, measurements=[measured()]) for name in ("kept", "gone")]
    plans.append(plan("b", problem="kept", failures=[failure("a", 1)]))
    with lossy(store_settings) as (proxy, address), closing(Bolt(address)) as bolt:
        proxy.arrives = arrives
        counts = GraphStore(bolt).merge(plans)
        assert (proxy.lost, counts.added + counts.known) == (1, 3)
        assert wrong_counts(store) == []
        proxy.arrives = arrives
        bolt.write(lambda ask: write.delete(ask, [plans[1].trajectory.id]))
        assert proxy.lost == 2
    assert [one.problem for one in store.export()] == ["kept", "kept"]
    assert wrong_counts(store) == []
