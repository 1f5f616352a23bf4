"""Collected trajectories are whole: real steps of their problems, with who made them, measured.

Not covered: whether their codes still pass (corpus/tools/measure.py --again judges them anew).
"""

import pytest

from regraph_kg.cpp.tokens import normalized
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import code_hash
from regraph_kg.models.trajectory import Trajectory

from .corpus import COLLECTED, CORPUS, trajectories

EVERY = trajectories("collected")


def name(one: Trajectory) -> str:
    return one.ref or one.id


def test_they_are_of_the_problems_that_the_starter_graph_lacks() -> None:
    assert {one.problem for one in EVERY} == set(COLLECTED)
    assert not {trajectory.problem for trajectory in trajectories()} & set(COLLECTED)
    assert len({one.ref for one in EVERY}) == len({one.id for one in EVERY}) == len(EVERY) >= 4


@pytest.mark.parametrize("one", EVERY, ids=name)
def test_one_starts_from_its_problem_and_says_who_made_it(one: Trajectory) -> None:
    problem = load_problem(CORPUS / "problems" / one.problem)
    assert one.serial == problem.serial_code
    assert one.source is not None
    assert one.source.model
    assert one.source.created
    assert one.source.licence == "Apache-2.0"


@pytest.mark.parametrize("one", EVERY, ids=name)
def test_every_step_is_reasoned_changes_code_and_is_right(one: Trajectory) -> None:
    codes = [normalized(code) for code in (one.serial, *(step.code for step in one.steps))]
    assert len(set(codes)) == len(codes) > 2
    assert all(step.reasoning for step in one.steps)
    assert all(m.outcome.is_right for step in one.steps for m in step.measurements)
    for failure in one.failures:
        assert failure.diagnosis
        assert failure.code_hash == code_hash(failure.code)
