"""A new method is one file: put into search/methods/ it can be chosen, is told of, and runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("regraph_kg", "adopt", "ingest", "search", "evaluation", "cypher", "corpus", "docs")
METHOD = '''"""As standard, and polite.

Not here: manners of its own.
"""

from typing import Literal

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.samples import Samples


class PoliteSettings(MethodSettings):
    """How polite."""

    method: Literal["very-polite"] = "very-polite"
    bows: int = 1
    """Before every question."""


class Polite(Samples):
    """One search."""

    def __init__(self, context: Context, settings: PoliteSettings) -> None:
        super().__init__(context, "Please. " * settings.bows)


METHOD = MethodKind(PoliteSettings, Polite)
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with one file more."""
    folder = tmp_path_factory.mktemp("program")
    for name in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__", "images")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    (folder / "search" / "methods" / "very_polite.py").write_text(METHOD, encoding="utf-8")
    return folder


def regraph(tree: Path, *words: str) -> str:
    """What the program of `tree` prints, errors too, in one line."""
    home = tree / "home"
    home.mkdir(exist_ok=True)
    code = "from regraph_kg.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=home,
        env=os.environ | {"PYTHONPATH": str(tree), "HOME": str(home), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return " ".join((done.stdout + done.stderr).split())


def test_it_is_among_the_choices_and_in_the_help(tree: Path) -> None:
    told = regraph(tree, "optimize", "--help")
    assert "very-polite: As standard, and polite." in told
    assert "'very-polite'" in regraph(tree, "optimize", "matmul", "--method", "rude")


@pytest.mark.slow
def test_its_settings_can_be_set_and_it_runs(tree: Path) -> None:
    words = (
        "optimize",
        "matmul",
        "--dry-run",
        "--set",
        "run.prompt=yes",
        "--method",
        "very-polite",
    )
    told = regraph(tree, *words, "--set", "bows=2")
    assert "method very-polite" in told
    assert "Please. Please. " in told
    assert "very-polite knows bows" in regraph(tree, *words, "--set", "depth=2")


def test_the_documents_can_be_made_with_it(tree: Path) -> None:
    code = "import runpy; made = runpy.run_path('docs/generate.py'); print(made['methods']())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "### `very-polite`\nAs standard, and polite." in done.stdout
    assert "| `bows` | 1 |  | Before every question |" in done.stdout
