"""What the kernel refuses a candidate, and what is left of one afterwards: nothing."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome

from ..conftest import passed, problem_named, scale_source

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
HEADERS = """
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <thread>
extern char **environ;
"""
Scaled = Callable[..., EvalReport]


REFUSED = (
    "fork() == -1",
    "vfork() == -1",
    'system("true") != 0',
    'execl("/bin/true", "true", (char*)0) == -1',
    "kill(getppid(), 0) == -1",
    "kill(0, 0) == -1",
    "setsid() == -1",
    "socket(AF_INET, SOCK_STREAM, 0) == -1",
    "socket(AF_UNIX, SOCK_STREAM, 0) == -1",
    'open("made", O_WRONLY | O_CREAT, 0600) == -1',
    'open("/tmp/made", O_RDWR | O_CREAT, 0600) == -1',
    'open("/dev/shm/made", O_RDWR | O_CREAT, 0600) == -1',
    'open("/dev/null", O_WRONLY) == -1',
    'mkdir("/tmp/made", 0700) == -1',
    'unlink("/tmp/nothing-there") == -1 && errno == ENOSYS',
    'shm_open("/made", O_RDWR | O_CREAT, 0600) == -1',
    "shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) == -1",
    "ptrace(PTRACE_ATTACH, getppid(), 0, 0) == -1",
    "open(parent_memory(), O_RDONLY) == -1",
    'getuid() != 0 || chroot("/") == -1',
    'getenv("REGRAPH_SECRET") == nullptr && getenv("HOME") == nullptr',
    "fcntl(3, F_GETFD) == -1 && fcntl(4, F_GETFD) == -1 && fcntl(5, F_GETFD) == -1",
    "getcwd(cwd, sizeof cwd) == nullptr",
)
"""Expressions that hold where what they try is refused."""
GRANTED = "getpid() == -1"  # one that does not: any process may ask for its number


@pytest.mark.parametrize(("tried", "granted"), [(REFUSED, ""), ((GRANTED,), GRANTED)])
def test_a_candidate_may_not(
    scaled: Scaled, monkeypatch: pytest.MonkeyPatch, tried: tuple[str, ...], granted: str
) -> None:
    monkeypatch.setenv("REGRAPH_SECRET", "yes")
    before = HEADERS + (
        "#include <errno.h>\nstatic char cwd[100];"
        "static const char* parent_memory() { static char path[40];"
        ' snprintf(path, 40, "/proc/%d/mem", getppid()); return path; }'
    )
    each = "".join(f'if (!({one})) {{ fputs(R"({one})", stderr); abort(); }}\n' for one in tried)
    in_a_thread = f"std::thread own([=] {{ {RIGHT} }}); own.join();"  # which it may have
    report = scaled(f"{each}{in_a_thread}", before)
    assert granted in report.diagnosis
    assert passed(report) == (not granted), report.diagnosis


def test_what_a_candidate_said_helps_its_repair(scaled: Scaled) -> None:
    report = scaled('fprintf(stderr, "index 17 out of range\\n"); abort();', HEADERS)
    assert report.outcome is Outcome.CRASHED
    assert "SIGABRT" in report.diagnosis
    assert "index 17 out of range" in report.diagnosis


@pytest.mark.slow
def test_memory_is_bounded(cache: Path) -> None:
    body = (
        "void* p = mmap(nullptr, 6LL << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        f"if (p == MAP_FAILED) abort(); munmap(p, 6LL << 30); {RIGHT}"
    )
    candidate = Candidate("openmp", scale_source(body, HEADERS))
    with Judge(cache, limits=JudgeLimits(memory_bytes=2**30)) as judge:
        report = judge.evaluate(candidate, problem_named("scale"))
    assert report.outcome is Outcome.CRASHED
    with Judge(cache, defences=Defences(memory_limit=False)) as judge:
        report = judge.evaluate(candidate, problem_named("scale"))
    assert passed(report), report.diagnosis


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 1000])
def test_output_is_thrown_away_and_capped(scaled: Scaled, times: int) -> None:
    report = scaled(
        f"static char text[4096]; memset(text, 65, 4096);"
        f"for (int i = 0; i < {times}; ++i) write(1, text, n < 2000 ? 4096 : 0); {RIGHT}",
        HEADERS,
    )
    assert passed(report) if times == 1 else "more than 1048576 bytes" in report.diagnosis


def shared_memory() -> set[str]:
    """Names in /dev/shm, less those that Python makes for any process pool of this machine."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.mp-")}


def descriptors() -> set[tuple[str, str]]:
    """Open ones, with what they lead to; what another test left open may end at any time."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # it was the listing's own
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))
    return found


@pytest.mark.slow
def test_nothing_is_left_behind(cache: Path) -> None:
    before = set(children(os.getpid()))  # what other tests started may end at any time
    shared, opened = shared_memory(), descriptors()
    bodies = [RIGHT, "", "abort();", "for (;;) sleep(1);", 'for (;;) puts("passed");']
    with Judge(cache, limits=JudgeLimits(call_seconds=0.3)) as judge:
        for body in bodies:
            judge.evaluate(Candidate("openmp", scale_source(body, HEADERS)), problem_named("scale"))
    del judge
    gc.collect()  # it holds locks on what it compiled
    assert shared_memory() == shared
    assert descriptors() - opened == set()
    ends = time.monotonic() + 10  # a compiler's launcher may still be on its way out
    while (left := set(children(os.getpid())) - before) and time.monotonic() < ends:
        time.sleep(0.1)
    assert left == set()


def test_a_killed_judge_takes_its_workers_with_it(cache: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from regraph_kg.evaluation.evaluate import Judge\n"
        "from regraph_kg.evaluation.problem.problem import load_problem\n"
        "from regraph_kg.models.evaluation import Candidate\n"
        "problem = load_problem(Path(sys.argv[2]))\n"
        "with Judge(Path(sys.argv[1])) as judge:\n"
        "    judge.evaluate(Candidate('openmp', sys.argv[3]), problem)\n"
    )
    marker = "#include <unistd.h>\n"
    code = scale_source('write(1, "hanging", 7); for (;;) sleep(1);', marker)
    folder = Path(__file__).parents[1] / "problems" / "scale"
    process = subprocess.Popen([sys.executable, "-c", script, str(cache), str(folder), code])
    try:
        deadline = time.monotonic() + 60
        while not (workers := sleeping_workers(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert workers
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 30
    while any(alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in workers if alive(pid)]


def sleeping_workers(parent: int) -> list[int]:
    """Children of `parent` that are workers: one that is just made or killed may be missing."""
    try:
        pids = children(parent)
    except OSError:
        return []
    return [pid for pid in pids if "confined import worker" in _command(pid)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:  # gone meanwhile
        return ""


def children(parent: int) -> list[int]:
    """Child processes of the main thread of `parent`, zombies included."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
