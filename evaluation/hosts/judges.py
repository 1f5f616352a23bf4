"""Several judges as one: a pool on one host (pool.py), the hosts of a Ray cluster (ray_hosts.py).

A judge that fails on a candidate (a failure of ours) costs a try; the next try is another judge's
where there is one. A candidate out of tries gets the error, not a report.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.problem.problem import AnyProblem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import Target


class JudgeLost(ToolError):
    """A judge's process or host ended while it had a candidate."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A request: the arguments of `Judge.evaluate`."""

    candidate: Candidate
    problem: AnyProblem
    grade: Grade | None = None
    incumbent_seconds: float | None = None


@dataclass(eq=False, slots=True)
class Seat:
    """A place for one candidate at a judge; a host of a cluster has several, under one name."""

    judge: str
    targets: Sequence[Target]
    ask: Callable[[JudgeRequest], EvalReport]
    """Judges one. Raises `JudgeLost` where the judge died, `ToolError` where it failed."""
    busy: bool = False


class Judges(Evaluator, ABC):
    """A thread for each candidate under way waits for a free seat; a context manager.

    `tries`: how many judges a candidate may cost. `patience`: seconds that a candidate waits while
    no judge at all has its target.
    """

    def __init__(self, at_once: int, tries: int, patience: float = 0.0) -> None:
        self.at_once = at_once  # candidates in work: some judged, others compiled and waiting
        self._threads = ThreadPoolExecutor(at_once, "candidate")
        self._tries, self._patience = tries, patience
        self._changed = threading.Condition()
        self._seats: list[Seat] = []
        self._under_way: set[Future[EvalReport]] = set()
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self.close(abandon=kind is not None)

    @abstractmethod
    def close(self, *, abandon: bool = False) -> None:
        """End all judges, after what is under way unless `abandon`; idempotent.

        Callers that wait get a `CancelledError` or `ToolError` then.
        """

    def submit(self, request: JudgeRequest) -> Future[EvalReport]:
        """Have a candidate judged. The future raises `ToolError` or `BadInput`, as `Judge` does."""
        future = self._threads.submit(self._judged, request)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def map(self, requests: Iterable[JudgeRequest]) -> Iterator[EvalReport]:
        """Have all judged; the reports in the order of `requests`, as they come."""
        futures = [self.submit(request) for request in requests]
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

    def _judged(self, request: JudgeRequest) -> EvalReport:
        """Ask judges until one answers."""
        failed: list[str] = []
        while True:
            seat = self._take(request.candidate.target, failed)
            try:
                return seat.ask(request)
            except ToolError as error:
                failed.append(seat.judge)
                if len(failed) == self._tries:
                    tries = f" ({self._tries} tries)" if self._tries > 1 else ""
                    raise type(error)(f"{error}{tries}") from None
            finally:
                with self._changed:
                    seat.busy = False
                    self._changed.notify_all()

    def _take(self, target: Target, failed: Sequence[str]) -> Seat:
        """A free seat, once there is one; at a judge that failed on it only where all have.

        Raises `ToolError` where no judge has the target, or after the end.
        """
        last = time.monotonic()
        with self._changed:
            while not self._stopped:
                seats = [seat for seat in self._seats if target in seat.targets]
                able = [seat for seat in seats if seat.judge not in failed] or seats
                free = next((seat for seat in able if not seat.busy), None)
                if free:
                    free.busy = True
                    return free
                if seats:
                    last = time.monotonic()  # patience begins when the last judge has gone
                elif time.monotonic() - last >= self._patience:
                    raise self._nobody(target)
                self._changed.wait(None if seats else self._patience)
        raise ToolError("judges: they were stopped")

    def _nobody(self, target: Target) -> ToolError:
        return ToolError(f"judges: no device for target {target}")

    def _stop(self) -> None:
        """Cancel what has not begun, and let nothing take a seat any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._threads.shutdown(wait=False, cancel_futures=True)
