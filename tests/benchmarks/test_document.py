"""docs/results.md says what the files of results say, and nothing of an older judge."""

import json
from pathlib import Path

import pytest

from benchmarks import document
from regraph_kg.evaluation.evaluate import EVALUATOR

FIGURES = {"suite": [], "not_measured": ["cuda: no GPU"]}
RESULT = {
    "benchmark": "judged",
    "command": "python benchmarks/run.py judged",
    "date": "2026-11-21 10:00 UTC",
    "seconds": 3,
    "machine": {"cpu": "a CPU", "cores": "2"},
    "figures": FIGURES,
}


def test_the_document_is_up_to_date() -> None:
    text = document.DOCUMENT.read_text(encoding="utf-8")
    told = text.partition(document.BEGIN)[2].partition(document.END)[0]
    assert told == document.document(), "run: python -m benchmarks.document"


def test_a_result_is_shown_with_its_circumstances_and_what_it_lacks() -> None:
    row = {"target": "cuda", "kind": "bugs", "codes": 16, "naive": 11, "screening": 2, "full": 2}
    text = document.result_text("judged", RESULT | {"figures": FIGURES | {"suite": [row]}})
    for shown in ("| cuda | bugs | 16 | 11 | 2 | 2 |", RESULT["command"], "a CPU", "no GPU"):
        assert str(shown) in text


@pytest.mark.parametrize(
    ("machine", "shown"),
    [
        ({"judge": "2"}, False),
        ({"judge": "4"}, True),
        ({"judge": "4", "gpu": "a GPU, its driver"}, False),
        ({"judge": EVALUATOR, "gpu": "a GPU, its driver"}, True),
    ],
)
def test_figures_of_an_older_judge_are_left_out(
    machine: dict[str, str], shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "RESULTS", tmp_path)
    (tmp_path / "judged-here.json").write_text(json.dumps(RESULT | {"machine": machine}))
    assert bool(document.current("judged")) == shown


def test_every_result_carries_its_circumstances() -> None:
    for path in document.RESULTS.glob("*.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        assert path.stem.partition("-")[0] == result["benchmark"]
        assert {"cpu", "cores", "kernel", "g++", "gpu"} <= set(result["machine"])
        assert result["command"]
        assert result["date"]
