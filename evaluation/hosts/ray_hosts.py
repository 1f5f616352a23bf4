"""Judges on several hosts: on each host of a Ray cluster one actor, with a pool of its devices.

Ray (https://www.ray.io, the extra "ray") finds the hosts, moves candidates and reports, and notices
when a host is gone. One actor takes a whole host, so that its pool (pool.py) can keep compilers
away from measurements. Hosts that join later are used; a lost host costs its candidates under way a
try, and the next try is elsewhere. The first host says what device and toolchain times are of:
others that differ are turned away, so that all times are of equal devices.

Whoever may connect can run code on every host, as Ray does not confine what it runs. So this asks
for Ray's token, unless the user's RAY_AUTH_MODE says otherwise.
Not covered: loss of the cluster's head, which ends the run; encryption (a VPN or Ray's TLS).
Seen with hosts that were processes of one machine, not yet with several machines.
"""

import os
import platform
import socket
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.hosts.pool import (
    JudgeLost,
    JudgePool,
    JudgeRequest,
    Judges,
    Seat,
    devices_here,
)
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import EvalReport, Grade
from regraph_kg.models.target import TARGETS, Target

_TRIES, _AT_ONCE = 3, 64
_SEATS_PER_DEVICE = 3  # candidates a device of a host: one judged, others being compiled
_LOOK_SECONDS, _CONNECT_SECONDS, _OPEN_SECONDS, _CLOSE_SECONDS = 2.0, 10.0, 120.0, 30.0
_OPENED_AT_MOST = 2  # a judge may have died where its host lives; a host without one is let be

DeviceFacts = dict[Target, tuple[str, str, str]]  # target -> device, toolchain, hardware


class HostJudge:
    """Runs on a host of the cluster, as a Ray actor; compiled code is kept where that host says."""

    def __init__(
        self, cache_here: Callable[[], Path], grade: Grade, limits: JudgeLimits | None
    ) -> None:
        self._pool = JudgePool(cache_here(), devices_here(), grade, limits)

    def about(self) -> tuple[str, int, DeviceFacts]:
        """Program, count of devices and facts of this host."""
        pool, targets = self._pool, [target for target in TARGETS if devices_here(target)]
        facts = {t: (pool.device(t), pool.toolchain(t), pool.hardware(t)) for t in targets}
        return _program(), len(devices_here()), facts

    def judge(self, request: JudgeRequest) -> EvalReport:
        """Judge one; from any thread."""
        report = request.put_to(self._pool)
        return report.model_copy(update={"facts": report.facts | {"host": platform.node()}})

    def close(self) -> None:
        self._pool.close()


