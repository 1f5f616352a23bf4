"""The queue: who gets a candidate when judges fail, and when one is given up."""

from collections.abc import Callable
from concurrent.futures import Future

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.hosts.queue import (
    JudgeLost,
    JudgeRequest,
    JudgeThread,
    QueuedRequest,
    RequestQueue,
)
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome

from ..conftest import problem_named

PROBLEM = problem_named("scale")
SOON_DONE = 60.0


def report(code: str = "", **changed: object) -> EvalReport:
    plain = EvalReport(
        problem="scale",
        target="openmp",
        metric="call",
        code_hash=code,
        outcome=Outcome.PASSED,
        device="D",
        toolchain="T",
        evaluator="1",
        grade="screening",
    )
    return plain.model_copy(update=changed)


class Bench:
    """Judges that do what they are told, on one queue."""

    def __init__(self, **judges: Callable[[QueuedRequest], EvalReport]) -> None:
        self.queue = RequestQueue(tries=2)
        self.seen: dict[str, list[str]] = {name: [] for name in judges}
        for name in judges:
            self.queue.join(name, ["openmp"])
        self.lines = [
            JudgeThread(self.queue, name, self._asked(name, ask), self._strand)
            for name, ask in judges.items()
        ]

    def _asked(
        self, name: str, ask: Callable[[QueuedRequest], EvalReport]
    ) -> Callable[[QueuedRequest], EvalReport]:
        def asked(job: QueuedRequest) -> EvalReport:
            self.seen[name].append(job.work.candidate.code)
            return ask(job)

        return asked

    def _strand(self) -> None:
        self.queue.strand("openmp", "no device left")

    def judge(self, *codes: str) -> list[Future[EvalReport]]:
        """Have these judged, one judge after the other taking what it can."""
        jobs = [
            self.queue.enter(JudgeRequest(Candidate("openmp", code), PROBLEM))[0] for code in codes
        ]
        for job in jobs:
            self.queue.ready(job)
        self.queue.close(abandon=False)
        for line in self.lines:
            line.start()
            line.join(SOON_DONE)
        return [job.future for job in jobs]


def right(job: QueuedRequest) -> EvalReport:
    return report(job.work.candidate.code)


def lost_gpu(job: QueuedRequest) -> EvalReport:
    raise ToolError("GPU: lost")


def test_a_device_that_fails_twice_is_given_up_and_others_take_what_waits() -> None:
    bench = Bench(ill=lost_gpu, well=right)
    results = [future.result(0) for future in bench.judge("a", "b", "c")]
    assert [result.code_hash for result in results] == ["a", "b", "c"]
    assert bench.seen == {"ill": ["a", "b"], "well": ["b", "a", "c"]}
    assert bench.lines[0].lost == "GPU: lost"


def test_without_another_device_what_waits_fails_with_the_reason() -> None:
    bench = Bench(ill=lost_gpu)
    futures = bench.judge("a", "b", "c")
    assert bench.seen == {"ill": ["a", "a"]}
    with pytest.raises(ToolError, match="GPU: lost"):
        futures[0].result(0)
    for future in futures[1:]:
        with pytest.raises(ToolError, match="no device left"):
            future.result(0)


def test_a_candidate_that_kills_every_judge_fails_and_no_judge_is_given_up() -> None:
    def deadly(job: QueuedRequest) -> EvalReport:
        if job.work.candidate.code.startswith("kill"):
            raise JudgeLost("judge: died")
        return right(job)

    bench = Bench(only=deadly)
    killer, other, ordinary = bench.judge("kill 1", "kill 2", "a")
    assert ordinary.result(0).passed
    for future in (killer, other):
        with pytest.raises(ToolError, match=r"died \(2 tries\)"):
            future.result(0)
    assert not bench.lines[0].lost


def test_a_bug_reaches_who_asked_and_the_judge_goes_on() -> None:
    def buggy(job: QueuedRequest) -> EvalReport:
        if job.work.candidate.code == "bug":
            raise ZeroDivisionError
        return right(job)

    bug, ordinary = Bench(only=buggy).judge("bug", "a")
    with pytest.raises(ZeroDivisionError):
        bug.result(0)
    assert ordinary.result(0).passed


def test_a_cancelled_candidate_is_not_judged() -> None:
    bench = Bench(only=right)
    job, _ = bench.queue.enter(JudgeRequest(Candidate("openmp", "gone"), PROBLEM))
    bench.queue.ready(job)
    assert job.future.cancel()
    (other,) = bench.judge("a")
    assert other.result(0).passed
    assert bench.seen == {"only": ["a"]}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"device": "E"}, "device: D, E"),
        ({"toolchain": "U"}, "toolchain: T, U"),
        ({"evaluator": "2"}, "evaluator: 1, 2"),
        ({"metric": "device"}, "metric: call, device"),
        ({"grade": "full"}, "grade: screening, full"),
        ({"facts": {"gpu": "1"}, "outcome": Outcome.CRASHED}, None),
    ],
)
def test_reports_say_what_forbids_their_comparison(
    changed: dict[str, object], says: str | None
) -> None:
    assert report().differs_from(report(**changed)) == says
