"""A process that runs only during commands: stopped, confirmed, and its CPU time accounted for.

The clock of all its threads (clock id `~pid << 3 | 2`, clock_getcpuclockid(3)) is read by the
judge, so a candidate has no say in it. It is exact for a process that stands. While it runs, the
kernel adds what its threads use at every timer tick only, so that 16 threads may be 60 ms ahead of
it: time that seems to be used since `end` counts as outside only as far as all processors together
could have used it by then.

Not covered: a GPU's own work meanwhile.
"""

import math
import os
import signal
import time

_RUNS_ON_SECONDS = 2.0  # CPU seconds after the signal: no more than a long system call takes
_PATIENCE_SECONDS = 60.0
"""Wall-clock seconds. A machine with much to do, or a host that stops it, may leave the process
no time to stop in: how long that takes is not its fault."""
_EAGER_SECONDS, _PAUSE_SECONDS = 0.0002, 0.00005
_LEFT_SECONDS = 0.02
"""CPU seconds: a thread on its way into the stop pays for what the host takes away meanwhile."""
_PROCESS_CLOCK = 2
_PROCESSORS = os.cpu_count() or 1


class Standstill:
    """Holds one process, which must be our child, and reads its CPU clock. Seconds.

    A method that returns text has found the process at what it must not do; "" is all well, also
    where the process has ended, which is for others to notice.
    """

    def __init__(self, pid: int) -> None:
        self._pid, self._clock = pid, (~pid << 3) | _PROCESS_CLOCK
        self._last = 0.0
        self._read_at = time.monotonic()
        self._is_timed, self._unused = False, math.inf
        """The last command: whether it is timed; else seconds that its one thread has left."""
        self.is_held = False
        self.inside = 0.0  # CPU time of timed spans
        self.outside = 0.0  # CPU time besides: between spans; of untimed commands beyond one thread
        self.commands = 0  # count of releases

    def reset(self) -> None:
        self.inside = self.outside = 0.0
        self.commands = 0
        self._is_timed, self._unused = False, math.inf
        self._read(self._used())

    def hold(self) -> str:
        """Stop every thread; returns once they stand."""
        if self.is_held:
            return ""
        start, limit = time.monotonic(), self._used() + _RUNS_ON_SECONDS
        os.kill(self._pid, signal.SIGSTOP)
        options = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT
        while (state := os.waitid(os.P_PID, self._pid, options)) is None:
            waited = time.monotonic() - start
            if waited > _EAGER_SECONDS:
                if waited > _PATIENCE_SECONDS or self._used() > limit:
                    return "it cannot be stopped"
                time.sleep(_PAUSE_SECONDS)
        if state.si_code != os.CLD_STOPPED:
            return ""  # it has ended
        used = self._used()
        while (again := self._used()) != used:
            used = again
            if used > limit:
                return "it runs although it was stopped"
        self._count_outside(used)
        self.is_held = True
        return ""

    def release(self) -> str:
        """Let it go on, if it stood still all the time."""
        if not self.is_held:
            return ""
        self.is_held = False
        moved = self._used() - self._last
        if moved > _LEFT_SECONDS:
            return f"it used {moved * 1e3:.3g} ms of CPU time while it was stopped"
        os.kill(self._pid, signal.SIGCONT)
        return ""

    def begin(self) -> None:
        """A command is about to be given."""
        self.commands += 1
        self._count_outside(self._used())

    def end(self, seconds: float, *, timed: bool) -> None:
        """A command of so many seconds is done; one that is not timed may keep one thread busy."""
        spent = self._read(self._used())
        self._is_timed, self._unused = timed, seconds
        self._count_inside(spent)

    def idle(self, seconds: float) -> float:
        """Share of a core that it uses while it is let run, for so long, without a command."""
        self.release()
        start, used = time.monotonic(), self._last
        time.sleep(seconds)
        self.hold()
        return (self._last - used) / (time.monotonic() - start)

    @property
    def threads(self) -> int:
        """Count of its threads; 0 once it has ended."""
        try:
            return len(os.listdir(f"/proc/{self._pid}/task"))
        except OSError:
            return 0

    def _count_inside(self, spent: float) -> None:
        if self._is_timed:
            self.inside += spent
        else:
            self.outside += max(0.0, spent - self._unused)
            self._unused = max(0.0, self._unused - spent)

    def _count_outside(self, used: float) -> None:
        """Count time used since `end`; the part that is too much for that span counts as inside."""
        since = self._read_at
        spent = self._read(used)
        possible = min(spent, (self._read_at - since) * _PROCESSORS)
        self.outside += possible
        self._count_inside(spent - possible)

    def _read(self, used: float) -> float:
        """CPU seconds since the last reading."""
        spent = used - self._last
        self._last, self._read_at = used, time.monotonic()
        return spent

    def _used(self) -> float:
        """CPU seconds of all its threads; what they were last once it has ended."""
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return self._last
