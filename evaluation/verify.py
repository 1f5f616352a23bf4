"""Which calls a candidate must get right, and what is said when it does not.

A case is run at least twice on the same inputs with outputs poisoned differently, so that an
element never written differs from the truth or from itself; the largest check shape is run five
times. After each call the worker is stopped before its outputs, inputs and the gaps around the
arrays are looked at. The comparison is !(|d| <= tolerance): NaN fails unless the truth has it.

Not covered here: timed calls, which timing.py checks afterwards; covering arrays of all
combinations (each distribution and each shape occurs, not each pair).
"""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.evaluation.arena import POISON, Arena, Call
from regraph_kg.evaluation.inputs import describe, generate, variants
from regraph_kg.evaluation.problem import Problem, Sizes, shape_text
from regraph_kg.evaluation.reference import Case, References, Truth
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.evaluation.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

Array = NDArray[Any]

POISONS = (POISON, 0x5A)
"""NaN or -1; and a finite number."""
_REPEATS = 5
_SUSPECT_RUNS = 3
"""Runs of a case once one was wrong: the third starts from the same state as the first."""
_LATE_SECONDS = 0.05
_SAME = 1e-3


def check_shapes(problem: Problem, seed: int, defences: Defences) -> list[Sizes]:
    """Declared check shapes in order, then the secret one."""
    declared: list[Sizes] = list(problem.sizes.check)
    if not defences.shapes:
        return declared[-1:]
    if not problem.held_out:
        return declared
    rng = random.Random(seed)
    secret = {
        name: rng.randint(min(s[name] for s in declared), max(s[name] for s in declared))
        for name in problem.sizes.time
    }
    return declared if secret in declared else [*declared, secret]


def plan(problem: Problem, shapes: list[Sizes], seed: int, full: bool) -> list[Case]:
    """Cases, cheap first: every shape and every distribution once, thrice for the full grade.

    The largest shape comes last, with two variants: five repeats and the sensitivity check use it.
    """
    largest = max(range(len(shapes)), key=lambda i: _elements(problem, shapes[i]))
    rounds = max(len(shapes), variants(problem))
    cases = [
        Case(shapes[index % len(shapes)], index + shift, seed + shift)
        for shift in range(3 if full else 1)
        for index in range(rounds)
    ]
    return [*cases, *(Case(shapes[largest], variant, seed + 7) for variant in (1, 0))]


@dataclass(frozen=True, slots=True)
class Verification:
    """Everything a verification needs besides the worker under test."""

    problem: Problem
    arena: Arena
    calls: Mapping[str, Call]
    """By shape text."""
    references: References
    defences: Defences
    call_seconds: float

    def check(self, worker: Worker, cases: list[Case]) -> Failure | None:
        """Run every case; the first failure ends it."""
        outputs: dict[tuple[object, ...], dict[str, Array]] = {}
        for index, case in enumerate(cases):
            runs = self._runs(last=index == len(cases) - 1)
            result = self._check_case(worker, case, runs)
            if isinstance(result, Failure):
                return result
            outputs[case.key] = result
        return self._insensitive(cases, outputs) if self.defences.sensitivity else None

    def repeat(self, worker: Worker, case: Case) -> Failure | None:
        """Run one case twice from the same state: for the serial code every bit must agree."""
        made, where = self._given(case)
        seen = []
        for _ in range(2):
            self._prepare(self.calls[shape_text(case.sizes)], made, POISON)
            outputs = self._run(worker, self.calls[shape_text(case.sizes)], made, where)
            if isinstance(outputs, Failure):
                return outputs
            seen.append(outputs)
        if _differ(seen):
            return Failure(Outcome.NONDETERMINISTIC, f"{where}: two runs on the same input differ")
        return None

    def _given(self, case: Case) -> tuple[dict[str, Array], str]:
        """Inputs of a case, and how to speak of it."""
        made = generate(self.problem, case.sizes, case.variant, case.seed)
        variant = describe(self.problem, case.variant)
        return made, f"at shape {shape_text(case.sizes)} ({variant})"

    def _runs(self, last: bool) -> int:
        if not self.defences.repeats:
            return 1
        return _REPEATS if last else len(POISONS)

    def _check_case(self, worker: Worker, case: Case, runs: int) -> dict[str, Array] | Failure:
        call = self.calls[shape_text(case.sizes)]
        made, where = self._given(case)
        seen: list[dict[str, Array]] = []
        wrongs: list[str | None] = []
        while len(seen) < runs or (runs > 1 and any(wrongs) and len(seen) < _SUSPECT_RUNS):
            poison = POISONS[len(seen) % 2]
            self._prepare(call, made, poison)
            outputs = self._run(worker, call, made, where)
            if isinstance(outputs, Failure):
                return outputs
            seen.append(outputs)
            wrongs.append(self._wrong(outputs, self.references.truths(case), poison))
        return _verdict(seen, wrongs, where) or seen[0]

    def _prepare(self, call: Call, made: Mapping[str, Array], poison: int) -> None:
        for arg in self.problem.arrays:
            place = call.places[arg.name]
            self.arena.set_canaries(place)
            if arg.name in made:
                self.arena.view(place)[...] = made[arg.name]
            elif self.defences.poison:
                self.arena.fill(place, poison)

    def _run(
        self, worker: Worker, call: Call, made: Mapping[str, Array], where: str
    ) -> dict[str, Array] | Failure:
        places = list(call.places.values())
        failure = worker.upload(places)
        done = failure or worker.call([call.row], self.call_seconds)
        if isinstance(done, Failure):
            return Failure(done.outcome, f"{where}: {done.diagnosis}")
        failure = worker.download(places)
        if failure:
            return Failure(failure.outcome, f"{where}: {failure.diagnosis}")
        if not self.defences.freeze:
            time.sleep(_LATE_SECONDS)
        worker.stop()
        try:
            return self._damage(call, made, where) or {
                arg.name: self.arena.view(call.places[arg.name]).copy()
                for arg in self.problem.outputs
            }
        finally:
            worker.resume()

    def _damage(self, call: Call, made: Mapping[str, Array], where: str) -> Failure | None:
        for arg in self.problem.arrays:
            place = call.places[arg.name]
            damage = self.arena.damage(place) if self.defences.guards else None
            if damage:
                return Failure(Outcome.CRASHED, f"{where}: {damage}")
            compared = arg.role == "in" and self.defences.input_compare
            if compared and not self.arena.holds(place, made[arg.name]):
                return Failure(Outcome.MUTATED_INPUT, f"{where}: changed input {arg.name}")
        return None

    def _wrong(
        self, outputs: Mapping[str, Array], truths: Mapping[str, Truth], poison: int
    ) -> str | None:
        if not self.defences.comparison:
            return None
        for name, truth in truths.items():
            text = mismatch(name, outputs[name], truth, poison, self.defences.nan_compare)
            if text:
                return text
        return None

    def _insensitive(
        self, cases: list[Case], outputs: Mapping[tuple[object, ...], Mapping[str, Array]]
    ) -> Failure | None:
        """Another input must give another output where the truths differ."""
        one, other = cases[-2:]
        for arg in self.problem.outputs:
            truth, another = (self.references.truths(c)[arg.name].values for c in (one, other))
            same = _equal_bits(outputs[one.key][arg.name], outputs[other.key][arg.name])
            if same and not np.allclose(truth, another, rtol=1e-5, atol=0, equal_nan=True):
                return Failure(
                    Outcome.WRONG_ANSWER,
                    f"at shape {shape_text(one.sizes)}: {arg.name} does not depend on the input",
                )
        return None


