"""Runs compilers for the judge: compilers.py started, timed, ended, its report read.

Not covered: holes of a compiler itself, beyond what the layers of compilers.py stop; the
number of files in its folder.
"""

import contextlib
import functools
import marshal
import math
import os
import re
import resource
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regraph_kg.errors import ToolError
from regraph_kg.evaluation import confined
from regraph_kg.evaluation.compile.own_folder import PREFIX
from regraph_kg.evaluation.compile.toolchain import SYSTEM_FOLDERS
from regraph_kg.evaluation.problem.memory import memory_limit
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.text import plain

Command = tuple[str, ...]

LAYERS = ("namespaces", "root", "landlock", "seccomp")
FILE_BYTES = 256 * 2**20
"""Size of one file that a compiler may write: assembler text is larger than its object."""
_MEMORY_BYTES, _LEAST_MEMORY_BYTES = 16 * 2**30, 2 * 2**30
_PATH = "/usr/local/bin:/usr/bin:/bin"
_SAID_BYTES, _PRINTED_BYTES = 2**16, 2**22
_SEARCHED = re.compile(r"-[IL](/.+)")
_KILLED = re.compile(r"died due to signal 9\b|Killed signal terminated")
"""What nvcc and g++ say when a program that they run got SIGKILL."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Result of commands: exit code (None: too slow) and output of the last one that ran."""

    command: Command
    code: int | None
    said: str
    layers: tuple[str, ...]  # layers of the confinement that held


def run(
    commands: Sequence[Command],
    directory: Path | None,
    readable: Sequence[str],
    limits: JudgeLimits,
    sandbox: bool = True,
) -> Ran:
    """The commands in turn until one fails, in `directory`/work (None: there are none), in time.

    `readable`: paths they may read besides the system's compilers and the folders they name
    with -I and -L. Without `sandbox` only limits hold. Raises `ToolError` where one was killed.
    """
    orders = _orders(commands, directory, readable)
    orders["layers"] = list(LAYERS) if sandbox else []
    orders["cpu_seconds"] = math.ceil(limits.compile_seconds)
    kills = _oom_kills()
    result = _launch(orders, limits.compile_seconds, slice(_SAID_BYTES))
    words, command = result.said, result.command
    if result.code == -signal.SIGKILL or (
        _KILLED.search(words) and result.code and _oom_kills() > kills
    ):
        name = Path(command[0]).name if command else "compiler"
        raise ToolError(
            f"{name}: killed, most likely for lack of memory, though held to"
            f" {_memory_bytes() / 2**30:.0f} GiB; end other programs or compile fewer at once"
        )
    return result


def run_program(
    commands: Sequence[Command], directory: Path, readable: Sequence[str], seconds: float
) -> Ran:
    """A user's own code, as `run`; a command that is killed is not an error of the judge.

    They may use all cores for `seconds`, and any address space, as sanitizers do. Raises
    `ToolError` where this kernel cannot confine them.
    """
    orders = _orders(commands, directory, readable)
    orders["layers"], orders["strict"] = list(LAYERS), True
    orders["cpu_seconds"] = math.ceil(seconds) * (os.cpu_count() or 1)
    orders["memory_bytes"] = resource.RLIM_INFINITY
    return _launch(orders, seconds, slice(-_PRINTED_BYTES, None))


def _launch(orders: dict[str, Any], seconds: float, part: slice) -> Ran:
    """Run the commands of `orders`; `part` selects bytes of their output. Raises `ToolError`."""
    commands = [tuple(command) for command in orders["commands"]]
    # In memory, as the disk may be full.
    with (
        open(os.memfd_create("said"), "rb") as output,
        open(os.memfd_create("report"), "rb") as report,
    ):
        code = _exit_code({**orders, "report": report.fileno()}, output.fileno(), seconds)
        size = os.fstat(output.fileno()).st_size
        start, end, _ = part.indices(size)
        words = os.pread(output.fileno(), end - start, start).decode(errors="backslashreplace")
        content = report.read(_SAID_BYTES)
    if code is None:
        return Ran(commands[-1], None, words, ())
    if not content and code != -signal.SIGKILL:
        text = f"compiler: its sandbox failed: {plain(words).strip()[-200:]}; see regraph doctor"
        raise ToolError(text)
    outcome: dict[str, Any] = {"held": [], "code": code, "index": 0}
    if content:
        outcome = marshal.loads(content)
    command = commands[outcome["index"]] if commands else ()
    return Ran(command, outcome["code"], words, tuple(outcome["held"]))


def _orders(
    commands: Sequence[Command], directory: Path | None, readable: Sequence[str]
) -> dict[str, Any]:
    """Most fields of the orders for compilers.py."""
    folders = (m[1] for command in commands for m in map(_SEARCHED.fullmatch, command) if m)
    work = str(directory / "work") if directory else ""
    return {
        "commands": [list(command) for command in commands],
        "folder": work,
        "readable": [*SYSTEM_FOLDERS, *readable, *folders],
        "environment": {"PATH": _PATH, "LANG": "C", "TMPDIR": work},
        "parent": os.getpid(),
        "own": str(directory) if directory and directory.name.startswith(PREFIX) else "",
        "memory_bytes": _memory_bytes(),
        "file_bytes": FILE_BYTES,
        "strict": False,
    }


@functools.cache
def compiler_confinement() -> tuple[str, str]:
    """Layers that keep compilers from this machine's files, and a remedy where they do not."""
    layers = run((), None, (), JudgeLimits()).layers
    summary = ", ".join(layers) or "none"
    missing = [layer for layer in LAYERS if layer not in layers]
    if "root" in layers:
        return summary + (f" (no {', '.join(missing)})" if missing else ""), ""
    if "landlock" in layers:
        return f"{summary}: a source can ask whether a file exists, not read it", ""
    return (
        f"{summary}: a source can have this user's files read while it is compiled",
        "allow user namespaces (sysctl user.max_user_namespaces), or start Linux 5.13 or later"
        " with landlock in its lsm= list",
    )


def _exit_code(orders: dict[str, Any], output: int, seconds: float) -> int | None:
    """Exit code of the launcher, alone in its group; None: too slow. Nothing of it is left."""
    environment = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    process = subprocess.Popen(
        confined.command("compilers", marshal.dumps(orders).hex()),
        cwd="/",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=(orders["report"],),
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _oom_kills() -> int:
    """Count of processes killed for want of memory since boot."""
    with contextlib.suppress(OSError):
        match = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
        return int(match[1]) if match else 0
    return 0


@functools.cache
def _memory_bytes() -> int:
    """Address space of one compiler: a greedy source meets it before the machine's memory ends."""
    # So that a compiler which the kernel killed was not killed for its own candidate's greed.
    return max(_LEAST_MEMORY_BYTES, min(_MEMORY_BYTES, memory_limit() // 2))
