"""A process that judges, apart from the one that started it, and that dies with it.

Ctrl-C does not reach it: whoever started it ends it. A process that dies, or does not answer in
time, loses what it was asked; the next question starts another.

Not covered: the program's main module must be a file, which the process imports (and, as every such
module, guards its start with `__name__`).
"""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from ctypes import CDLL
from multiprocessing import resource_tracker
from multiprocessing.util import Finalize
from typing import TypeVar

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.hosts.judges import JudgeLost, JudgeRequest
from regraph_kg.models.evaluation import EvalReport

_PR_SET_PDEATHSIG = 1

T = TypeVar("T")


class JudgeProcess:
    """A process, started when first asked, anew when it has died. One question at a time.

    The kernel kills it when the thread that started it ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ProcessPoolExecutor | None = None
        self._handle: int | None = None
        self._killed = False

    def ask(self, call: Callable[..., T], *args: object, seconds: float | None = None) -> T:
        """`call(*args)` in the process.

        Raises `JudgeLost` where the process dies, or does not answer within `seconds`.
        """
        asked = None
        try:
            asked = self._running().submit(call, *args)
            return asked.result(seconds)
        except (BrokenProcessPool, ProcessLookupError):
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
        with self._lock:
            executor, self._executor = self._executor, None
            handle, self._handle = self._handle, None
        if executor:
            executor.shutdown(wait=True)
        if handle is not None:
            os.close(handle)

    def kill(self) -> None:
        """End it at once, from any thread; it is not started again."""
        self._killed = True
        self._signal()

    def _running(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor, process = _started()
            with self._lock:
                # A handle, as the kernel may give the id of a dead process to another one.
                self._handle = os.pidfd_open(process)
        if self._killed:  # looked at after the start: kill() may have come during it
            self._signal()
            raise JudgeLost("judge: stopped")
        return self._executor

    def _signal(self) -> None:
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)


def _started() -> tuple[ProcessPoolExecutor, int]:
    """A process and its id; Ctrl-C is blocked there from its first moment."""
    resource_tracker.ensure_running()  # whose start unblocks what the next line blocks
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        # A fork would copy the locks that other threads hold.
        spawn = multiprocessing.get_context("spawn")
        executor = ProcessPoolExecutor(1, spawn, _begin, (os.getpid(),))
        try:
            return executor, executor.submit(os.getpid).result()
        except BaseException:
            executor.shutdown(wait=False)
            raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """In the process, first of all: Ctrl-C is the parent's business; die with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


_judges: dict[str, Judge] = {}
"""In a judge's process: its only judge, which times a problem's serial code once."""


def evaluate(open_judge: Callable[[], Judge], request: JudgeRequest) -> EvalReport:
    """In a judge's process. After a failure of ours the next candidate gets a fresh judge."""
    if not _judges:
        # As the process ends it runs these, and no atexit.
        Finalize(None, _close, exitpriority=0)
        _judges["it"] = open_judge()
    try:
        return _judges["it"].evaluate(
            request.candidate,
            request.problem,
            grade=request.grade,
            incumbent_seconds=request.incumbent_seconds,
        )
    except ToolError:
        _close()
        raise


def _close() -> None:
    while _judges:
        _judges.popitem()[1].close()
