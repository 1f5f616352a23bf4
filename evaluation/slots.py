"""Slots of one problem's session: one worker each, for one candidate, and memory laid out for it.

Nothing of a slot is used again, so that no candidate finds another's data.

For cuda the next workers make their device contexts while one candidate is judged: the driver makes
contexts one after another, 0.2 s each [measured, H200], so that is what limits candidates a second.
It also makes others' device allocations wait, and what the device does take longer. So none is made
while code of metric "device" is timed, or code that allocates, or any at the full grade; nor, with
metric "device", once a judge has let others have the device.
"""

import contextlib
import os
import random
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.gpu.monitor import GpuMonitor
from regraph_kg.evaluation.problem.declaration import Sizes, shape_text
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.timing.batches import Bench, Pool, Readying, reserve
from regraph_kg.evaluation.timing.timing import TimedSeries
from regraph_kg.evaluation.verify.cases import unaligned_shape
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.timed_inputs import Contents
from regraph_kg.evaluation.verify.verify import CallTimes, Verification
from regraph_kg.evaluation.worker.process import leaving, wait_for_leaving
from regraph_kg.evaluation.worker.sealing import Sealing
from regraph_kg.evaluation.worker.shared_memory import Call, Layout, SharedMemory
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker

_HOST_ALIGNMENT, _DEVICE_ALIGNMENT = 64, 256
Calls = Mapping[tuple[str, bool], Sequence[Call]]  # as a `Verification` has them


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Rules of every session of a judge."""

    seed: int
    defences: Defences
    limits: JudgeLimits
    surroundings: Surroundings = field(default_factory=Surroundings)  # of candidates' workers
    judge_cores: frozenset[int] | None = None  # what the judge keeps to while it times
    monitor: GpuMonitor | None = None

    @property
    def cores(self) -> frozenset[int]:
        """Cores on which load disturbs: the judge's and its workers', else all that are ours."""
        own = (self.judge_cores or frozenset()) | (self.surroundings.cores or frozenset())
        return own or frozenset(os.sched_getaffinity(0))


CALL_SECONDS = 1.0  # one call of the serial code, or one whose threads are held up
_COPIED_BYTES = 8 * 2**20  # arrays of the calls between two stops of a worker


@dataclass(frozen=True, slots=True)
class Staffing:
    """Starts workers for one problem, by a session's rules and truths."""

    problem: Problem
    references: References
    rules: SessionRules

    @property
    def alignment(self) -> int:
        """Bytes of which an array's start is a multiple."""
        return _DEVICE_ALIGNMENT if self.problem.metric == "device" else _HOST_ALIGNMENT

    def verification(self, shared: SharedMemory, calls: Calls, seconds: float) -> Verification:
        """That of one worker, a call of which may take so many seconds."""
        times = CallTimes(seconds, self.rules.limits.calls_seconds)
        common = self.problem, shared, calls, self.references
        return Verification(*common, self.rules.defences, times)

    @contextmanager
    def staffed(
        self,
        program: Program,
        cases: Sequence[Case],
        threads: int,
        where: Surroundings | None = None,
        copies: int = 1,
    ) -> Iterator[tuple[Worker, Verification]]:
        """A worker with memory for these cases, for several calls of each if they are small."""
        layout, rules, calls = Layout(self.problem, self.alignment), self.rules, {}
        for text, sizes in {shape_text(case.sizes): case.sizes for case in cases}.items():
            room = _COPIED_BYTES // max(self.problem.nbytes(sizes), 1)
            count = max(1, min(copies, room))
            calls[text, True] = [layout.call(sizes) for _ in range(count)]
        shared = layout.build()
        try:
            with Worker(program, shared, rules.defences, rules.limits, threads, where) as worker:
                # Half of these workers are like timed ones: nothing that was allocated is poisoned.
                # What is wrong with the worker, the first call will tell.
                with contextlib.suppress(Failure):
                    if secrets.randbits(1):
                        worker.start()
                        worker.settle()
                yield worker, self.verification(shared, calls, CALL_SECONDS)
        finally:
            shared.close()


@dataclass(slots=True)
class Slot:
    """A worker, its memory and its prepared calls."""

    worker: Worker
    bench: Bench
    verification: Verification
    serves: Program  # what the worker was started for
    series: TimedSeries | None = None  # timed calls that were glanced at

    def dismiss(self) -> None:
        """End the worker after its last call, and free its arrays: the witnesses are copies."""
        self.worker.process.end()
        self.verification.shared.release()

    def end(self) -> None:
        """Begin to end the worker, and release the memory: it keeps what it has mapped."""
        self.worker.process.end()
        self.verification.shared.close()


_SPARES, _FEW_SPARES, _LEAVING = 4, 1, 3  # workers that warm up, and that are taken down meanwhile
_LARGE_BYTES = 256 * 2**20  # above this much shared memory a slot, one spare worker is enough
_SMALL_BYTES = 64 * 2**20  # below this, of the timing shape's arrays, those for a CPU are ahead too
_POLL_SECONDS, SETTLE_SECONDS = 0.001, 90.0


