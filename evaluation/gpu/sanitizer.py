"""The first finding of compute-sanitizer about a cuda candidate, in a line.

The candidate is called once, at one shape, by a worker of its own that runs under the tool. The
exit code and the absence of findings prove nothing and are no verdict: the tool runs beside code
that is not trusted. Without the tool, or when it does not come to an end, there is no advice.

Not covered: racecheck sees shared memory only. With metric "device" all arrays lie in one
allocation of the harness, so that memcheck sees what leaves all of them (canaries, guards and
poison see the rest). Source lines are named only where the candidate was compiled with -lineinfo.
"""

import contextlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.own_folder import own_folder
from regraph_kg.evaluation.compile.toolchain import Cuda
from regraph_kg.evaluation.problem.declaration import Sizes
from regraph_kg.evaluation.problem.inputs import generate
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.worker.shared_memory import Call, Layout
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.text import plain

Tool = Literal["memcheck", "racecheck", "synccheck"]

_LAST_SECONDS = 10.0
_LIMITS = JudgeLimits(load_seconds=30.0)
_LENGTH = 400
_ALIGNMENT = 256
_CHECKS_HIDDEN = ("device_guards", "poison", "ghost", "device_state", "freeze", "thread_limit")
"""Off under the tool: canaries hide the ends of allocations, filling makes them initialised, and it
is the tool, not the worker, that we would stop."""
_CONFINEMENTS_DROPPED: tuple[tuple[str, ...], ...] = (("namespaces",), ("namespaces", "landlock"))
"""What is switched off, in turn, until the tool can talk to the worker; seccomp never is. It talks
over the machine's network: without the first it waits for ever [2025.3, CUDA 13.0]."""
_DIES_WITH_PARENT = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9, 0, 0, 0);"
    "os.getppid() == int(sys.argv[1]) and os.execv(sys.argv[2], sys.argv[2:])"
)
_FINDINGS: Mapping[Tool, re.Pattern[str]] = {
    "memcheck": re.compile("Invalid __|Invalid addr|Address |Misaligned "),
    "racecheck": re.compile("Error: Race"),
    "synccheck": re.compile("Barrier error"),
}
"""What fails a candidate: accesses outside of what was allocated, and no error of the API; threads
that wait for one another in no way, and not two that write the same value."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A compiled candidate, its problem and its GPU."""

    program: Program
    problem: Problem
    gpu: str | None = None  # CUDA_VISIBLE_DEVICES; None = the judge's own
    seconds: float = 60.0  # most seconds of the tool, besides a few to end


def find_sanitizer(cuda: Cuda) -> Path | None:
    """The compute-sanitizer on PATH or of this toolkit; None where there is none."""
    beside = cuda.nvcc.resolve().with_name("compute-sanitizer")
    path = shutil.which("compute-sanitizer") or (str(beside) if beside.exists() else None)
    return Path(path) if path else None


def first_finding(subject: Subject, tool: Path, check: Tool, sizes: Sizes) -> str | None:
    """The first finding at a shape, at most 400 characters; None where there is none.

    Raises `BadInput` where the problem's inputs.py fails, nothing for the tool.
    """
    end = time.monotonic() + subject.seconds
    with contextlib.suppress(ToolError):
        for dropped in _CONFINEMENTS_DROPPED:
            log = _log(subject, tool, check, sizes, dropped, end)
            is_whole = "ERROR SUMMARY" in log and "before first instrumented API call" not in log
            # the tool watched the worker until its end, or found something
            if (found := finding(log, check)) or is_whole:
                return found
    return None


def finding(log: str, check: Tool) -> str | None:
    """The first finding in the tool's log, and where it is: a line of 400 printable characters."""
    for head, details in _blocks(log):
        if _FINDINGS[check].match(head):  # kernel names are the candidate's
            text = plain(f"compute-sanitizer {check}: {head}{_place(details)}")
            return " ".join(text.split())[:_LENGTH]
    return None


def _log(
    subject: Subject, tool: Path, check: Tool, sizes: Sizes, dropped: Sequence[str], end: float
) -> str:
    """The tool's log of one call until `end` (monotonic clock); may be empty."""
    layout = Layout(subject.problem, _ALIGNMENT)
    call, shared = layout.call(sizes), layout.build()
    stay_on = replace(Defences(), **dict.fromkeys((*_CHECKS_HIDDEN, *dropped), False))
    try:
        for name, array in generate(subject.problem, call.sizes, 0, 1).items():
            shared.view(call.places[name])[...] = array
        with own_folder() as folder:
            path = folder / "log"
            runs_worker = (  # it dies with the judge, like a worker of its own
                *(sys.executable, "-I", "-S", "-c", _DIES_WITH_PARENT, str(os.getpid())),
                *(str(tool), "--tool", check, "--log-file", str(path)),
                *("--print-limit", "5", "--show-backtrace", "device"),
                *("--target-processes", "application-only"),
            )
            where = Surroundings(gpu=subject.gpu, prefix=runs_worker)
            with Worker(subject.program, shared, stay_on, _LIMITS, 1, where) as worker:
                _exercise(worker, call, end - time.monotonic())
            return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    finally:
        shared.close()


def _exercise(worker: Worker, call: Call, seconds: float) -> None:
    """Load, call once, end; failures are ignored, as the log tells more."""
    timer = threading.Timer(max(seconds, 0.0), worker.process.end)
    timer.start()
    try:
        with contextlib.suppress(ToolError):
            with contextlib.suppress(Failure):
                worker.start()
                worker.upload(list(call.places.values()))
                worker.call([call.row], seconds)
            worker.leave(_LAST_SECONDS)
    finally:
        timer.cancel()
        timer.join()


def _blocks(log: str) -> list[tuple[str, str]]:
    """Findings: a head line, and the indented lines below it."""
    blocks = [block.partition("\n") for block in re.split("(?m)^========= (?! )", log)[1:]]
    return [(head.strip(), re.sub("(?m)^=+ *| +$", "", below)) for head, _, below in blocks if head]


def _place(details: str) -> str:
    """Kernel and source line."""
    at = re.search("(?m)^at (.*)", details)
    source = re.search(r"(?m)\bin (\S*candidate\S*):(\d+)$", details)
    return (f" in {_kernel(at[1])}" if at else "") + (
        f" at {Path(source[1]).name}:{source[2]}" if source else ""
    )


def _kernel(at: str) -> str:
    """The function's name of "void f<int>(float *)+0x60 in candidate.cu:5"."""
    name = re.sub(r"\+0x[0-9a-f]+.*$", "", at)
    name = re.sub(r"(?<!operator)(?<!operator )\(.*$", "", name)
    return re.sub(r"^void ", "", name).strip() or "an unnamed function"
