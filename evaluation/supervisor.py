"""One worker process: start it, have it call, hold it to its deadline, kill all of it.

Covered: the worker and whatever it starts live in a session and process group of their own, killed
as a group at the deadline, at the end, and by the kernel when the judge itself dies; descriptors
are not inherited, but for the anonymous shared memory; stdout and stderr are drained, capped and
never parsed; the environment is an allowlist; worker.py lists what the kernel refuses it.
Exit code and output prove nothing: a call has happened when the harness, which alone knows this
worker's nonce, says so in shared memory. Times are taken here; the worker's own are hearsay.
Another process of this user cannot read the judge's memory or environment (PR_SET_DUMPABLE 0).

Not covered: a candidate shares its address space with the harness, so one that searches memory can
find the nonce and the calls of a batch, report "done" early, or skip calls whose output it expects
to be overwritten: that gains it time unless one of the secret slots that are verified shows it.
Where seccomp is absent, a process that leaves the group survives us.
"""

import contextlib
import ctypes
import functools
import json
import os
import platform
import secrets
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.arena import MAX_BATCH, Arena, Control, Place
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.models.evaluation import Outcome

_FUTEX_CALL = {"x86_64": 202, "aarch64": 98}
_SLICE_SECONDS = 0.05
_KEPT_OUTPUT = 4096
_PR_SET_DUMPABLE = 4
_CONTEXT_SECONDS = 60.0
_THREAD_BYTES = 256 * 2**20
_ALLOWED_ENV = ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH")


class Operation(IntEnum):
    """What the harness can be told (harness.cpp)."""

    CALLS = 1
    UPLOAD = 2
    DOWNLOAD = 3
    SETTLE = 4
    EXIT = 5


