"""Runs a candidate on every case: right, the same each time, nothing else touched.

A case is run at least twice on the same inputs with outputs poisoned differently, so that an
element never written differs from the truth or from itself. Everything is written before a call and
copied after it while the worker stands still, the outputs first of all. Outputs that differ from
run to run: integers must not; floats may by less than the tolerance, which is flagged.

Not covered here: timed calls (examiner.py); which cases (cases.py); how an output is compared and
explained (outputs.py).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regraph_kg.evaluation.problem.declaration import shape_text
from regraph_kg.evaluation.problem.inputs import describe
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rows import settled
from regraph_kg.evaluation.problem.types import Array, bits, is_rounded, wide
from regraph_kg.evaluation.rules import Defences, Failure, placed
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, fault
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.worker.shared_memory import POISON, Call, SharedMemory
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

POISONS = (POISON, 0x5A)  # NaN or -1; and a finite number
_REPEATS = 5
_AFTER_LAST = 1  # cases after those that are repeated (cases.py): the one changed in place
_SUSPECT_RUNS = 3  # runs of a case once one was wrong: the third starts as the first did
_LATE_SECONDS = 0.2


@dataclass(slots=True)
class CallTimes:
    """Seconds that one call may take, and all together."""

    call: float
    all: float
    spent: float = 0.0

    def spend(self, worker: Worker, rows: Sequence[int]) -> None:
        """Call prepared rows."""
        start, left = time.perf_counter(), max(0.0, self.all - self.spent)
        try:
            worker.call(rows, min(self.call, left))
        except Failure as failure:
            if failure.outcome is Outcome.TIMED_OUT and left < self.call:
                took = f"this call and those before it took {self.all:.3g} s"
                failure.diagnosis = f"{took}, more than all may: killed"
            raise
        finally:
            self.spent += time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Verification:
    """State of a verification besides the worker under test. Methods raise `Failure`."""

    problem: Problem
    shared: SharedMemory
    calls: Mapping[tuple[str, bool], Sequence[Call]]
    """Calls, one or more, by shape text and whether arrays are aligned to more than elements."""
    references: References
    defences: Defences
    times: CallTimes
    share: float = 1.0  # share of each tolerance that outputs may use up

    def examine(self, worker: Worker, cases: list[Case]) -> bool:
        """Run every case: whether right outputs differ from run to run."""
        outputs: dict[tuple[object, ...], Mapping[str, Array]] = {}
        differs = False
        for index, case in enumerate(cases):
            if case.version and not self.defences.small_changes:
                continue
            is_last = index == len(cases) - _AFTER_LAST - 1
            often = _REPEATS if is_last else len(POISONS)
            runs = often if self.defences.repeats else 1
            outputs[case.key], more = self._check_case(worker, case, runs)
            differs |= more
        if self.defences.sensitivity:
            self._require_sensitive(cases, outputs)
        return differs

    def each(self, worker: Worker, cases: Sequence[Case], runs: Callable[[Case], int]) -> None:
        """Run every case `runs` times."""
        for case in cases:
            self._check_case(worker, case, runs(case))

    def together(self, worker: Worker, case: Case, poison: int, count: int) -> None:
        """Run a case so often, if it has as many calls, without a stop between them."""
        inputs = self.references.given(case)
        calls = self.calls[shape_text(case.sizes), case.aligned][:count]
        with placed(self._place(case)):
            for call in calls:
                self._prepare(call, inputs, poison)
            self.times.spend(worker, [call.row for call in calls])
            for call in calls:
                outputs = self._outputs(call, inputs)
                if wrong := self._wrong(outputs, self.references.truths(case), poison):
                    raise Failure(Outcome.NONDETERMINISTIC, wrong)

    def repeat(self, worker: Worker, case: Case, runs: int = 2) -> None:
        """Run one case again from the same state: for the serial code every bit must agree."""
        inputs = self.references.given(case)
        with placed(self._place(case)):
            past = [self._run(worker, case, inputs, POISON) for _ in range(runs)]
            if _differ(past):
                raise Failure(Outcome.NONDETERMINISTIC, "two runs on the same input differ")

    def _place(self, case: Case) -> str:
        variant = describe(self.problem, case.variant)
        if case.version:
            variant += ", a few elements changed in place after a call"
        if case.alteration:
            variant += f", altered: {case.alteration}"
        if not case.aligned:
            variant += ", arrays aligned to their elements only"
        return f"at shape {shape_text(case.sizes)} ({variant})"

    def _check_case(self, worker: Worker, case: Case, runs: int) -> tuple[dict[str, Array], bool]:
        """Outputs of the first run of a case that is right, and whether those of others differ."""
        truths, inputs = self.references.truths(case), self.references.given(case)
        past: list[dict[str, Array]] = []
        wrongs: list[str | None] = []
        with placed(self._place(case)):
            while len(past) < runs or (runs > 1 and any(wrongs) and len(past) < _SUSPECT_RUNS):
                poison = POISONS[len(past) % 2]
                outputs = self._run(worker, case, inputs, poison)
                is_same = bool(past) and not wrongs[0] and not _differ([past[0], outputs])
                wrongs.append(None if is_same else self._wrong(outputs, truths, poison))
                past.append(outputs)
            _require_right(past, wrongs)
            differs = self.defences.comparison and _differ(past)
            if differs and (unsteady := _unsteady(past, truths)):
                raise Failure(Outcome.NONDETERMINISTIC, unsteady)
        return past[0], differs

    def _prepare(self, call: Call, inputs: Mapping[str, Array], poison: int) -> None:
        for arg in self.problem.arrays:
            place = call.places[arg.name]
            self.shared.set_canaries(place, pattern=poison != POISONS[0])
            if arg.name in inputs:
                self.shared.view(place)[...] = inputs[arg.name]
            elif self.defences.poison:
                self.shared.fill(place, poison)

    def _run(
        self, worker: Worker, case: Case, inputs: Mapping[str, Array], poison: int
    ) -> dict[str, Array]:
        call = self.calls[shape_text(case.sizes), case.aligned][0]
        self._prepare(call, inputs, poison)
        places = list(call.places.values())
        worker.upload(places)
        self.times.spend(worker, [call.row])
        worker.download(places)
        if not self.defences.freeze:
            time.sleep(_LATE_SECONDS)
        return self._outputs(call, inputs)

    def _outputs(self, call: Call, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs of a call that is over, unless something else was touched."""
        outputs = {
            arg.name: self.shared.view(call.places[arg.name]).copy() for arg in self.problem.outputs
        }
        for arg in self.problem.arrays:
            place = call.places[arg.name]
            damage = self.shared.damage(place) if self.defences.guards else None
            if damage:
                raise Failure(Outcome.CRASHED, damage)
            compared = arg.role == "in" and self.defences.input_compare
            if compared and not self.shared.holds(place, inputs[arg.name]):
                raise Failure(Outcome.MUTATED_INPUT, f"changed input {arg.name}")
        return settled(self.problem, outputs)

    def _wrong(
        self, outputs: Mapping[str, Array], truths: Mapping[str, ExpectedOutput], poison: int
    ) -> str | None:
        if not self.defences.comparison:
            return None
        allowed = {name: truth.within(self.share) for name, truth in truths.items()}
        return fault(self.problem, outputs, allowed, poison, self.defences.nan_compare)

    def _require_sensitive(
        self, cases: list[Case], outputs: Mapping[tuple[object, ...], Mapping[str, Array]]
    ) -> None:
        """Another input must not give the same output where the truths differ."""
        first, second = cases[-_AFTER_LAST - 2 : -_AFTER_LAST]
        for arg in self.problem.results:
            if not _equal_bits(outputs[first.key][arg.name], outputs[second.key][arg.name]):
                continue
            truths = [self.references.truths(case)[arg.name] for case in (first, second)]
            if any(truth.at is not None for truth in truths):
                continue  # known at other places of each
            truth, another = (truth.values for truth in truths)
            if not np.allclose(truth, another, rtol=1e-5, atol=0, equal_nan=True):
                text = f"{arg.name} does not depend on the input"
                raise Failure(Outcome.WRONG_ANSWER, f"at shape {shape_text(first.sizes)}: {text}")


