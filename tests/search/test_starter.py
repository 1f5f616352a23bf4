"""The starter graph: loaded into an embedded store that is empty, never unasked."""

import json

import pytest

from regraph_kg.cli import running
from regraph_kg.errors import BadInput
from regraph_kg.models.trajectory import Step, Trajectory
from regraph_kg.settings import Settings
from tests.search.lab import FAST, SERIAL, STRIP, UNROLL, Lab, grow, technique


@pytest.fixture
def stocked(lab: Lab) -> Lab:
    """An empty graph, and a corpus with one trajectory to begin with."""
    corpus = lab.folder / "corpus"
    (corpus / "trajectories").mkdir()
    steps = [
        Step(label=one, technique=one, reasoning="It helps.", code=f"// {one}\n{FAST}")
        for one in (STRIP, UNROLL)
    ]
    told = {"schema": 1, "target": "openmp", "problem": "other", "serial": SERIAL, "steps": steps}
    line = Trajectory.model_validate(told).model_dump_json(by_alias=True, exclude_defaults=True)
    (corpus / "trajectories" / "other.openmp.jsonl").write_text(line + "\n")
    words = [json.loads(technique(one).model_dump_json()) for one in (STRIP, UNROLL)]
    (corpus / "techniques.json").write_text(json.dumps(words))
    return lab


def test_with_the_flag_it_is_loaded_once_and_said(stocked: Lab) -> None:
    ended = stocked.optimize("--starter")
    assert ended.code == 0, ended
    assert "loaded the starter graph: 1 trajectories, 2 examples" in ended.err
    assert stocked.store.stats().trajectories == 1
    assert "loaded" not in stocked.optimize("--starter").err


def test_nothing_is_loaded_unasked(stocked: Lab) -> None:
    ended = stocked.optimize()
    assert ended.code == 2
    assert "run regraph ingest --starter" in ended.err
    assert stocked.store.stats().trajectories == 0


def test_a_graph_that_holds_something_is_left_alone(stocked: Lab) -> None:
    grow(stocked.store, [STRIP])
    assert "loaded" not in stocked.optimize("--starter").err
    assert stocked.store.stats().trajectories == 1


def test_a_shared_store_is_not_filled_by_the_way() -> None:
    shared = Settings(store="bolt://nobody.invalid:7687")
    with pytest.raises(BadInput, match="regraph ingest --starter"):
        running.load_starter(shared)


def test_ingest_takes_it_with_or_without_files(stocked: Lab) -> None:
    assert stocked.run("ingest").code == 2
    ended = stocked.run("ingest", "--starter")
    assert ended.code == 0, ended
    assert "1 added" in ended.out
    (lines,) = stocked.folder.glob("corpus/trajectories/*")
    assert "1 known already" in stocked.run("ingest", str(lines)).out
