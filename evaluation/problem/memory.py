"""Memory that judging a problem takes, and that this machine and its control group have free.

Not covered: programs that start meanwhile; a GPU's memory; limits of a group above our own.
"""

import contextlib
import re
from pathlib import Path

from regraph_kg.evaluation.problem.problem import Problem

_GROUP = Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""Limit and use of our control group, version 2 and 1."""
_GIB = 2**30


def shortage(problem: Problem, available: int | None = None) -> str | None:
    """Both numbers and a remedy in one line where memory is short; None where it is not.

    `available`: bytes; None asks the machine.
    """
    free = available_bytes() if available is None else available
    needed = problem.memory_bytes()
    if free is None or needed <= free:
        return None
    return (
        f"judging takes about {needed / _GIB:.1f} GiB, {free / _GIB:.1f} GiB are free: end other"
        " programs, or make the timing shape smaller"
    )


def available_bytes(proc: Path = Path("/proc"), group: Path = _GROUP) -> int | None:
    """Free memory in bytes; None where the system does not tell."""
    limits = [free for free in (_machine_bytes(proc), _group_bytes(group)) if free is not None]
    return min(limits, default=None)


def _machine_bytes(proc: Path) -> int | None:
    with contextlib.suppress(OSError):
        text = (proc / "meminfo").read_text(encoding="utf-8")
        match = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
        return int(match[1]) * 1024 if match else None
    return None


def _group_bytes(group: Path) -> int | None:
    """Room below our group's limit; file pages can be dropped and do not count as used."""
    for limit, used in _FILES:
        with contextlib.suppress(OSError, ValueError):  # no such group, or no limit ("max")
            room = int((group / limit).read_text()) - int((group / used).read_text())
            return max(0, room + _droppable_bytes((group / used).parent))
    return None


def _droppable_bytes(folder: Path) -> int:
    with contextlib.suppress(OSError):
        text = (folder / "memory.stat").read_text(encoding="utf-8")
        match = re.search(r"^(?:total_)?inactive_file (\d+)$", text, re.MULTILINE)
        return int(match[1]) if match else 0
    return 0
