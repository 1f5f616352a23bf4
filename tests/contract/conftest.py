"""The contract holds for the newest Neo4j as well; every other test of a store does without it."""

import pytest

from regraph_kg.settings import Settings


@pytest.fixture(
    params=[
        "embedded",
        pytest.param("neo4j", marks=pytest.mark.xdist_group("neo4j")),
        pytest.param("neo4j_2026", marks=pytest.mark.xdist_group("neo4j-2026")),
    ]
)
def store_settings(request: pytest.FixtureRequest) -> Settings:
    """Each backend in turn, empty."""
    settings = request.getfixturevalue(f"{request.param}_settings")
    assert isinstance(settings, Settings)
    return settings
