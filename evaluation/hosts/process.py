"""A process that judges, apart from the one that started it, and that dies with it.

Ctrl-C does not reach it: whoever started it ends it. A process that dies, or does not answer in
time, loses what it was asked; the next question starts another.

Not covered: the program's main module must be a file, which the process imports (and, as every such
module, guards its start with `__name__`).
"""

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from ctypes import CDLL
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import TypeVar

from regraph_kg.evaluation.hosts.judges import JudgeLost

_PR_SET_PDEATHSIG = 1

T = TypeVar("T")


class JudgeProcess:
    """A process, started when first asked, anew when it has died. One question at a time.

    The kernel kills it when the thread that started it ends.
    """

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self._killed = False

    def ask(self, call: Callable[..., T], *args: object, seconds: float | None = None) -> T:
        """`call(*args)` in the process.

        Raises `JudgeLost` where the process dies, or does not answer within `seconds`.
        """
        asked = None
        try:
            asked = self._running().submit(call, *args)
            return asked.result(seconds)
        except BrokenProcessPool:
            lost = "judge: its process died while it judged (killed, out of memory?)"
        except TimeoutError:
            if asked is None or asked.done():
                raise  # the call's own
            self._signal()
            lost = f"judge: no answer within {seconds:.0f} s; its process was ended"
        self.end()
        raise JudgeLost(lost)

    def end(self) -> None:
        """End the process, which closes its judge, and wait for it; idempotent."""
        executor, self._executor = self._executor, None
        if executor:
            executor.shutdown(wait=True)

    def kill(self) -> None:
        """End it at once, from any thread; it is not started again."""
        self._killed = True
        self._signal()

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor, self._process = _started()
        if self._killed:  # looked at after the start: kill() may have come during it
            self._signal()
            raise JudgeLost("judge: stopped")
        return self._executor

    def _signal(self) -> None:
        if self._process is not None:
            self._process.kill()  # does nothing once the process has been waited for


def _started() -> tuple[ProcessPoolExecutor, BaseProcess | None]:
    """An executor and its process; None where that has died already, as the next call notices."""
    resource_tracker.ensure_running()  # whose start unblocks what the next line blocks
    # Ctrl-C is blocked there from its first moment, long before `_begin` runs.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # A fork would copy the locks that other threads hold.
    spawn = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(1, spawn, _begin, (os.getpid(),))
    try:
        number = executor.submit(os.getpid).result()
        children = multiprocessing.active_children()
        return executor, next((child for child in children if child.pid == number), None)
    except BaseException:
        executor.shutdown(wait=False)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """Runs first in the process: Ctrl-C is the parent's business; die with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)