def mismatch(
    name: str, output: Array, truth: Truth, poison: int, nan_fails: bool = True
) -> str | None:
    """None where the output is right; else where and how it is wrong, for a repair prompt."""
    expected = truth.values
    if output.dtype.kind == "f":
        bad = _float_mismatch(output, expected, truth.tolerance, nan_fails)
    elif isinstance(truth.tolerance, float) and truth.tolerance > 0:
        bad = np.abs(output.astype(np.float64) - expected.astype(np.float64)) > truth.tolerance
    else:
        bad = output != expected
    count = int(np.count_nonzero(bad))
    if not count:
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
    allowed = float(np.broadcast_to(truth.tolerance, bad.shape)[index])
    at = ", ".join(map(str, index))
    return (
        f"{name}[{at}] is {output[index]:.9g}, expected {expected[index]:.9g}"
        f" (tolerance {allowed:.3g}); {count} of {bad.size} elements are wrong"
        f"{_pattern(output, expected, bad, poison)}"
    )


def _float_mismatch(
    output: Array, expected: Array, tolerance: Array | float, nan_fails: bool
) -> Array:
    wide = output.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(wide - expected)
        bad: Array = ~(difference <= tolerance) if nan_fails else difference > tolerance
    special = ~np.isfinite(expected)
    same = (np.isnan(wide) & np.isnan(expected)) | (wide == expected)
    return np.where(special, ~same, bad)


def _pattern(output: Array, expected: Array, bad: Array, poison: int) -> str:
    """What the wrong elements have in common, in words."""
    wrong = output[bad]
    unwritten = np.frombuffer(bytes([poison]) * output.dtype.itemsize, output.dtype)
    if _equal_bits(wrong, np.broadcast_to(unwritten, wrong.shape)):
        return "; they were never written"
    if np.isnan(wrong).all():
        return "; they are NaN"
    if wrong.size > 1 and np.unique(wrong).size == 1:
        return f"; all are {wrong.flat[0]:.9g}"
    return _factor(wrong, expected[bad]) or _tail(bad)


def _factor(wrong: Array, right: Array) -> str:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = wrong.astype(np.float64) / right.astype(np.float64)
    if ratio.size > 1 and np.isfinite(ratio).all() and np.ptp(ratio) <= _SAME * abs(ratio[0]):
        return f"; all by the factor {ratio[0]:.4g}"
    return ""


def _tail(bad: Array) -> str:
    flat = np.flatnonzero(bad)
    if flat[0] > 0 and flat.size == bad.size - flat[0]:
        return f"; everything from flat index {flat[0]} on (remainder of a block?)"
    return ""


def _verdict(seen: list[dict[str, Array]], wrongs: list[str | None], where: str) -> Failure | None:
    """Runs alternate between two poisons: runs 0, 2, 4 differ only where chance has a hand."""
    first = next((text for text in wrongs if text), None)
    if not first:
        return None
    if _differ(seen[0::2]) or _differ(seen[1::2]):
        return Failure(
            Outcome.NONDETERMINISTIC,
            f"{where}: runs on the same input differ (a data race?); one of them: {first}",
        )
    if _differ(seen) and "never written" not in first:
        first += "; it depends on what the output held before: initialise it"
    return Failure(Outcome.WRONG_ANSWER, f"{where}: {first}")


def _equal_bits(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes()


def _differ(seen: list[dict[str, Array]]) -> bool:
    return any(
        not _equal_bits(array, later[name]) for later in seen[1:] for name, array in seen[0].items()
    )


def _elements(problem: Problem, sizes: Sizes) -> int:
    return sum(int(np.prod(arg.dimensions(sizes))) for arg in problem.arrays)
