"""What is measured of the queue joins the starter graph, and nothing of either is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.tools import promote
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.trajectory import FailedStep, Trajectory

TILES, NEW = "cuda/shared-memory-tiling", "cuda/new"


def measured(speedup: float | None) -> dict[str, Any]:
    """A measurement; None: the step failed."""
    times = {"seconds": 1.0, "before_seconds": speedup, "serial_seconds": speedup}
    return {
        **{"device": "H200", "toolchain": "nvcc", "evaluator": "3", "run": "r"},
        "outcome": "passed" if speedup else "wrong_answer",
        **(times if speedup else {}),
    }


def step(technique: str, code: str, *measurements: dict[str, Any]) -> dict[str, Any]:
    return {"label": technique, "technique": technique, "code": code, "measurements": measurements}


def techniques(*names: str) -> str:
    return json.dumps(
        [{"id": name, "name": name, "target": "cuda", "aliases": []} for name in names]
    )


def lines(path: Path) -> list[Trajectory]:
    return [Trajectory.model_validate_json(line) for line in path.read_text().splitlines()]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("problems", "trajectories", "queue"):
        (tmp_path / name).mkdir()
    (tmp_path / "techniques.json").write_text(techniques(TILES))
    (tmp_path / "queue" / "techniques.json").write_text(techniques(NEW))
    monkeypatch.setattr(promote, "CORPUS", tmp_path)
    monkeypatch.setattr(promote, "QUEUE", tmp_path / "queue")
    monkeypatch.setattr("sys.argv", ["promote"])
    return tmp_path


def queue(corpus: Path, problem: str, *told: Trajectory) -> Path:
    folder = corpus / "queue" / problem
    folder.mkdir(exist_ok=True)
    (folder / "problem.toml").write_text("")
    path = folder / "cuda.jsonl"
    path.write_text("".join(one.line() for one in told))
    return path


def took(problem: str, ref: str, *steps: dict[str, Any]) -> Trajectory:
    fixed = {"schema": 1, "target": "cuda", "serial": "void f();"}
    return Trajectory.model_validate(fixed | {"problem": problem, "ref": ref, "steps": steps})


def test_what_is_measured_later_joins_what_went_before(corpus: Path) -> None:
    first, later = took("p", "1", step(TILES, "a", measured(2.0))), took("p", "2", step(TILES, "b"))
    path = queue(corpus, "p", first, later)
    promote.main()
    there = corpus / "trajectories" / "p.cuda.jsonl"
    assert [one.ref for one in lines(there)] == ["1"]
    assert [one.ref for one in lines(path)] == ["2"]
    assert not (corpus / "queue" / "p" / "problem.toml").exists()
    assert (corpus / "problems" / "p" / "problem.toml").exists()
    path.write_text(took("p", "2", step(TILES, "b", measured(3.0))).line())
    promote.main()
    assert [one.ref for one in lines(there)] == ["1", "2"]
    assert not path.parent.exists()
    assert (corpus / "problems" / "p" / "problem.toml").exists()


def test_a_trajectory_ends_before_a_step_that_failed(corpus: Path) -> None:
    steps = [step(TILES, "a", measured(2.0)), step(TILES, "b", measured(None)), step(TILES, "c")]
    queue(corpus, "p", took("p", "1", *steps))
    promote.main()
    (one,) = lines(corpus / "trajectories" / "p.cuda.jsonl")
    assert [each.code for each in one.steps] == ["a"]
    assert [(each.after_step, each.code) for each in one.failures] == [(1, "b")]


@pytest.mark.parametrize(("problems", "taken"), [(("p",), False), (("p", "q"), True)])
def test_a_technique_goes_along_once_two_problems_show_it(
    corpus: Path, problems: tuple[str, ...], taken: bool
) -> None:
    for name in problems:
        made = step(TILES, "a", measured(2.0)), step(NEW, "b", measured(2.0))
        queue(corpus, name, took(name, name, *made))
    promote.main()
    assert (corpus / "trajectories" / "p.cuda.jsonl").exists() is taken
    assert (corpus / "queue" / "p").exists() is not taken, "it waits with all its steps"
    known = {each["id"] for each in json.loads((corpus / "techniques.json").read_text())}
    assert (NEW in known) is taken


def test_judged_names_of_techniques_that_go_along_do_as_well(corpus: Path) -> None:
    (corpus / "relabel" / "next").mkdir(parents=True)
    names = [{"label": name, "technique": name} for name in (TILES, NEW, "cuda/later")]
    names.append({"label": "none", "technique": None})
    (corpus / "relabel" / "next" / "labels.cuda.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in names)
    )
    for name in ("p", "q"):
        made = step(TILES, "a", measured(2.0)), step(NEW, "b", measured(2.0))
        queue(corpus, name, took(name, name, *made))
    promote.main()
    there = (corpus / "relabel" / "labels.cuda.jsonl").read_text().splitlines()
    assert [json.loads(line)["label"] for line in there] == [TILES, NEW, "none"]


def test_measurements_say_what_todays_preconditions_rule_out(corpus: Path) -> None:
    (corpus / "techniques.json").write_text(
        techniques(TILES).replace("[]", '[], "needs": ["nest"]')
    )
    path = took(
        "p", "1", *(step(TILES, code, measured(2.0)) for code in ("void f() {}", "void g() {}"))
    )
    failed = FailedStep(after_step=1, label="x", technique=TILES, outcome=Outcome.WRONG_ANSWER)
    queue(corpus, "p", path.model_copy(update={"failures": (failed,)}))
    promote.main()
    (one,) = lines(corpus / "trajectories" / "p.cuda.jsonl")
    marks = [m.ruled_out for step in one.steps for m in step.measurements]
    assert marks == [False, True], "a search on a GPU does not begin from the serial code"
    assert [f.ruled_out for f in one.failures] == [True]
    (corpus / "techniques.json").write_text(techniques(TILES))
    promote.main()
    (one,) = lines(corpus / "trajectories" / "p.cuda.jsonl")
    assert not any(m.ruled_out for step in one.steps for m in step.measurements)
    assert not one.failures[0].ruled_out
