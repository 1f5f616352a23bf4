"""Many candidates at once on one host: compiled ahead, judged by one process per device.

    with JudgePool(cache, devices_here()) as pool:
        for report in pool.map([Work(candidate, problem), ...]): ...

Threads compile into the content cache; a judge process then finds the code compiled. There is one
such process for each GPU and one for the CPU, which uses all cores. They die with this process.
A judge process that dies costs only the candidate it had: that one is tried once more, in a fresh
process. A device whose judge reports a failure of ours (a lost GPU) twice in a row is given up, and
waiting requests go to the other devices (queue.py).
Work that disturbs times waits: compilers for openmp, and for grade "full" on a GPU, but for metric
"device" where its judge has cores of its own; while openmp is judged, every GPU of the host.
Other hosts: ray_hosts.py.

Not covered: compilers run beside the serial code, if on other cores, when a judge times it anew
(target cuda, every two minutes); MIG instances; a candidate being compiled when the pool is killed
is compiled to its end.
"""

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import unmeasured
from regraph_kg.evaluation.gpu.device import Gpu, cores_of, find_gpus
from regraph_kg.evaluation.hosts.judges import Judges
from regraph_kg.evaluation.hosts.process import Device, JudgeOptions, JudgeProcess, evaluate
from regraph_kg.evaluation.hosts.queue import JudgeRequest, JudgeThread, QueuedRequest, RequestQueue
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.slot import Isolation, SessionRules
from regraph_kg.models.evaluation import EvalReport, Grade
from regraph_kg.models.target import ON_CPU, ON_GPU, TARGETS, Target

_Activity = Literal["compile", "judge", "quiet", "alone"]
_CLASHES: dict[_Activity, frozenset[_Activity]] = {
    "compile": frozenset({"quiet", "alone"}),
    "judge": frozenset({"alone"}),
    "quiet": frozenset({"compile", "alone"}),
    "alone": frozenset({"compile", "judge", "quiet", "alone"}),
}
"""What must not happen on a host at once: "alone" is openmp, "quiet" is cuda beside serial code."""


class Activities:
    """Activities of this host: one that would disturb a measurement waits for its end."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way: Counter[_Activity] = Counter()
        self._waiting: list[tuple[object, _Activity]] = []

    @contextlib.contextmanager
    def activity(self, kind: _Activity) -> Iterator[None]:
        """Wait until nothing clashes; first come, first served, compilers last."""
        ticket = (object(), kind)
        with self._changed:
            self._waiting.append(ticket)
            self._changed.wait_for(lambda: not self._clashes(ticket))
            self._waiting.remove(ticket)
            self._under_way[kind] += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way[kind] -= 1
                self._changed.notify_all()

    def _clashes(self, ticket: tuple[object, _Activity]) -> bool:
        ahead = self._waiting
        if ticket[1] != "compile":
            ahead = [entry for entry in ahead[: ahead.index(ticket)] if entry[1] != "compile"]
        rivals = {kind for kind, count in self._under_way.items() if count}
        return bool(_CLASHES[ticket[1]] & (rivals | {kind for _, kind in ahead}))


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Options of a pool's judges; None: the default of `Judge`."""

    grade: Grade = "screening"
    seed: int | None = None
    limits: JudgeLimits | None = None
    isolation: Isolation = "fresh"
    compile_jobs: int | None = None
    """Compilers at once; None: the cores that the judges leave."""
    tries: int = 2
    """Count of judges that a candidate may cost before it fails with an error of the judge."""


