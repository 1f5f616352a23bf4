"""Checks beyond the cases of every verification, for candidates that have passed all others.

    shapes       secret ones up to the timing shape, and one close to that (secret_shapes.py)
    values       drawn inputs altered as a whole: scaled, all equal, sorted, .. (alterations.py)
    timed shape  each distribution that timed calls do not have, once, where a truth costs little
    threads      teams of several sizes; held-up ones are another matter (races.py)

They come after the timing, each in a worker of its own. The serial code is asked first: a case that
it does not stand is dropped, as the function was not made for it. So is an altered one of which the
serial code uses more than a quarter of the tolerance: other right code may round more (a product of
sorted matrices, whose sums cancel, does). Truths stay for the next one.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import get_args

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.inputs import factors, variant_of
from regraph_kg.evaluation.problem.problem import AbsoluteRule, Problem, Sizes
from regraph_kg.evaluation.problem.types import Alteration, bits
from regraph_kg.evaluation.races import with_threads
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.slots import SessionRules
from regraph_kg.evaluation.staffed import Staffing
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.secret_shapes import nearly
from regraph_kg.evaluation.verify.verify import POISONS, Verification
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Grade, Outcome

_TRUTH_SECONDS = 4.0  # what the truth of a large case may take
_TRUTHS_SECONDS: Mapping[Grade, float] = {"glance": 0.0, "screening": 0.7, "full": 3.0}
"""What new truths may take of one candidate: of small cases, and of large ones."""
_NEAR_TIMED = 2  # distributions at the shape that is close to the timing shape
_TIMED_BYTES, _ALTERED_BYTES = 160 * 2**20, 8 * 2**20
"""Arrays at most: of cases at the timing shape; of near ones that come with every alteration."""
_SCREENED, _ALONE = 2, 1  # large cases that the screening runs; that one thread runs
_STOOD_SHARE = 1 / 4
"""Share of an altered case's tolerance that the serial code may use up: usual ones take a tenth."""
_SMALL_ELEMENTS = 2**16  # of a case whose values are altered
_FIRST_SEED = 1000
_TEAMS = (3, 5, 6, 7, 9, 10, 12)  # one of them is tried throughout a session


