"""Warm workers, shared workers, and what only shows on a device: on a pretended GPU."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.session import Session
from regraph_kg.evaluation.timing.timing import NO_KERNEL, MeasuredSeries
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import Candidate, Outcome, code_hash

from .conftest import passed, problem_named, scale_source
from .gpu.test_fake_cuda import FROM_HOST, KERNEL, ON_DEVICE
from .worker.test_worker import sleeping_workers

pytestmark = pytest.mark.nightly

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
REFERENCES = 4  # processes that a reference keeps at most: of small shapes, of three large ones
SLOW = f'for (int k = 0; k < 20; ++k) {{ {RIGHT} __asm__ volatile("" ::: "memory"); }}'


def cuda(body: str) -> Candidate:
    head = 'extern "C" void scale(const float* x, float* y, float a, int n)'
    return Candidate("cuda", f"{KERNEL}{head} {{{body}}}")


def openmp(body: str) -> Candidate:
    return Candidate("openmp", scale_source(body, "#include <stdlib.h>\n"))


def workers() -> set[int]:
    """Workers of this process, the reference's among them."""
    return set(sleeping_workers(os.getpid()))


def eventually(true: Callable[[], object]) -> bool:
    """Whether it becomes true: what is started or killed takes a moment, longer beside others."""
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(true())


@pytest.fixture
def scale() -> Problem:
    return problem_named("scale")


@pytest.mark.usefixtures("pretended_gpu")
def test_the_next_workers_wait_before_the_next_candidate_comes(
    cache: Path, scale: Problem, on_device: Problem
) -> None:
    before = workers()
    with Judge(cache) as judge:
        assert passed(judge.evaluate(cuda(FROM_HOST), scale))
        assert eventually(lambda: len(workers() - before) > REFERENCES), "beside the reference's"
        waiting = workers() - before
        assert passed(judge.evaluate(cuda(FROM_HOST + "/* again */"), scale))
        assert eventually(lambda: waiting - workers()), "one of those that waited was used up"
        assert passed(judge.evaluate(cuda(ON_DEVICE), on_device))
        assert eventually(lambda: len(waiting & workers()) <= REFERENCES), "another problem's turn"
    assert eventually(lambda: workers() == before)


def test_openmp_workers_start_while_the_candidate_is_compiled(cache: Path, scale: Problem) -> None:
    before = workers()
    with Judge(cache) as judge:
        assert judge.evaluate(openmp("not C++"), scale).outcome is Outcome.COMPILE_FAILED
        assert eventually(lambda: len(workers() - before) == 4), "three, beside the reference's"
        assert passed(judge.evaluate(openmp(RIGHT), scale))
        assert eventually(lambda: len(workers() - before) <= REFERENCES), "all were used up"


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize("defended", [True, False])
def test_a_cuda_candidate_must_compute_on_the_device(
    cache: Path, scale: Problem, defended: bool
) -> None:
    with Judge(cache, defences=Defences(ghost=defended)) as judge:
        report = judge.evaluate(cuda(RIGHT), scale)
    assert (report.outcome is Outcome.NO_KERNEL) is defended
    assert (NO_KERNEL in report.diagnosis) is defended


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize("defended", [True, False])
def test_writing_past_an_own_device_allocation_is_seen(
    cache: Path, scale: Problem, defended: bool
) -> None:
    body = FROM_HOST.replace("n * 4); cudaMalloc", "n * 4 - 4); cudaMalloc", 1)
    with Judge(cache, defences=Defences(device_guards=defended)) as judge:
        report = judge.evaluate(cuda(body), scale)
    assert ("past the end of a device allocation" in report.diagnosis) is defended


def test_two_candidates_are_compared_in_fresh_workers(cache: Path, scale: Problem) -> None:
    slow, right = openmp(SLOW), openmp(RIGHT)
    with Judge(cache, grade="full") as judge:
        found = judge.evaluate(replace(slow, rival=right.code), scale).compared
        assert found.verdict in ("slower", "unknown"), "a busy machine may hide it"
        assert found.ratio < 1 or found.interval.high > 1
        for one, other in (("abort();", RIGHT), (RIGHT, "abort();")):
            report = judge.evaluate(replace(openmp(one), rival=openmp(other).code), scale)
            with pytest.raises(BadInput, match="problem scale: "):
                assert not report.compared


def test_two_workers_in_turn_have_as_many_samples_each(cache: Path, scale: Problem) -> None:
    found = list[Sequence[MeasuredSeries]]()

    def noted(self: Session, programs: tuple[Program, Program]) -> Any:
        found.append(in_turn(self, programs))
        return found[-1]

    in_turn = Session.in_turn
    with Judge(cache, grade="full") as judge, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "in_turn", noted)
        judge.evaluate(replace(openmp(RIGHT), rival=openmp(SLOW).code), scale)
    for pair in found:
        counts = [len(each.samples) for each in pair if each.worked_ahead is None]
        assert min(counts, default=3) == max(counts, default=3) >= 3, "else some were timed alone"


def test_a_rival_is_met_in_turn_or_known_to_be_far_away(cache: Path, scale: Problem) -> None:
    with Judge(cache, grade="full") as judge:  # the screening compares no slow code
        first = judge.evaluate(openmp(SLOW), scale)
        assert first.rivalry is None, "it has none"
        slow, right = openmp(SLOW).code, openmp(RIGHT).code
        far = judge.evaluate(replace(openmp(RIGHT), rival=slow), scale).rivalry
        assert far is not None
        assert far.code_hash == code_hash(slow)
        assert far.ratio > 1
        near = judge.evaluate(replace(openmp(RIGHT), rival=right), scale)
        assert near.rivalry is not None
        assert "compare" in near.stages
        assert near.rivalry.interval.low < near.rivalry.ratio < near.rivalry.interval.high
        lost = judge.evaluate(replace(openmp(RIGHT), rival="no code"), scale)
        assert passed(lost)
        assert lost.rivalry is None, "a rival that does not compile says nothing"
