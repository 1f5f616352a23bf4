"""Many candidates at once: compiled ahead, judged by one process for each device of this host.

    with JudgePool(cache, devices_here()) as pool, ThreadPoolExecutor(pool.at_once) as threads:
        for report in threads.map(lambda candidate: pool.evaluate(candidate, problem), ...): ...

Whoever asks compiles into the content cache, several at once; a judge process then finds the code
compiled. A judge that fails on a candidate (a failure of ours) costs a try; the next try is another
judge's where there is one, or its own in a fresh process.

Not covered: compilers run beside the serial code, if on other cores, when a judge times it anew
(target cuda, every two minutes); MIG instances; a candidate being compiled when the pool is killed
is compiled to its end. The program's main module must be a file that a judge's process can import.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from ctypes import CDLL
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeVar

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import Judge, report_of
from regraph_kg.evaluation.evaluation import Evaluation
from regraph_kg.evaluation.gpu.device import Gpu, cores_of, find_gpus, pinned
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.slots import SessionRules
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.models.target import ON_CPU, ON_GPU, TARGETS, Target

Device = int | Literal["cpu"]  # index among the GPUs that CUDA may see, or all CPU cores
T = TypeVar("T")

_DEADLINE_SECONDS = 3600.0
"""After so long a judge is taken for dead: a candidate's steps have deadlines of their own, but it
may wait for the turns of other programs' judges."""
_PR_SET_PDEATHSIG = 1
_TRIES = 2  # judges that a candidate may cost before it fails with their error


class JudgeLost(ToolError):
    """A judge's process ended while it had a candidate."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A request: the arguments of `Judge.evaluate`."""

    candidate: Candidate
    problem: Problem
    grade: Grade | None = None
    incumbent_seconds: float | None = None


@dataclass(eq=False, slots=True)
class Seat:
    """A judge's place for one candidate."""

    judge: str
    targets: Sequence[Target]
    ask: Callable[[JudgeRequest], EvalReport]
    """Judges one. Raises `JudgeLost` where the judge died, `ToolError` where it failed."""
    busy: bool = False


class JudgeProcess:
    """A process that judges, started when first asked, anew once it died; one question at once."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._process: BaseProcess | None = None
        self._killed = False
        # The kernel ends a process with the thread that started it: one that lasts.
        self._starter = ThreadPoolExecutor(1, "judge process")

    def ask(self, call: Callable[..., T], *args: object, seconds: float | None = None) -> T:
        """`call(*args)` in the process. Raises `JudgeLost` where that dies, or is silent long."""
        asked = None
        try:
            if self._executor is None:
                self._executor, self._process = self._starter.submit(_started).result()
            if self._killed:  # looked at after the start: kill() may have come during it
                self.kill()
                self.end()
                raise JudgeLost("judge: stopped")
            asked = self._executor.submit(call, *args)
            return asked.result(seconds)
        except BrokenProcessPool:
            lost = "judge: its process died while it judged (killed, out of memory?)"
        except TimeoutError:
            if asked is None or asked.done():
                raise  # the call's own
            if self._process is not None:
                self._process.kill()
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
        if self._process is not None:
            self._process.kill()  # does nothing once the process has been waited for


def _started() -> tuple[ProcessPoolExecutor, BaseProcess | None]:
    """An executor and its process; None where that has died already, as the next call notices."""
    resource_tracker.ensure_running()  # whose start unblocks what the next line blocks
    # Ctrl-C is blocked there from its first moment, long before `_begin` runs.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # A fork would copy the locks that other threads hold.
    spawn = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(1, spawn, _begin, (os.getpid(),))
    number = executor.submit(os.getpid).result()
    children = multiprocessing.active_children()
    return executor, next((child for child in children if child.pid == number), None)


def _begin(parent: int) -> None:
    """Runs first in the process: Ctrl-C is the parent's business; die with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