class JudgePool(Judges):
    """Judges of this host's devices, a context manager; an exception ends what is under way.

    `devices`: GPUs for cuda, "cpu" for openmp; at least one. Raises `ToolError` for a GPU that is
    not there, `BadInput` where the GPUs are not of one model: their times must not be compared.
    """

    def __init__(
        self, cache: Path, devices: Sequence[Device], options: PoolOptions | None = None
    ) -> None:
        self._options = options or PoolOptions()
        self._queue = RequestQueue(self._options.tries)
        self._activities = Activities()
        _check(devices)
        rules = SessionRules(0, Defences(), self._options.limits or JudgeLimits())
        self._machine = Machine(cache, rules, min((d for d in devices if d != "cpu"), default=0))
        cores = _spare_cores(devices)
        jobs = self._options.compile_jobs or len(cores)
        self.at_once = len(devices) + jobs
        """Candidates that it works on at once: some are judged, others compiled for later."""
        self._compilers = ThreadPoolExecutor(jobs, "compile", os.sched_setaffinity, (0, cores))
        self._processes = [JudgeProcess(self._orders(cache, device)) for device in devices]
        self._lines = [
            self._line(process, device)
            for process, device in zip(self._processes, devices, strict=True)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind:
            self.kill()
        else:
            self.close()

    def submit(self, work: JudgeRequest) -> Future[EvalReport]:
        """Have a candidate judged here. Raises `ToolError` where no device is left for it."""
        if not self._queue.judges(work.candidate.target):
            raise ToolError(self._none_left(work.candidate.target))
        job, new = self._queue.enter(replace(work, grade=work.grade or self._options.grade))
        if new:
            self._compilers.submit(self._compile, job)
        return job.future

    def device(self, target: Target) -> str:
        return self._machine.device(target)

    def toolchain(self, target: Target) -> str:
        return self._machine.toolchain(target)

    def hardware(self, target: Target) -> str:
        return self._machine.hardware(target)

    def lost(self) -> dict[str, str]:
        """Devices that were given up, and why."""
        return {line.judge: line.lost for line in self._lines if line.lost}

    def close(self) -> None:
        """Wait for all that is under way, then end every process; idempotent."""
        self._compilers.shutdown(wait=True)
        self._queue.drain()
        self._queue.close(abandon=False)
        self._join()

    def kill(self) -> None:
        """End every process at once; waiting callers get a `CancelledError` or `ToolError`."""
        self._queue.close(abandon=True)
        for process in self._processes:
            process.kill()
        self._compilers.shutdown(wait=False, cancel_futures=True)
        self._join()

    def _join(self) -> None:
        for line in self._lines:
            line.join()
        self._machine.close()

    def _orders(self, cache: Path, device: Device) -> JudgeOptions:
        options = self._options
        return JudgeOptions(
            cache=cache,
            grade=options.grade,
            seed=options.seed,
            limits=options.limits,
            isolation=options.isolation,
            device=device,
            parent=os.getpid(),
        )

    def _line(self, process: JudgeProcess, device: Device) -> JudgeThread:
        name = "cpu" if device == "cpu" else f"gpu {device}"
        targets = ON_CPU if device == "cpu" else ON_GPU
        self._queue.join(name, targets)
        opened: set[str] = set()
        own_cores = device != "cpu" and cores_of(device, len(_gpus())) is not None

        def ask(job: QueuedRequest) -> EvalReport:
            with self._activities.activity(_activity(job, opened, own_cores=own_cores)):
                report = process.ask(evaluate, job.work)
            opened.add(job.work.problem.name)
            return report

        def end() -> None:
            process.end()
            for target in targets:
                self._strand(target)

        line = JudgeThread(self._queue, name, ask, end)
        line.start()
        return line

    def _compile(self, job: QueuedRequest) -> None:
        """Compile into the cache; code that does not compile is answered without a judge."""
        report: EvalReport | None = None
        try:
            problem = job.work.problem
            if isinstance(problem, Problem):  # a project is built by whoever judges it
                with self._activities.activity("compile"), contextlib.suppress(ToolError):
                    report = self._uncompiled(job.work, problem)
        finally:
            if report is not None:
                self._queue.answer(job, report)
            else:
                self._queue.ready(job)
                if not self._queue.judges(job.target):
                    self._strand(job.target)

    def _uncompiled(self, work: JudgeRequest, problem: Problem) -> EvalReport | None:
        """The report of code that does not compile; None where it does, and is in the cache."""
        start = time.perf_counter()
        result = self._machine.program(work.candidate, problem)
        if not isinstance(result, Failure) or not work.grade:
            return None
        seconds = time.perf_counter() - start
        return unmeasured(self._machine, work.candidate, problem, work.grade, result).model_copy(
            update={"stages": {"compile": seconds, "total": seconds}}
        )

    def _strand(self, target: Target) -> None:
        self._queue.strand(target, self._none_left(target))

    def _none_left(self, target: Target) -> str:
        lost = "; ".join(f"{device} was given up: {why}" for device, why in self.lost().items())
        return f"judges: no device for target {target}" + (f": {lost}" if lost else "")


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


def _check(devices: Sequence[Device]) -> None:
    """Whether one pool may have these devices."""
    if not devices or len(set(devices)) < len(devices):
        raise BadInput(f"judges: give each device once, not {list(devices)}")
    indices = [device for device in devices if device != "cpu"]
    shown = _gpus()
    if max(indices, default=-1) >= len(shown):
        raise ToolError(f"GPU {max(indices)}: this machine shows {len(shown)}; give a lower number")
    models = {gpu.name for index, gpu in enumerate(shown) if index in indices}
    if len(models) > 1:
        raise BadInput(
            f"judges: GPUs of several models ({', '.join(sorted(models))}), whose times must not be"
            " compared; choose those of one model with CUDA_VISIBLE_DEVICES"
        )


def _activity(job: QueuedRequest, opened: set[str], *, own_cores: bool) -> _Activity:
    """The quiet that judging it needs; `opened` problems have their serial code timed.

    What a GPU's judge with cores of its own times on the device needs none: compilers have the
    others. Calls with copies and allocations may take longer beside them (docs/results.md: 11 %
    in the median of nine, with much noise).
    """
    if not TARGETS[job.target].on_gpu:
        return "alone"
    if own_cores and job.work.problem.metric == "device":
        return "judge"
    return "quiet" if job.work.grade == "full" or job.work.problem.name not in opened else "judge"


def _spare_cores(devices: Sequence[Device]) -> frozenset[int]:
    """CPUs for compilers: those without a GPU's judge or worker, else all."""
    every = frozenset(os.sched_getaffinity(0))
    reserved: set[int] = set()
    for device in devices:
        cores = None if device == "cpu" else cores_of(device, len(_gpus()))
        reserved |= (cores.judge | cores.worker) if cores else set()
    return every - reserved or every
