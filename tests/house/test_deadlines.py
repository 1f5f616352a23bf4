"""The judge waits for nothing for ever: a wait without a deadline is listed here with its reason.

Not covered: loops that look again and again; opening and reading files by path (a FIFO); how long
Python works on a text (a regular expression); C++ of the harness, which the judge only kills.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

EVALUATION = Path(__file__).parents[2] / "evaluation"

UNTIL_GIVEN_SECONDS = {"wait": 0, "wait_for": 1, "join": 0, "result": 0, "select": 0, "acquire": 0}
"""Methods that wait until they are given seconds, and how many other arguments come before."""
ALWAYS = {
    *("recv", "recvfrom", "accept", "communicate", "flock", "lockf", "readline", "read"),
    *("waitpid", "waitid", "wait3", "wait4", "sigwait", "pause", "shutdown"),
}
"""Functions that wait whatever they are given, but for a flag not to."""
OF_MODULES = {("subprocess", name) for name in ("run", "call", "check_call", "check_output")} | {
    ("os", "wait"),
    ("_ray", "get"),
    ("json", "load"),
}
NOT_BLOCKING = ("WNOHANG", "LOCK_NB", "wait=False")

_KILLED = "killed before: only the kernel can hold it, and nothing that calls.py lists lets it"
_OURS = "for work of ours, whose own waits have deadlines"
_END = "ended by whoever started it, as it is not the judge"
_FILE = "an ordinary file, or one of the kernel's"
_LOOKS = "`how` holds WNOHANG"
_CHILD = "in a process that the judge kills at its own deadline"
EXCEPTIONS = {
    "crew.py run_all: run.result()": "as_completed gives what has ended",
    "sandboxed.py _exit_code: process.wait()": _KILLED,
    "compilers.py main: os.waitpid(child, 0)": _CHILD,
    "compilers.py waited: os.wait()": _CHILD,
    "custom_inputs.py close: with process": _KILLED,
    "custom_inputs.py _exchange: os.read(key.fd, _CHUNK)": "select said that there is something",
    "evaluate.py _after_timing: finding.result()": _OURS,
    "output.py run: os.read(self._pipe, 65536)": "a daemon thread; `kill` waits a second for it",
    "files.py be_known: file.read()": _FILE,
    "syntax.py read: file.read(MOST_BYTES + 1)": _FILE,
    "ray_hosts.py judge: self._pool.submit(request).result()": _OURS,
    "ray_hosts.py close: self._looker.join()": _OURS,
    "ray_hosts.py close: self._threads.shutdown()": "their hosts have been ended",
    "ray_hosts.py _welcome: self._ray.get(answer)": "the answer is there: Ray's wait said so",
    "ray_hosts.py _ask: self._ray.get(self._actors[node].judge.remote(request))": _OURS,
    "ray_hosts.py close: self._ray.shutdown()": "Ray's own end",
    "generator.py main: sys.stdin.readline()": _CHILD,
    "nvml.py take: self._monitor.read()": "a call of the driver's library, no file",
    "pool.py activity: self._changed.wait_for(lambda: not self._clashes(ticket))": _OURS,
    "judges.py map: future.result()": _OURS,
    "judges.py evaluate: "
    "self.submit(JudgeRequest(candidate, problem, grade, incumbent_seconds)).result()": _OURS,
    "pool.py close: self._threads.shutdown(wait=not abandon)": _OURS,
    "process.py _started: executor.submit(os.getpid).result()": _OURS,
    "process.py end: executor.shutdown(wait=True)": _OURS,
    "probe.py _hidden_memory: os.waitpid(child, 0)": _CHILD,
    "sanitizer.py _exercise: timer.join()": "it is cancelled, or kills a worker and ends",
    "standstill.py hold: os.waitid(os.P_PID, self._pid, options)": _LOOKS,
    "supervisor.py _gone: os.waitid(os.P_PID, self._process.pid, options)": _LOOKS,
    "supervisor.py kill: self._process.wait()": _KILLED,
}
"""File, function and wait -> why it ends."""


def is_endless(call: ast.Call) -> bool:
    """Whether a call waits, and nothing that it is given bounds how long."""
    function, text = call.func, ast.unparse(call)
    if not isinstance(function, ast.Attribute) or isinstance(function.value, ast.Constant):
        return False
    if any(word.arg == "timeout" for word in call.keywords):
        return False
    if any(flag in text for flag in NOT_BLOCKING):
        return False
    owner = ast.unparse(function.value).rpartition(".")[2]
    if function.attr in ALWAYS or (owner, function.attr) in OF_MODULES:
        return True
    most = UNTIL_GIVEN_SECONDS.get(function.attr)
    return most is not None and len(call.args) <= most


def waits(name: str, code: str) -> Iterator[str]:
    """Every endless wait, with its file and function."""
    for function in ast.walk(ast.parse(code)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and is_endless(node):
                yield f"{name} {function.name}: {ast.unparse(node)}"
            if isinstance(node, ast.With):  # the end of one waits for the process
                context = ast.unparse(node.items[0].context_expr)
                if context == "process" or "Popen(" in context:
                    yield f"{name} {function.name}: with {context}"


def test_every_wait_has_a_deadline_or_a_reason() -> None:
    found = {
        wait
        for path in EVALUATION.rglob("*.py")
        for wait in waits(path.name, path.read_text(encoding="utf-8"))
    }
    assert found - set(EXCEPTIONS) == set(), "give it a deadline, or a reason here"
    assert set(EXCEPTIONS) - found == set(), "gone: take the exception out"


@pytest.mark.parametrize(
    "line",
    [
        "process.wait()",
        "os.waitpid(1, 0)",
        "thread.join()",
        "lock.acquire()",
        "selector.select()",
        "condition.wait_for(done)",
        "future.result()",
        "fcntl.flock(1, fcntl.LOCK_EX)",
        "subprocess.run(['true'], check=True)",
        "os.read(0, 1)",
        "with subprocess.Popen(['true']): pass",
    ],
)
def test_a_planted_wait_is_found(line: str) -> None:
    assert list(waits("a.py", f"def f():\n    {line}\n"))


@pytest.mark.parametrize(
    "line",
    [
        "process.wait(3)",
        "os.waitid(os.P_PID, 1, os.WEXITED | os.WNOHANG)",
        "thread.join(timeout=1)",
        "', '.join(names)",
        "selector.select(0.5)",
        "condition.wait_for(done, 3)",
        "fcntl.flock(1, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "subprocess.run(['true'], check=True, timeout=3)",
    ],
)
def test_a_wait_with_a_deadline_is_none(line: str) -> None:
    assert not list(waits("a.py", f"def f():\n    {line}\n"))
