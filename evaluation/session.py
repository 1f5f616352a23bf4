"""One problem on one target for as long as a judge lives: its memory, truths and baseline.

The serial code is the first candidate: it must load, be right and be the same from run to run,
or the problem itself is bad input. Its time at the timing shape is the baseline.
"""

import random
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.arena import Call, Layout, Place
from regraph_kg.evaluation.inputs import generate
from regraph_kg.evaluation.problem import Problem, shape_text
from regraph_kg.evaluation.reference import Case, References
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.supervisor import Program, Worker
from regraph_kg.evaluation.timing import Bench, Measured, StopRule, measure, summarise
from regraph_kg.evaluation.verify import POISONS, Verification, check_shapes, mismatch, plan
from regraph_kg.models.evaluation import Outcome

_INPUTS, _SLOTS = 4, 3
_LARGE_BYTES = 64 * 2**20
_LARGE_INPUTS, _LARGE_SLOTS = 2, 2
_WITNESSES = 3
_BASELINE_SECONDS = 120.0
_HOST_ALIGNMENT, _DEVICE_ALIGNMENT = 64, 256


_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Programs:
    """Shared objects of one problem: the serial code and its fp64 reference, each with a harness."""

    serial: Program
    reference: Program


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every session of a judge."""

    seed: int
    defences: Defences
    limits: Limits


class Session:
    """Arena, cases, truths and timing bench of one problem. Raises `BadInput` for a bad problem."""

    def __init__(self, problem: Problem, programs: Programs, rules: Rules) -> None:
        self.problem = problem
        self._programs, self._rules = programs, rules
        shapes = check_shapes(problem, rules.seed, rules.defences)
        on_device = problem.metric == "device"
        layout = Layout(problem, _DEVICE_ALIGNMENT if on_device else _HOST_ALIGNMENT)
        calls = {shape_text(sizes): layout.whole_call(sizes) for sizes in shapes}
        self._inputs, self._slots, self._timed = _timed_calls(layout, rules.defences)
        self._arena = layout.build()
        self._shapes = shapes
        self._references = References(
            problem, programs.reference, [*shapes, problem.sizes.time], rules.limits
        )
        self._verification = Verification(
            problem, self._arena, calls, self._references, rules.defences, rules.limits.call_seconds
        )
        self._rng = random.Random(rules.seed)
        self._made = [
            generate(problem, case.sizes, case.variant, case.seed)
            for case in map(self._case, range(len(self._inputs)))
        ]
        self._fill_inputs()

    def close(self) -> None:
        """End the reference's process and release the memory."""
        self._references.close()
        self._arena.close()

    def worker(self, program: Program, threads: int) -> Worker:
        """A fresh process for one candidate."""
        return Worker(program, self._arena, self._rules.defences, self._rules.limits, threads)

    def verify(self, worker: Worker, *, full: bool) -> Failure | None:
        """Check a loaded candidate at the check shapes."""
        cases = plan(self.problem, self._shapes, self._rules.seed, full)
        return self._verification.check(worker, cases)

    def open(self, rule: StopRule) -> None:
        """Verify and time the serial code. Raises `BadInput` where it fails."""
        with self.worker(self._programs.serial, threads=1) as worker:
            self._require(worker.start or self.verify(worker, full=False))
            self.baseline = self._require(self._measure(worker, rule, _BASELINE_SECONDS))
        self.serial_seconds = summarise(self.baseline.samples).median

    def time_serial(self, rule: StopRule) -> Measured:
        """Time the serial code again, in a fresh worker."""
        with self.worker(self._programs.serial, threads=1) as worker:
            self._require(worker.start)
            return self._require(self._measure(worker, rule, _BASELINE_SECONDS))

    def time(self, worker: Worker, rule: StopRule, call_seconds: float) -> Measured | Failure:
        """Time a loaded candidate, end it, then verify what its timed calls left behind."""
        measured = self._measure(worker, rule, call_seconds)
        worker.kill()
        if isinstance(measured, Failure):
            return measured
        return self._verify_timed() or measured

    def _require(self, result: _Kept | Failure) -> _Kept:
        if not isinstance(result, Failure):
            return result
        what = {
            Outcome.NONDETERMINISTIC: "serial.cpp differs from run to run",
            Outcome.WRONG_ANSWER: "serial.cpp fails its own check (tolerance, or reference.cpp?)",
        }.get(result.outcome, "serial.cpp fails")
        raise BadInput(f"problem {self.problem.name}: {what}: {result.diagnosis}")

    def _measure(self, worker: Worker, rule: StopRule, call_seconds: float) -> Measured | Failure:
        """Outputs of the timed calls stay in the arena."""
        for place in self._places():
            self._arena.set_canaries(place)
        for slot in self._slots:
            self._arena.fill(slot, POISONS[0] if self._rules.defences.poison else 0)
        failure = worker.upload(self._places())
        if failure:
            return failure
        inout = any(arg.role == "inout" for arg in self.problem.outputs)
        self._bench = Bench(self._timed, self._rng, inout)
        measured = measure(
            worker, self._bench, rule, call_seconds, self._rules.defences.clock_check
        )
        if isinstance(measured, Failure):
            return measured
        return worker.download(self._places()) or measured

    def _verify_timed(self) -> Failure | None:
        """After the worker's death: inputs unchanged, gaps whole, secret outputs of timed calls right."""
        where = f"timed calls at shape {shape_text(self.problem.sizes.time)}"
        failure = self._damage(where)
        if failure or not self._rules.defences.timed_verify:
            return failure
        for index, call in self._bench.witnesses(_WITNESSES):
            truths = self._references.truths(self._case(index))
            for name, truth in truths.items():
                output = self._arena.view(call.places[name])
                nan_fails = self._rules.defences.nan_compare
                text = mismatch(name, output, truth, POISONS[0], nan_fails)
                if text:
                    return Failure(Outcome.WRONG_ANSWER, f"{where}: {text}")
        return None

    def _damage(self, where: str) -> Failure | None:
        changed = self._fill_inputs()
        if changed and self._rules.defences.input_compare:
            return Failure(Outcome.MUTATED_INPUT, f"{where}: changed input {changed}")
        for place in self._places():
            damage = self._arena.damage(place)
            self._arena.set_canaries(place)
            if damage and self._rules.defences.guards:
                return Failure(Outcome.CRASHED, f"{where}: {damage}")
        return None

    def _fill_inputs(self) -> str | None:
        """Restore what differs from the inputs of the timing shape; name of the first found."""
        changed = None
        for made, places in zip(self._made, self._inputs, strict=True):
            for name, array in made.items():
                view = self._arena.view(places[name])
                if not np.array_equal(view.view(np.uint8), array.view(np.uint8)):
                    view[...] = array
                    changed = changed or name
        return changed

    def _case(self, index: int) -> Case:
        """Inputs number `index` of the timing shape."""
        return Case(self.problem.sizes.time, 0, self._rules.seed + 100 + index)

    def _places(self) -> list[Place]:
        """Every array of the timed calls."""
        return [*self._slots, *(place for places in self._inputs for place in places.values())]


