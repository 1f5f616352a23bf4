"""How much memory this machine, or the control group of this process, may use."""

import contextlib
import os
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_limit(limit: Path = _LIMIT) -> int:
    """Bytes of memory; what is in use counts, too."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no control group, or no limit ("max")
        machine = min(machine, int(limit.read_text()))
    return machine