class RayJudges(Judges):
    """Judges of a cluster's hosts, a context manager.

    `address`: "auto" (of this host), HOST:PORT or ray://HOST:PORT; `cache_here` says a host's
    folder of compiled code. Raises `ToolError` where there is no cluster.
    """

    def __init__(
        self,
        address: str,
        cache_here: Callable[[], Path],
        grade: Grade = "screening",
        limits: JudgeLimits | None = None,
        patience: float = 300.0,
    ) -> None:
        self._ray = _connect(address)
        super().__init__(_AT_ONCE, _TRIES, patience)
        self._arguments = cache_here, grade, limits
        self._standard: DeviceFacts = {}
        self._actors: dict[str, Any] = {}
        self._turned_away: dict[str, str] = {}
        self._ending = threading.Event()
        self._looker = threading.Thread(target=self._look, name="hosts", daemon=True)
        self._looker.start()

    def device(self, target: Target) -> str:
        return self._facts(target)[0]

    def toolchain(self, target: Target) -> str:
        return self._facts(target)[1]

    def hardware(self, target: Target) -> str:
        return self._facts(target)[2]

    def _end(self, *, abandon: bool) -> None:
        self._ending.set()
        # Before the end of Ray: a call after it would start another cluster.
        self._looker.join()
        if not abandon:
            closing = [actor.close.remote() for actor in self._actors.values()]
            self._ray.wait(closing, num_returns=max(1, len(closing)), timeout=_CLOSE_SECONDS)
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._ray.shutdown()

    def _facts(self, target: Target) -> tuple[str, str, str]:
        with self._changed:
            if not self._changed.wait_for(lambda: target in self._standard, self._patience):
                raise self._nobody(target)
            return self._standard[target]

    def _nobody(self, target: Target) -> ToolError:
        why = "".join(f"; {name} is not used: {text}" for name, text in self._turned_away.items())
        return ToolError(
            f"judges: no host judges target {target}, for {self._patience:.0f} s; join one by"
            f" `ray start --address=HEAD:6379` (regraph docs evaluation){why}"
        )

    def _look(self) -> None:
        """Watch for new hosts, until the end, and open them one after another."""
        opened = Counter[str]()
        while not self._ending.wait(_LOOK_SECONDS if opened else 0.0):
            for node in self._ray.nodes():
                key, cores = node["NodeID"], node["Resources"].get("CPU")
                used = key in self._actors or opened[key] == _OPENED_AT_MOST
                if node["Alive"] and cores and not used and not self._ending.is_set():
                    opened[key] += 1
                    self._open(key, node["NodeManagerHostname"], node["Resources"])

    def _open(self, node: str, name: str, resources: dict[str, float]) -> None:
        """Give a host's judge seats for the targets that it judges as the first host does."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

        actor_class = self._ray.remote(HostJudge).options(
            num_cpus=resources["CPU"],
            num_gpus=resources.get("GPU", 0),
            max_concurrency=_AT_ONCE,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        actor = actor_class.remote(*self._arguments)
        try:
            about = actor.about.remote()
            program, devices, facts = self._ray.get(about, timeout=_OPEN_SECONDS)
        except self._ray.exceptions.RayError as error:
            program, devices, facts = str(error).strip().splitlines()[-1], 0, {}
        with self._changed:
            if program == _program():
                self._standard = facts | self._standard
            standard = {key: fact[:2] for key, fact in self._standard.items()}
            alike = [key for key, fact in facts.items() if fact[:2] == standard.get(key)]
            if alike:
                self._actors[node] = actor
                ask = partial(self._ask, node, name)
                self._seats += [Seat(node, alike, ask) for _ in range(_SEATS_PER_DEVICE * devices)]
            else:
                self._turned_away[name] = f"{program} {facts}, not {_program()} {self._standard}"
                self._ray.kill(actor)
            self._changed.notify_all()

    def _ask(self, node: str, name: str, request: JudgeRequest) -> EvalReport:
        """Have a host judge. Raises `JudgeLost` where it is gone; its seats go, too."""
        errors = self._ray.exceptions
        try:
            report: EvalReport = self._ray.get(self._actors[node].judge.remote(request))
        except errors.RayTaskError as error:  # what the judge raised over there, or a bug
            raise type(error.cause)(f"host {name}: {error.cause}") from None
        except (errors.RayError, KeyError) as error:
            with self._changed:
                self._actors.pop(node, None)
                self._seats = [seat for seat in self._seats if seat.judge != node]
            raise JudgeLost(f"host {name}: gone ({type(error).__name__})") from None
        return report


def _program() -> str:
    return f"regraph-kg {version('regraph-kg')} with rules {EVALUATOR}"


def _connect(address: str) -> Any:
    """Ray, connected. Raises `ToolError` where nothing answers, or does not let us in."""
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: PLC0415 (an extra)
    except ImportError:
        raise ToolError("Ray: not installed; pip install ray") from None
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address != "auto" and not (host and port.isdigit()):
        raise BadInput(f"{address}: not HOST:PORT, e.g. 10.0.0.1:6379")
    try:
        if address != "auto":  # where nobody listens Ray would try for minutes
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        line = str(error).strip().partition("\n")[0]
        raise ToolError(
            f"Ray: no cluster at {address}: {line[:300]}; start one with `ray start --head`, or"
            " copy its token (regraph docs evaluation)"
        ) from None
    return ray
