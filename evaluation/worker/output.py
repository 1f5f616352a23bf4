"""A worker's stdout and stderr: read so that it never blocks, capped, kept for a diagnosis only."""

import contextlib
import os
import signal
import subprocess
import threading

from regraph_kg.evaluation.worker.handshake import wake
from regraph_kg.evaluation.worker.shared_memory import Control
from regraph_kg.models.text import quoted

_KEPT_OUTPUT = 4096


class Drain(threading.Thread):
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
                    kill_group(self._process.pid)
        os.close(self._pipe)
        wake(self._control, "finished")  # the worker may have died: look now

    def text(self) -> str:
        """The output, quoted as data, for the diagnosis of a crash; may be empty."""
        text = self._kept.decode(errors="replace").strip()
        return f"it printed: {quoted(text)}" if text else ""


def kill_group(pid: int) -> None:
    """End every process of a group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
