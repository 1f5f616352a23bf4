"""Load of this machine while something is timed: other processes, stolen time, use of the GPU.

Read from /proc/stat: CPU time of the cores that matter, less that of this process and its children.
Its clock ticks a hundred times a second, so short spans tell little; they are given the benefit.

Not covered: the use of caches and memory by neighbours, on other cores or other virtual machines;
what our own children do on cores that are not watched makes up for others' use of those that are.
"""

import contextlib
import os
import resource
import time
from collections.abc import Collection
from pathlib import Path

from regraph_kg.evaluation.gpu.monitor import GpuMonitor

_STAT = Path("/proc/stat")
_LEAST_SECONDS, _TICKS = 0.1, 4
_FOREIGN, _FOREIGN_SHARE, _STOLEN_SHARE = 0.2, 0.02, 0.03
"""Cores that others may use, and part of the watched ones besides; part that may be stolen."""


class LoadWatch:
    """Watches the cores that timed code and its clock use: use of the rest disturbs nobody."""

    def __init__(self, cores: Collection[int] | None = None, gpu: GpuMonitor | None = None) -> None:
        """The end of others' use of a `gpu` is waited for."""
        self._gpu, self._gpu_used = gpu, gpu.await_others() if gpu else ""
        self._clock = time.time()
        self._cores = frozenset(cores or os.sched_getaffinity(0))
        self._start = time.monotonic()
        self._busy, self._stolen = _used(self._cores)
        self._own = _own()

    def cores(self) -> tuple[float, float]:
        """Mean cores since then: used by other processes, and taken by the host."""
        passed = max(time.monotonic() - self._start, 1e-3)
        busy, stolen = _used(self._cores)
        tick = _TICKS / os.sysconf("SC_CLK_TCK")
        foreign = max(0.0, busy - self._busy - (_own() - self._own) - tick) / passed
        return foreign, max(0.0, stolen - self._stolen - tick) / passed

    def found(self) -> str:
        """The load since then in words; "" where it was quiet enough."""
        foreign, stolen = self.cores()
        if time.monotonic() - self._start < _LEAST_SECONDS:
            return ""
        parts = []
        if self._gpu and (used := self._gpu.used_by_others(self._clock) or self._gpu_used):
            parts.append(used)
        count = len(self._cores)
        if foreign > _FOREIGN + _FOREIGN_SHARE * count:
            parts.append(f"other processes used {foreign:.1f} of {count} cores")
        if stolen > _STOLEN_SHARE * count:
            parts.append(f"the host took {stolen:.1f} cores away")
        return ", ".join(parts)


def used_by_others(seconds: float = 0.5) -> float:
    """Cores that other processes use now; the load average still tells of what we did ourselves."""
    watch = LoadWatch()
    time.sleep(seconds)
    return watch.cores()[0]


def stolen_seconds(cores: Collection[int]) -> float:
    """Seconds that the host has taken from these cores so far."""
    return _used(cores)[1]


def _used(cores: Collection[int]) -> tuple[float, float]:
    """CPU seconds of these cores that were used, and stolen, since the machine's start."""
    lines = _STAT.read_text(encoding="ascii").splitlines()
    wanted = {f"cpu{core}" for core in cores}
    busy = taken = 0
    # Of the whole machine where a container numbers its cores in another way.
    for line in [one for one in lines if one.split()[0] in wanted] or lines[:1]:
        user, nice, system, _, _, interrupts, soft, stolen = map(int, line.split()[1:9])
        busy += user + nice + system + interrupts + soft
        taken += stolen
    second = os.sysconf("SC_CLK_TCK")
    return busy / second, taken / second


def _own() -> float:
    """CPU seconds of this process and its children, dead or alive."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + used.ru_utime + used.ru_stime
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            for pid in map(int, (task / "children").read_text().split()):
                with contextlib.suppress(OSError):  # it has just ended
                    seconds += time.clock_gettime((~pid << 3) | 2)
    return seconds
