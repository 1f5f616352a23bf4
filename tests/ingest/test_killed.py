"""Whoever is killed in the middle of an ingest, writer or server: nothing is lost or doubled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import install
from tests.requirement import require

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("store", "writers", "servers"), [("embedded", 3, 1), ("neo4j", 2, 1)])
def test_kill_9_at_random_moments_changes_nothing(
    store: str, writers: int, servers: int, tmp_path: Path
) -> None:
    """A few rounds; a restart of Neo4j takes seconds."""
    missing = install.neo4j_missing() if store == "neo4j" else None
    if missing is not None:
        require("neo4j", missing)
    command = [sys.executable, "-m", "tests.ingest.kills", store, tmp_path, "1"]
    command += [str(writers), str(servers)]
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=240
    )
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(one["victim"] for one in rounds) == ["server"] * servers + ["writer"] * writers
    for one in rounds:
        assert one["lost"] == 0, one
        assert one["equal"], one
        assert one["findings"] == 0, one
    assert any(one["held"] < one["of"] for one in rounds), "the kills came too late"
