"""What waits to be measured is whole: problems that load, and trajectories of them."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import Trajectory

from .corpus import CORPUS

QUEUE = CORPUS / "queue"
FOLDERS = sorted({path.parent for path in QUEUE.glob("*/*.jsonl")})
LEAST, MOST = 150, 500  # characters of a step's reasoning


def listed(path: Path) -> list[Technique]:
    return TypeAdapter(list[Technique]).validate_json(path.read_bytes())


OLD, NEW = listed(CORPUS / "techniques.json"), listed(QUEUE / "techniques.json")
KNOWN = {one.id for one in (*OLD, *NEW)}


def trajectories(folder: Path) -> list[Trajectory]:
    lines = (line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines())
    return [Trajectory.model_validate_json(line) for line in lines]


def test_techniques_are_new_and_named_apart_and_say_where_they_are_described() -> None:
    assert len(KNOWN) == len(OLD) + len(NEW)
    assert Vocabulary(NEW).known
    assert [one.id for one in NEW if not one.source or not one.recipe] == []


def test_a_problem_lies_in_the_queue_or_in_the_starter_graph() -> None:
    for folder in FOLDERS:
        places = folder, CORPUS / "problems" / folder.name
        assert sum((place / "problem.toml").exists() for place in places) == 1, folder.name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_problem_has_trajectories_of_its_own_code(folder: Path) -> None:
    moved = CORPUS / "problems" / folder.name
    problem = load_problem(moved if moved.exists() else folder)
    assert isinstance(problem, Problem)
    assert problem.name == folder.name
    there = (CORPUS / "trajectories").glob(f"{problem.name}.*.jsonl")
    promoted = {path.name.split(".")[1] for path in there}
    assert {one.target for one in trajectories(folder)} | promoted == {"openmp", "cuda"}
    for one in trajectories(folder):
        assert one.ref
        assert one.ref.startswith(f"starter/{problem.name}-{one.target}-")
        assert (one.problem, one.serial) == (problem.name, problem.serial_code)
        codes = [problem.serial_code, *(step.code for step in one.steps)]
        assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_steps_have_a_known_technique_reasoning_and_one_judges_figures(folder: Path) -> None:
    for one in trajectories(folder):
        for step in (*one.steps, *one.failures):
            assert step.technique in KNOWN
            assert step.technique.startswith(one.target)
        judges = {figure.evaluator for step in one.steps for figure in step.measurements}
        assert len(judges) <= 1
        for step in one.steps:
            assert LEAST <= len(step.reasoning) <= MOST, step.label


def test_trajectories_are_named_apart() -> None:
    refs = [one.ref for folder in FOLDERS for one in trajectories(folder)]
    assert len(set(refs)) == len(refs)
