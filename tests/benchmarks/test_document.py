"""docs/benchmarks.md says what the result files say, and nothing else."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.evaluation.evaluate import EVALUATOR

ROOT = Path(__file__).parents[2]
RESULT = {
    "benchmark": "search_overhead",
    "command": "python benchmarks/run.py search_overhead",
    "date": "2026-11-21 10:00 UTC",
    "seconds": 3,
    "machine": {"cpu": "a CPU", "cores": "2"},
    "figures": {"rollouts": 1234, "mean": 0.51, "p50": 0.4, "p99": 2.25, "limit": 1.0},
}


@pytest.fixture
def document() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "document.py"))


def test_the_document_is_up_to_date(document: dict[str, Any]) -> None:
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert text == document["document"](), "run: python -m benchmarks.document"


def test_a_result_is_shown_with_command_date_and_machine(document: dict[str, Any]) -> None:
    text = document["result_text"]("search_overhead", RESULT)
    assert "| 1,234 | 0.510 | 0.400 | 2.250 | 1.0 |" in text
    assert "`python benchmarks/run.py search_overhead`, 2026-11-21 10:00 UTC, 3 s" in text
    assert "cpu a CPU, cores 2." in text


def test_figures_of_an_older_judge_are_marked_stale(document: dict[str, Any]) -> None:
    figures = {"rows": [], "not_measured": []}
    older = RESULT | {"figures": figures, "machine": {"judge": "2"}}
    assert "**Stale**: of the judge's version 2" in document["result_text"]("coverage", older)
    now = older | {"machine": {"judge": EVALUATOR}}
    assert "Stale" not in document["result_text"]("coverage", now)


def test_what_was_not_measured_is_said(document: dict[str, Any]) -> None:
    figures = {"rows": [], "not_measured": ["cuda: no GPU"]}
    text = document["result_text"]("judge", RESULT | {"figures": figures})
    assert "Not measured: cuda: no GPU" in text


def test_every_result_carries_its_circumstances() -> None:
    for path in (ROOT / "benchmarks" / "results").glob("*.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        assert path.stem.partition("-")[0] == result["benchmark"]
        assert {"cpu", "cores", "kernel", "g++", "gpu"} <= set(result["machine"])
        assert result["command"]
        assert result["date"]
