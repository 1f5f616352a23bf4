"""`regraph doctor`: what is green, red and absent, and that each red row says how to mend it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation import doctor as doctor_module
from regraph_kg.evaluation.doctor import (
    EXPLOITS,
    Check,
    CheckRow,
    Found,
    Scope,
    checks,
    exploits,
    header,
    problem_of,
    rows,
)
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import Target
from regraph_kg.settings import Settings
from tests.stores import stop_embedded

from .conftest import HERE

pytestmark = pytest.mark.nightly

COMMAND = "from regraph_kg.cli.app import main; main()"
WRONG = """// tries: nothing
// outcome: {outcome}
// problem: smooth
extern "C" void smooth(const float *, float *, int *, int) {{}}
"""
Faults = Callable[..., None]


def looked_at(scope: Scope, part: str) -> dict[str, CheckRow]:
    """Rows of one part, by name."""
    return {row.name: row for row in rows(c for c in checks(scope) if c[0] == part)}


def refuse() -> Found:
    raise ToolError("fan: stands still; turn it on")


def break_() -> Found:
    raise ZeroDivisionError("division\nby zero")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two exploits: one that is caught as its header says, one that its header takes for passed."""
    made = tmp_path / "exploits"
    (made / "openmp").mkdir(parents=True)
    shutil.copytree(EXPLOITS / "problem" / "smooth", made / "problem" / "smooth")
    (made / "openmp" / "caught.cpp").write_text(WRONG.format(outcome="crashed | wrong_answer"))
    (made / "openmp" / "missed.cpp").write_text(WRONG.format(outcome="crashed"))
    (made / "honest" / "openmp").mkdir(parents=True)
    shutil.copy(
        made / "problem" / "smooth" / "serial.cpp", made / "honest" / "openmp" / "serial.cpp"
    )
    return made


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


def test_exploits_are_judged_and_honest_code_beside_them(cache: Path, folder: Path) -> None:
    with exploits(Scope(cache, "openmp"), folder) as played:
        found = {row.name: row for row in rows(played)}
    assert list(found) == ["caught", "missed", "honest serial"]
    assert found["caught"].state == "green"
    assert (found["caught"].expected, found["caught"].found) == (
        "crashed or wrong_answer",
        "wrong_answer",
    )
    assert (found["missed"].state, found["missed"].found) == ("red", "wrong_answer")
    assert found["missed"].remedy
    assert found["honest serial"].state == "green", found["honest serial"]


@pytest.mark.nightly
def test_an_exploit_that_does_its_harm_is_red_though_its_outcome_is_right(
    cache: Path, folder: Path
) -> None:
    """Honest code that is fast stands for an exploit that gains time."""
    right = folder / "problem" / "smooth" / "serial.cpp"
    for name, harm in (("caught", "slow"), ("missed", "fast")):
        code = f"// outcome: passed\n// harm: {harm}\n{right.read_text()}"
        (folder / "openmp" / f"{name}.cpp").write_text(code)
    text = right.read_text()
    assert text.startswith('extern "C" void smooth(')
    wasted = "{ for (volatile int spin = 0; spin < 40 * n; spin = spin + 1);"
    right.write_text(text.replace("{", wasted, 1))
    with exploits(Scope(cache, "openmp"), folder) as played:
        caught, missed, _ = rows(played)
    assert (caught.state, caught.found, caught.expected) == ("green", "passed", "passed, not slow")
    assert (missed.state, missed.found, missed.expected) == (
        "red",
        "passed, fast",
        "passed, not fast",
    )


def test_exploits_of_one_problem_are_judged_together(tmp_path: Path) -> None:
    with exploits(Scope(tmp_path, "openmp")) as played:
        names = [name for _, name, *_ in played if not name.startswith("honest")]
    problems = [problem_of(EXPLOITS / "openmp" / f"{name}.cpp") for name in names]
    assert problems == sorted(problems)


@pytest.mark.parametrize(("target", "suffix"), [("openmp", "cpp"), ("cuda", "cu")])
def test_the_shipped_exploits_can_be_judged_as_they_are(target: str, suffix: str) -> None:
    paths = sorted((EXPLOITS / target).glob(f"*.{suffix}"))
    assert len(paths) >= 12
    for path in paths:
        code = path.read_text(encoding="utf-8")
        fields = header(code)
        assert {Outcome(name) for name in fields["outcome"].split(" | ")}
        assert fields.get("harm") in (None, "fast", "slow"), path.name
        assert problem_of(path).is_dir(), path.name
        assert not re.search(r"@[A-Z_]+@", code), path.name
    assert list((EXPLOITS / "honest" / target).glob(f"*.{suffix}"))


@pytest.mark.parametrize("scope_target", ["openmp", "cuda"])
def test_quick_judges_nothing(cache: Path, folder: Path, scope_target: Target) -> None:
    with exploits(Scope(cache, scope_target, quick=True), folder) as played:
        assert played == ()
    assert not [c for c in checks(Scope(cache, scope_target, quick=True)) if c[0] == "peaks"]


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
