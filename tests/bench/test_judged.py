"""The judge's suite: every file names a problem that is there, and what is wrong with it."""

import pytest

from benchmarks.judged import KINDS, Code, codes
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.target import TARGETS

ALL = [code for target in TARGETS for code in codes(target, "")]


def test_each_target_has_exploits_bugs_and_honest_code() -> None:
    for target in TARGETS:
        assert {code.kind for code in codes(target, "")} == set(KINDS)


@pytest.mark.parametrize("code", ALL, ids=lambda code: f"{code.kind}/{code.path.name}")
def test_a_file_says_what_it_is(code: Code) -> None:
    assert isinstance(load_problem(code.problem), Problem)
    wanted = {"exploits": {"tries", "outcome"}, "bugs": {"bug", "class"}, "honest": {"style"}}
    assert wanted[code.kind] <= code.fields.keys()
