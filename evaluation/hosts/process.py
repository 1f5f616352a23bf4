"""A judge in a process of its own, which dies with the thread that started it.

Its judge sees one device only. Ctrl-C does not reach it: whoever started it ends it. A process that
dies loses what it was asked; the next question starts another.

Not covered: a judge that neither answers nor dies. The program's main module must be a file, which
the process imports (and, as every such module, guards its start with `__name__`).
"""

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from ctypes import CDLL
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Literal, TypeVar

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.hosts.queue import JudgeLost, JudgeRequest
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.slot import Isolation
from regraph_kg.models.evaluation import EvalReport, Grade

Device = int | Literal["cpu"]
"""Index among the GPUs that CUDA may see, or the CPU with all its cores."""

_PR_SET_PDEATHSIG = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Options of a process's judge: those of `Judge`, and the device."""

    cache: Path
    grade: Grade = "screening"
    seed: int | None = None
    limits: JudgeLimits | None = None
    isolation: Isolation = "fresh"
    device: Device = "cpu"
    parent: int = 0
    """Id of the process that starts it."""


class JudgeProcess:
    """A process with a judge, started when first asked, anew when it has died.

    `ask` and `end` from one thread only: the kernel kills the process when that thread ends.
    """

    def __init__(self, orders: JudgeOptions) -> None:
        self._orders = orders
        self._lock = threading.Lock()
        self._executor: ProcessPoolExecutor | None = None
        self._handle: int | None = None
        self._killed = False

    def ask(self, call: Callable[..., T], *args: object) -> T:
        """`call(orders, *args)` in the process. Raises `JudgeLost` where that dies."""
        try:
            return self._running().submit(call, self._orders, *args).result()
        except (BrokenProcessPool, ProcessLookupError):
            self._drop()
            raise JudgeLost(
                "judge: its process died while it judged (killed, out of memory?)"
            ) from None

    def end(self) -> None:
        """End the process and wait for it."""
        if self._executor and not self._killed:
            with contextlib.suppress(BrokenProcessPool, ToolError):
                self._executor.submit(end, self._orders).result()
        self._drop()

    def kill(self) -> None:
        """End it at once, from any thread; it is not started again."""
        with self._lock:
            self._killed = True
            self._signal()

    def _running(self) -> ProcessPoolExecutor:
        if self._killed:
            raise JudgeLost("judge: stopped")
        if self._executor is None:
            self._executor, process = self._started()
            with self._lock:
                self._handle = os.pidfd_open(process)
                if self._killed:
                    self._signal()
        return self._executor

    def _started(self) -> tuple[ProcessPoolExecutor, int]:
        """A process, Ctrl-C blocked from its first moment, and its id."""
        resource_tracker.ensure_running()  # whose start unblocks what the next line blocks
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            spawn = multiprocessing.get_context("spawn")
            executor = ProcessPoolExecutor(1, spawn, _begin, (self._orders,))
            try:
                return executor, executor.submit(os.getpid).result()
            except BaseException:
                executor.shutdown(wait=False)
                raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _signal(self) -> None:
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _drop(self) -> None:
        executor, self._executor = self._executor, None
        if executor:
            executor.shutdown(wait=True)
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None


def _begin(orders: JudgeOptions) -> None:
    """In a judge process, first of all: Ctrl-C is the parent's business; die with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != orders.parent:  # it died before the line above
        os._exit(1)


@functools.cache
def _judge(orders: JudgeOptions) -> Judge:
    return Judge(
        orders.cache,
        grade=orders.grade,
        seed=orders.seed,
        limits=orders.limits,
        isolation=orders.isolation,
        gpu=0 if orders.device == "cpu" else orders.device,
    )


def evaluate(orders: JudgeOptions, work: JudgeRequest) -> EvalReport:
    """In a judge process. After a failure of ours the next candidate gets a fresh judge."""
    try:
        return _judge(orders).evaluate(
            work.candidate,
            work.problem,
            grade=work.grade,
            incumbent_seconds=work.incumbent_seconds,
        )
    except ToolError:
        end(orders)
        raise


def end(orders: JudgeOptions) -> None:
    """In a judge process: end what the judge has started."""
    if _judge.cache_info().currsize:
        _judge(orders).close()
        _judge.cache_clear()
