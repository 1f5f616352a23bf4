"""The contract holds for every engine; what of it the quick tests run on Neo4j is chosen.

Each statement that a quick test runs on the embedded store is run on Neo4j by one of them, too. The
marker `neo4j("slow")` stands at files whose tests show what is made of these statements, which is
the same code for every engine: there they are slow, but for those with `neo4j("quick")`. The newest
Neo4j is for nightly tests only.
"""

import pytest

from regraph_kg.settings import Settings


@pytest.fixture(params=["embedded", "neo4j", pytest.param("neo4j_2026", marks=pytest.mark.nightly)])
def store_settings(request: pytest.FixtureRequest) -> Settings:
    """Each backend in turn, empty."""
    settings = request.getfixturevalue(f"{request.param}_settings")
    assert isinstance(settings, Settings)
    return settings


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marker = item.get_closest_marker("neo4j")
        if marker and marker.args == ("slow",):
            callspec = getattr(item, "callspec", None)
            if callspec and callspec.params.get("store_settings") == "neo4j":
                item.add_marker(pytest.mark.slow)
