"""An ingest killed at any point and run again loses nothing and doubles nothing."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.ingest.trajectories import many, write

ROOT = Path(__file__).parents[2]
POINTS = 20
TRAJECTORIES = 12


def test_kill_9_at_20_random_points_changes_nothing(
    store_env: Mapping[str, str], tmp_path: Path
) -> None:
    file = write(tmp_path / "file.jsonl", *many(TRAJECTORIES))
    subprocess.run(
        [sys.executable, "-m", "tests.ingest.kill_ingests", file, tmp_path, "20", str(POINTS)],
        cwd=ROOT,
        env=store_env,
        check=True,
        timeout=240,
    )
    whole = json.loads((tmp_path / "whole.json").read_text())
    assert len(whole["export"]) == TRAJECTORIES
    cut_short = 0
    for point in range(POINTS):
        held, reported = map(int, (tmp_path / f"{point}.killed").read_text().split())
        assert held >= reported, f"point {point}: what was reported is gone"
        cut_short += held < TRAJECTORIES
        assert json.loads((tmp_path / f"{point}.json").read_text()) == whole, f"point {point}"
    assert cut_short > POINTS // 2, "the kills came too late to show anything"
