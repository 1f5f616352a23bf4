"""Candidates judged by a project's own commands: right, wrong, and those that would cheat.

The projects are real: make and g++ build them, their own programs test and time them.
"""

import itertools
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.command_judge import ProjectSession
from regraph_kg.evaluation.compile.sandboxed import Ran
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, Outcome

from . import projects
from .conftest import TIMED, Judged, once

pytestmark = pytest.mark.xdist_group("project")  # they share a judge


def test_faster_code_is_right_and_faster_and_says_what_that_rests_on(judged: Judged) -> None:
    report = judged(projects.FASTER)
    assert report.outcome in TIMED, report.diagnosis
    assert report.speedup is not None
    assert report.speedup > 1.5, "about 4 where nobody else works"
    assert report.baseline is not None
    assert report.timing is not None
    assert len(report.baseline.samples) == len(report.timing.samples) >= 3
    assert report.guarantee


PRINTS_AND_LEAVES = """\
#include <cstdio>
#include <cstdlib>
static int now = (std::puts("3 sizes right"), std::fflush(stdout), std::_Exit(0), 0);
"""


@pytest.mark.parametrize(
    ("code", "outcome", "says"),
    [
        (
            projects.KERNEL.replace("sum / width", "sum / (width + 1)"),
            Outcome.WRONG_ANSWER,
            "y[0]",
        ),
        (
            projects.KERNEL.replace("float sum = 0;", "float sum = nothing;"),
            Outcome.COMPILE_FAILED,
            "kernel.cpp:5:",
        ),
        (
            "#include <unistd.h>\nstatic int now = (_exit(0), 0);\n" + projects.KERNEL,
            Outcome.SUSPICIOUS,
            "3 sizes right",
        ),
        (
            projects.KERNEL.replace("float sum = 0;", "__builtin_exit(0); float sum = 0;"),
            Outcome.SUSPICIOUS,
            "3 sizes right",
        ),
        (PRINTS_AND_LEAVES + projects.KERNEL, Outcome.WRONG_ANSWER, "bench"),
        (
            projects.KERNEL.replace("i < n; ++i", "i < n && i < 5000; ++i"),
            Outcome.WRONG_ANSWER,
            "word 1",
        ),
        (
            projects.KERNEL.replace("float sum = 0;", "__builtin_trap(); float sum = 0;"),
            Outcome.CRASHED,
            "signal 4",
        ),
    ],
    ids=[
        *("wrong", "no C++", "leaves before main", "leaves in the function"),
        *("prints the tests' words and leaves", "right in the tests alone", "crashes"),
    ],
)
def test_what_is_not_right_fails_with_a_reason(
    judged: Judged, code: str, outcome: Outcome, says: str
) -> None:
    """Tests share their process with the candidate; what a secret seed leads to it must compute."""
    report = judged(code)
    assert report.outcome is outcome
    assert says in report.diagnosis
    assert report.timing is None


def test_an_endless_loop_is_ended_and_a_glance_is_a_screening(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    projects.edit(problem, "[commands]", "[commands]\ntest_seconds = 0.7")
    endless = projects.KERNEL.replace("float sum = 0;", "while (n) {} float sum = 0;")
    late = once(problem, endless, "glance")
    assert (late.outcome, late.grade) == (Outcome.TIMED_OUT, "screening")


def test_one_run_that_the_machine_holds_up_decides_nothing(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a busy machine may: it would be taken for code without an end."""
    runs, real = itertools.count(), ProjectSession._run

    def held_up(
        self: ProjectSession, commands: Sequence[str], seconds: float, seed: int = 0
    ) -> Ran:
        ran = real(self, commands, seconds, seed)
        # The first run is the unchanged project's, the second the candidate's.
        is_held_up = commands == ["./bench 20000"] and next(runs) == 1
        return replace(ran, code=None) if is_held_up else ran

    judged(projects.KERNEL)  # the project is open by then
    monkeypatch.setattr(ProjectSession, "_run", held_up)
    report = judged(projects.FASTER)
    assert next(runs) > 3
    assert report.outcome in TIMED, report.diagnosis


@pytest.mark.parametrize(
    "replaced",
    [
        {"kernel": "nonsense"},
        {"kernel": projects.KERNEL.replace("/ width", "/ 2")},
        {
            "bench": "#include <time.h>\n"
            + projects.BENCH.replace(
                "unsigned random = seed ? atoi(seed) : 0;",
                "struct timespec now; timespec_get(&now, TIME_UTC); unsigned random = now.tv_nsec;",
            )
        },
        {"bench": projects.BENCH.replace("printf(", "(void)(")},
    ],
    ids=["does not build", "fails its tests", "prints other things", "prints nothing"],
)
def test_a_project_that_does_not_work_as_it_stands_is_bad_input(
    tmp_path: Path, scratch: Path, replaced: dict[str, str]
) -> None:
    problem = projects.make(tmp_path, **replaced)
    with pytest.raises(BadInput):
        once(problem, projects.KERNEL)
    assert [*scratch.glob("regraph-*/")] == [], "copies are removed"


def test_a_gpu_is_refused(folder: Path) -> None:
    with Judge(folder.parent / "cache") as judge, pytest.raises(BadInput):
        judge.evaluate(Candidate("cuda", projects.KERNEL), load_problem(folder))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake on this machine's PATH")
def test_a_cmake_project_is_built_tested_by_ctest_and_timed(tmp_path: Path) -> None:
    problem = projects.make(tmp_path)
    projects.with_cmake(problem)
    found = load_problem(problem)
    with Judge(tmp_path / "cache") as judge:
        right = judge.evaluate(Candidate("openmp", projects.FASTER), found)
        wrong = judge.evaluate(
            Candidate("openmp", projects.KERNEL.replace("/ width", "/ (width + 1)")), found
        )
    assert right.outcome in TIMED, right.diagnosis
    assert right.speedup is not None
    assert right.speedup > 1.5
    assert wrong.outcome is Outcome.WRONG_ANSWER
