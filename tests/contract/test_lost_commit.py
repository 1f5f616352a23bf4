"""Contract: a connection that is lost during a commit makes no change twice and loses none."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.store import BoltStore
from regraph_kg.graph import GraphStore
from regraph_kg.settings import Settings
from tests.contract.proxy import Proxy, lossy
from tests.contract.whole_graphs import some_plans, sound

pytestmark = pytest.mark.neo4j("slow")

either_way = pytest.mark.parametrize("arrives", [True, False], ids=["committed", "not committed"])


@pytest.fixture
def far(store_settings: Settings) -> Iterator[tuple[Proxy, Bolt]]:
    """A connection through a proxy that can lose it."""
    with lossy(store_settings) as (proxy, address), closing(Bolt(address)) as bolt:
        yield proxy, bolt


@pytest.mark.neo4j("quick")
@either_way
def test_an_ingest_is_made_once(
    store: GraphStore, far: tuple[Proxy, Bolt], *, arrives: bool
) -> None:
    proxy, bolt = far
    proxy.arrives = arrives
    counts = BoltStore(bolt).merge(some_plans())
    assert proxy.lost == 1
    assert counts.added + counts.known == len(some_plans())
    assert store.stats().trajectories == len(some_plans())
    assert sound(store)
