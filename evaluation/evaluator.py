"""Interface of all judges: this process, a pool."""

from typing import Protocol

from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import Target


class Evaluator(Protocol):
    """A judge of candidates."""

    def evaluate(
        self,
        candidate: Candidate,
        problem: Problem,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """Compile, run, verify, time. Raises `ToolError`, `BadInput`; never for the candidate."""

    def device(self, target: Target) -> str:
        """Statistics key of the device that judges this target."""

    def toolchain(self, target: Target) -> str:
        """Compilers and flags, as reports carry them."""
