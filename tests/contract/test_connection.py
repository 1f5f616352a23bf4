"""Contract: a store that cannot be had is one line, soon, and never shows the password."""

import socket
import time
from contextlib import closing
from dataclasses import replace

import pytest

from regraph_kg import wiring
from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.store import BoltStore
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.graph import GraphStore
from regraph_kg.settings import Settings
from tests.contract.plans import plan
from tests.stores import address


def test_a_wrong_password_is_one_line_that_names_the_user(store_settings: Settings) -> None:
    right = address(store_settings)
    wrong = replace(right, password="not-the-password")
    with pytest.raises(StoreError, match=f"login of '{right.user}' refused") as caught:
        Bolt(wrong)
    assert "\n" not in str(caught.value)
    assert "not-the-password" not in str(caught.value) + repr(wrong)


def test_a_server_that_is_down_is_one_line_within_seconds(store_settings: Settings) -> None:
    right = address(store_settings)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, never listening: nobody answers here
        uri = f"bolt://127.0.0.1:{unused.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(StoreError, match="not reachable") as caught:
            Bolt(replace(right, uri=uri))
    assert time.monotonic() - start < 5
    assert "\n" not in str(caught.value)


def test_an_absent_database_is_named(store_settings: Settings) -> None:
    bolt = Bolt(replace(address(store_settings), database="absent"))
    with pytest.raises(StoreError, match="absent") as caught, closing(bolt):
        BoltStore(bolt).apply_schema()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("uri", ["nonsense", "http://127.0.0.1:7474", "neo4j://u:secret@h:1"])
def test_an_unusable_uri_is_bad_input(uri: str) -> None:
    with pytest.raises(BadInput, match="not a Bolt URI") as caught:
        wiring.open_store(Settings(store=uri))
    assert "secret" not in str(caught.value)


def test_what_was_saved_is_there_after_reopening(store_settings: Settings) -> None:
    first = wiring.open_store(store_settings)
    first.merge([plan()])
    saved = (tuple(first.export()), first.transitions(), first.techniques())
    first.close()
    second = wiring.open_store(store_settings)
    assert (tuple(second.export()), second.transitions(), second.techniques()) == saved
    assert len(saved[0]) == 1
    second.close()


def test_closing_twice_is_closing_once(store: GraphStore) -> None:
    store.close()
    store.close()


def test_a_routed_uri_reaches_the_same_graph(neo4j_settings: Settings) -> None:
    routed = neo4j_settings.store.replace("bolt://", "neo4j://")
    with closing(wiring.open_store(neo4j_settings)) as store:
        store.merge([plan()])
    with closing(wiring.open_store(neo4j_settings.model_copy(update={"store": routed}))) as store:
        assert store.stats().trajectories == 1
