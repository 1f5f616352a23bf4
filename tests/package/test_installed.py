"""Wheel and sdist in empty environments: what a user without the checkout gets, works.

Not covered: other versions of Python than the one that runs this; machines without a compiler.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.requirement import require

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "corpus" / "trajectories"
STOP_STORE = """
import os, signal, time
from regraph_kg.backends import embedded
from regraph_kg.settings import read_settings
folder = read_settings().data_dir / "store"
if state := embedded.find(folder):
    os.kill(state.pid, signal.SIGTERM)
while embedded.running(folder):
    time.sleep(0.1)
"""
KINDS = ("wheel", "sdist")
BUILD = """
import sys
from setuptools import build_meta
folder = sys.argv[1]  # setuptools writes another argv
build_meta.build_sdist(folder)
build_meta.build_wheel(folder)
"""

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("package"),  # built and installed once
]


def empty_environment(folder: Path) -> Path:
    """A new environment's Python."""
    made = ["uv", "venv", "-q", "--python", sys.executable, str(folder)]
    subprocess.run(
        made if shutil.which("uv") else [sys.executable, "-m", "venv", str(folder)], check=True
    )
    return folder / "bin" / "python"


def install(python: Path, *what: str) -> subprocess.CompletedProcess[str]:
    """Install packages into an environment, with uv where it is there: it is quicker."""
    uv = ["uv", "pip", "install", "-q", "--python", str(python)]
    pip = [str(python), "-m", "pip", "install", "-q"]
    command = [*(uv if shutil.which("uv") else pip), *what]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def copied(folder: Path) -> Path:
    """What is tracked or new here, as it stands: a build leaves litter beside its sources."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if os.path.lexists(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """The wheel and the sdist of this tree."""
    folder = tmp_path_factory.mktemp("built")
    python = empty_environment(folder / "tools")
    done = install(python, "setuptools>=77")
    if done.returncode != 0:
        require("network", f"no package index: {done.stderr.strip().splitlines()[-1]}")
    source = copied(folder / "source")
    command = [str(python), "-c", BUILD, str(folder)]
    made = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@dataclass(frozen=True)
class Installed:
    """An installation, and an empty folder of a user who has never used it."""

    bin: Path
    folder: Path

    @property
    def env(self) -> dict[str, str]:
        bare = {name: value for name, value in os.environ.items() if not _ours(name)}
        return bare | {"HOME": str(self.folder / "home"), "PATH": f"{self.bin}:/usr/bin:/bin"}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )


def _ours(name: str) -> bool:
    return name.startswith(("REGRAPH_", "PYTHON", "XDG_", "VIRTUAL_ENV"))


@pytest.fixture(scope="session", params=KINDS)
def installed(
    request: pytest.FixtureRequest,
    built: Mapping[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp(request.param)
    python = empty_environment(folder / "env")
    done = install(python, str(built[request.param]))
    assert done.returncode == 0, done.stderr
    (folder / "here" / "home").mkdir(parents=True)
    found = Installed(python.parent, folder / "here")
    yield found
    found.run("python", "-c", STOP_STORE)


def test_both_hold_what_a_user_needs(built: Mapping[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = set(wheel.namelist())
        licences = [name for name in names if name.endswith("LICENSE")]
    with tarfile.open(built["sdist"]) as sdist:
        sources = {name.partition("/")[2] for name in sdist.getnames()}
    tracked_there = [path.relative_to(ROOT) for path in tracked("corpus")]
    unshipped = {"queue", "tools"}  # not measured yet; for a checkout
    corpus = {str(path) for path in tracked_there if not unshipped & set(path.parts)}
    assert 25 < len(corpus) < len(tracked_there)
    assert [name for name in names if unshipped & set(name.split("/"))] == []
    assert {f"regraph_kg/{name}" for name in corpus} - names == set()
    assert corpus - sources == set()
    pages = [path for path in tracked("docs", ".md") if path.parent.name in ("docs", "dev")]
    documents = {f"regraph_kg/{path.relative_to(ROOT)}" for path in pages}
    assert len(documents) > 15
    assert documents - names == set()
    assert "regraph_kg/py.typed" in names
    assert licences
    modules = {str(path.relative_to(ROOT)) for path in tracked("regraph_kg", ".py")}
    assert modules - names == set()
    assert {"README.md", "pyproject.toml", "LICENSE", "docs/problems.md"} <= sources


def tracked(folder: str, suffix: str = "") -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = (ROOT / name for name in listed.splitlines() if name.endswith(suffix))
    return [path for path in found if path.is_file()]


def test_it_is_imported_from_where_it_was_installed(installed: Installed) -> None:
    done = installed.run("python", "-c", "import regraph_kg; print(regraph_kg.__file__)")
    assert done.stdout.startswith(str(installed.bin.parent))


@pytest.mark.parametrize("name", ["problems", "trajectory-schema"])
def test_it_shows_documents_whether_they_are_files_or_made(installed: Installed, name: str) -> None:
    done = installed.run("regraph", "docs", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 100


def test_the_doctor_finds_store_and_model(installed: Installed) -> None:
    done = installed.run("regraph", "doctor", "--quick", "--target", "openmp", "--json")
    rows = json.loads(done.stdout)
    found = {row["name"]: row["state"] for row in rows if row["part"] in ("graph", "models")}
    assert found == {"store": "green", "model recorded": "green"}


def test_the_judge_alone_judges_a_shipped_problem(installed: Installed) -> None:
    (corpus,) = installed.bin.parent.glob("lib/python*/site-packages/regraph_kg/corpus")
    shutil.copy(corpus / "problems" / "matmul" / "serial.cpp", installed.folder / "mine.cpp")
    done = installed.run("regraph", "evaluate", "matmul", "mine.cpp")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_empty_folder_is_all_that_a_search_needs(installed: Installed) -> None:
    """Nothing is loaded unasked."""
    words = ("regraph", "optimize", "matmul", "--budget", "6", "--set", "run.final=screening")
    refused = installed.run(*words)
    assert refused.returncode == 2, refused.stderr
    assert "run regraph ingest --starter" in refused.stderr
    done = installed.run(*words, "--starter")
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert "loaded the starter graph" in said
    assert "faster than the serial code" in said
    files = installed.run("regraph", "ingest", "--starter")
    assert files.returncode == 0, files.stderr
    there = sum(len(file.read_text().splitlines()) for file in STARTER.glob("*.jsonl"))
    assert f"trajectories: 0 added, {there} known already, 0 rejected" in files.stdout


def test_a_users_own_file_grows_the_graph(installed: Installed) -> None:
    """A file of the user's, in a graph that nothing else has filled."""
    (corpus,) = installed.bin.parent.glob("lib/python*/site-packages/regraph_kg/corpus")
    shutil.copy(corpus / "trajectories" / "stencil.openmp.jsonl", installed.folder / "mine.jsonl")
    done = installed.run("env", "REGRAPH_DATA_DIR=own", "regraph", "ingest", "mine.jsonl")
    installed.run("env", "REGRAPH_DATA_DIR=own", "python", "-c", STOP_STORE)
    assert done.returncode == 0, done.stderr
    assert "4 added" in done.stdout