def _unsteady(runs: list[dict[str, Array]], truths: Mapping[str, ExpectedOutput]) -> str | None:
    """The output that differs too much between runs that are all right."""
    for name, first in runs[0].items():
        truth = truths[name]
        for later in (outputs[name] for outputs in runs[1:]):
            if _equal_bits(first, later):
                continue
            if not is_rounded(first):
                return f"{name}: integers differ between runs on the same input (a data race?)"
            off = np.abs(wide(truth.of(first)) - truth.of(later))
            if np.any(off > truth.tolerance):
                return f"{name}: runs on the same input differ by more than the tolerance"
    return None


def _require_right(runs: list[dict[str, Array]], wrongs: list[str | None]) -> None:
    """Runs alternate between two poisons: runs 0, 2, 4 differ only where chance has a hand."""
    message = next(filter(None, wrongs), None)
    if not message:
        return
    if _differ(runs[0::2]) or _differ(runs[1::2]):
        told = f"runs on the same input differ (a data race?); one of them: {message}"
        raise Failure(Outcome.NONDETERMINISTIC, told)
    if _differ(runs) and "never written" not in message:
        message += (
            "; it depends on what the output, or memory beside an array, held before: initialise it"
            " (if it is initialised, look for a data race)"
        )
    raise Failure(Outcome.WRONG_ANSWER, message)


def _equal_bits(first: Array, second: Array) -> bool:
    return np.array_equal(bits(first), bits(second))


def _differ(runs: list[dict[str, Array]]) -> bool:
    return any(
        not _equal_bits(array, later[name]) for later in runs[1:] for name, array in runs[0].items()
    )