def _timed_calls(
    layout: Layout, defences: Defences
) -> tuple[list[dict[str, Place]], list[Place], list[list[Call]]]:
    """Inputs of the timing shape, output slots, and the call of each input with each slot."""
    problem, sizes = layout.problem, layout.problem.sizes.time
    inputs, slots = _counts(problem, defences)
    pool = [{arg.name: layout.place(arg, sizes) for arg in problem.inputs} for _ in range(inputs)]
    ring = [{arg.name: layout.place(arg, sizes) for arg in problem.outputs} for _ in range(slots)]
    inout = {arg.name for arg in problem.inputs} & {arg.name for arg in problem.outputs}
    calls = [
        [layout.call(sizes, given | slot, {name: given[name] for name in inout}) for slot in ring]
        for given in pool
    ]
    return pool, [place for slot in ring for place in slot.values()], calls


def _counts(problem: Problem, defences: Defences) -> tuple[int, int]:
    if not defences.fresh_inputs:
        return 1, 1
    nbytes = sum(
        np.dtype(arg.type).itemsize * np.prod(arg.dimensions(problem.sizes.time), dtype=np.int64)
        for arg in problem.arrays
    )
    return (_LARGE_INPUTS, _LARGE_SLOTS) if nbytes > _LARGE_BYTES else (_INPUTS, _SLOTS)