class Slots:
    """Slots for a problem's candidates: one layout of calls, a secret for each."""

    def __init__(
        self, staffing: Staffing, shapes: list[Sizes], contents: Contents, threads: int
    ) -> None:
        self._staffing, self._contents, self._threads = staffing, contents, threads
        self._problem, self._rules = staffing.problem, staffing.rules
        self._rng = random.Random(self._rules.seed)
        self._layout = layout = Layout(self._problem, staffing.alignment)
        calls = {(shape_text(sizes), True): [layout.call(sizes)] for sizes in shapes}
        odd = unaligned_shape(self._problem, shapes)
        self._calls = calls | {(shape_text(odd), False): [layout.call(odd, aligned=False)]}
        self._timed = reserve(layout, self._problem)
        self.pool = Pool(self._rng.getrandbits(128))
        self._spares: list[Slot] = []
        self._taken: list[Slot] = []
        self._is_silent, self._slot_bytes = False, 0
        self.readying = Readying()

    def close(self) -> None:
        self.cool_down()
        while self._taken:
            self._taken.pop().end()
        wait_for_leaving(SETTLE_SECONDS)

    @contextlib.contextmanager
    def candidate(self, program: Program) -> Iterator[Slot]:
        """A slot whose worker is to load the program; the next workers warm up beside or after."""
        slot = self._ready(program)
        self._taken.append(slot)
        # Candidates may allocate while they are timed: they would wait for warm-ups.
        silent = self._is_silent or self._problem.metric == "call"
        if not program.cuda:
            self.settle()  # starting workers would be in the way of its clock
        try:
            slot.worker.assign(program)
            if not silent:
                self.warm_up(program)
            slot.worker.costs = self.readying.costs(slot.bench, slot.worker)
            yield slot
        finally:
            if slot in self._taken:
                self._taken.remove(slot)
                slot.end()
        if silent and not self._is_silent:
            self.warm_up(program)

    @contextlib.contextmanager
    def silence(self, program: Program) -> Iterator[None]:
        """Start no worker ahead meanwhile, so that timed workers wait for nothing."""
        self._is_silent = True
        try:
            yield
        finally:
            self._is_silent = False
        self.warm_up(program)

    def warm_up(self, program: Program) -> None:
        """Start workers for the programs that may come; only cuda's take long to start."""
        if not program.cuda:
            return
        count = _SPARES if self._slot_bytes < _LARGE_BYTES else _FEW_SPARES
        while sum(slot.serves.harness == program.harness for slot in self._spares) < count:
            if leaving() > _LEAVING:
                return  # the rest is being taken down
            self._spares.append(self.started(program))

    def staff(self, program: Program, count: int) -> None:
        """Start so many workers before a CPU candidate is compiled, if they are small."""
        if self._problem.nbytes(self._problem.sizes.time) < _SMALL_BYTES:
            while len(self._spares) < count:
                self._spares.append(self.started(program))

    def cool_down(self) -> None:
        """End the idle workers."""
        while self._spares:
            self._spares.pop().end()

    def started(
        self, program: Program, where: Surroundings | None = None, threads: int = 0
    ) -> Slot:
        """One with a worker for the program; `end` it. Raises `ToolError` where memory is short."""
        rules, shared = self._rules, self._layout.build()
        self._slot_bytes = shared.nbytes
        try:
            team, where = threads or self._threads, where or rules.surroundings
            worker = Worker(program, shared, rules.defences, rules.limits, team, where)
        except BaseException:
            shared.close()
            raise
        verification = self._staffing.verification(shared, self._calls, rules.limits.call_seconds)
        drawn = self._contents, self.pool, self._rng.getrandbits(128)  # for one candidate
        bench = Bench(Sealing(shared), self._timed, *drawn, rules.defences)
        return Slot(worker, bench, verification, program)

    def settle(self) -> None:
        """Wait until no device context is being made or taken down."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while not all(slot.worker.is_ready or slot.worker.process.is_gone for slot in self._spares):
            if time.monotonic() > deadline:
                raise ToolError("GPU: a device context is not made in time")
            time.sleep(_POLL_SECONDS)
        wait_for_leaving(SETTLE_SECONDS)

    def _ready(self, program: Program) -> Slot:
        """A slot whose worker has its device context."""
        # One that was started ahead may have found the device's memory taken by the candidate of
        # its time: then it is started again, once that is gone.
        for slot in [slot for slot in self._spares if slot.worker.process.is_gone]:
            self._spares.remove(slot)
            slot.end()
        spares = [slot for slot in self._spares if slot.serves.harness == program.harness]
        spare = max(spares, key=lambda slot: slot.worker.is_ready, default=None)
        if spare:
            self._spares.remove(spare)
        slot = spare or self.started(program)
        try:
            slot.worker.wait_until_ready()
            return slot
        except ToolError:
            slot.end()
            if not spare:
                raise
        self.cool_down()
        self.settle()
        return self._ready(program)
