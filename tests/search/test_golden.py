"""A whole seeded search a method, as it must always come out (tests/golden/*.json).

After a wanted change: `pytest tests/search/test_golden.py --write-golden`, and read the diff.
"""

import json
from pathlib import Path

import pytest

from regraph_kg.models.run import SimulationRecord
from regraph_kg.runs.choice import BUDGET, DEFAULT_METHOD, usual_settings
from regraph_kg.search.methods import METHODS
from tests.search.toy import Graph, Toy, header, noisy_script, searching, successor

GOLDEN = Path(__file__).parents[1] / "golden"
GRAPH: Graph = {
    "start": ["fan-out", "fold", "swap"],
    "fan-out": ["pack", "fold"],
    "fold": ["pack", "fan-out", "fold"],
    "swap": ["fold"],
    "pack": ["spread"],
}
SEEN = {
    "fan-out": successor("fan-out", tried=6, verified=5, log2_effects=4.0),
    "fold": successor("fold", tried=3, verified=1, log2_effects=-0.5),
}


def line(record: SimulationRecord) -> dict[str, object]:
    """What a reader compares: numbers to nine digits, code left out."""
    return {
        "iteration": record.iteration,
        "path": " > ".join(part.removeprefix("openmp/") for part in record.path),
        "steps": [
            {
                "step": "".join(step.path[-1:]).removeprefix("openmp/"),
                "outcome": step.outcome and step.outcome.value,
                "speedup": step.speedup and round(step.speedup, 9),
                "gain": None if step.gain is None else round(step.gain, 9),
                "calls": step.cost.calls,
            }
            for step in record.steps
        ],
        "reward": None if record.reward is None else round(record.reward, 9),
        "spent": record.spent,
        "best": round(record.best_speedup, 9),
    }


def a_search(method: str) -> dict[str, object]:
    """With the method's own settings; the default one gets as many calls as it gets by default."""
    calls = BUDGET if method == DEFAULT_METHOD else 30
    toy = Toy(GRAPH, noisy_script(5), successors=SEEN)
    records = searching(toy.world, header(calls, seed=5, settings=usual_settings(method)))
    return {"records": [line(record) for record in records]}


@pytest.mark.parametrize("method", tuple(METHODS))
def test_a_seeded_search_comes_out_as_recorded(method: str, request: pytest.FixtureRequest) -> None:
    text = json.dumps(a_search(method), indent=1) + "\n"
    path = GOLDEN / f"{method}.json"
    if request.config.getoption("--write-golden"):
        path.write_text(text)
    assert text == path.read_text()
