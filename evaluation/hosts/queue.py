"""Candidates that wait for judges, and the threads that lead them there.

Each text is judged once, however often it is asked for while it is under way. A judge that fails on
a candidate (a failure of ours) costs a try; the next try is another judge's where there is one. A
judge that fails twice in a row is given up. A candidate out of tries gets the error, not a report.

Not covered: priorities; a judge that neither answers nor fails.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.problem.problem import AnyProblem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, code_hash
from regraph_kg.models.target import Target

_GIVEN_UP_AFTER = 2


class JudgeLost(ToolError):
    """A judge's process or host ended while it had a candidate."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A request: the arguments of `Judge.evaluate`."""

    candidate: Candidate
    problem: AnyProblem
    grade: Grade | None = None
    incumbent_seconds: float | None = None

    @property
    def key(self) -> str:
        """Equal for equal work."""
        candidate, problem = self.candidate, self.problem.model_dump_json()
        codes = code_hash(candidate.code), candidate.rival and code_hash(candidate.rival)
        return repr((candidate.target, codes, self.grade, self.incumbent_seconds, problem))


@dataclass(eq=False, slots=True)
class QueuedRequest:
    """Work under way, and the judges that failed on it."""

    key: str
    work: JudgeRequest
    future: Future[EvalReport] = field(default_factory=Future)
    failed: list[str] = field(default_factory=list)

    @property
    def target(self) -> Target:
        return self.work.candidate.target


class RequestQueue:
    """Candidates that wait for a judge; each text once; tried again where a judge has failed."""

    def __init__(self, tries: int) -> None:
        self._tries = tries
        self._changed = threading.Condition()
        self._known: dict[str, QueuedRequest] = {}
        self._ready: list[QueuedRequest] = []
        self._judges: dict[str, frozenset[Target]] = {}
        self._closed = False

    def enter(self, work: JudgeRequest) -> tuple[QueuedRequest, bool]:
        """The job for this work, and whether it is new. Raises `ToolError` after the end."""
        key = work.key
        with self._changed:
            if self._closed:
                raise ToolError("judges: they have been closed; open them anew")
            new = key not in self._known
            return self._known.setdefault(key, QueuedRequest(key, work)), new

    def ready(self, job: QueuedRequest) -> None:
        """Let a judge take it."""
        with self._changed:
            self._ready.append(job)
            self._changed.notify_all()

    def join(self, judge: str, targets: Iterable[Target]) -> None:
        """A judge has come."""
        with self._changed:
            self._judges[judge] = frozenset(targets)
            self._changed.notify_all()

    def leave(self, judge: str) -> None:
        """A judge has gone."""
        with self._changed:
            self._judges.pop(judge, None)
            self._changed.notify_all()

    def judges(self, target: Target) -> list[str]:
        """The judges of this target."""
        with self._changed:
            return [name for name, targets in self._judges.items() if target in targets]

    def take(self, judge: str) -> QueuedRequest | None:
        """Wait for the judge's next candidate; None after the end, or when it has left.

        Several threads may take for one judge.
        """
        with self._changed:
            while judge in self._judges:
                for job in self._ready:
                    if self._fits(job, judge):
                        self._ready.remove(job)
                        if job.failed or job.future.set_running_or_notify_cancel():
                            return job
                        self._forget(job)
                        break
                else:
                    if self._closed:
                        return None
                    self._changed.wait()
            return None

    def _forget(self, job: QueuedRequest) -> None:
        self._known.pop(job.key, None)
        self._changed.notify_all()

    def _fits(self, job: QueuedRequest, judge: str) -> bool:
        """Whether the judge may have it: not a second time where another one could."""
        able = {name for name, has in self._judges.items() if job.target in has}
        return judge in able and (judge not in job.failed or able <= set(job.failed))

    def settle(self, job: QueuedRequest, result: EvalReport | BaseException) -> None:
        """Deliver a job's result."""
        with self._changed:
            self._forget(job)
        if isinstance(result, BaseException):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)

    def answer(self, job: QueuedRequest, result: EvalReport | ToolError) -> None:
        """Deliver the result of work that no judge has taken."""
        if job.failed or job.future.set_running_or_notify_cancel():
            self.settle(job, result)
        else:
            with self._changed:
                self._forget(job)

    def failed(self, job: QueuedRequest, judge: str, error: ToolError) -> None:
        """A judge failed on it: another try first of all, or the error after the last."""
        job.failed.append(judge)
        with self._changed:
            again = len(job.failed) < self._tries and not (self._closed and not self._judges)
            if again:
                self._ready.insert(0, job)
                self._changed.notify_all()
        if not again:
            tries = f" ({len(job.failed)} tries)" if len(job.failed) > 1 else ""
            self.settle(job, type(error)(f"{error}{tries}"))

    def strand(self, target: Target, reason: str) -> None:
        """Fail the requests of this target where it has no judges."""
        with self._changed:
            served = any(target in targets for targets in self._judges.values())
            lost = [j for j in self._ready if j.target == target and not served]
            self._ready = [job for job in self._ready if job not in lost]
        for job in lost:
            self.answer(job, ToolError(reason))

    def drain(self) -> None:
        """Wait until nothing is under way."""
        with self._changed:
            self._changed.wait_for(lambda: not self._known)

    def close(self, *, abandon: bool) -> None:
        """No more candidates; with `abandon` those that wait are cancelled."""
        with self._changed:
            self._closed = True
            jobs, waiting = list(self._known.values()), list(self._ready)
            if abandon:
                self._ready.clear()
                self._judges.clear()
            self._changed.notify_all()
        for job in jobs if abandon else []:
            if not job.future.cancel() and job in waiting:
                self.settle(job, ToolError("judges: they were stopped"))


class JudgeThread(threading.Thread):
    """Leads candidates from the queue to one judge, until the end or until it is given up.

    `ask` judges one; it raises `JudgeLost` where the judge died, `ToolError` where it failed.
    """

    def __init__(
        self,
        queue: RequestQueue,
        judge: str,
        ask: Callable[[QueuedRequest], EvalReport],
        end: Callable[[], None],
    ) -> None:
        super().__init__(name=f"judge {judge}", daemon=True)
        self._queue, self.judge, self._ask, self._end = queue, judge, ask, end
        self.lost = ""
        """Why the judge was given up."""

    def run(self) -> None:
        errors = 0
        while errors < _GIVEN_UP_AFTER and (job := self._queue.take(self.judge)):
            try:
                report = self._ask(job)
            except ToolError as error:
                errors += not isinstance(error, JudgeLost)
                if errors >= _GIVEN_UP_AFTER:
                    self.lost = str(error)
                    self._queue.leave(self.judge)
                self._queue.failed(job, self.judge, error)
            except Exception as error:  # noqa: BLE001 (whoever asked gets it)
                self._queue.settle(job, error)
            else:
                errors = 0
                self._queue.settle(job, report)
        self._end()
