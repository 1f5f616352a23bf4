"""Memory that may be used, and is free: the machine's, or less where a control group says so."""

import os
from pathlib import Path

from regraph_kg.evaluation.problem.memory import available_bytes, memory_limit

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_a_control_groups_limit_counts_where_it_is_less(tmp_path: Path) -> None:
    assert memory_limit(tmp_path) == MACHINE
    for said, found in (("max\n", MACHINE), ("1000000\n", 1000000), (f"{2 * MACHINE}\n", MACHINE)):
        (tmp_path / "memory.max").write_text(said)
        assert memory_limit(tmp_path) == found


def test_what_is_free_is_the_least_of_the_machine_and_the_group(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable:   700 kB\n")
    for name, text in [
        ("memory.max", "500000"),
        ("memory.current", "400000"),
        ("memory.stat", "inactive_file 5000\n"),
    ]:
        (tmp_path / name).write_text(text)
    assert available_bytes(tmp_path, tmp_path) == 105000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes(tmp_path, tmp_path) == 700 * 1024
    assert available_bytes(tmp_path / "none", tmp_path / "none") is None
