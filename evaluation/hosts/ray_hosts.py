"""Judges on several hosts: on each host of a Ray cluster one actor, with a pool of its devices.

    with RayJudges("auto", cache_here) as judges:
        report = judges.evaluate(candidate, problem)

Ray (https://www.ray.io, the extra "ray") finds the hosts, moves candidates and reports, and notices
when a host is gone. One actor takes a whole host, so that its pool (pool.py) can keep compilers
away from measurements. Hosts that join later are used; a host that is lost costs its candidates
under way a try, and the next try is elsewhere. A candidate that cost three judges their lives fails
with an error of ours. Reports name the host. The first host says what device and toolchain times
are of: a host that differs is turned away (`turned_away`), so no two times of a judges are of
different devices.

Not covered: loss of the cluster's head, which ends the run (Ray ends the program, after a minute);
a host that no longer answers but is not gone, until Ray calls it dead (about half a minute);
encryption: Ray's token keeps strangers out, not listeners. Seen with hosts that were processes of
one machine, not yet with several machines.
"""

import contextlib
import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from regraph_kg.errors import BadInput, RegraphError, ToolError
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.hosts.judges import Judges
from regraph_kg.evaluation.hosts.pool import JudgePool, PoolOptions, devices_here
from regraph_kg.evaluation.hosts.queue import (
    JudgeLost,
    JudgeRequest,
    JudgeThread,
    QueuedRequest,
    RequestQueue,
)
from regraph_kg.evaluation.hosts.ray_cluster import connect
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.target import TARGETS, Target

_TRIES = 3
_LINES_PER_DEVICE = 3
"""Candidates at a host for each of its devices: one judged, the next ones being compiled."""
_LOOK_SECONDS = 2.0
_OPEN_SECONDS = 180.0
_POLL_SECONDS = 0.2
_CLOSE_SECONDS = 30.0
_OPENED_AT_MOST = 2
_CALLS_AT_ONCE = 64
_ERRORS: dict[str, type[RegraphError]] = {
    error.__name__: error for error in (BadInput, ToolError, JudgeLost)
}


@dataclass(frozen=True, slots=True)
class About:
    """A host's description of itself."""

    name: str
    program: str
    """Versions of this program and of the judge's rules."""
    devices: int
    judges: Mapping[Target, tuple[str, str]]
    """Target -> device and toolchain."""
    hardware: Mapping[Target, str]
    """Target -> what its programs run on, in a line."""


@dataclass(frozen=True, slots=True)
class ReportOrError:
    """A report, or an error as text, which can cross to another host."""

    report: EvalReport | None = None
    error: str = ""
    kind: str = ""


class HostJudge:
    """Runs on a host of the cluster, as a Ray actor; compiled code is kept where that host says."""

    def __init__(self, cache_here: Callable[[], Path], options: PoolOptions) -> None:
        self._pool = JudgePool(cache_here(), devices_here(), options)

    def about(self) -> About:
        """Description of the host."""
        judges: dict[Target, tuple[str, str]] = {}
        hardware: dict[Target, str] = {}
        for target in TARGETS:
            if devices_here(target):
                with contextlib.suppress(ToolError):
                    judges[target] = (self._pool.device(target), self._pool.toolchain(target))
                    hardware[target] = self._pool.hardware(target)
        return About(platform.node(), _program(), len(devices_here()), judges, hardware)

    def judge(self, work: JudgeRequest) -> ReportOrError:
        """Judge one; from any thread."""
        try:
            report = self._pool.submit(work).result()
        except (ToolError, BadInput) as error:
            return ReportOrError(error=str(error), kind=type(error).__name__)
        return ReportOrError(report)

    def close(self) -> None:
        self._pool.close()


@dataclass(frozen=True, slots=True)
class _Host:
    """A host of the cluster as seen from here."""

    node: str
    name: str
    actor: Any


