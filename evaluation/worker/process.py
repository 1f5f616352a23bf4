"""A worker's process: started, its output read, ended; nobody waits for its end but who must.

A process that is told to end takes a while: the kernel unmaps its memory, the driver takes down its
device context (0.2 to 0.8 s [measured, H200]). It runs no more code of its own meanwhile, so it
disturbs only what is timed: `wait_for_leaving` comes before that, and at a judge's end.

The candidate can write its worker's message in shared memory: it is quoted and is no verdict.
"""

import contextlib
import fcntl
import os
import signal
import threading
import time
from pathlib import Path

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.handshake import wake
from regraph_kg.evaluation.worker.shared_memory import Control, SharedMemory
from regraph_kg.evaluation.worker.spawn import Start
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import quoted

_KEPT_OUTPUT, _POLL_SECONDS = 4096, 0.001
_SEALABLE = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
_leaving = set["WorkerProcess"]()  # processes of this judge that were told to end


class WorkerProcess:
    """A started process in a group of its own; `cap` bounds the bytes that it may print."""

    def __init__(self, start: Start, cap: int) -> None:
        self._start, self._control = start, start.shared.control
        self._kept, self.flooded, self._is_ending = b"", False, False
        self._file = os.memfd_create("candidate", _SEALABLE)
        pipe, end = os.pipe()
        try:
            self._process = start.process(self._file, end)
        except OSError as error:
            os.close(pipe)
            self.hand_over()
            raise ToolError(f"worker: cannot start it: {error.strerror or error}") from None
        finally:
            os.close(end)
        self.pid = self._process.pid
        self._drain = threading.Thread(target=self._read, args=(pipe, cap), daemon=True)
        self._drain.start()

    def fill(self, library: Path) -> int:
        """Write a library into its anonymous file, sealed against change: the descriptor."""
        try:
            with open(self._file, "wb", closefd=False) as file:
                file.write(library.read_bytes())
        except OSError as error:
            raise ToolError(f"{library}: {error.strerror}; run again") from None
        fcntl.fcntl(self._file, fcntl.F_ADD_SEALS, _SEALS)
        return self._file

    def hand_over(self) -> None:
        """Close our end of that file: only the process has it from then on."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def end(self) -> None:
        """Begin to end it and its group: it runs no more code of its own."""
        was_ending, self._is_ending = self._is_ending, True
        if not was_ending and self._process.returncode is None:
            # not reaped yet, so no other process can have its id
            if self._start.defences.kill_group:
                _kill_group(self.pid)
            self._process.kill()
            _leaving.add(self)
        self.hand_over()

    def kill(self) -> int:
        """End it and its group, and reap it: its exit code; idempotent."""
        self.end()
        code = self._process.wait()
        _leaving.discard(self)
        self._drain.join(timeout=1)
        return code

    @property
    def is_gone(self) -> bool:
        """Whether it has ended and is reaped; a device context takes its time."""
        return self._process.poll() is not None

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, without reaping it: its id stays its own until then."""
        if self._is_ending or self._process.returncode is not None:  # its reader may reap it
            return True
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, options) is not None

    def output(self) -> str:
        """What it printed, quoted as data, for the diagnosis of a crash; may be empty."""
        text = self._kept.decode(errors="replace").strip()
        return f"it printed: {quoted(text)}" if text else ""

    def _read(self, pipe: int, cap: int) -> None:
        """Read its pipe so that it never blocks, until every holder of that is gone."""
        total = 0
        while chunk := os.read(pipe, 65536):
            total += len(chunk)
            self._kept += chunk[: _KEPT_OUTPUT - len(self._kept)]
            if total > cap and not self.flooded:
                self.flooded = True
                if self._process.returncode is None:
                    _kill_group(self.pid)
        os.close(pipe)
        wake(self._control, "finished")  # the worker may have died: look now
        if self._is_ending:
            self._process.wait()  # no zombie stays where nobody looks for a while


def leaving() -> int:
    """Count of processes that were told to end, and are still there."""
    # a copy: other threads end workers meanwhile
    _leaving.difference_update([process for process in [*_leaving] if process.is_gone])
    return len(_leaving)


def wait_for_leaving(seconds: float) -> None:
    """Wait until all that were told to end are gone. Raises `ToolError` where that takes longer."""
    deadline = time.monotonic() + seconds
    while leaving():
        if time.monotonic() > deadline:
            raise ToolError(f"worker: a killed process is still there after {seconds:.0f} s")
        time.sleep(_POLL_SECONDS)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


_DAMAGED, _CHANGED, _UNRESTORED = -3, -4, -5
"""`status` of harness.cpp: an allocation's canary, a state of the device, of the processor."""


def after_call(control: Control) -> Failure:
    """The failure that the harness found after a call."""
    text = quoted(control.message.decode(errors="replace"))
    if control.status == _CHANGED:
        return Failure(Outcome.SUSPICIOUS, f"its worker says: {text}")
    if control.status == _UNRESTORED:
        return Failure(Outcome.WRONG_ANSWER, f"its worker says: {text}")
    where = "its worker says" if control.status == _DAMAGED else "CUDA error after the call"
    return Failure(Outcome.CRASHED, f"{where}: {text}")


def require_loaded(shared: SharedMemory, cuda: bool) -> None:
    """Raise `Failure` where the candidate could not be loaded, with what it must export."""
    if shared.control.status:
        text = quoted(shared.control.message.decode(errors="replace").rpartition(": ")[2])
        signature = shared.problem.signature(cuda)
        raise Failure(Outcome.COMPILE_FAILED, f"cannot load it: {text}; export {signature}")


def ended(code: int, output: str, shared: SharedMemory) -> Failure:
    """A process that ended by itself before it was done; `code` as subprocess has it."""
    text = f"signal {-code}"
    if code >= 0:
        text = f"ended the process with exit code {code} before the call returned"
    else:
        with contextlib.suppress(ValueError):
            text = signal.Signals(-code).name
        text = f"killed by {text}{_fault(shared)}"
    return Failure(Outcome.CRASHED, f"{text}; {output}" if output else text)


def _fault(shared: SharedMemory) -> str:
    """The array next to an invalid access, in words."""
    at = shared.control.fault
    owner = shared.owner(at) if at else None
    if not owner:
        return ""
    place, distance = owner
    if distance < 0:
        return f": access {-distance} bytes before the start of array {place.name}"
    past = distance - place.nbytes
    where = f"{past} bytes past" if past else "right past"
    return f": access {where} the end of array {place.name}"
