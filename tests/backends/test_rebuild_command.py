"""`regraph ingest --rebuild` as it is typed."""

from contextlib import closing
from pathlib import Path

import pytest

from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import measured, plan
from tests.in_process import typed
from tests.recount import wrong_counts
from tests.stores import cypher, environment


@pytest.fixture(autouse=True)
def ten_examples(monkeypatch: pytest.MonkeyPatch, embedded_settings: Settings) -> None:
    """The command's graph has ten examples of one pair."""
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    with closing(open_store(embedded_settings)) as store:
        store.merge(
            [
                plan("a", code=f"int x{n};", measurements=[measured(effect=1.0 + n)])
                for n in range(10)
            ]
        )


def test_a_rebuild_mends_what_follows_from_trajectories(embedded_settings: Settings) -> None:
    cypher(embedded_settings, "MATCH ()-[n:NEXT]->() SET n.tried = 99")
    with closing(open_store(embedded_settings)) as store:
        assert wrong_counts(store)
        assert typed("ingest", "--rebuild").code == 0
        assert wrong_counts(store) == []


def test_a_rebuild_takes_no_file(tmp_path: Path) -> None:
    assert typed("ingest", "--rebuild", str(tmp_path / "any.jsonl")).code == 2
