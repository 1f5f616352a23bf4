"""Where a candidate is judged, what it is told there, and what harm can be seen afterwards.

Placeholders in a candidate's text: `@SCRATCH@` a folder of ours with one file, "ours"; `@PORT@` a
port we listen on; `@PREDICTED@` and `@PREDICTED_COUNT@` the answers to naive.py's inputs;
`@CONTROL_SIZE@`, `@CONTROL_DONE@`, ...: size and offsets of the shared memory's `Control`. A
candidate is one text, so `#include "NAME.h"` stands for what parts/NAME.h holds.
"""

import ctypes
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from regraph_kg.evaluation.worker.shared_memory import Control
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.text import plain
from tests.adversarial import naive

_PARTS = Path(__file__).parent / "parts"
_PART = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
UNEARNED_SECONDS = 1e-4
"""No GPU does 50,000 dependent steps, a call of problem relax, in this: an H200 takes 0.3 ms."""


class Scene:
    """A folder, a listening port, an inheritable pipe and a signal handler: all bait."""

    def __init__(self, folder: Path, listener: socket.socket, pipe: tuple[int, int]) -> None:
        self.folder = folder
        self._listener, self._pipe = listener, pipe
        self._port = str(listener.getsockname()[1])
        self._signals = 0
        self.printed = ""  # by naive.py and what it ran
        (folder / "ours").write_text("// ours\n")

    @property
    def descriptor(self) -> int:
        """The pipe's end for writing."""
        return self._pipe[1]

    def on_signal(self, *_: object) -> None:
        """Count one."""
        self._signals += 1

    def source(self, path: Path) -> str:
        """The candidate's text, its placeholders filled in."""
        text = _PART.sub(_part, path.read_text(encoding="utf-8"))
        text = text.replace("@SCRATCH@", str(self.folder)).replace("@PORT@", self._port)
        return _with_predictions(_with_offsets(text))

    def happened(self, harm: str, report: EvalReport | None, call_seconds: float) -> bool:
        """Whether this harm was done; some is read from the report."""
        if harm == "slow":
            return report is not None and report.stages["verify"] > 5 * call_seconds
        if harm == "fast":
            return report is not None and (report.speedup or 0) > 3
        if harm == "unearned":
            timing = report.timing if report else None
            return timing is not None and timing.median < UNEARNED_SECONDS
        if harm == "terminal":
            told = self.printed if report is None else report.diagnosis
            return plain(told) != told
        seen: dict[str, Callable[[], bool]] = {
            "connection": lambda: _succeeds(self._listener.accept),
            "descriptor": lambda: _succeeds(lambda: os.read(self._pipe[0], 1)),
            "file": lambda: os.listdir(self.folder) != ["ours"],
            "process": lambda: self.end_sleepers() > 0,
            "signal": lambda: self._signals > 0,
        }
        return seen[harm]()

    def end_sleepers(self) -> int:
        """Kill the processes that a candidate left behind, by their name; how many there were."""
        pids = [pid for pid in os.listdir("/proc") if pid.isdigit()]
        found = [pid for pid in pids if _comm(pid) == f"adv{self._port}"]
        for pid in found:
            with suppress(ProcessLookupError):  # it woke up and left
                os.kill(int(pid), signal.SIGKILL)
        return len(found)


@contextmanager
def scene(folder: Path) -> Iterator[Scene]:
    """Set the bait in an empty folder, and clear away what is left of it."""
    pipe = os.pipe2(os.O_NONBLOCK)
    os.set_inheritable(pipe[1], True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        made = Scene(folder, listener, pipe)
        before = signal.signal(signal.SIGURG, made.on_signal)
        try:
            yield made
        finally:
            signal.signal(signal.SIGURG, before)
            made.end_sleepers()
            for end in pipe:
                os.close(end)


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        got = attempt()
    except BlockingIOError:
        return False
    if isinstance(got, tuple):
        got[0].close()
    return True


def _comm(pid: str) -> str:
    try:
        return Path("/proc", pid, "comm").read_text().strip()
    except OSError:
        return ""


def _part(include: re.Match[str]) -> str:
    return (_PARTS / include[1]).read_text(encoding="utf-8")


def _with_predictions(text: str) -> str:
    if "@PREDICTED@" not in text:
        return text
    y, positive = naive.smooth(naive.inputs())
    answers = ", ".join(f"{value:.9e}f" for value in y)
    return text.replace("@PREDICTED@", answers).replace("@PREDICTED_COUNT@", str(positive))


def _with_offsets(text: str) -> str:
    text = text.replace("@CONTROL_SIZE@", str(ctypes.sizeof(Control)))
    for name, *_ in Control._fields_:
        text = text.replace(f"@CONTROL_{name.upper()}@", str(getattr(Control, name).offset))
    return text
