"""Tests that share a server run in one process, which they name by what they ask for."""

import pytest

from regraph_kg.settings import Settings
from tests.scopes import scope


def test_what_shares_nothing_goes_by_itself(request: pytest.FixtureRequest) -> None:
    assert scope(request.node) == request.node.nodeid


@pytest.mark.xdist_group("a group")
def test_what_names_a_group_goes_with_it(request: pytest.FixtureRequest) -> None:
    assert scope(request.node) == "a group"


def test_what_asks_for_a_store_goes_where_it_runs(
    store_settings: Settings, request: pytest.FixtureRequest
) -> None:
    embedded = store_settings.store == "embedded"
    assert scope(request.node) == ("embedded" if embedded else "neo4j")


def test_what_a_fixture_asks_for_counts_too(
    embedded_settings: Settings, request: pytest.FixtureRequest
) -> None:
    assert scope(request.node) == "embedded"
