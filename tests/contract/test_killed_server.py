"""Neo4j is killed in the middle of an ingest and of a purge: the same command again ends it."""

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.purge import BoltPurge
from regraph_kg.backends.store import BoltStore
from regraph_kg.errors import StoreError
from regraph_kg.models.purge import Provenance
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_purge, open_store
from tests import install_neo4j
from tests.contract.whole_graphs import some_plans
from tests.install_neo4j import LONG_TERM, NEWEST, Release
from tests.neo4j_server import prepared, running
from tests.requirement import require
from tests.stores import address

pytestmark = pytest.mark.slow
T = TypeVar("T")


class Deadly(Bolt):
    """A connection over which the server is killed: before a statement, or as it commits."""

    def __init__(self, settings: Settings, kill: Callable[[], None], at: str) -> None:
        super().__init__(address(settings), retry_seconds=0.5)
        self._kill, self._at = kill, at

    def write(self, work: Callable[[Query], T]) -> T:
        """See `Bolt`."""

        def fatal(ask: Query) -> T:
            def asked(name: str, /, **parameters: object) -> list[GraphRow]:
                if name == self._at:
                    self._kill()
                return ask(name, **parameters)

            done = work(asked)
            if self._at == "commit":
                threading.Timer(0.002, self._kill).start()
            return done

        return super().write(fatal)


@pytest.fixture(params=[(LONG_TERM, "set_shares"), (NEWEST, "commit")], ids=["5", "2026"])
def release_and_moment(request: pytest.FixtureRequest) -> tuple[Release, str]:
    """A release that is installed here, and when it is killed."""
    found: tuple[Release, str] = request.param
    if reason := install_neo4j.missing(found[0]):
        require(found[0].requirement, reason)
    return found


def test_a_server_killed_in_an_ingest_and_in_a_purge_leaves_a_graph_that_both_finish(
    release_and_moment: tuple[Release, str], tmp_path: Path
) -> None:
    release, at = release_and_moment
    own = prepared(tmp_path, release)
    with running(own, release) as server:
        with closing(open_store(own)) as store:
            first, *rest = some_plans()
            store.merge([first])
        with closing(Deadly(own, server.kill, at)) as bolt, suppress(StoreError):
            BoltStore(bolt).merge(rest)
        server.wait(60)
    with running(own, release) as server:
        with closing(open_store(own)) as store:
            assert store.check() == ()
            store.merge(rest)  # all known, where it was committed before the kill
            assert store.check() == ()
            assert len(list(store.export())) == len(some_plans())
        with closing(Deadly(own, server.kill, at)) as bolt, suppress(StoreError):
            list(BoltPurge(bolt).run(Provenance("problem", "sum")))
        server.wait(60)
    with (
        running(own, release),
        closing(open_store(own)) as store,
        closing(open_purge(own)) as purge,
    ):
        assert store.check() == ()
        list(purge.run(Provenance("problem", "sum")))
        assert store.check() == ()
        assert {one.problem for one in store.export()} == {"saxpy", "dot", "max", "min"}
