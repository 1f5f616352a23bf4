"""`regraph store`: what it prints and how it ends."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from regraph_kg import wiring
from regraph_kg.settings import Settings

REGRAPH = str(Path(sys.executable).parent / "regraph")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    wiring.stop_embedded(Settings(data_dir=tmp_path))


def regraph(folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [REGRAPH, *arguments],
        env=os.environ | {"REGRAPH_DATA_DIR": str(folder)} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_start_status_stop(folder: Path) -> None:
    code, out, _ = regraph(folder, "store", "status")
    assert (code, out) == (1, f"embedded store: not running; data in {folder / 'store'}\n")

    code, out, err = regraph(folder, "store", "start", REGRAPH_STORE_IDLE_SECONDS="90")
    assert (code, err) == (0, "")
    assert out.startswith("embedded store: started in ")
    assert out.endswith(f"data in {folder / 'store'}, ends after 90 s without a client\n")

    code, out, _ = regraph(folder, "store", "start")
    assert (code, out[:29]) == (0, "embedded store: runs already;")
    code, out, _ = regraph(folder, "store", "status")
    assert (code, out[:29]) == (0, "embedded store: running since")

    code, out, _ = regraph(folder, "store", "stop")
    assert (code, out[:33]) == (0, "embedded store: stopped (process ")
    assert regraph(folder, "store", "stop") == (0, "embedded store: was not running\n", "")


def test_start_and_stop_are_not_for_a_server(folder: Path) -> None:
    for command in ("start", "stop"):
        code, out, err = regraph(folder, "store", command, REGRAPH_STORE="bolt://127.0.0.1:1")
        assert (code, out) == (2, "")
        assert err == (
            "regraph: store: REGRAPH_STORE names a server;"
            " start and stop are for the embedded store only\n"
        )


def test_status_of_a_server_that_is_down_ends_with_3(folder: Path) -> None:
    code, out, err = regraph(folder, "store", "status", REGRAPH_STORE="bolt://127.0.0.1:1")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert "not reachable" in err


def test_status_of_a_neo4j_that_answers(folder: Path, neo4j_settings: Settings) -> None:
    password = neo4j_settings.store_password.get_secret_value()
    code, out, _ = regraph(
        folder,
        "store",
        "status",
        REGRAPH_STORE=neo4j_settings.store,
        REGRAPH_STORE_PASSWORD=password,
    )
    assert (code, out) == (0, f"{neo4j_settings.store}: answers\n")
