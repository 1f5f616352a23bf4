"""Vocabulary, problems and trajectories are whole, and make a graph worth searching."""

import pytest

from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id

from .corpus import COLLECTED, CORPUS, PROBLEMS, graph, paths, trajectories, vocabulary

TARGETS: tuple[Target, ...] = ("cuda", "openmp")
DEPTH = 3


def test_the_vocabulary_has_no_name_twice_and_says_what_each_technique_is() -> None:
    techniques = vocabulary().curated  # shared names were refused when it was read
    assert len(techniques) >= 36
    assert {start_id(target) for target in TARGETS} <= {t.id for t in techniques}
    assert [t.id for t in techniques] == sorted({t.id for t in techniques})
    assert [t.id for t in techniques if not (t.definition and t.applies and t.aliases)] == []
    assert [t.id for t in techniques if not (t.hurts or t.id.endswith("/start"))] == []


def test_a_problem_loads_under_its_own_name() -> None:
    names = sorted(path.name for path in (CORPUS / "problems").iterdir())
    assert {*names} == {trajectory.problem for trajectory in trajectories()} | {*COLLECTED}
    assert [load_problem(CORPUS / "problems" / name).name for name in names] == names


def test_every_problem_has_trajectories_for_every_target() -> None:
    seen = {(t.problem, t.target) for t in trajectories()}
    assert seen >= {(problem, target) for problem in PROBLEMS for target in TARGETS}
    assert len(trajectories()) >= 10
    assert all(t.steps for t in trajectories())
    assert any(t.failures for t in trajectories())


def test_trajectories_differ_and_start_from_their_problem() -> None:
    refs = [t.ref for t in trajectories()]
    assert len(set(refs)) == len({t.id for t in trajectories()}) == len(refs)
    for trajectory in trajectories():
        problem = load_problem(CORPUS / "problems" / trajectory.problem)
        assert trajectory.serial == problem.serial_code
        assert all(f"{problem.entry}(" in step.code for step in trajectory.steps)
        assert all(f.after_step <= len(trajectory.steps) for f in trajectory.failures)


def test_every_step_names_a_known_technique_and_no_label_means_another_one() -> None:
    for trajectory in (*trajectories(), *trajectories("collected")):
        for step in (*trajectory.steps, *trajectory.failures):
            assert step.technique in vocabulary().known
            named = vocabulary().find(step.label, trajectory.target)
            assert named is None or named.technique == step.technique, step.label


@pytest.mark.parametrize("target", TARGETS)
def test_every_step_of_a_target_has_been_measured_and_passed(target: Target) -> None:
    steps = [s for t in trajectories() if t.target == target for s in t.steps]
    assert [s.label for s in steps if not any(m.speedup for m in s.measurements)] == []


@pytest.mark.parametrize("problem", PROBLEMS)
def test_without_a_problem_its_graph_still_offers_choices(problem: str) -> None:
    successors = graph("openmp", without=problem)
    start = start_id("openmp")
    assert len(successors[start]) >= 3
    inner = {path[-1] for path in paths(successors, start, DEPTH - 1)}
    assert [t for t in inner if len(successors.get(t, ())) < 2] == []
    assert 60 <= len(paths(successors, start, DEPTH)) <= 120
