"""The contract holds for the newest Neo4j as well, in the slow tests; test_newest.py tries it.

Every other test of a store does without it.
"""

from collections.abc import Iterator
from contextlib import closing

import pytest

from regraph_kg import wiring
from regraph_kg.graph import Curator, GraphStore
from regraph_kg.settings import Settings


@pytest.fixture(params=["embedded", "neo4j", pytest.param("neo4j_2026", marks=pytest.mark.slow)])
def store_settings(request: pytest.FixtureRequest) -> Settings:
    """Each backend in turn, empty."""
    settings = request.getfixturevalue(f"{request.param}_settings")
    assert isinstance(settings, Settings)
    return settings


@pytest.fixture
def curator(store: GraphStore, store_settings: Settings) -> Iterator[Curator]:
    """Curates the graph of `store`."""
    with closing(wiring.open_curator(store_settings)) as opened:
        yield opened
