"""`regraph doctor`: what is green, red and absent, and that each red row says how to mend it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation import doctor as doctor_module
from regraph_kg.evaluation.doctor import (
    Check,
    CheckRow,
    Found,
    Scope,
    checks,
    rows,
)
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings
from tests.stores import stop_embedded

from .conftest import HERE

pytestmark = pytest.mark.nightly

COMMAND = "from regraph_kg.cli.app import main; main()"
Faults = Callable[..., None]


def looked_at(scope: Scope, part: str) -> dict[str, CheckRow]:
    """Rows of one part, by name."""
    return {row.name: row for row in rows(c for c in checks(scope) if c[0] == part)}


def refuse() -> Found:
    raise ToolError("fan: stands still; turn it on")


def break_() -> Found:
    raise ZeroDivisionError("division\nby zero")


def test_a_check_that_raises_is_a_red_row() -> None:
    first, second = rows([Check("part", "fan", refuse), Check("part", "sum", break_)])
    assert first == CheckRow("red", "fan: stands still", "turn it on", "fan", part="part")
    assert (second.state, second.found) == ("red", "ZeroDivisionError: division by zero")


def test_this_machine_is_looked_at_for_real(cache: Path) -> None:
    machine = looked_at(Scope(cache, "openmp"), "machine")
    assert set(machine) >= {"cores", "memory", "clock", "cache folder", "temporary folder"}
    assert str(cache) in machine["cache folder"].found
    assert all(row.remedy for row in machine.values() if row.state == "red")
    compilers = looked_at(Scope(cache, "openmp"), "compilers")
    assert compilers["g++"].state == "green"
    threads = len(os.sched_getaffinity(0))
    assert compilers["g++ -fopenmp"].found == f"{threads} threads"


def test_a_folder_that_cannot_be_written_is_red_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    row = looked_at(Scope(tmp_path / "file" / "cache", "openmp"), "machine")["cache folder"]
    assert row.state == "red"
    assert "Not a directory" in row.found
    assert "REGRAPH_CACHE_DIR" in row.remedy


def test_no_compiler_is_red_and_no_crash(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    compilers = looked_at(Scope(cache), "compilers")
    assert compilers["g++"].state == "red"
    assert "apt install g++" in compilers["g++"].remedy
    assert looked_at(Scope(cache), "GPU")["driver"].state == "absent"


def test_what_was_asked_for_is_red_where_it_is_absent(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert looked_at(Scope(cache, "cuda"), "GPU")["driver"].state == "red"


@pytest.mark.usefixtures("pretended_gpu")
def test_a_gpu_that_works_is_green(cache: Path, faults: Faults) -> None:
    faults()
    found = looked_at(Scope(cache), "GPU")
    assert {row.state for row in found.values()} == {"green"}, found
    assert found["driver"].found == "Fake GPU, sm_90, driver 1.0"
    assert "sm_90" in looked_at(Scope(cache), "compilers")["nvcc"].found


@pytest.mark.usefixtures("pretended_gpu")
def test_the_driver_is_asked_once_which_gpu_there_is(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, log = shutil.which("nvidia-smi"), tmp_path / "asked"
    counting = tmp_path / "nvidia-smi"
    counting.write_text(f'#!/bin/sh\necho "$@" >>{log}\nexec {real} "$@"\n')
    counting.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    list(rows(checks(Scope(cache, quick=True))))
    assert log.read_text().count("--query-gpu=name,") == 1


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    ("fault", "name", "says", "remedy"),
    [
        ("smi 1", "driver", "GPU is lost", "reset the GPU"),
        ("ecc 3", "memory", "3 uncorrected errors", "--gpu-reset"),
        ("cudaFree 100", "context", "no CUDA-capable device", "nvidia-smi"),
        ("held 1", "context", "12.0 of 16.0 GiB", "end the other processes"),
    ],
)
def test_an_ill_gpu_is_red(
    cache: Path, faults: Faults, fault: str, name: str, says: str, remedy: str
) -> None:
    faults(fault)
    row = looked_at(Scope(cache, "cuda"), "GPU")[name]
    assert row.state == "red"
    assert says in row.found
    assert remedy in row.remedy


def test_peaks_are_measured_once_and_not_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_module, "used_by_others", lambda: 99.0)
    scope = Scope(tmp_path, "openmp")
    cores = looked_at(scope, "machine")["cores"]
    assert (cores.state, "others use 99.0" in cores.found) == ("red", True)
    busy = looked_at(scope, "peaks")["openmp"]
    assert (busy.state, busy.remedy) == ("absent", "run regraph doctor --remeasure when it is idle")
    monkeypatch.setattr(doctor_module, "used_by_others", lambda: 0.0)
    assert looked_at(scope, "machine")["cores"].state == "green"
    measured = looked_at(scope, "peaks")["openmp"]
    assert measured.state == "green"
    assert "GB/s" in measured.found
    monkeypatch.setattr(doctor_module, "measure_peaks", refuse)
    assert looked_at(scope, "peaks")["openmp"] == measured


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_quick_measures_nothing(cache: Path, target: Target) -> None:
    assert not [c for c in checks(Scope(cache, target, quick=True)) if c[0] == "peaks"]


def doctor(tmp_path: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    ours = {name: value for name, value in os.environ.items() if not name.startswith("REGRAPH_")}
    folders = {
        "REGRAPH_DATA_DIR": str(tmp_path / "data"),
        "REGRAPH_CACHE_DIR": str(tmp_path / "cache"),
    }
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "doctor", *words],
        env={**ours, **folders, **env},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_command_looks_at_store_and_models(tmp_path: Path) -> None:
    done = doctor(tmp_path, "--quick", "--target", "openmp", "--json")
    stop_embedded(Settings(data_dir=tmp_path / "data"))
    found = {(row["part"], row["name"]): row for row in json.loads(done.stdout)}
    assert found["graph", "store"]["state"] == "green", found["graph", "store"]
    assert "answers; schema" in found["graph", "store"]["found"]
    assert found["models", "model recorded"]["state"] == "green"
    assert done.returncode == int(any(row["state"] == "red" for row in found.values()))
    assert done.stderr == ""


def test_dead_servers_are_red_and_no_secret_is_shown(tmp_path: Path) -> None:
    done = doctor(
        tmp_path,
        *("--quick", "--target", "openmp"),
        COLUMNS="200",
        REGRAPH_STORE="bolt://127.0.0.1:1",
        REGRAPH_STORE_PASSWORD="hunter2",
        REGRAPH_MODEL="ollama:qwen3",
        REGRAPH_OLLAMA_URL="http://me:hunter3@127.0.0.1:1",
    )
    assert done.returncode == 1, done.stderr
    assert "hunter" not in done.stdout + done.stderr
    assert "no Ollama answers at http://127.0.0.1:1" in done.stdout
    assert "ollama serve" in done.stdout
    assert "127.0.0.1:1" in done.stdout.partition("graph")[2].partition("models")[0]
    assert " red, " in done.stdout.splitlines()[-1]


def test_a_wrong_setting_is_bad_input(tmp_path: Path) -> None:
    done = doctor(tmp_path, "--quick", REGRAPH_STORE_IDLE_SECONDS="-1")
    assert done.returncode == 2
    assert "store_idle_seconds" in done.stderr