@dataclass(frozen=True, slots=True)
class Program:
    """What a worker runs: shared objects and the entry point."""

    harness: Path
    candidate: Path
    entry: str
    cuda: bool = False


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Seconds one command took: by the judge's clock, and by the worker's own."""

    ours: float
    own: float


class Worker:
    """A started worker. `start` is a Failure where loading failed; use as a context manager."""

    def __init__(
        self, program: Program, arena: Arena, defences: Defences, limits: Limits, threads: int
    ) -> None:
        self._program, self._arena = program, arena
        self._defences, self._limits = defences, limits
        self._nonce = secrets.randbits(63) | 1
        self._number = 0
        self._believed_exit = False
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(not defences.hidden_memory), 0, 0, 0)
        arena.reset(self._nonce, defences)
        pipe, end = os.pipe()
        try:
            self._process = self._spawn(threads, end)
        except OSError as error:
            os.close(pipe)
            raise ToolError(f"worker: cannot start it: {error.strerror or error}") from None
        finally:
            os.close(end)
        cap = limits.output_bytes if defences.output_cap else sys.maxsize
        self._drain = _Drain(pipe, cap, self._process, arena.control)
        self._drain.start()
        patience = limits.load_seconds + (_CONTEXT_SECONDS if program.cuda else 0)
        try:
            self.start = self._loaded(self._await(patience))
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def call(self, rows: Sequence[int], seconds: float) -> Elapsed | Failure:
        """Call the prepared `rows` in order, within `seconds` for all of them."""
        assert len(rows) <= MAX_BATCH
        self._arena.sequence[: len(rows)] = rows
        self._arena.control.count = len(rows)
        return self._command(Operation.CALLS, seconds)

    def upload(self, places: Sequence[Place]) -> Failure | None:
        """Metric "device": copy arrays with their gaps to the device; nothing elsewhere."""
        return self._transfer(Operation.UPLOAD, places)

    def download(self, places: Sequence[Place]) -> Failure | None:
        """Metric "device": copy arrays with their gaps back from the device."""
        return self._transfer(Operation.DOWNLOAD, places)

    def settle(self) -> Failure | None:
        """Get ready for timing: pages mapped, malloc no longer poisoned."""
        done = self._command(Operation.SETTLE, self._limits.load_seconds)
        return done if isinstance(done, Failure) else None

    @property
    def confined(self) -> bool:
        """Whether the kernel refuses this worker what worker.py lists."""
        return bool(self._arena.control.confined)

    def stop(self) -> None:
        """Freeze every thread; returns once they stand."""
        if not self._gone():
            os.kill(self._process.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """Undo `stop`."""
        if not self._gone():
            os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the worker and its group, and reap it; idempotent."""
        if self._process.returncode is None:  # not reaped: no other process can have its id
            if self._defences.kill_group:
                _kill_group(self._process.pid)
            self._process.kill()
            self._process.wait()
        self._drain.join(timeout=1)

    def _gone(self) -> bool:
        """Whether the process has ended, without reaping it."""
        if self._process.returncode is not None:
            return True
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, how) is not None

    def _spawn(self, threads: int, output: int) -> subprocess.Popen[bytes]:
        directory = tempfile.mkdtemp(prefix="regraph-")
        orders = {
            "descriptor": self._arena.fd,
            "bytes": self._arena.nbytes,
            "harness": str(self._program.harness),
            "candidate": str(self._program.candidate),
            "entry": self._program.entry,
            "parent": os.getpid(),
            "directory": directory,
            "memory": self._memory(threads),
            "cpu_seconds": int(600 * threads),
            "sandbox": self._defences.sandbox,
            "cuda": self._program.cuda,
        }
        worker = Path(__file__).with_name("worker.py").resolve()
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(worker), json.dumps(orders)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_environment(threads) if self._defences.clean_env else dict(os.environ),
            pass_fds=(self._arena.fd,),
            start_new_session=True,
        )

    def _memory(self, threads: int) -> int:
        if self._program.cuda or not self._defences.memory_limit:
            return 0  # CUDA reserves far more address space than it uses
        return self._arena.nbytes + self._limits.memory_bytes + threads * _THREAD_BYTES

    def _command(self, operation: Operation, seconds: float) -> Elapsed | Failure:
        control = self._arena.control
        self._number += 1
        control.operation = operation
        control.status = 0
        start = time.perf_counter()
        control.command = self._number
        _wake(control, "command")
        failure = self._await(seconds)
        ours = time.perf_counter() - start
        if failure:
            return failure
        if control.status:
            text = control.message.decode(errors="replace")
            return Failure(Outcome.CRASHED, f"CUDA error after the call: {text}")
        return Elapsed(ours, control.nanoseconds * 1e-9 if not self._believed_exit else ours)

    def _transfer(self, operation: Operation, places: Sequence[Place]) -> Failure | None:
        if not (self._program.cuda and self._arena.problem.metric == "device"):
            return None
        for place in places:
            first, last = self._arena.span(place)
            self._arena.control.count = first
            self._arena.control.nanoseconds = last
            done = self._command(operation, self._limits.load_seconds)
            if isinstance(done, Failure):
                return done
        return None

    def _await(self, seconds: float) -> Failure | None:
        """Wait for the harness to report command `self._number`."""
        control = self._arena.control
        expected = (self._nonce + self._number) % 2**64
        allowed = seconds if self._defences.deadline else 10 * seconds
        end = time.perf_counter() + allowed
        while control.done != expected:
            if self._gone() and control.done != expected:
                return self._ended()
            left = end - time.perf_counter()
            if left <= 0:
                self.kill()
                return Failure(Outcome.TIMED_OUT, f"no result after {allowed:.3g} s: killed")
            _sleep(control, "finished", self._number - 1, min(left, _SLICE_SECONDS))
        return None

    def _ended(self) -> Failure | None:
        """The process is gone and never said it was done."""
        self.kill()
        code = self._process.returncode
        if self._drain.flooded:
            cap = self._limits.output_bytes
            return Failure(Outcome.CRASHED, f"wrote more than {cap} bytes to stdout or stderr")
        if code == 0 and not self._defences.handshake:
            self._believed_exit = True
            return None
        said = self._drain.text()
        if code >= 0:
            text = f"ended the process with exit code {code} before the call returned"
        else:
            text = f"killed by {_signal_name(-code)}{self._fault()}"
        return Failure(Outcome.CRASHED, f"{text}; {said}" if said else text)

    def _loaded(self, failure: Failure | None) -> Failure | None:
        control = self._arena.control
        if failure and control.stage == 0:
            raise ToolError(
                "worker: it ended before the candidate was loaded:"
                f" {control.message.decode(errors='replace') or failure.diagnosis}"
            )
        if failure:
            return Failure(failure.outcome, f"while loading: {failure.diagnosis}")
        if control.status:
            text = control.message.decode(errors="replace").rpartition(": ")[2]
            wanted = self._arena.problem.signature()
            return Failure(Outcome.COMPILE_FAILED, f"cannot load it: {text}; export {wanted}")
        return None

    def _fault(self) -> str:
        """Which array an invalid access was next to."""
        at = self._arena.control.fault
        found = self._arena.owner(at) if at else None
        if not found:
            return ""
        place, distance = found
        if distance < 0:
            return f": access {-distance} bytes before the start of array {place.name}"
        return f": access {distance - place.nbytes} bytes past the end of array {place.name}"


