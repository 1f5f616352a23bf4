"""Contract: a store that cannot be had is one line, soon, and never shows the password."""

import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.ingest.pipeline import BATCH_LINES
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import plan
from tests.recount import wrong_counts
from tests.stores import address, cypher, environment

MANY = 9000  # trajectories whose ingest takes longer than the pause between two looks at it
REGRAPH = str(Path(sys.executable).parent / "regraph")


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
        GraphStore(bolt).apply_schema()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("nonsense", "nonsense: not a Bolt URI"),
        ("", ": not a Bolt URI"),
        ("http://127.0.0.1:7474", "http://127.0.0.1:7474: not a Bolt URI"),
        ("bolt://", "bolt://: not a Bolt URI"),
        ("bolt://h:port", "bolt://h:port: not a Bolt URI"),
        ("bolt://u:secret@[::1", "bolt://[::1: not a Bolt URI"),
        ("bolt://h\u202ex\n:1", r"bolt://h\u202ex\n:1: not a Bolt URI"),
        ("neo4j://u:secret@h:1", "neo4j://h:1: user and password do not belong into the URI"),
        ("bolt://h:1?policy=secret", "bolt://h:1: not a Bolt URI"),
    ],
)
def test_an_unusable_uri_is_bad_input_that_shows_it(uri: str, shown: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_store(Settings(store=uri))
    assert str(caught.value).startswith(f"store {shown}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_closing_twice_is_closing_once(store: GraphStore) -> None:
    store.close()
    store.close()


def test_a_named_database_of_neo4j_is_used(neo4j_settings: Settings) -> None:
    named = neo4j_settings.model_copy(update={"store_database": "neo4j"})
    with closing(open_store(named)) as store:
        store.merge([plan()])
    with closing(open_store(neo4j_settings)) as store:
        assert store.stats().trajectories == 1


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_reader_of_neo4j_waits_for_what_its_own_writer_wrote(
    scheme: str, neo4j_settings: Settings
) -> None:
    """A bookmark of the last write goes with every session that follows."""
    uri = neo4j_settings.store.replace("bolt://", f"{scheme}://")
    settings = neo4j_settings.model_copy(update={"store": uri})
    bolt = Bolt(address(settings))
    with closing(bolt):
        store = GraphStore(bolt)
        store.apply_schema()
        before = set(bolt._bookmarks.get_bookmarks())
        store.merge([plan()])
        after = set(bolt._bookmarks.get_bookmarks())
        assert after - before
        assert store.stats().trajectories == 1


@pytest.mark.slow
def test_a_ctrl_c_in_the_middle_of_an_ingest_is_one_line_and_run_again_it_is_whole(
    embedded_settings: Settings, tmp_path: Path
) -> None:
    env = environment(embedded_settings)
    plans = [plan(code=f"int x{number};") for number in range(MANY)]
    text = "".join(f"{plan.trajectory.model_dump_json(by_alias=True)}\n" for plan in plans)
    (tmp_path / "many.jsonl").write_text(text)
    (tmp_path / "none.json").write_text("[]")
    command = [REGRAPH, "ingest", str(tmp_path / "many.jsonl")]
    command += ["--vocabulary", str(tmp_path / "none.json")]
    running = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    count = "MATCH (t:Trajectory) RETURN count(t) AS n"
    running.send_signal(signal.SIGSTOP)  # it stands still while it is looked at, however long
    while not cypher(embedded_settings, count)[0]["n"]:
        running.send_signal(signal.SIGCONT)
        time.sleep(0.05)
        running.send_signal(signal.SIGSTOP)
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGCONT)
    out, said = running.communicate(timeout=60)
    assert (running.returncode, out) == (4, "")
    assert "run the same command again" in said
    (told,) = map(int, re.findall(r"regraph: interrupted; so far (\d+) trajectories added", said))
    with closing(open_store(embedded_settings)) as store:
        held = store.stats().trajectories
        # The batch whose commit was under way is in the graph, and in the count or not.
        assert 0 < held < MANY
        assert held - told in (0, BATCH_LINES)
        assert wrong_counts(store) == []
