"""Eight `regraph ingest` at once, each a process, fill a fresh Neo4j and end clean."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.settings import Settings
from tests import install_neo4j
from tests.ingest.trajectories import measured, row
from tests.neo4j_server import started
from tests.requirement import require
from tests.stores import cypher, environment

pytestmark = pytest.mark.slow

REGRAPH = str(Path(sys.executable).parent / "regraph")
WRITERS = 8
OWN, SHARED = 125, 40
"""Trajectories of one file alone, and those that every second file has; two examples each. The
index of vectors is made at 2,000."""
LABELS = [f"Trick {letter * 3}" for letter in "abcdefghijklmnopqrstuvwxyz"]


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Settings]:
    """A Neo4j that nothing was ever written to."""
    missing = install_neo4j.missing()
    if missing is not None:
        require("neo4j", missing)
    with started(tmp_path) as settings:
        yield settings


def line(number: int) -> dict[str, Any]:
    """A trajectory; a fifth of the techniques is in no vocabulary."""
    one = row(number, LABELS[number * 7 % 26], LABELS[(number * 11 + number // 26) % 26])
    for step in one["steps"]:
        step |= {"reasoning": f"why {number}", "measurements": [measured(0.5)]}
    return one | {"ref": f"ref {number}"}


def write_files(folder: Path) -> list[Path]:
    """A file for each writer; half of them share trajectories."""
    paths = []
    for writer in range(WRITERS):
        first = 1000 * writer
        numbers = [*range(first, first + OWN), *range(100_000, 100_000 + SHARED * (writer % 2))]
        paths.append(folder / f"{writer}.jsonl")
        paths[-1].write_text("".join(json.dumps(line(number)) + "\n" for number in numbers))
    return paths


def run(env: dict[str, str], files: Sequence[Path]) -> list[tuple[int | None, str, str]]:
    """Exit code and output of one `regraph ingest` for each file, all at once."""
    at_once = [
        subprocess.Popen(
            [REGRAPH, "ingest", file, "--json", "--writers", f"{1 + number % 4 // 3}"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, file in enumerate(files)
    ]
    said = [one.communicate(timeout=240) for one in at_once]
    return [(one.returncode, *texts) for one, texts in zip(at_once, said, strict=True)]


def test_eight_command_lines_fill_a_fresh_neo4j(fresh: Settings, tmp_path: Path) -> None:
    files = write_files(tmp_path)
    env = environment(fresh, tmp_path / "data") | {"REGRAPH_CACHE_DIR": str(tmp_path / "cache")}
    env["PATH"] = os.environ["PATH"]
    ended = run(env, files)
    assert [(code, err) for code, _, err in ended] == [(0, "")] * WRITERS
    told = [json.loads(out) for _, out, _ in ended]
    distinct = WRITERS * OWN + SHARED
    assert sum(one["added"] for one in told) == distinct
    assert sum(one["known"] for one in told) == (WRITERS // 2 - 1) * SHARED
    subprocess.run([REGRAPH, "graph", "check"], env=env, check=True, stdout=subprocess.DEVNULL)
    (rows,) = cypher(fresh, "MATCH (t:Trajectory) RETURN count(*) AS n, count(DISTINCT t.ref) AS r")
    assert rows == {"n": distinct, "r": distinct}
    indexes = "SHOW VECTOR INDEXES YIELD name, state RETURN name, state ORDER BY name"
    assert cypher(fresh, indexes) == [
        {"name": f"transition_{of}", "state": "ONLINE"} for of in ("code_embedding", "embedding")
    ]
    (bare,) = cypher(
        fresh, "MATCH ()-[r:TRANSITION]->() WHERE r.embedding IS NULL RETURN count(*) AS n"
    )
    assert bare["n"] == 0
