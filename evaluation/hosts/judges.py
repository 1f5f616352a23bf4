"""Common interface of a pool on one host and of the hosts of a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import Future

from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.hosts.queue import JudgeRequest
from regraph_kg.evaluation.problem.problem import AnyProblem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade


class Judges(Evaluator, ABC):
    """Several judges as one: requests wait in a queue until one is free."""

    @abstractmethod
    def submit(self, work: JudgeRequest) -> Future[EvalReport]:
        """Have a candidate judged. The future raises `ToolError` or `BadInput`, as `Judge` does.

        Equal requests under way share one future.
        """

    def map(self, works: Iterable[JudgeRequest]) -> Iterator[EvalReport]:
        """Have all judged; the reports in the order of `works`, as they come."""
        futures = [self.submit(work) for work in works]
        return (future.result() for future in futures)

    def evaluate(
        self,
        candidate: Candidate,
        problem: AnyProblem,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """Have one judged and wait for it."""
        return self.submit(JudgeRequest(candidate, problem, grade, incumbent_seconds)).result()
