"""Slots of one problem's session: one worker each, for one candidate, and memory laid out for it.

Nothing of a slot is used again: a worker, its memory and its draw of inputs come and go together,
so that no candidate finds another's data.

For cuda the next workers make their device contexts while one candidate is judged: the driver makes
contexts one after another, 0.2 s each [measured, H200], so that is what limits candidates a second.
It also makes others' device allocations wait, and what the device does take longer. So none is made
while code of metric "device" is timed, or code that allocates, or any at the full grade; nor, with
metric "device", once a judge has let others have the device.
"""

import contextlib
import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.gpu.nvml import GpuMonitor
from regraph_kg.evaluation.problem.problem import Problem, Sizes, shape_text
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.evaluation.timing.batches import Bench, Pool, reserve
from regraph_kg.evaluation.timing.readying import Readying
from regraph_kg.evaluation.timing.timing import TimedSeries
from regraph_kg.evaluation.verify.covering import unaligned_shape
from regraph_kg.evaluation.verify.reference import References
from regraph_kg.evaluation.verify.timed_inputs import Contents
from regraph_kg.evaluation.verify.verify import CallTimes, Verification
from regraph_kg.evaluation.worker.process import leaving, wait_for_leaving
from regraph_kg.evaluation.worker.sealing import Sealing
from regraph_kg.evaluation.worker.shared_memory import Call, Layout, SharedMemory
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker

_HOST_ALIGNMENT, _DEVICE_ALIGNMENT = 64, 256


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


def alignment(problem: Problem) -> int:
    """Bytes of which an array's start is a multiple."""
    return _DEVICE_ALIGNMENT if problem.metric == "device" else _HOST_ALIGNMENT


class Plan:
    """Common parts of a problem's slots: the layout, the contents, the truths, the rules.

    `rng` gives each slot a secret of its own.
    """

    def __init__(
        self,
        problem: Problem,
        shapes: list[Sizes],
        references: References,
        contents: Contents,
        rules: SessionRules,
    ) -> None:
        self._problem, self._references, self._rules = problem, references, rules
        self._contents = contents
        self._rng = random.Random(rules.seed)
        self._layout = Layout(problem, alignment(problem))
        self._calls: dict[tuple[str, bool], list[Call]] = {
            (shape_text(sizes), True): [self._layout.call(sizes)] for sizes in shapes
        }
        odd = unaligned_shape(problem, shapes)
        self._calls[shape_text(odd), False] = [self._layout.call(odd, aligned=False)]
        self._timed = reserve(self._layout, problem)
        self.pool = Pool(self._rng.getrandbits(128))

    def slot(self, program: Program, threads: int, where: Surroundings) -> "Slot":
        """Allocate one, and start its worker. Raises `ToolError` where memory is too short."""
        rules = self._rules
        shared = self._layout.build()
        try:
            worker = Worker(program, shared, rules.defences, rules.limits, threads, where)
        except BaseException:
            shared.close()
            raise
        verification = Verification(
            *(self._problem, shared, self._calls, self._references),
            *(rules.defences, CallTimes(rules.limits.call_seconds, rules.limits.calls_seconds)),
        )
        return Slot(worker, self._bench(shared), verification, program)

    def _bench(self, shared: SharedMemory) -> Bench:
        """A draw of inputs for one candidate."""
        seed, rules = self._rng.getrandbits(128), self._rules
        sealing = Sealing(shared)
        return Bench(sealing, self._timed, self._contents, self.pool, seed, rules.defences)


@dataclass(slots=True)
class Slot:
    """A worker, its memory and its prepared calls."""

    worker: Worker
    bench: Bench
    verification: Verification
    serves: Program  # what the worker was started for
    series: TimedSeries | None = None  # timed calls that were glanced at

    @property
    def is_settling(self) -> bool:
        """Whether a device context is being made here."""
        return not (self.worker.is_ready or self.worker.is_gone)

    def dismiss(self) -> None:
        """End the worker after its last call, and free its arrays: the witnesses are copies."""
        self.worker.end()
        self.verification.shared.release()

    def end(self) -> None:
        """Begin to end the worker, and release the memory: it keeps what it has mapped."""
        self.worker.end()
        self.verification.shared.close()


_SPARES, _FEW_SPARES, _LEAVING = 4, 1, 3  # workers that warm up, and that are taken down meanwhile
_LARGE_BYTES = 256 * 2**20  # above this much shared memory a slot, one spare worker is enough
_SMALL_BYTES = 64 * 2**20  # below this, of the timing shape's arrays, those for a CPU are ahead too
_POLL_SECONDS, SETTLE_SECONDS = 0.001, 90.0


class Slots:
    """Slots for a problem's candidates, whose teams have so many threads."""

    def __init__(self, problem: Problem, plan: Plan, rules: SessionRules, threads: int) -> None:
        self._problem, self._plan = problem, plan
        self._rules, self._threads = rules, threads
        self._spares: list[Slot] = []
        self._taken: list[Slot] = []
        self._is_silent, self._slot_bytes = False, 0
        self.readying = Readying()

    def close(self) -> None:
        """End every process and release the memory."""
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
        while sum(self._is_spare(slot, program) for slot in self._spares) < count:
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

    def started(self, program: Program, where: Surroundings | None = None) -> Slot:
        """One with a worker for the program; `end` it."""
        slot = self._plan.slot(program, self._threads, where or self._rules.surroundings)
        self._slot_bytes = slot.verification.shared.nbytes
        return slot

    def settle(self) -> None:
        """Wait until no device context is being made or taken down."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while any(slot.is_settling for slot in self._spares):
            if time.monotonic() > deadline:
                raise ToolError("GPU: a device context is not made in time")
            time.sleep(_POLL_SECONDS)
        wait_for_leaving(SETTLE_SECONDS)

    def _ready(self, program: Program) -> Slot:
        """A slot whose worker has its device context.

        One that was started ahead may have found the device's memory taken by the candidate of its
        time: then it is started again, once that is gone.
        """
        slot = self._spare(program)
        if slot:
            try:
                slot.worker.wait_until_ready()
                return slot
            except ToolError:
                slot.end()
                self.cool_down()
                self.settle()
        slot = self.started(program)
        try:
            slot.worker.wait_until_ready()
        except ToolError:
            slot.end()
            raise
        return slot

    def _spare(self, program: Program) -> Slot | None:
        for slot in [slot for slot in self._spares if slot.worker.is_gone]:
            self._spares.remove(slot)
            slot.end()
        spares = [slot for slot in self._spares if self._is_spare(slot, program)]
        best = max(spares, key=lambda slot: slot.worker.is_ready, default=None)
        if best:
            self._spares.remove(best)
        return best

    @staticmethod
    def _is_spare(slot: Slot, program: Program) -> bool:
        return slot.serves.harness == program.harness
