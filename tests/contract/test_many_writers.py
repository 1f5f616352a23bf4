"""Contract: eight processes ingest overlapping files while two read; nothing is lost or doubled."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.graph import GraphStore
from regraph_kg.settings import Settings
from tests.contract.holdings import holdings, ingest_in_turn
from tests.contract.overlap import Sums, reckon, write_files
from tests.stores import cypher, environment, wipe

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WRITERS, READERS = 8, 2
TRAJECTORIES = 48
BOUND = 4
"""So small that TRANSITIONs make room all the time."""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """What the writers ingest."""
    return write_files(tmp_path, WRITERS, trajectories=TRAJECTORIES)


def ingest_at_once(settings: Settings, folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """What the processes told."""
    subprocess.run(
        [sys.executable, "-m", "tests.contract.crowd", folder, str(READERS)],
        cwd=ROOT,
        env=environment(settings),
        check=True,
        timeout=240,
    )
    told = json.loads((folder / "told.json").read_text())
    assert len(told) == WRITERS + READERS, sorted(told)
    return {str(name): report for name, report in told.items()}


def placed(settings: Settings) -> tuple[list[str], int]:
    """Ids of all trajectories with their texts, one a step, and the most TRANSITIONs of a pair."""
    rows = cypher(
        settings,
        "MATCH (s)-[r:TRANSITION]->(d) RETURN s.id + ' ' + d.id AS pair, count(r) AS kept",
    )
    texts = cypher(settings, "MATCH (s:Steps) UNWIND s.codes AS code RETURN s.id + code AS id")
    return sorted(str(row["id"]) for row in texts), max(row["kept"] for row in rows)


def test_eight_writers_and_two_readers(
    store: GraphStore, store_settings: Settings, files: Sequence[Path], tmp_path: Path
) -> None:
    list(store.set_bound(BOUND))
    told = ingest_at_once(store_settings, tmp_path)
    assert [report["error"] for report in told.values() if "error" in report] == []
    for reader in range(READERS):
        assert told[f"reader {reader}"]["strange"] == []
        assert told[f"reader {reader}"]["steps"] > 5

    right = reckon(files)
    rows = {((row.source, row.target), row.device): row for row in store.transitions()}
    assert {
        key: Sums(
            row.tried,
            row.verified,
            row.verified_first,
            row.sum_log2_effect,
            row.best_effect,
            Counter(row.failed),
        )
        for key, row in rows.items()
        if row.tried
    } == right.trials
    ids, most = placed(store_settings)
    assert len(ids) == len(set(ids)) == right.examples.total()
    assert most <= BOUND + BOUND // 4
    assert store.stats().trajectories == right.trajectories
    assert store.check() == ()

    together = holdings(store)
    assert together["examples"] == right.examples
    wipe(store_settings)
    store.apply_schema()
    list(store.set_bound(BOUND))
    ingest_in_turn(store, files)
    assert holdings(store) == together
