"""The stopwatch sees each call of a batch begin and end, and a count that was tampered with."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.worker import handshake
from regraph_kg.evaluation.worker.handshake import MOVED, NO_STEPS, Operation, Stopwatch
from regraph_kg.evaluation.worker.shared_memory import Control

DONE = 77
TOOK = (0.05, 0.04, 0.07, 0.04, 0.09)
Given = Callable[..., tuple[float, Array]]


@pytest.fixture
def given(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Given:
    """What is seen of a worker that obeys so, of a batch of two calls."""
    monkeypatch.setattr(handshake, "_SPIN_SECONDS", 60.0)
    watch = Stopwatch(Compiler(cache, find_gcc(), JudgeLimits()).stopwatch())

    def give(obey: Callable[[Control], None], calls: int = 2) -> tuple[float, Array]:
        control = Control(operation=Operation.CALLS, count=calls)

        def work() -> None:
            while not control.command:
                time.sleep(0)
            obey(control)
            control.done = DONE

        worker = threading.Thread(target=work)
        worker.start()
        seen = watch.give(control, 1, DONE)
        worker.join()
        return seen

    return give


def step(control: Control, seconds: float, to: int | None = None) -> None:
    time.sleep(seconds)
    control.steps = control.steps + 1 if to is None else to


def test_each_call_is_seen_to_begin_and_to_end(given: Given) -> None:
    def obey(control: Control) -> None:
        for seconds in TOOK:
            step(control, seconds)

    for _ in range(9):  # a busy machine makes it miss some
        passed, steps = given(obey)
        if steps.size:
            break
    assert steps.size == 6
    seen = np.cumsum(steps)
    assert seen[-1] == pytest.approx(passed)
    assert all(seen[:-1] >= np.cumsum(TOOK)), "nothing is seen before it happens"


def obeying(*counts: int) -> Callable[[Control], None]:
    def obey(control: Control) -> None:
        for count in counts:
            step(control, 0.03, count)

    return obey


@pytest.mark.parametrize("counts", [(1, 2, 3, 4), (1, 2, 1, 2, 3, 4, 5), (1, 2, 3, 4, 5, 6)])
def test_a_count_that_goes_back_or_ends_elsewhere_was_moved(
    given: Given, counts: tuple[int, ...]
) -> None:
    passed, steps = given(obeying(*counts))
    assert passed >= 0.03 * len(counts)
    assert steps is MOVED


def test_two_steps_at_a_time_were_not_seen_apart(given: Given) -> None:
    _, steps = given(obeying(1, 2, 4, 5))
    assert steps is NO_STEPS


def test_one_that_was_moved_is_told_though_others_were_missed(given: Given) -> None:
    _, steps = given(obeying(1, 3, 2, 5))
    assert steps is MOVED


def test_an_empty_batch_has_no_steps(given: Given) -> None:
    _, steps = given(obeying(), 0)
    assert steps is NO_STEPS
