"""Tests that share a server run in one process, which they name by what they ask for."""

import pytest

from tests.scopes import scope


def test_what_shares_nothing_goes_by_itself(request: pytest.FixtureRequest) -> None:
    assert scope(request.node) == request.node.nodeid


@pytest.mark.xdist_group("a group")
def test_what_names_a_group_goes_with_it(request: pytest.FixtureRequest) -> None:
    assert scope(request.node) == "a group"


@pytest.mark.parametrize("store_settings", ["neo4j"])
def test_what_will_ask_for_a_server_counts_too(
    store_settings: str, request: pytest.FixtureRequest
) -> None:
    assert scope(request.node) == "neo4j"
