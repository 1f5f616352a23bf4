"""Neo4j is killed in the middle of a merge: the same command again ends it."""

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import pytest

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import MergePlan
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests import install
from tests.contract.plans import A100, failure, measured, plan
from tests.install import LONG_TERM, NEWEST, Release
from tests.neo4j_server import prepared, running
from tests.recount import wrong_counts
from tests.requirement import require
from tests.stores import address

pytestmark = pytest.mark.nightly
T = TypeVar("T")


def some_plans(problem: str) -> list[MergePlan]:
    """Paths with loops, two devices, and failures."""
    return [
        plan("abc", problem=problem, measurements=[measured(), measured(A100, effect=4.0)]),
        plan("bab", problem=problem, failures=[failure("b", 1), failure("c", 2)]),
    ]


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


@pytest.fixture(params=[(LONG_TERM, "claim_next"), (NEWEST, "commit")], ids=["5", "2026"])
def release_and_moment(request: pytest.FixtureRequest) -> tuple[Release, str]:
    """A release that is installed here, and when it is killed."""
    found: tuple[Release, str] = request.param
    if reason := install.neo4j_missing(found[0]):
        require(found[0].requirement, reason)
    return found


def test_a_server_killed_in_a_merge_leaves_a_graph_that_the_same_merge_finishes(
    release_and_moment: tuple[Release, str], tmp_path: Path
) -> None:
    release, at = release_and_moment
    own = prepared(tmp_path, release)
    with running(own, release) as server:
        with closing(open_store(own)) as store:
            store.merge(some_plans("before"))
        with closing(Deadly(own, server.kill, at)) as bolt, suppress(StoreError):
            GraphStore(bolt).merge(some_plans("killed"))
        server.wait(60)
    with running(own, release), closing(open_store(own)) as store:
        assert wrong_counts(store) == []
        store.merge(some_plans("killed"))
        assert store.stats().trajectories == 4
        assert wrong_counts(store) == []
