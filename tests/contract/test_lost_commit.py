"""Contract: a connection that is lost during a commit makes no change twice and loses none."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.curation.curator import BoltCurator
from regraph_kg.backends.store import BoltStore
from regraph_kg.errors import StoreError
from regraph_kg.graph import GraphStore
from regraph_kg.settings import Settings
from tests.contract.curated import ME, everything, some_plans, sound
from tests.contract.proxy import Proxy, lossy

pytestmark = pytest.mark.neo4j("slow")

either_way = pytest.mark.parametrize("arrives", [True, False], ids=["committed", "not committed"])


@pytest.fixture
def far(store_settings: Settings) -> Iterator[tuple[Proxy, Bolt]]:
    """A connection through a proxy that can lose it."""
    with lossy(store_settings) as (proxy, address), closing(Bolt(address)) as bolt:
        yield proxy, bolt


@either_way
def test_a_curation_and_its_undoing_are_made_once(
    store: GraphStore, far: tuple[Proxy, Bolt], *, arrives: bool
) -> None:
    proxy, bolt = far
    curator = BoltCurator(bolt)
    store.merge(some_plans())
    before = everything(store)
    proxy.arrives = arrives
    done = curator.merge("cuda/a", ["cuda/b"], ME)
    assert (proxy.lost, done.number, done.examples, done.failures) == (1, 1, 7, 2)
    assert curator.log() == (done,)
    assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/c"]
    assert sound(store)

    proxy.arrives = arrives
    undone = curator.undo(None, ME)
    assert (proxy.lost, undone.number, undone.undoes) == (2, 2, 1)
    assert len(curator.log()) == 2
    assert everything(store) == before


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


def test_where_nobody_answers_any_more_the_log_is_named(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge(some_plans())
    with (
        lossy(store_settings) as (proxy, address),
        closing(Bolt(address, retry_seconds=0.5)) as bolt,
    ):
        proxy.arrives, proxy.gone = True, True
        with pytest.raises(
            StoreError, match="may or may not have been made; regraph techniques show --log"
        ):
            BoltCurator(bolt).merge("cuda/a", ["cuda/b"], ME)
    assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/c"]