class Quiet:
    """Work of this host: some measurements are alone, all else goes on beside one another."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._beside = self._wanted = 0
        self._is_alone = False

    @contextlib.contextmanager
    def work(self, *, alone: bool) -> Iterator[None]:
        """Wait until nothing disturbs; who wants to be alone goes before who does not."""
        with self._changed:
            self._wanted += alone
            self._changed.wait_for(
                lambda: not (self._is_alone or self._beside if alone else self._wanted)
            )
            self._is_alone = alone
            self._beside += not alone
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._wanted -= alone
                self._beside -= not alone
                self._changed.notify_all()


class JudgePool(contextlib.AbstractContextManager["JudgePool"]):
    """Judges of this host's devices; who asks in several threads has several at work.

    An exception in its context ends what is under way. `at_once`: so many callers keep it busy.
    `devices`: GPUs for cuda, "cpu" for openmp; at least one. Raises `ToolError` for a GPU that is
    not there, `BadInput` where the GPUs are not of one model: their times must not be compared.
    """

    def __init__(
        self,
        cache: Path,
        devices: Sequence[Device],
        grade: Grade = "screening",
        limits: JudgeLimits | None = None,
    ) -> None:
        if not devices or len(set(devices)) < len(devices):
            raise BadInput(f"judges: give each device once, not {list(devices)}")
        indices, shown = [device for device in devices if device != "cpu"], _gpus()
        gpu, last = min(indices, default=0), max(indices, default=-1)
        if last >= len(shown):
            raise ToolError(f"GPU {last}: this machine shows {len(shown)}; give a lower number")
        models = {shown[index].name for index in indices}
        if len(models) > 1:
            raise BadInput(
                f"judges: GPUs of several models ({', '.join(sorted(models))}), whose times must"
                " not be compared; choose those of one model with CUDA_VISIBLE_DEVICES"
            )
        self._own = {d: None if d == "cpu" else cores_of(d, len(shown)) for d in devices}
        reserved = [cores.judge | cores.worker for cores in self._own.values() if cores]
        every = frozenset(os.sched_getaffinity(0))
        self._cores = every.difference(*reserved) or every  # for compilers
        # While one is judged, as many others are compiled as there are spare cores.
        self.at_once = len(devices) + len(self._cores)
        self._changed = threading.Condition()
        self._seats: list[Seat] = []
        self._stopped = False
        self._grade = grade
        self._quiet = Quiet()
        self._opened: set[tuple[Device, str]] = set()
        rules = SessionRules(0, Defences(), limits or JudgeLimits())
        self._machine = machine = Machine(cache, rules, gpu)
        self.device, self.toolchain = machine.device, machine.toolchain
        self._processes = [JudgeProcess() for _ in devices]
        for device, process in zip(devices, self._processes, strict=True):
            on = ("cpu", ON_CPU) if device == "cpu" else (f"gpu {device}", ON_GPU)
            number = 0 if device == "cpu" else device
            open_judge = partial(Judge, cache, grade=grade, limits=limits, gpu=number)
            self._seats.append(Seat(*on, partial(self._ask, device, process, open_judge)))

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self.close(abandon=kind is not None)

    def close(self, *, abandon: bool = False) -> None:
        """End all judges, after what they judge unless `abandon`; who waits gets a `ToolError`."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            if not abandon:
                self._changed.wait_for(lambda: not any(seat.busy for seat in self._seats))
        for process in self._processes:
            if abandon:
                process.kill()
        for process in self._processes:
            process.end()
        self._machine.close()

    def evaluate(
        self,
        candidate: Candidate,
        problem: Problem,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """Ask judges until one answers. Raises `ToolError` or `BadInput`, as `Judge` does."""
        request = JudgeRequest(candidate, problem, grade or self._grade, incumbent_seconds)
        early, failed = self._early(request), list[str]()
        while early is None:
            seat = self._take(candidate.target, failed)
            try:
                return seat.ask(request)
            except ToolError as error:
                failed.append(seat.judge)
                if len(failed) == _TRIES:
                    raise type(error)(f"{error} ({_TRIES} tries)") from None
            finally:
                with self._changed:
                    seat.busy = False
                    self._changed.notify_all()
        return early

    def _take(self, target: Target, failed: Sequence[str]) -> Seat:
        """A free seat, once there is one; at a judge that failed on it only where all have."""
        seats = [seat for seat in self._seats if target in seat.targets]
        if not seats:
            raise ToolError(f"judges: no device for target {target}")
        able = [seat for seat in seats if seat.judge not in failed] or seats
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not all(seat.busy for seat in able))
            if self._stopped:
                raise ToolError("judges: they were stopped")
            free = next(seat for seat in able if not seat.busy)
            free.busy = True
            return free

    def _early(self, request: JudgeRequest) -> EvalReport | None:
        """The report of code that does not compile; None where it does, and is in the cache."""
        start, candidate, problem = time.perf_counter(), request.candidate, request.problem
        try:
            with self._quiet.work(alone=False), pinned(self._cores):
                result = self._machine.program(candidate, problem)
        except ToolError:  # the judge will meet the same, and says it
            return None
        if not isinstance(result, Failure):
            return None
        assert request.grade
        stages = dict.fromkeys(("compile", "total"), time.perf_counter() - start)
        failed = Evaluation(candidate, problem, request.grade, failure=result, stages=stages)
        return report_of(self._machine, failed, {})

    def _ask(
        self,
        device: Device,
        process: JudgeProcess,
        open_judge: Callable[[], Judge],
        request: JudgeRequest,
    ) -> EvalReport:
        """Have a device's process judge one, in the quiet that it needs."""
        problem = request.problem
        opened = (device, problem.name) in self._opened  # its serial code is timed
        alone = needs_quiet(request, opened=opened, own_cores=self._own[device] is not None)
        with self._quiet.work(alone=alone):
            report = process.ask(_evaluate, open_judge, request, seconds=_DEADLINE_SECONDS)
        self._opened.add((device, problem.name))
        return report


def needs_quiet(request: JudgeRequest, *, opened: bool, own_cores: bool) -> bool:
    """Whether nothing else may run on the host while one is judged."""
    if not TARGETS[request.candidate.target].on_gpu:
        return True
    # What a GPU's judge with cores of its own times on the device is not disturbed: compilers have
    # the others. Calls with copies and allocations may take longer beside them (docs/results.md:
    # 11 % in the median of nine, with much noise).
    if own_cores and request.problem.metric == "device":
        return False
    return request.grade == "full" or not opened


_judges: dict[str, Judge] = {}  # a judge process' only judge, which times serial code once


def _evaluate(open_judge: Callable[[], Judge], request: JudgeRequest) -> EvalReport:
    """Runs in a judge's process. After a failure of ours the next candidate gets a fresh judge."""
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


def devices_here(target: Target | None = None) -> tuple[Device, ...]:
    """The host's devices (for the target): GPUs that CUDA may see, and the CPU."""
    kinds = {"cpu", "gpu"} if target is None else {TARGETS[target].device}
    gpus = range(len(_gpus())) if "gpu" in kinds else ()
    return (*gpus, "cpu") if "cpu" in kinds else tuple(gpus)


def _gpus() -> list[Gpu]:
    try:
        return find_gpus()
    except ToolError:
        return []
