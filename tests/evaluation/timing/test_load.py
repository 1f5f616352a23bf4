"""What else runs on this machine: by a pretended /proc/stat, and by a real process that is busy."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regraph_kg.evaluation.timing import load
from regraph_kg.evaluation.timing.load import LoadWatch, stolen_seconds

BUSY = [sys.executable, "-S", "-c", "while True: pass"]


def said(path: Path, user: int, stolen: int) -> None:
    """Write a /proc/stat: clock ticks of core 0's user time, of idle time, ..., stolen."""
    line = f"{user} 0 0 5000 0 0 0 {stolen} 0 0\n"
    path.write_text(f"cpu  9{line}cpu0 {line}cpu1 9{line}")


@pytest.fixture
def stat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "stat"
    monkeypatch.setattr(load, "_STAT", path)
    said(path, 1000, 50)
    return path


@pytest.mark.parametrize(
    ("user", "stolen", "says"),
    [
        (0, 0, ""),
        (3, 3, ""),  # a few ticks are nothing
        (100_000, 0, "other processes used"),
        (0, 100_000, "the host took"),
        (100_000, 100_000, "cores, the host took"),
    ],
)
def test_what_others_used_is_told(stat: Path, user: int, stolen: int, says: str) -> None:
    watch = LoadWatch({0})
    time.sleep(0.11)
    said(stat, 1000 + user, 50 + stolen)
    found = watch.found()
    assert (says in found) if says else not found


def test_what_others_do_on_other_cores_does_not_count(stat: Path) -> None:
    mine, both = LoadWatch({0}), LoadWatch({0, 1})
    time.sleep(0.11)
    stat.write_text(stat.read_text().replace("cpu1 91000", "cpu1 9100000"))
    assert not mine.found()
    assert "other processes used" in both.found()


def test_where_cores_have_other_numbers_the_whole_machine_counts(stat: Path) -> None:
    watch = LoadWatch({7})
    time.sleep(0.11)
    stat.write_text(stat.read_text().replace("cpu  91000", "cpu  9100000"))
    assert "other processes used" in watch.found()


def test_a_span_too_short_to_tell_accuses_nobody(
    stat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_LEAST_SECONDS", 1e9)
    watch = LoadWatch({0})
    said(stat, 100_000, 100_000)
    assert watch.found() == ""


def test_stolen_time_is_the_eighth_figure(stat: Path) -> None:
    assert stolen_seconds({0}) == pytest.approx(0.5)


def test_what_our_own_children_use_is_not_foreign(stat: Path) -> None:
    watch = LoadWatch({0})
    with subprocess.Popen(BUSY) as child:
        wait_until_used(child.pid, 0.3)
        said(stat, 1030, 50)
        assert watch.found() == "", "alive"
        child.kill()
    assert watch.found() == "", "and dead"


def test_a_busy_process_of_somebody_else_is_seen() -> None:
    core = min(os.sched_getaffinity(0))
    shell = '"$@" >/dev/null & echo $!'
    busy = ["sh", "-c", shell, "sh", "taskset", "-c", str(core), *BUSY]
    started = subprocess.run(busy, stdout=subprocess.PIPE, check=True, bufsize=0)
    pid = int(started.stdout)
    try:
        watch = LoadWatch({core})
        wait_until_used(pid, 0.5)
        assert "other processes used" in watch.found()
    finally:
        os.kill(pid, signal.SIGKILL)


def wait_until_used(pid: int, seconds: float) -> None:
    """Until another process has used so much more CPU time."""
    clock = (~pid << 3) | 2
    end, deadline = time.clock_gettime(clock) + seconds, time.monotonic() + 20
    while time.clock_gettime(clock) < end:
        assert time.monotonic() < deadline
        time.sleep(0.005)
