"""Memory that this machine and its control group have, and have free.

Not covered: programs that start meanwhile; a GPU's memory; limits of a group above our own.
"""

import contextlib
import os
import re
from pathlib import Path

_PROC, _GROUP = Path("/proc"), Path("/sys/fs/cgroup")
_FILES = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""Limit and use of our control group, version 2 and 1."""


def memory_limit(group: Path = _GROUP) -> int:
    """Bytes of memory; what is in use counts, too."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = (_number(group / limit, r"^(\d+)") for limit, _ in _FILES)
    return min([machine, *(limit for limit in limits if limit is not None)])


def available_bytes(proc: Path = _PROC, group: Path = _GROUP) -> int | None:
    """Free memory in bytes; None where the system does not tell."""
    machine = _number(proc / "meminfo", r"^MemAvailable:\s+(\d+) kB")
    free = [] if machine is None else [1024 * machine]
    for names in _FILES:
        limit, used = (_number(group / name, r"^(\d+)") for name in names)
        if limit is not None and used is not None:  # there is such a group, and a limit ("max")
            statistics = (group / names[1]).with_name("memory.stat")
            # File pages of our group can be dropped and do not count as used.
            droppable = _number(statistics, r"^(?:total_)?inactive_file (\d+)$") or 0
            free.append(max(0, limit - used + droppable))
    return min(free, default=None)


def _number(path: Path, pattern: str) -> int | None:
    with contextlib.suppress(OSError):
        match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
        return int(match[1]) if match else None
    return None