class _Drain(threading.Thread):
    """Reads a worker's pipe so that it never blocks; keeps the start, counts the rest."""

    def __init__(
        self, pipe: int, cap: int, process: subprocess.Popen[bytes], control: Control
    ) -> None:
        super().__init__(daemon=True)
        self._pipe, self._cap, self._process, self._control = pipe, cap, process, control
        self._kept = b""
        self.flooded = False

    def run(self) -> None:
        """Until every holder of the pipe is gone."""
        total = 0
        while chunk := os.read(self._pipe, 65536):
            total += len(chunk)
            self._kept += chunk[: _KEPT_OUTPUT - len(self._kept)]
            if total > self._cap and not self.flooded:
                self.flooded = True
                if self._process.returncode is None:
                    _kill_group(self._process.pid)
        os.close(self._pipe)
        _wake(self._control, "finished")  # the worker may have died: look now

    def text(self) -> str:
        """What was said, on one line, for a diagnosis."""
        return " ".join(self._kept.decode(errors="replace").split())[:500]


def _sleep(control: Control, word: str, value: int, seconds: float) -> None:
    """Sleep while the word of shared memory has this value, at most so long."""
    whole = int(seconds)
    timeout = struct.pack("@ll", whole, int((seconds - whole) * 1e9))
    _futex()(_word(control, word), 0, ctypes.c_uint32(value % 2**32), timeout, None, 0)


def _wake(control: Control, word: str) -> None:
    """Wake whoever sleeps on the word."""
    _futex()(_word(control, word), 1, ctypes.c_uint32(2**31 - 1), None, None, 0)


def _word(control: Control, name: str) -> ctypes.c_void_p:
    return ctypes.c_void_p(ctypes.addressof(control) + getattr(Control, name).offset)


@functools.cache
def _futex() -> Callable[..., int]:
    number = _FUTEX_CALL.get(platform.machine())
    if number is None:
        raise ToolError(f"worker: no support for {platform.machine()}; use x86_64 or aarch64 Linux")
    return functools.partial(ctypes.CDLL(None).syscall, number)


def _environment(threads: int) -> Mapping[str, str]:
    allowed = {name: os.environ[name] for name in _ALLOWED_ENV if name in os.environ}
    return allowed | {
        "PATH": "/usr/bin:/bin",
        "LANG": "C",
        "OMP_NUM_THREADS": str(threads),
        "CUDA_CACHE_DISABLE": "1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
