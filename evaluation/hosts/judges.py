"""What a pool of one host and the hosts of a cluster have in common for whoever has code judged."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import Future

from regraph_kg.evaluation.hosts.queue import JudgeRequest
from regraph_kg.evaluation.problem.problem import AnyProblem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import Target


class Judges(ABC):
    """Several judges behind one door: what is asked for waits in a queue until one is free."""

    @abstractmethod
    def submit(self, work: JudgeRequest) -> Future[EvalReport]:
        """Have a candidate judged. The future raises `ToolError` or `BadInput`, as `Judge` does.

        Whoever asks for the same work while it is under way gets the same future.
        """

    @abstractmethod
    def device(self, target: Target) -> str:
        """Statistics key of the devices that judge this target."""

    @abstractmethod
    def toolchain(self, target: Target) -> str:
        """Compilers and flags, as reports carry them."""

    @abstractmethod
    def hardware(self, target: Target) -> str:
        """What a program for this target runs on, in a line."""

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
