"""Contract: a connection that is lost during a commit makes no change twice and loses none."""

from contextlib import closing

import pytest

from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.store import GraphStore
from regraph_kg.settings import Settings
from tests.contract.plans import failure, measured, plan
from tests.contract.proxy import lossy
from tests.recount import wrong_counts


@pytest.mark.parametrize("arrives", [True, False], ids=["committed", "not committed"])
def test_an_ingest_is_made_once(
    store: GraphStore, store_settings: Settings, *, arrives: bool
) -> None:
    plans = [plan("ab", problem=name, measurements=[measured()]) for name in ("one", "other")]
    plans.append(plan("b", problem="one", failures=[failure("a", 1)]))
    with lossy(store_settings) as (proxy, address), closing(Bolt(address)) as bolt:
        proxy.arrives = arrives
        counts = GraphStore(bolt).merge(plans)
        assert (proxy.lost, counts.added + counts.known) == (1, 3)
    assert sorted(one.problem for one in store.export()) == ["one", "one", "other"]
    assert wrong_counts(store) == []
