"""docs/results.md says what the files of results say, and nothing else."""

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
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    told = text.partition(document["BEGIN"])[2].partition(document["END"])[0]
    assert told == document["document"](), "run: python -m benchmarks.document"


def test_a_result_is_shown_with_command_date_and_machine(document: dict[str, Any]) -> None:
    text = document["result_text"]("search_overhead", RESULT)
    assert "| 1,234 | 0.510 | 0.400 | 2.250 | 1.0 |" in text
    assert "`python benchmarks/run.py search_overhead`, 2026-11-21 10:00 UTC, 3 s" in text
    assert "cpu a CPU, cores 2." in text


def test_figures_of_an_older_judge_are_left_out(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = {"rows": [], "not_measured": ["cuda: no GPU"]}
    monkeypatch.setitem(document["document"].__globals__, "RESULTS", tmp_path)
    on_gpu = {"gpu": "a GPU, its driver"}
    for machine, stands in (
        ({"judge": "2"}, False),
        ({"judge": "4"}, True),
        ({"judge": "4", **on_gpu}, False),
        ({"judge": EVALUATOR, **on_gpu}, True),
    ):
        older = RESULT | {"benchmark": "coverage", "figures": figures, "machine": machine}
        (tmp_path / "coverage-here.json").write_text(json.dumps(older))
        told = document["document"]()
        assert ("### The judge: how often its intervals hold" in told) == stands
        assert ("`coverage`" in told.partition("older judge only")[2]) != stands


def test_a_loss_is_shown_whatever_its_budget(document: dict[str, Any]) -> None:
    shown = document["SHOWN"]["search_worlds", "rows"]
    assert shown({"calls": 200, "of_best_rival": 0.97})
    assert not shown({"calls": 200, "of_best_rival": 1.02})


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
