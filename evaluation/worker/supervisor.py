"""One worker process: start it, give it a candidate, hold it to its deadline, kill all of it.

A worker starts without a candidate: memory mapped, device context made, confined. It can wait like
that, warm, until one is compiled, which it gets as an anonymous file, so that it needs no access to
the compile cache. From then on it runs only while it obeys a command, and stands still before and
after (standstill.py): whatever is read or written on this side of the memory meanwhile is settled.

Exit code and output prove nothing: a call has happened when the harness, which alone knows this
worker's nonce, says so in shared memory. Times are taken here (steps.py); its own are hearsay. No
other process of this user can read the judge's memory or environment (PR_SET_DUMPABLE 0).

Not covered: a candidate shares its address space with the harness (docs/evaluation.md). Where
seccomp is absent, a process that leaves the group survives us.
"""

import contextlib
import ctypes
import os
import secrets
import sys
import time
from collections.abc import Sequence
from statistics import median

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.problem.declaration import RESULT
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits, placed
from regraph_kg.evaluation.worker import shared_memory
from regraph_kg.evaluation.worker.handshake import NO_STEPS, Elapsed, Operation, sleep, wake
from regraph_kg.evaluation.worker.process import WorkerProcess, after_call, ended, require_loaded
from regraph_kg.evaluation.worker.sealing import Seal
from regraph_kg.evaluation.worker.shared_memory import ArrayPlace, SharedMemory
from regraph_kg.evaluation.worker.spawn import Program, Start, Surroundings
from regraph_kg.evaluation.worker.standstill import Standstill
from regraph_kg.evaluation.worker.steps import Costs
from regraph_kg.models.evaluation import Outcome

_SLICE_SECONDS = 0.05
_PR_SET_DUMPABLE = 4
_CONTEXT_SECONDS = 60.0
_TIMED = (Operation.CALLS, Operation.GHOST, Operation.SWEEPS, Operation.PROFILE)
_FREE = (Operation.LOAD, Operation.SETTLE)  # before there are inputs worth working on
_EMPTY_BATCHES = 9
_BUSY_SHARE, _BUSY_SECONDS, _BUSY_EACH_SECONDS = 0.5, 0.05, 0.0015
"""CPU time outside timed spans, once and for each command: stopping many threads takes some."""
_LOOKS = (0.0, 0.008), (0.03, 0.05)
"""Seconds of a pause, then of a look whether threads work on after the last call."""
_IDLE_SHARE = 0.25  # of a core; on a machine that is busy a thread that spins gets less than one
_CONFINEMENTS = {1: "seccomp", 2: "landlock", 4: "namespaces", 8: "own root", 16: "sealed"}


