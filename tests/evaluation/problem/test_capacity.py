"""How much memory may be used: the machine's, or less where a control group says so."""

import os
from pathlib import Path

from regraph_kg.evaluation.problem.capacity import memory_limit

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_a_control_groups_limit_counts_where_it_is_less(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    assert memory_limit(limit) == MACHINE
    for said, found in (("max\n", MACHINE), ("1000000\n", 1000000), (f"{2 * MACHINE}\n", MACHINE)):
        limit.write_text(said)
        assert memory_limit(limit) == found
