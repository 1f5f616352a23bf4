"""A project with a Makefile, and a judge of it that all tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome

from . import projects

Judged = Callable[[str], EvalReport]
TIMED = {Outcome.PASSED, Outcome.UNSTABLE_TIMING}
"""Right; how steady the clock was is another question."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return projects.make(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="session")
def judged(folder: Path) -> Iterator[Judged]:
    problem = load_problem(folder)
    with Judge(folder.parent / "cache") as judge:
        yield lambda code: judge.evaluate(Candidate("openmp", code), problem)


def once(problem: Path, code: str, grade: Grade = "screening") -> EvalReport:
    """A verdict of a problem of its own."""
    with Judge(problem.parent / "cache") as judge:
        return judge.evaluate(Candidate("openmp", code), load_problem(problem), grade=grade)
