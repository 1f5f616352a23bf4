"""Real processes that stand still: memory, clock, threads, and CPU time told apart."""

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from regraph_kg.evaluation.worker.standstill import Standstill

COUNTING = """
import mmap, sys
memory = mmap.mmap(int(sys.argv[1]), 8)
count = 0
while True:
    count += 1
    memory[:8] = count.to_bytes(8, "little")
"""
IDLE_THREADS = """
import threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(100,)).start()
time.sleep(100)
"""


BUSY_THREADS = """
import hashlib, os, sys, threading
data = bytes(1 << 22)
def work():
    while True:
        hashlib.sha256(data)
for _ in range(os.cpu_count()):
    threading.Thread(target=work).start()
"""


class Busy:
    """A process that counts in shared memory as fast as it can."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("count")
        os.truncate(self.descriptor, 8)
        self._memory = mmap.mmap(self.descriptor, 8)
        command = [sys.executable, "-S", "-c", COUNTING, str(self.descriptor)]
        self.process = subprocess.Popen(command, pass_fds=(self.descriptor,))
        until(lambda: self.count > 0)

    @property
    def count(self) -> int:
        return int.from_bytes(self._memory[:8], "little")

    @property
    def used(self) -> float:
        """CPU seconds so far."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def work(self, seconds: float = 0.03) -> None:
        """Let it use so much CPU time, however long that takes on a busy machine."""
        start = self.used
        until(lambda: self.used - start >= seconds)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.descriptor)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture
def busy() -> Iterator[Busy]:
    made = Busy()
    yield made
    made.end()


@pytest.fixture
def still(busy: Busy) -> Standstill:
    made = Standstill(busy.process.pid)
    made.reset()
    return made


def test_memory_and_clock_of_a_held_process_stand(busy: Busy, still: Standstill) -> None:
    for _ in range(20):
        assert still.hold() == ""
        count, used = busy.count, busy.used
        time.sleep(0.002)
        assert (busy.count, busy.used) == (count, used)
        assert still.release() == ""
        until(lambda count=count: busy.count > count)


def test_holding_what_is_held_and_releasing_what_runs_do_nothing(
    busy: Busy, still: Standstill
) -> None:
    assert (still.release(), still.hold(), still.hold()) == ("", "", "")
    assert still.is_held
    assert (still.release(), still.release()) == ("", "")
    busy.work()


def test_a_process_that_ran_although_it_was_stopped_is_told(busy: Busy, still: Standstill) -> None:
    still.hold()
    os.kill(busy.process.pid, signal.SIGCONT)
    busy.work()
    assert "ms of CPU time while it was stopped" in still.release()


def test_a_process_that_has_ended_is_nobodys_fault(busy: Busy, still: Standstill) -> None:
    busy.work()
    used = busy.used
    busy.process.kill()
    assert still.hold() == ""
    assert not still.is_held
    assert still.release() == ""
    busy.process.wait()
    still.begin()
    still.end(1.0, timed=True)
    assert still.inside + still.outside <= used + 1
    assert still.threads == 0


def test_threads_are_counted() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", IDLE_THREADS]) as process:
        still = Standstill(process.pid)
        until(lambda: still.threads == 4)
        process.kill()


def test_cpu_time_counts_where_it_was_used(busy: Busy, still: Standstill) -> None:
    still.begin()
    busy.work()
    still.end(1.0, timed=True)
    inside = still.inside
    assert inside >= 0.03
    outside = still.outside
    busy.work()
    still.begin()
    assert still.outside >= outside + 0.03
    assert still.inside == inside
    assert still.commands == 2


def test_an_untimed_command_may_keep_one_thread_busy(busy: Busy, still: Standstill) -> None:
    still.begin()
    busy.work()
    outside = still.outside
    still.end(1e9, timed=False)
    assert (still.inside, still.outside) == (0.0, outside)
    still.begin()
    busy.work()
    outside = still.outside
    still.end(0.01, timed=False)
    assert still.outside >= outside + 0.02


def test_what_runs_on_until_it_stands_is_outside(busy: Busy, still: Standstill) -> None:
    still.begin()
    still.end(1.0, timed=True)
    outside = still.outside
    busy.work()
    still.hold()
    assert still.outside >= outside + 0.03
    still.reset()
    assert (still.inside, still.outside, still.commands) == (0.0, 0.0, 0)


def test_what_the_clock_tells_late_is_not_outside() -> None:
    """The clock of running threads is up to a tick of the kernel behind."""
    command = [sys.executable, "-S", "-c", BUSY_THREADS]
    with subprocess.Popen(command) as process:
        still = Standstill(process.pid)
        cores = os.cpu_count() or 1
        until(lambda: still.threads == cores + 1)
        still.reset()
        possible, spent = 0.0, time.clock_gettime((~process.pid << 3) | 2)
        for _ in range(50):
            still.begin()
            still.release()
            time.sleep(0.003)
            start = time.monotonic()
            still.end(0.003, timed=True)
            still.hold()
            possible += (time.monotonic() - start) * cores
        spent = time.clock_gettime((~process.pid << 3) | 2) - spent
        process.kill()
    assert still.outside <= possible
    assert still.inside + still.outside == pytest.approx(spent, abs=0.05)


def test_threads_that_work_on_are_told_from_idle_ones(busy: Busy, still: Standstill) -> None:
    still.hold()
    assert still.idle(0.05) > 0.1
    assert still.is_held
    with subprocess.Popen([sys.executable, "-S", "-c", IDLE_THREADS]) as process:
        idle = Standstill(process.pid)
        until(lambda: idle.threads == 4)
        idle.hold()
        assert idle.idle(0.2) < 0.1
        process.kill()