class RayJudges(Judges):
    """The judges of a cluster, a context manager; an exception ends what is under way.

    `address`: "auto" (a cluster that this host is part of), "HOST:PORT" of its head, or
    "ray://HOST:PORT". `cache_here`: says on each host where it keeps compiled code. `token`: the
    file with the cluster's token. `patience`: seconds to wait for a host when there is none.
    Raises `ToolError` where Ray is not installed or does not answer.
    """

    def __init__(
        self,
        address: str,
        cache_here: Callable[[], Path],
        options: PoolOptions | None = None,
        *,
        token: Path | None = None,
        patience: float = 60.0,
    ) -> None:
        self._cache_here = cache_here
        self._options = options or PoolOptions(tries=1)
        self._patience = patience
        self._queue = RequestQueue(_TRIES)
        self._changed = threading.Condition()
        self._opened: Counter[str] = Counter()
        """Count of starts of a judge on a node, by Ray's id of it."""
        self._opening: list[threading.Thread] = []
        self._hosts: dict[str, _Host] = {}
        self._lines: list[JudgeThread] = []
        self._standard: dict[Target, tuple[str, str]] = {}
        self._hardware: dict[Target, str] = {}
        """Of the first host of a target."""
        self.turned_away: dict[str, str] = {}
        """Hosts that are not used, and why."""
        self._ending = threading.Event()
        self._ray = connect(address, token)
        self._actor = self._ray.remote(max_restarts=0, max_task_retries=0)(HostJudge)
        self._looker = threading.Thread(target=self._look, name="judges", daemon=True)
        self._looker.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self.close(abandon=kind is not None)

    def submit(self, work: JudgeRequest) -> Future[EvalReport]:
        """Have a candidate judged somewhere; as `JudgePool.submit`."""
        job, new = self._queue.enter(replace(work, grade=work.grade or self._options.grade))
        if new:
            self._queue.ready(job)
        return job.future

    def device(self, target: Target) -> str:
        return self._agreed(target)[0]

    def toolchain(self, target: Target) -> str:
        return self._agreed(target)[1]

    def hardware(self, target: Target) -> str:
        """The hardware that runs programs of this target, in a line: the first host's."""
        self._agreed(target)
        return self._hardware.get(target, "")

    def hosts(self) -> list[str]:
        """Names of the hosts in use."""
        with self._changed:
            return sorted(self._hosts)

    def close(self, *, abandon: bool = False) -> None:
        """End all actors, after what is under way unless `abandon`; idempotent."""
        if not abandon:
            self._queue.drain()
        self._queue.close(abandon=abandon)
        self._ending.set()
        for thread in [self._looker, *self._opening]:
            thread.join()  # before the end of Ray: a call after it would start another cluster
        if not abandon:
            self._tell_to_close()
        for host in self._hosts.values():
            self._ray.kill(host.actor)
        for line in self._lines:
            line.join()
        self._ray.shutdown()

    def _tell_to_close(self) -> None:
        pending = [host.actor.close.remote() for host in self._hosts.values()]
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.get(pending, timeout=_CLOSE_SECONDS)

    def _agreed(self, target: Target) -> tuple[str, str]:
        with self._changed:
            if not self._changed.wait_for(lambda: target in self._standard, self._patience):
                raise ToolError(self._no_host(target))
            return self._standard[target]

    def _no_host(self, target: Target) -> str:
        why = "".join(f"; {name} is not used: {text}" for name, text in self.turned_away.items())
        return (
            f"judges: no host judges target {target}, for {self._patience:.0f} s;"
            f" run `regraph worker --join` on one{why}"
        )

    def _look(self) -> None:
        """Watch for new hosts, until the end; fail requests that have waited too long for one."""
        served = dict.fromkeys(TARGETS, time.monotonic())
        while not self._ending.is_set():
            for node in self._ray.nodes():
                if node["Alive"] and node["Resources"].get("CPU"):
                    self._start(node)
            now = time.monotonic()
            for target in TARGETS:
                if self._queue.judges(target) or any(t.is_alive() for t in self._opening):
                    served[target] = now
                elif now - served[target] > self._patience:
                    self._queue.strand(target, self._no_host(target))
            self._ending.wait(_LOOK_SECONDS)

    def _start(self, node: dict[str, Any]) -> None:
        """Open a host beside the others; at most twice, its judge may have died."""
        if self._opened[node["NodeID"]] >= _OPENED_AT_MOST or node["NodeID"] in self._used():
            return
        self._opened[node["NodeID"]] += 1
        thread = threading.Thread(target=self._open, args=(node,), daemon=True)
        self._opening.append(thread)
        thread.start()

    def _open(self, node: dict[str, Any]) -> None:
        """Start a host's judge, and let it work if it is like the others."""
        ray, name, resources = self._ray, node["NodeManagerHostname"], node["Resources"]
        strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            node_id=node["NodeID"], soft=False
        )
        actor = self._actor.options(
            num_cpus=resources["CPU"],
            num_gpus=resources.get("GPU", 0),
            max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy=strategy,
        ).remote(self._cache_here, self._options)
        try:
            about = self._about(actor)
            targets = self._alike(about)
        except (ray.exceptions.RayError, ToolError) as error:
            ray.kill(actor)
            with self._changed:
                self.turned_away[name] = str(error).strip().splitlines()[-1]
                self._changed.notify_all()
            return
        self._use(_Host(node["NodeID"], name, actor), targets, about.devices)

    def _about(self, actor: Any) -> About:
        """A host's description, once its judge runs. Raises `ToolError` after the deadline."""
        answer, end = actor.about.remote(), time.monotonic() + _OPEN_SECONDS
        while not self._ray.wait([answer], timeout=_POLL_SECONDS)[0]:
            if self._ending.is_set() or time.monotonic() > end:
                raise ToolError(f"its judge did not start within {_OPEN_SECONDS:.0f} s")
        about: About = self._ray.get(answer)
        return about

    def _alike(self, about: About) -> list[Target]:
        """Targets that the host judges as all others do. Raises `ToolError` where there is none."""
        if about.program != _program():
            raise ToolError(f"it runs {about.program}, not {_program()}")
        with self._changed:
            for target, pair in about.judges.items():
                self._standard.setdefault(target, pair)
                self._hardware.setdefault(target, about.hardware.get(target, ""))
            self._changed.notify_all()
            alike = [t for t, pair in about.judges.items() if self._standard[t] == pair]
            if not alike:
                raise ToolError(f"it differs: {about.judges} instead of {self._standard}")
        return alike

    def _use(self, host: _Host, targets: list[Target], devices: int) -> None:
        with self._changed:
            if host.name in self._hosts:
                host = replace(host, name=f"{host.name} {host.node[:8]}")
            self._hosts[host.name] = host
            lines = [
                JudgeThread(self._queue, host.name, partial(self._ask, host), _nothing)
                for _ in range(_LINES_PER_DEVICE * devices)
            ]
            self._lines += lines
        self._queue.join(host.name, targets)
        for line in lines:
            line.start()

    def _ask(self, host: _Host, job: QueuedRequest) -> EvalReport:
        """Have a host judge. Raises `JudgeLost` where it is gone; the host is left then."""
        try:
            answer = self._ray.get(host.actor.judge.remote(job.work))
        except self._ray.exceptions.RayTaskError:
            raise  # a bug over there
        except self._ray.exceptions.RayError as error:
            self._queue.leave(host.name)
            with self._changed:
                self._hosts.pop(host.name, None)
            raise JudgeLost(f"host {host.name}: gone ({type(error).__name__})") from None
        if answer.report is None:
            raise _ERRORS[answer.kind](f"host {host.name}: {answer.error}")
        facts = answer.report.facts | {"host": host.name}
        report: EvalReport = answer.report.model_copy(update={"facts": facts})
        return report

    def _used(self) -> set[str]:
        with self._changed:
            return {host.node for host in self._hosts.values()}


def _program() -> str:
    return f"regraph-kg {version('regraph-kg')} with rules {EVALUATOR}"


def _nothing() -> None:
    """Do nothing: a host's judge outlives its threads."""
