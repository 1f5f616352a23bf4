"""The checks that come for code which has passed all others, without the judge around them."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from regraph_kg.evaluation import further
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.further import FurtherChecks
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.slots import SessionRules, Staffing
from regraph_kg.evaluation.teams import TRAPPING, Teams
from regraph_kg.evaluation.verify.cases import secret_shapes
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import Grade

from .caught import caught


@dataclass(frozen=True)
class Desk:
    """The checks of one problem, with real compilers and processes."""

    problem: Problem
    compiler: Compiler
    checks: FurtherChecks
    references: References

    @property
    def teams(self) -> Teams:
        return Teams(self.checks.staffing, random.Random(1), self.checks.team)

    def program(self, code: str, *, perturbed: bool = False) -> Program:
        flags = (*HOST_FLAGS, "-fopenmp")
        make = self.compiler.perturbed if perturbed else self.compiler.host
        library = make(code, flags)
        assert isinstance(library, Path), library
        return Program(self.compiler.harness(self.problem), library, self.problem.entry)

    def fault(self, code: str, grade: Grade = "screening") -> Failure | None:
        return caught(self.checks.examine, code, self.program(code), 2, 1.0, grade)

    def many(self, code: str, grade: Grade = "screening") -> Failure | None:
        """With many threads, also of a build with traps."""
        library = self.compiler.host(code, (*HOST_FLAGS, "-fopenmp", *TRAPPING))
        assert isinstance(library, Path), library
        program = self.program(code)
        builds = program, replace(program, candidate=library)
        return caught(self.teams.many, code, builds, ([self.checks.plan.usual], None), grade)

    def races(self, code: str, grade: Grade = "full") -> Failure | None:
        cases = [Case(sizes, 0, 1) for sizes in self.problem.sizes.check]
        program = self.program(code, perturbed=True)
        return caught(self.teams.held_up, program, cases, self.checks.stood, grade)


@pytest.fixture
def desks(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Desk]]:
    monkeypatch.setattr(further, "_TRUTHS_SECONDS", {"screening": 60.0, "full": 60.0})
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    with ExitStack() as stack:

        @contextmanager
        def opened(problem: Problem, *variants: str) -> Iterator[Desk]:
            shapes = secret_shapes(problem, random.Random(1))
            library = compiler.host(problem.truth_code, HOST_FLAGS)
            reference = Program(
                compiler.harness(problem.promoted()), Path(str(library)), problem.entry
            )
            every = [*problem.sizes.check, problem.sizes.time, *shapes]
            references = References(problem, reference, every, JudgeLimits())
            harness = compiler.harness(problem)
            rules = SessionRules(1, Defences(), JudgeLimits())
            trusted = [
                Program(harness, Path(str(compiler.host(code, HOST_FLAGS))), problem.entry)
                for code in (problem.serial_code, *variants)
            ]
            checks = FurtherChecks(Staffing(problem, references, rules), shapes, trusted)
            yield Desk(problem, compiler, checks, references)
            references.close()

        yield lambda *given: stack.enter_context(opened(*given))
