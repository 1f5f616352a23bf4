"""The stopwatch sees each call of a batch begin and end, and a count that was tampered with."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.problem import Array
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.worker.handshake import Operation, Stopwatch
from regraph_kg.evaluation.worker.shared_memory import Control

DONE = 77
Given = Callable[[Callable[[Control], None]], tuple[float, Array]]


@pytest.fixture
def given(cache: Path) -> Given:
    """What is seen of a worker that obeys so, of a batch of two calls."""
    watch = Stopwatch(Compiler(cache, find_gcc(), JudgeLimits()).stopwatch())

    def give(obey: Callable[[Control], None]) -> tuple[float, Array]:
        control = Control(operation=Operation.CALLS, count=2)

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
        for seconds in (0.001, 0.003, 0.001, 0.004):
            step(control, seconds)

    passed, steps = given(obey)
    assert steps.size == 4
    assert passed >= steps.sum() >= 0.009
    assert all(
        took >= least for took, least in zip(steps, (0.001, 0.003, 0.001, 0.004), strict=True)
    )


@pytest.mark.parametrize("counts", [(1, 2, 3), (1, 2, 1, 2, 3, 4), (1, 2, 3, 4, 5)])
def test_another_count_is_none(given: Given, counts: tuple[int, ...]) -> None:
    def obey(control: Control) -> None:
        for count in counts:
            step(control, 0.001, count)

    passed, steps = given(obey)
    assert passed >= 0.003
    assert steps.size == 0
