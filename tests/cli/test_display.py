"""The bar of `regraph optimize` on narrow terminals: what matters is whole."""

import re

import pytest

from regraph_kg.cli import display
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.run import Cost, SimulationRecord, StepRecord

PATH = ("openmp/loop-interchange", "openmp/cache-tiling", "openmp/multiple-accumulators")
RECORD = SimulationRecord(
    iteration=0,
    path=PATH,
    steps=(
        StepRecord(
            path=PATH,
            technique=PATH[-1],
            sample=0,
            outcome=Outcome.PASSED,
            speedup=32.3,
            gain=None,
            cost=Cost(),
            code="",
        ),
    ),
    reward=None,
    spent=20,
    best_speedup=32.3,
)


@pytest.mark.parametrize("columns", [60, 80])
def test_calls_best_and_times_are_whole(
    columns: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(columns)}.items():
        monkeypatch.setenv(name, value)
    with display.progress(100) as show:
        show.record(RECORD)
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    bars = [line for line in re.split(r"[\r\n]+", said) if " left " in line and "20/100" in line]
    assert bars
    for line in bars:
        assert re.search(r"20/100 verdicts, 0 calls, 32\.3x 0:00:0\d left \S:\S\S:\S\S ", line), (
            line
        )
        assert len(line) <= columns
