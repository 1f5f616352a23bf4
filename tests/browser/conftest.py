"""The sample graph, grown once for all tests of this folder's modules."""

from collections.abc import Iterator

import pytest

from regraph_kg.settings import Settings
from tests.browser.sample import grow
from tests.stores import wipe


@pytest.fixture(scope="module")
def sample(neo4j_server: Settings) -> Iterator[Settings]:
    """A Neo4j that holds the sample graph; read it only."""
    wipe(neo4j_server)
    grow(neo4j_server)
    yield neo4j_server
    wipe(neo4j_server)
