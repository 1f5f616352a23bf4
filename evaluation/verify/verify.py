"""Runs a candidate on every case: right, the same each time, nothing else touched.

A case is run at least twice on the same inputs with outputs poisoned differently, so that an
element never written differs from the truth or from itself; the largest check shape is run five
times, and once more with a few elements changed in place. Everything is written before a call and
copied after it while the worker stands still, the outputs first of all. Outputs that differ from
run to run: integers must not; floats may by less than the tolerance, which is flagged.

Not covered here: timed calls, which slot.py checks afterwards; which cases (cases.py); how an
output is compared and explained (outputs.py).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regraph_kg.evaluation.problem.inputs import describe
from regraph_kg.evaluation.problem.problem import Array, Problem, shape_text
from regraph_kg.evaluation.problem.rows import settled
from regraph_kg.evaluation.problem.types import bits, is_rounded, wide
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.evaluation.verify.outputs import ExpectedOutput, fault
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.worker.handshake import Elapsed
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

    def of(self, worker: Worker, rows: Sequence[int]) -> Elapsed | Failure:
        """Call prepared rows."""
        start, left = time.perf_counter(), max(0.0, self.all - self.spent)
        elapsed = worker.call(rows, min(self.call, left))
        self.spent += time.perf_counter() - start
        late = isinstance(elapsed, Failure) and elapsed.outcome is Outcome.TIMED_OUT
        if late and left < self.call:
            text = f"this call and those before it took {self.all:.3g} s, more than all may: killed"
            return Failure(Outcome.TIMED_OUT, text)
        return elapsed


@dataclass(frozen=True, slots=True)
class Verification:
    """State of a verification besides the worker under test."""

    problem: Problem
    shared: SharedMemory
    calls: Mapping[tuple[str, bool], Sequence[Call]]
    """Calls, one or more, by shape text and whether arrays are aligned to more than elements."""
    references: References
    defences: Defences
    times: CallTimes
    share: float = 1.0  # share of each tolerance that outputs may use up

    def examine(self, worker: Worker, cases: list[Case]) -> Failure | bool:
        """Run every case: the first failure, else whether right outputs differ from run to run."""
        outputs: dict[tuple[object, ...], Mapping[str, Array]] = {}
        differs = False
        for index, case in enumerate(cases):
            if case.version and not self.defences.small_changes:
                continue
            is_last = index == len(cases) - _AFTER_LAST - 1
            runs = _REPEATS if is_last else len(POISONS)
            result = self._check_case(worker, case, runs if self.defences.repeats else 1)
            if isinstance(result, Failure):
                return result
            outputs[case.key], more = result
            differs |= more
        failure = self._insensitive(cases, outputs) if self.defences.sensitivity else None
        return failure or differs

    def each(
        self, worker: Worker, cases: Sequence[Case], runs: Callable[[Case], int]
    ) -> Failure | None:
        """Run every case `runs` times; the first failure ends it."""
        for case in cases:
            result = self._check_case(worker, case, runs(case))
            if isinstance(result, Failure):
                return result
        return None

    def together(self, worker: Worker, case: Case, poison: int, count: int) -> Failure | None:
        """Run a case so often, if it has as many calls, without a stop between them."""
        inputs, where = self._given(case)
        calls = self.calls[shape_text(case.sizes), case.aligned][:count]
        for call in calls:
            self._prepare(call, inputs, poison)
        elapsed = self.times.of(worker, [call.row for call in calls])
        if isinstance(elapsed, Failure):
            return Failure(elapsed.outcome, f"{where}: {elapsed.diagnosis}")
        for call in calls:
            outputs = self._outputs(call, inputs, where)
            if isinstance(outputs, Failure):
                return outputs
            wrong = self._wrong(outputs, self.references.truths(case), poison)
            if wrong:
                return Failure(Outcome.NONDETERMINISTIC, f"{where}: {wrong}")
        return None

    def repeat(self, worker: Worker, case: Case, runs: int = 2) -> Failure | None:
        """Run one case again from the same state: for the serial code every bit must agree."""
        inputs, where = self._given(case)
        past = []
        for _ in range(runs):
            self._prepare(self._call(case), inputs, POISON)
            outputs = self._run(worker, self._call(case), inputs, where)
            if isinstance(outputs, Failure):
                return outputs
            past.append(outputs)
        if _differ(past):
            return Failure(Outcome.NONDETERMINISTIC, f"{where}: two runs on the same input differ")
        return None

    def _given(self, case: Case) -> tuple[Mapping[str, Array], str]:
        """Inputs of a case, and its description."""
        variant = describe(self.problem, case.variant)
        if case.version:
            variant += ", a few elements changed in place after a call"
        if case.alteration:
            variant += f", altered: {case.alteration}"
        if not case.aligned:
            variant += ", arrays aligned to their elements only"
        return self.references.given(case), f"at shape {shape_text(case.sizes)} ({variant})"

    def _call(self, case: Case) -> Call:
        return self.calls[shape_text(case.sizes), case.aligned][0]

    def _check_case(
        self, worker: Worker, case: Case, runs: int
    ) -> Failure | tuple[dict[str, Array], bool]:
        """Outputs of the first run of a case that is right, and whether those of others differ."""
        call, truths = self._call(case), self.references.truths(case)
        inputs, where = self._given(case)
        past: list[dict[str, Array]] = []
        wrongs: list[str | None] = []
        while len(past) < runs or (runs > 1 and any(wrongs) and len(past) < _SUSPECT_RUNS):
            poison = POISONS[len(past) % 2]
            self._prepare(call, inputs, poison)
            outputs = self._run(worker, call, inputs, where)
            if isinstance(outputs, Failure):
                return outputs
            is_same = bool(past) and not wrongs[0] and not _differ([past[0], outputs])
            wrongs.append(None if is_same else self._wrong(outputs, truths, poison))
            past.append(outputs)
        failure = _verdict(past, wrongs, where)
        if failure or not (self.defences.comparison and _differ(past)):
            return failure or (past[0], False)
        unsteady = _unsteady(past, truths)
        if unsteady:
            return Failure(Outcome.NONDETERMINISTIC, f"{where}: {unsteady}")
        return past[0], True

    def _prepare(self, call: Call, inputs: Mapping[str, Array], poison: int) -> None:
        for arg in self.problem.arrays:
            place = call.places[arg.name]
            self.shared.set_canaries(place, pattern=poison != POISONS[0])
            if arg.name in inputs:
                self.shared.view(place)[...] = inputs[arg.name]
            elif self.defences.poison:
                self.shared.fill(place, poison)

    def _run(
        self, worker: Worker, call: Call, inputs: Mapping[str, Array], where: str
    ) -> dict[str, Array] | Failure:
        places = list(call.places.values())
        failure = worker.upload(places)
        elapsed = failure or self.times.of(worker, [call.row])
        if isinstance(elapsed, Failure):
            return Failure(elapsed.outcome, f"{where}: {elapsed.diagnosis}")
        failure = worker.download(places)
        if failure:
            return Failure(failure.outcome, f"{where}: {failure.diagnosis}")
        if not self.defences.freeze:
            time.sleep(_LATE_SECONDS)
        return self._outputs(call, inputs, where)

    def _outputs(
        self, call: Call, inputs: Mapping[str, Array], where: str
    ) -> dict[str, Array] | Failure:
        """Outputs of a call that is over, unless something else was touched."""
        outputs = {
            arg.name: self.shared.view(call.places[arg.name]).copy() for arg in self.problem.outputs
        }
        for arg in self.problem.arrays:
            place = call.places[arg.name]
            damage = self.shared.damage(place) if self.defences.guards else None
            if damage:
                return Failure(Outcome.CRASHED, f"{where}: {damage}")
            compared = arg.role == "in" and self.defences.input_compare
            if compared and not self.shared.holds(place, inputs[arg.name]):
                return Failure(Outcome.MUTATED_INPUT, f"{where}: changed input {arg.name}")
        return settled(self.problem, outputs)

    def _wrong(
        self, outputs: Mapping[str, Array], truths: Mapping[str, ExpectedOutput], poison: int
    ) -> str | None:
        if not self.defences.comparison:
            return None
        allowed = {name: truth.within(self.share) for name, truth in truths.items()}
        return fault(self.problem, outputs, allowed, poison, self.defences.nan_compare)

    def _insensitive(
        self, cases: list[Case], outputs: Mapping[tuple[object, ...], Mapping[str, Array]]
    ) -> Failure | None:
        """Failure where another input gives the same output although the truths differ."""
        first, second = cases[-_AFTER_LAST - 2 : -_AFTER_LAST]
        for arg in self.problem.results:
            if not _equal_bits(outputs[first.key][arg.name], outputs[second.key][arg.name]):
                continue
            truths = [self.references.truths(case)[arg.name] for case in (first, second)]
            if any(truth.at is not None for truth in truths):
                continue  # known at other places of each
            truth, another = (truth.values for truth in truths)
            if not np.allclose(truth, another, rtol=1e-5, atol=0, equal_nan=True):
                return Failure(
                    Outcome.WRONG_ANSWER,
                    f"at shape {shape_text(first.sizes)}: {arg.name} does not depend on the input",
                )
        return None


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


def _verdict(runs: list[dict[str, Array]], wrongs: list[str | None], where: str) -> Failure | None:
    """Runs alternate between two poisons: runs 0, 2, 4 differ only where chance has a hand."""
    message = next((text for text in wrongs if text), None)
    if not message:
        return None
    if _differ(runs[0::2]) or _differ(runs[1::2]):
        told = f"{where}: runs on the same input differ (a data race?); one of them: {message}"
        return Failure(Outcome.NONDETERMINISTIC, told)
    if _differ(runs) and "never written" not in message:
        message += (
            "; it depends on what the output, or memory beside an array, held before: initialise it"
            " (if it is initialised, look for a data race)"
        )
    return Failure(Outcome.WRONG_ANSWER, f"{where}: {message}")


def _equal_bits(first: Array, second: Array) -> bool:
    return np.array_equal(bits(first), bits(second))


def _differ(runs: list[dict[str, Array]]) -> bool:
    return any(
        not _equal_bits(array, later[name]) for later in runs[1:] for name, array in runs[0].items()
    )
