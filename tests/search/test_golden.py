"""A whole seeded search, both presets, as it must always come out (tests/golden/*.json).

After a wanted change: `pytest tests/search/test_golden.py --write-golden`, and read the diff.
"""

import json
import random
from pathlib import Path

import pytest

from regraph_kg.models.run import McgsSettings, PaperSettings, SimulationRecord
from regraph_kg.search import mcgs, paper
from regraph_kg.search.state import Budget, Tree
from tests.search.toy import TASK, Graph, Toy, noisy_script, successor

GOLDEN = Path(__file__).parents[1] / "golden"
GRAPH: Graph = {
    "start": ["parallel-for", "tiling", "interchange"],
    "parallel-for": ["simd", "tiling"],
    "tiling": ["simd", "parallel-for", "tiling"],
    "interchange": ["tiling"],
    "simd": ["unroll"],
}
SEEN = {
    "openmp/parallel-for": successor("parallel-for", tried=6, verified=5, log2_effects=4.0),
    "openmp/tiling": successor("tiling", tried=3, verified=1, log2_effects=-0.5),
}


def line(record: SimulationRecord) -> dict[str, object]:
    """What a reader compares: numbers to nine digits, code left out."""
    return {
        "iteration": record.iteration,
        "path": " > ".join(part.removeprefix("openmp/") for part in record.path),
        "steps": [
            {
                "step": step.path[-1].removeprefix("openmp/"),
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


def final(tree: Tree) -> list[str]:
    """Each action of the final tree: path, visits, mean gain, best gain."""
    return [
        f"{' > '.join(part.removeprefix('openmp/') for part in (*state.path, action.technique.id))}"
        f"  n={action.n} mean={action.total / action.n:.9f} best={action.best:.9f}"
        for state in tree.states()
        for action in state.actions
        if action.n
    ]


def default_search() -> dict[str, object]:
    toy, tree = Toy(GRAPH, noisy_script(5, holes=0.05), successors=SEEN), Tree()
    settings = McgsSettings(rollout=1)
    budget = Budget(60)
    records = mcgs.search(TASK, toy.world, settings, budget=budget, rng=random.Random(5), tree=tree)
    return {"records": [line(record) for record in records], "tree": final(tree)}


def paper_search() -> dict[str, object]:
    toy = Toy(GRAPH, noisy_script(5))
    records = paper.search(
        TASK, toy.world, PaperSettings(), budget=Budget(60), rng=random.Random(5)
    )
    return {"records": [line(record) for record in records]}


@pytest.mark.parametrize(
    ("name", "found"),
    [("mcgs-default.json", default_search), ("mcgs-paper.json", paper_search)],
    ids=["default", "paper"],
)
def test_a_seeded_search_comes_out_as_recorded(
    name: str, found: object, request: pytest.FixtureRequest
) -> None:
    assert callable(found)
    text = json.dumps(found(), indent=1) + "\n"
    path = GOLDEN / name
    if request.config.getoption("--write-golden"):
        path.write_text(text)
    assert text == path.read_text()
