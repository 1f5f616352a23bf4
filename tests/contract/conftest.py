"""Fixtures of the contract tests alone."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from regraph_kg import wiring
from regraph_kg.graph import Curator, GraphStore
from regraph_kg.settings import Settings


@pytest.fixture
def curator(store: GraphStore, store_settings: Settings) -> Iterator[Curator]:
    """Curates the graph of `store`."""
    with closing(wiring.open_curator(store_settings)) as opened:
        yield opened