class Worker(contextlib.AbstractContextManager["Worker"]):
    """A worker; `start` loads its candidate. Commands raise `Failure` where that is at fault."""

    def __init__(
        self,
        program: Program,
        shared: SharedMemory,
        defences: Defences,
        limits: JudgeLimits,
        threads: int,
        where: Surroundings | None = None,
    ) -> None:
        self._program, self._shared = program, shared
        self._defences, self._limits = defences, limits
        self._where = where or Surroundings()
        start = Start(program, shared, defences, limits, threads, self._where)
        self._nonce = secrets.randbits(63) | 1
        self._number = 0
        self._believed_exit = False
        self._is_started, self._unfit = False, list[Failure]()
        self.costs, self.digests = Costs(), list[int]()  # the digests of the last calls' outputs
        self._seal: Seal | None = None  # what opens the inputs of the next calls
        self.round_trip = 0.0  # median seconds of a batch without calls
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(not defences.hidden_memory), 0, 0, 0)
        shared.reset(self._nonce, defences)
        cap = limits.output_bytes if defences.output_cap else sys.maxsize
        self.process = WorkerProcess(start, cap)
        self._standstill = Standstill(self.process.pid)
        self._most_threads = threads + limits.threads

    def __exit__(self, *_: object) -> None:
        self.process.end()

    def assign(self, program: Program) -> None:
        """Set, before `start`, the program whose candidate it loads on the cores kept for that."""
        self._program = program
        if self._where.cores:
            with contextlib.suppress(OSError):  # it ended already
                os.sched_setaffinity(self.process.pid, self._where.cores)

    def start(self) -> None:
        """Load the program's candidate when first asked; where that fails it fails each time."""
        if not self._is_started:
            self.wait_until_ready()
            self._is_started = True
            try:
                with placed("while loading"):
                    self.empty()
                    self._shared.control.count = self.process.fill(self._program.candidate)
                    self._command(Operation.LOAD, self._limits.load_seconds)
                require_loaded(self._shared, self._program.cuda)
            except Failure as failure:
                self._unfit.append(failure)
            finally:
                self.process.hand_over()
        if self._unfit:
            raise self._unfit[0]

    def empty(self) -> float:
        """Seconds of an empty batch, first asked for before a candidate is loaded."""
        if not self.round_trip:
            empty = [self.call([], self._limits.load_seconds) for _ in range(_EMPTY_BATCHES)]
            self.round_trip = median(batch.ours for batch in empty)
        return self.round_trip

    @property
    def is_ready(self) -> bool:
        """Whether it waits for its candidate, or has one."""
        return self._number > 0 or self._shared.control.done == self._nonce

    def wait_until_ready(self) -> None:
        """Until its device context is made. Raises `ToolError` where it fails."""
        if self.is_ready:
            return
        patience = self._limits.load_seconds + (_CONTEXT_SECONDS if self._program.cuda else 0)
        try:
            self._await(patience)
        except Failure as failure:
            self.process.kill()
            message = self._shared.control.message.decode(errors="replace")
            raise ToolError(
                f"worker: it ended before it was ready: {message or failure.diagnosis};"
                " regraph doctor looks for the cause"
            ) from None

    def call(self, rows: Sequence[int], seconds: float) -> Elapsed:
        """Call the prepared `rows` in order, within `seconds` for all of them."""
        return self._calls(Operation.CALLS, rows, seconds)

    def ghost(self, row: int, seconds: float) -> None:
        """Call a row with kernel launches swallowed."""
        self._calls(Operation.GHOST, [row], seconds)

    def profile(self, row: int, seconds: float) -> str:
        """Call a row while a profiler records; its text, which is the worker's word."""
        self._calls(Operation.PROFILE, [row], seconds)
        return bytes(self._shared.control.message).decode(errors="replace")

    @property
    def on_device(self) -> bool:
        """Metric "device": whether calls work on copies of the shared memory's arrays."""
        return self._program.cuda and self._shared.problem.metric == "device"

    def sweeps(self, count: int) -> Elapsed:
        """Metric "device": only get so many timed calls ready."""
        seal = self._announce(count)
        return self._command(Operation.SWEEPS, self._limits.load_seconds, seal)

    @property
    def device_work(self) -> tuple[int, int, int]:
        """Allocations, launches and frees of the last calls on a device: the candidate's word."""
        control = self._shared.control
        return int(control.allocations), int(control.launches), int(control.frees)

    def upload(self, places: Sequence[ArrayPlace], seal: Seal | None = None) -> None:
        """Metric "device": copy arrays with their gaps to the device; nothing elsewhere."""
        spans = [self._shared.span(place) for place in places]
        if seal and seal.entries:
            spans.append(self._shared.sealed_span(seal.entries))
        # Masked inputs among them are unmasked by the next calls.
        self._seal = seal
        self._transfer(Operation.UPLOAD, spans)

    def download(self, places: Sequence[ArrayPlace]) -> None:
        """Metric "device": copy arrays with their gaps back; what is returned goes to the host."""
        spans = [self._shared.span(place) for place in places if place.name != RESULT]
        self._transfer(Operation.DOWNLOAD, spans)

    def settle(self) -> None:
        """Get ready for timing: pages mapped, allocations no longer poisoned or guarded."""
        self._command(Operation.SETTLE, self._limits.load_seconds)

    @property
    def confined(self) -> frozenset[str]:
        """Confinements of this worker besides limits: seccomp, landlock, namespaces."""
        bits = self._shared.control.confined
        return frozenset(name for bit, name in _CONFINEMENTS.items() if bits & bit)

    def require_rest(self) -> None:
        """It must have used no more CPU time outside its calls than idle threads of OpenMP do."""
        outside, inside = self._standstill.outside, self._standstill.inside
        allowed = _BUSY_SECONDS + _BUSY_SHARE * inside
        allowed += _BUSY_EACH_SECONDS * self._standstill.commands
        if not self._defences.standstill:
            return
        if outside > allowed:
            text = f"it used {outside:.3g} s of CPU time outside its timed calls"
            raise Failure(Outcome.SUSPICIOUS, f"{text}, {inside:.3g} s in them")
        if self._standstill.threads > 1 and self._defences.freeze:
            self._require_sleep()

    def _require_sleep(self) -> None:
        """Its threads must not go on working where no call is under way."""
        # Libraries' threads look for work a while before they sleep: a second look is decisive.
        for pause, seconds in _LOOKS:
            if pause:
                self._standstill.idle(pause)
            share = self._standstill.idle(seconds)
            if share < _IDLE_SHARE:
                return
        raise Failure(
            Outcome.SUSPICIOUS,
            f"its threads keep {share:.2g} cores busy after the call is over: end them, or let them"
            " wait on a condition variable",
        )

    def leave(self, seconds: float) -> None:
        """Have it end by itself within so many seconds, so that a tool around it finishes."""
        if not self.process.has_ended:
            with contextlib.suppress(Failure):
                self._command(Operation.EXIT, seconds)

    def _command(self, operation: Operation, seconds: float, seal: Seal | None = None) -> Elapsed:
        """Run one command; the worker stands still before and afterwards."""
        control, budget = self._shared.control, self._program.budget
        if budget and budget.left <= 0 and operation is not Operation.EXIT:
            self.process.kill()
            text = f"all that it did took more than {budget.seconds:.3g} s together: killed"
            raise Failure(Outcome.TIMED_OUT, text)
        seconds = min(seconds, budget.left) if budget else seconds
        self._number += 1
        control.operation = operation
        control.status = 0
        # Its time begins while it still stands; the key to its inputs is given while it runs.
        start = time.perf_counter()
        self._standstill.begin()
        self._require_still(self._standstill.release())
        steps = self._give(seconds, seal)
        self.digests = self._shared.digests[: seal.digests].tolist() if seal else self.digests
        ours = time.perf_counter() - start
        if budget:
            budget.spent += ours
        if operation not in _FREE:
            self._standstill.end(ours, timed=operation in _TIMED)
        if self._defences.freeze and not self.process.has_ended:  # every thread is stopped
            self._require_still(self._standstill.hold())
            self._require_few_threads()
        if operation in _FREE:
            self._standstill.reset()
        if control.status and operation is not Operation.LOAD:
            raise after_call(control)
        own = ours if self._believed_exit else control.nanoseconds * 1e-9
        return Elapsed(ours, own, steps=steps)

    def _require_still(self, complaint: str) -> None:
        """A process that does not stand still when it must is ended."""
        if complaint and self._defences.standstill:
            self.process.kill()
            raise Failure(Outcome.SUSPICIOUS, f"between commands {complaint}: killed")

    def _require_few_threads(self) -> None:
        """One that has more threads than anybody needs is ended."""
        if self._standstill.threads > self._most_threads and self._defences.thread_limit:
            self.process.kill()
            text = f"started more than {self._most_threads} threads: killed"
            raise Failure(Outcome.CRASHED, text)

    def _give(self, seconds: float, seal: Seal | None) -> Array:
        """Give command `self._number`: its steps, once it is done."""
        control, key = self._shared.control, seal.key if seal else (0, 0)
        if self._where.stopwatch and not self._believed_exit:
            expected = (self._nonce + self._number) % 2**64
            passed, steps = self._where.stopwatch.give(control, self._number, expected, key)
            if control.done == expected and passed < seconds:
                return steps if self._defences.steps else NO_STEPS
        else:
            control.key, control.command = shared_memory.Key(*key), self._number
            wake(control, "command")
        self._await(seconds)
        return NO_STEPS

    def _calls(self, operation: Operation, rows: Sequence[int], seconds: float) -> Elapsed:
        assert len(rows) <= shared_memory.MAX_BATCH
        self._shared.sequence[: len(rows)] = rows
        elapsed = self._command(operation, seconds, seal := self._announce(len(rows)))
        return self.costs.taken_off(elapsed, self.round_trip, len(rows), seal)

    def _announce(self, count: int) -> Seal | None:
        """Publish the count of calls, and what each of them needs."""
        seal, self._seal = self._seal, None
        self._shared.parts[:count] = seal.parts if seal else 0
        control = self._shared.control
        control.count, control.outputs = count, seal.outputs if seal else 0
        control.outputs_first = seal.entries - seal.outputs if seal else 0
        return seal

    def _transfer(self, operation: Operation, spans: Sequence[tuple[int, int]]) -> None:
        for start in range(0, len(spans) if self.on_device else 0, shared_memory.MAX_SPANS):
            some = spans[start : start + shared_memory.MAX_SPANS]
            self._shared.spans[: len(some)] = some
            self._shared.control.count = len(some)
            self._command(operation, self._limits.load_seconds)

    def _await(self, seconds: float) -> None:
        """Wait for the harness to report command `self._number`."""
        control = self._shared.control
        expected = (self._nonce + self._number) % 2**64
        allowed = seconds if self._defences.deadline else 10 * seconds
        end = time.perf_counter() + allowed
        while control.done != expected:
            if self.process.has_ended and control.done != expected:
                self._believe_end()
                return
            self._require_few_threads()
            remaining = end - time.perf_counter()
            if remaining <= 0:
                self.process.kill()
                raise Failure(Outcome.TIMED_OUT, f"no result after {allowed:.3g} s: killed")
            sleep(control, "finished", self._number - 1, min(remaining, _SLICE_SECONDS))

    def _believe_end(self) -> None:
        """The process is gone and never said it was done: a failure, unless exit codes count."""
        code = self.process.kill()
        if self.process.flooded:
            cap = self._limits.output_bytes
            raise Failure(Outcome.CRASHED, f"wrote more than {cap} bytes to stdout or stderr")
        self._believed_exit = code == 0 and not self._defences.handshake
        if not self._believed_exit:
            raise ended(code, self.process.output(), self._shared)
