"""Many candidates at once on one host: compiled ahead, judged by one process for each device.

    with JudgePool(cache, devices_here()) as pool:
        for report in pool.map([JudgeRequest(candidate, problem), ...]): ...

Threads compile into the content cache; a judge process then finds the code compiled. There is one
such process for each GPU and one for the CPU, which uses all cores. They die with this process.
A judge process that dies costs only the candidate it had: that one is tried once more, in a fresh
process. Work that disturbs times waits: compilers for openmp, and for grade "full" on a GPU, but
for metric "device" where its judge has cores of its own; while openmp is judged, every GPU of the
host.

Not covered: compilers run beside the serial code, if on other cores, when a judge times it anew
(target cuda, every two minutes); MIG instances; a candidate being compiled when the pool is killed
is compiled to its end.
"""

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Literal

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import Judge, unmeasured
from regraph_kg.evaluation.gpu.device import Gpu, cores_of, find_gpus, pinned
from regraph_kg.evaluation.hosts.judges import JudgeRequest, Judges, Seat
from regraph_kg.evaluation.hosts.process import JudgeProcess
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem.problem import Problem, ProjectProblem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.slots import SessionRules
from regraph_kg.models.evaluation import EvalReport, Grade
from regraph_kg.models.target import ON_CPU, ON_GPU, TARGETS, Target

Device = int | Literal["cpu"]  # index among the GPUs that CUDA may see, or all CPU cores

_DEADLINE_SECONDS = 3600.0
"""After so long a judge is taken for dead: a candidate's steps have deadlines of their own, but it
may wait for the turns of other programs' judges."""

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
    limits: JudgeLimits | None = None
    tries: int = 2  # judges that a candidate may cost before it fails with an error of the judge


class JudgePool(Judges):
    """Judges of this host's devices, a context manager; an exception ends what is under way.

    `devices`: GPUs for cuda, "cpu" for openmp; at least one. Raises `ToolError` for a GPU that is
    not there, `BadInput` where the GPUs are not of one model: their times must not be compared.
    """

    def __init__(
        self, cache: Path, devices: Sequence[Device], options: PoolOptions | None = None
    ) -> None:
        self._options = options or PoolOptions()
        _check(devices)
        self._cores = _spare_cores(devices)
        # While one is judged, as many others are compiled as there are spare cores.
        super().__init__(len(devices) + len(self._cores), self._options.tries)
        self._activities = Activities()
        limits = self._options.limits or JudgeLimits()
        gpu = min((device for device in devices if device != "cpu"), default=0)
        self._machine = Machine(cache, SessionRules(0, Defences(), limits), gpu)
        self._processes = [JudgeProcess() for _ in devices]
        self._seats = [
            self._seat(cache, device, process)
            for device, process in zip(devices, self._processes, strict=True)
        ]

    def submit(self, request: JudgeRequest) -> Future[EvalReport]:
        return super().submit(replace(request, grade=request.grade or self._options.grade))

    def device(self, target: Target) -> str:
        return self._machine.device(target)

    def toolchain(self, target: Target) -> str:
        return self._machine.toolchain(target)

    def hardware(self, target: Target) -> str:
        return self._machine.hardware(target)

    def close(self, *, abandon: bool = False) -> None:
        if abandon:
            self._stop()
            for process in self._processes:
                process.kill()
        else:
            wait(self._under_way.copy())
        # Before the threads end: a process dies at once with the thread that started it.
        for process in self._processes:
            process.end()
        self._threads.shutdown(wait=not abandon)
        self._machine.close()

    def _seat(self, cache: Path, device: Device, process: JudgeProcess) -> Seat:
        """The place of a device's judge; `opened` problems have their serial code timed."""
        options = self._options
        open_judge = partial(
            Judge,
            cache,
            grade=options.grade,
            limits=options.limits,
            gpu=0 if device == "cpu" else device,
        )
        own_cores = device != "cpu" and cores_of(device, len(_gpus())) is not None
        opened: set[str] = set()

        def ask(request: JudgeRequest) -> EvalReport:
            problem = request.problem
            seconds = _DEADLINE_SECONDS
            if isinstance(problem, ProjectProblem):
                seconds += problem.longest_seconds
            with self._activities.activity(_activity(request, opened, own_cores=own_cores)):
                report = process.ask(_evaluate, open_judge, request, seconds=seconds)
            opened.add(problem.name)
            return report

        name = "cpu" if device == "cpu" else f"gpu {device}"
        return Seat(name, ON_CPU if device == "cpu" else ON_GPU, ask)

    def _judged(self, request: JudgeRequest) -> EvalReport:
        """Compile into the cache; code that does not compile is answered without a judge."""
        problem = request.problem
        if isinstance(problem, Problem):  # a project is built by whoever judges it
            with (
                self._activities.activity("compile"),
                pinned(self._cores),
                contextlib.suppress(ToolError),  # the judge will meet the same, and says it
            ):
                report = self._uncompiled(request, problem)
                if report:
                    return report
        return super()._judged(request)

    def _uncompiled(self, request: JudgeRequest, problem: Problem) -> EvalReport | None:
        """The report of code that does not compile; None where it does, and is in the cache."""
        start = time.perf_counter()
        result = self._machine.program(request.candidate, problem)
        if not isinstance(result, Failure) or not request.grade:
            return None
        seconds = time.perf_counter() - start
        report = unmeasured(self._machine, request.candidate, problem, request.grade, result)
        return report.model_copy(update={"stages": {"compile": seconds, "total": seconds}})


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


def _activity(request: JudgeRequest, opened: set[str], *, own_cores: bool) -> _Activity:
    """The quiet that judging it needs.

    What a GPU's judge with cores of its own times on the device needs none: compilers have the
    others. Calls with copies and allocations may take longer beside them (docs/results.md: 11 %
    in the median of nine, with much noise).
    """
    if not TARGETS[request.candidate.target].on_gpu:
        return "alone"
    if own_cores and request.problem.metric == "device":
        return "judge"
    return "quiet" if request.grade == "full" or request.problem.name not in opened else "judge"


def _spare_cores(devices: Sequence[Device]) -> frozenset[int]:
    """CPUs for compilers: those without a GPU's judge or worker, else all."""
    every = frozenset(os.sched_getaffinity(0))
    reserved: set[int] = set()
    for device in devices:
        cores = None if device == "cpu" else cores_of(device, len(_gpus()))
        reserved |= (cores.judge | cores.worker) if cores else set()
    return every - reserved or every