class FurtherChecks:
    """Further cases of one problem, and runs on them. `seed` of the rules is secret."""

    def __init__(
        self, problem: Problem, shapes: Sequence[Sizes], references: References, rules: SessionRules
    ) -> None:
        self._problem, self._references, self._rules = problem, references, rules
        self.staffing = Staffing(problem, references, rules)
        self._shapes = shapes
        self.team = random.Random(rules.seed).choice(_TEAMS)
        self._stood: dict[bool, list[Case]] = {False: [], True: []}
        """Cases that the serial code stands: small ones (False), large ones."""
        self._near: Sizes | None = None  # the shape close to the timing shape, once it is planned
        self._waiting: list[Case] | None = None  # cases that it was not asked about

    @property
    def stood(self) -> list[Case]:
        """Cases that the serial code stands, so far."""
        return [case for lot in self._stood.values() for case in lot]

    def fault(
        self, serial: Program, program: Program, threads: int, call_seconds: float, grade: Grade
    ) -> Failure | None:
        """The first case that a candidate gets wrong.

        On a CPU all are run by some secret number of threads, the first large one by one, too.
        Another number of threads than usual may well take too long.
        """
        small, large = (self._lot(serial, is_large, grade) for is_large in (False, True))
        rounds = [(threads, [*small, *large])]
        if not program.cuda:
            rounds = [(threads, small), (self.team, [*small, *large]), (1, large[:_ALONE])]
        for team, cases in ((team, cases) for team, cases in rounds if cases):
            with self.staffing.staffed(program, cases, team, self._rules.surroundings) as (
                worker,
                check,
            ):
                check.times.call = call_seconds
                failure = worker.start or check.each(worker, cases, self._runs)
            if failure and team == threads:
                return failure
            if failure and failure.outcome is not Outcome.TIMED_OUT:
                text = f"{with_threads(team)}: {failure.diagnosis}"
                return replace(failure, diagnosis=text)
        return None

    def _elements(self, case: Case) -> int:
        return self._problem.elements(case.sizes)

    def _is_small(self, case: Case) -> bool:
        return self._elements(case) <= _SMALL_ELEMENTS

    def _lot(self, serial: Program, large: bool, grade: Grade) -> list[Case]:
        """Small cases, or large ones, that the serial code stands: more each time, as time allows.

        The screening has few large ones.
        """
        if self._waiting is None:
            self._waiting = self._planned()
        stood, end = self._stood[large], time.monotonic() + _TRUTHS_SECONDS[grade]
        waiting = [case for case in self._waiting if self._is_large(case) == large]
        most = _SCREENED if large and grade == "screening" else len(stood) + len(waiting)

        def has_more() -> bool:
            return bool(waiting) and len(stood) < most and time.monotonic() < end

        while has_more():
            with self.staffing.staffed(serial, waiting, 1) as (worker, verification):
                if worker.start:
                    break
                while has_more() and not worker.is_gone:
                    self._waiting.remove(waiting[0])
                    stood += self._standing(worker, verification, waiting.pop(0))
        return stood[:most]

    def _standing(self, worker: Worker, verification: Verification, case: Case) -> list[Case]:
        """The case, if the serial code and its reference stand it."""
        runs = self._runs(case)
        if case.alteration:
            verification = replace(verification, share=_STOOD_SHARE)
        with suppress(BadInput):
            failure = verification.repeat(worker, case, runs)
            if not (failure or verification.each(worker, [case], self._runs)):
                return [case]
        return []

    def _is_large(self, case: Case) -> bool:
        return case.sizes in (self._near, self._problem.sizes.time)

    def _runs(self, case: Case) -> int:
        return 1 if self._is_large(case) else len(POISONS)

    def _alters(self, case: Case) -> bool:
        """Whether a case's alteration changes some input."""
        plain = self._references.given(replace(case, alteration=None))
        inputs = self._references.given(case)
        return any(not np.array_equal(bits(plain[n]), bits(inputs[n])) for n in plain)

    def _planned(self) -> list[Case]:
        """All further cases: the smallest comes last of the small ones, the timing shape's last."""
        problem, seed = self._problem, self._rules.seed + _FIRST_SEED
        rng, counts = random.Random(seed), factors(problem)
        shape = max(
            (s for s in problem.sizes.check if problem.elements(s) <= _SMALL_ELEMENTS),
            key=problem.elements,
            default=min(problem.sizes.check, key=problem.elements),
        )
        altered = [Case(shape, 0, seed, alteration=kind) for kind in self._alterations]
        cases = [case for case in altered if self._alters(case)]
        for sizes in self._shapes:
            variant = variant_of(problem, [rng.randrange(count) for count in counts])
            cases.append(Case(sizes, variant, seed))
        smallest = min(problem.sizes.check, key=problem.elements)
        cases.append(Case(smallest, 0, seed))  # what a longer call left behind would show
        return [*cases, *self._near_timed(rng, seed)]

    @property
    def _alterations(self) -> list[Alteration]:
        """Alterations that fit: a tolerance that is a number was chosen for drawn values."""
        fixed = {"large", "skewed"} if isinstance(self._problem.tolerance, AbsoluteRule) else set()
        return [k for k in get_args(Alteration) if k not in {*self._problem.excludes, *fixed}]

    def _near_timed(self, rng: random.Random, seed: int) -> Iterator[Case]:
        """Cases at a shape close to the timing shape; at that, those that timed calls do not have.

        The first two are what the screening runs of large ones.
        """
        problem, seconds = self._problem, self._references.timed_seconds
        timed, variants = problem.sizes.time, self._variants
        self._near = near = nearly(problem, rng, min(1.0, _TRUTH_SECONDS / max(seconds, 1e-9)))
        if near:
            first, *others = rng.sample(variants, min(len(variants), _NEAR_TIMED))
            yield Case(near, first, seed)
            if "equal" in self._alterations:
                yield Case(near, 0, seed, alteration="equal")
            yield from (Case(near, variant, seed) for variant in others)
            kinds = [kind for kind in self._alterations if kind != "equal"]
            count = len(kinds) if problem.nbytes(near) <= _ALTERED_BYTES else min(1, len(kinds))
            for kind in rng.sample(kinds, count):
                yield Case(near, 0, seed, alteration=kind)
        if seconds < _TRUTH_SECONDS and problem.nbytes(timed) <= _TIMED_BYTES:
            yield from (Case(timed, variant, seed) for variant in variants[1:])

    @property
    def _variants(self) -> list[int]:
        """So few that each distribution of each input is in one."""
        counts = factors(self._problem)
        return [
            variant_of(self._problem, [min(place, count - 1) for count in counts])
            for place in range(max(counts, default=1))
        ]
