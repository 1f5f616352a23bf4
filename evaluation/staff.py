"""The slots of one problem's session: taken, started ahead, and on their way out.

For cuda the next workers make their device contexts while one candidate is judged: the driver makes
contexts one after another, 0.2 s each [measured, H200], so that is what limits candidates a second.
It also makes others' device allocations wait, and what the device does take longer. So none is made
while code of metric "device" is timed, or code that allocates, or any at the full grade; nor, with
metric "device", once a judge has let others have the device.
"""

import contextlib
import time
from collections.abc import Iterator

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.slot import Plan, SessionRules, Slot
from regraph_kg.evaluation.timing.readying import Readying
from regraph_kg.evaluation.verify.timed_inputs import Contents
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker

_SPARES, _FEW_SPARES, _LEAVING = 4, 1, 3  # workers that warm up, and that are taken down meanwhile
_LARGE_BYTES = 256 * 2**20  # above this much shared memory a slot, one spare worker is enough
_SMALL_BYTES = 64 * 2**20
"""Below this, of arrays of the timing shape, workers for the CPU are started ahead as well."""
_POLL_SECONDS, _SETTLE_SECONDS = 0.001, 90.0


class Slots:
    """Slots for a problem's candidates, whose teams have so many threads."""

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        contents: Contents,
        rules: SessionRules,
        threads: int,
    ) -> None:
        self._problem, self._plan, self._contents = problem, plan, contents
        self._rules, self._threads = rules, threads
        self._spares: list[Slot] = []
        self._taken: list[Slot] = []
        self._leaving: list[Worker] = []
        self._is_silent, self._slot_bytes = False, 0
        self.readying = Readying()

    def close(self) -> None:
        """End every process and release the memory."""
        self.cool_down()
        while self._taken:
            self.vacate(self._taken.pop())
        while self._leaving:
            self._leaving.pop().kill()

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
                self.vacate(slot)
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

    def keep(self, slot: Slot) -> None:
        """After a clean pass: with shared isolation its worker serves the next candidate, too."""
        if self._rules.isolation == "shared" and slot.worker.programs_left:
            slot.bench = self._plan.bench(slot.verification.shared, self._contents)
            self._taken.remove(slot)
            self._spares.append(slot)

    def warm_up(self, program: Program) -> None:
        """Start workers for the programs that may come; only cuda's take long to start."""
        if not program.cuda or self._rules.isolation == "shared":
            return
        self._leaving = [worker for worker in self._leaving if not worker.is_gone]
        count = _SPARES if self._slot_bytes < _LARGE_BYTES else _FEW_SPARES
        while sum(self._is_spare(slot, program) for slot in self._spares) < count:
            if len(self._leaving) > _LEAVING:
                return  # the rest is being taken down
            self._spares.append(self.started(program))

    def staff(self, program: Program, count: int) -> None:
        """Start so many workers before a CPU candidate is compiled, if they are small."""
        small = self._problem.nbytes(self._problem.sizes.time) < _SMALL_BYTES
        if small and self._rules.isolation == "fresh":
            while len(self._spares) < count:
                self._spares.append(self.started(program))

    def cool_down(self) -> None:
        """End the idle workers."""
        while self._spares:
            self.vacate(self._spares.pop())

    def started(self, program: Program, where: Surroundings | None = None) -> Slot:
        """One with a worker for the program, there if need be; `vacate` it."""
        slot = self._plan.slot(
            self._contents, program, self._threads, where or self._rules.surroundings
        )
        self._slot_bytes = slot.verification.shared.nbytes
        return slot

    def vacate(self, slot: Slot) -> None:
        """Begin to end its worker."""
        slot.end()
        self._leaving.append(slot.worker)
        self._leaving = [worker for worker in self._leaving if not worker.is_gone]

    def settle(self) -> None:
        """Wait until no device context is being made or taken down."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while any(slot.is_settling for slot in self._spares) or any(
            not worker.is_gone for worker in self._leaving
        ):
            if time.monotonic() > deadline:
                raise ToolError("GPU: a device context is not made or taken down in time")
            time.sleep(_POLL_SECONDS)

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
                self.vacate(slot)
                self.cool_down()
                self.settle()
        slot = self.started(program)
        try:
            slot.worker.wait_until_ready()
        except ToolError:
            self.vacate(slot)
            raise
        return slot

    def _spare(self, program: Program) -> Slot | None:
        for slot in [slot for slot in self._spares if slot.worker.is_gone]:
            self._spares.remove(slot)
            self.vacate(slot)
        spares = [slot for slot in self._spares if self._is_spare(slot, program)]
        best = max(spares, key=lambda slot: slot.worker.is_ready, default=None)
        if best:
            self._spares.remove(best)
        return best

    @staticmethod
    def _is_spare(slot: Slot, program: Program) -> bool:
        return slot.serves.harness == program.harness
