"""The notebooks run from their first cell to their last, as their readers run them."""

import json
import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from regraph_kg.settings import Settings
from tests.stores import environment

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.fixture
def elsewhere(embedded_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a store of its own, and this environment's `regraph` on PATH."""
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def executed(name: str, folder: Path) -> list[str]:
    """What each code cell shows, as text and HTML in one; a cell that fails ends the test."""
    book = nbformat.read(NOTEBOOKS / name, as_version=4)
    client = NotebookClient(book, timeout=240, resources={"metadata": {"path": str(folder)}})
    client.execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    return [json.dumps(cell.outputs, ensure_ascii=False) for cell in cells]


@pytest.mark.slow
def test_what_follows_tiling_is_told_from_the_starter_graph(elsewhere: Path) -> None:
    said = executed("what_follows.ipynb", elsewhere)
    assert "Shared memory tiling" in said[1]
    assert "<pre" in said[2]
    assert "right" in said[3]
    assert "x   " in said[3]  # a gain that was measured


@pytest.mark.slow
def test_a_search_is_run_and_looked_at(elsewhere: Path) -> None:
    said = executed("optimize_and_look.ipynb", elsewhere)
    assert "matmul (openmp)" in said[2]
    assert "matmul" in said[3]
    assert (elsewhere / "search.html").stat().st_size > 10_000
    assert "wrong_answer" in said[5]


@pytest.mark.parametrize("name", [path.name for path in NOTEBOOKS.glob("*.ipynb")])
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    book = nbformat.read(NOTEBOOKS / name, as_version=4)
    nbformat.validate(book)
    assert all(not cell.get("outputs") for cell in book.cells)
    assert all(cell.get("execution_count") is None for cell in book.cells)
