"""Checks beyond the cases of every verification, for candidates that have passed all others.

    shapes       secret ones up to the timing shape, and one close to that (secret_shapes.py)
    values       drawn inputs altered as a whole: scaled, all equal, sorted, .. (alterations.py)
    timed shape  each distribution that timed calls do not have, once, where a truth costs little
    threads      teams of several sizes; threads held up at random (perturb.cpp): openmp

They come after the timing, each in a worker of its own. The serial code is asked first: a case that
it does not stand is dropped, as the function was not made for it. So is an altered one of which the
serial code uses more than a quarter of the tolerance: other right code may round more (a product of
sorted matrices, whose sums cancel, does). Truths stay for the next one.

Held up, a wrong output counts, or a crash. A race without consequence accuses nobody, and neither
does code that takes too long so, nor such as does not compile so.

Not covered: races in what is compiled elsewhere (libraries); those that no delay brings to light.
"""

import itertools
import os
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import get_args

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.inputs import factors, variant_of
from regraph_kg.evaluation.problem.problem import AbsoluteRule, Problem, Sizes, shape_text
from regraph_kg.evaluation.problem.types import Alteration, bits
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.slot import SessionRules, alignment
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.secret_shapes import nearly
from regraph_kg.evaluation.verify.verify import POISONS, CallTimes, Verification
from regraph_kg.evaluation.worker.shared_memory import Layout
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Grade, Outcome

_THREADS = re.compile(r"\bomp\b|thread|async|std::execution|__gnu_parallel")
_TRUTH_SECONDS = 4.0  # what the truth of a large case may take
_TRUTHS_SECONDS: Mapping[Grade, float] = {"screening": 0.7, "full": 3.0}
"""What new truths may take of one candidate: of small cases, and of large ones."""
_NEAR_TIMED = 2  # distributions at the shape that is close to the timing shape
_TIMED_BYTES, _ALTERED_BYTES = 160 * 2**20, 8 * 2**20
"""Arrays at most: of cases at the timing shape; of near ones that come with every alteration."""
_OFTEN_ELEMENTS, _OFTEN = 2**16, 3
"""Cases that are called again and again: at most so large, and so many."""
_MODERATE_ELEMENTS = 2**19  # one that is larger is called as well, at most so large
_COPIES, _COPIED_BYTES, _COMMAND_SECONDS = 8, 8 * 2**20, 0.04
"""Calls between two stops of a worker whose threads are held up: bytes of their arrays, time."""
_SCREENED, _ALONE = 2, 1  # large cases that the screening runs; that one thread runs
_STOOD_SHARE = 1 / 4
"""Share of an altered case's tolerance that the serial code may use up: usual ones take a tenth."""
_CALL_SECONDS, _TEAM_SECONDS = 1.0, 3.0
"""One call whose threads are held up, or one of the serial code; all calls of a team."""
_FIRST_SEED = 1000
_RACES_SECONDS: Mapping[Grade, float] = {"screening": 0.6, "full": 3.0}  # how long threads wait
_TEAMS = (3, 5, 6, 7, 9, 10, 12)  # one of them is tried throughout a session


def has_threads(code: str) -> bool:
    """Whether a source may run more than one thread."""
    return _THREADS.search(code) is not None


class FurtherChecks:
    """Further cases of one problem, and runs on them. `seed` of the rules is secret."""

    def __init__(
        self, problem: Problem, shapes: Sequence[Sizes], references: References, rules: SessionRules
    ) -> None:
        self._problem, self._references, self._rules = problem, references, rules
        self._shapes = shapes
        self._team = random.Random(rules.seed).choice(_TEAMS)
        self._stood: dict[bool, list[Case]] = {False: [], True: []}
        """Cases that the serial code stands: small ones (False), large ones."""
        self._near: Sizes | None = None  # the shape close to the timing shape, once it is planned
        self._waiting: list[Case] | None = None  # cases that it was not asked about

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
            rounds = [(threads, small), (self._team, [*small, *large]), (1, large[:_ALONE])]
        for team, cases in ((team, cases) for team, cases in rounds if cases):
            with self._staffed(program, cases, team, self._rules.surroundings) as (worker, check):
                check.times.call = call_seconds
                failure = worker.start or check.each(worker, cases, self._runs)
            if failure and team == threads:
                return failure
            if failure and failure.outcome is not Outcome.TIMED_OUT:
                text = f"with {_threads(team)}: {failure.diagnosis}"
                return replace(failure, diagnosis=text)
        return None

    def races(self, program: Program, cases: Sequence[Case], grade: Grade) -> Failure | None:
        """The first wrong output or crash of a build whose threads are held up.

        `cases` are those of a verification.
        """
        often, teams = self._often(cases), self._teams(grade)
        seconds = _RACES_SECONDS[grade] / len(teams)
        for asked, given in teams:
            failure = self._in_team(program, often, asked, given, seconds if given > 1 else 0.0)
            if failure and failure.outcome in (Outcome.NONDETERMINISTIC, Outcome.CRASHED):
                fewer = f" (it asked for {asked})" if given < asked else ""
                text = f"with {_threads(given)}, held up at random{fewer}: {failure.diagnosis}"
                return replace(failure, diagnosis=text)
        return None

    def _teams(self, grade: Grade) -> list[tuple[int, int]]:
        """Threads that OpenMP is set to, and how many it gives."""
        more = len(os.sched_getaffinity(0)) + 1
        teams = [(3, 3), (5, 5), (4, 2), (1, 1)]
        teams += [(team, team) for team in (2, more, self._team)] if grade == "full" else []
        return list(dict.fromkeys(teams))

    def _in_team(
        self, program: Program, cases: Sequence[Case], asked: int, given: int, seconds: float
    ) -> Failure | None:
        """Run each case again and again for so many seconds, once at least; slow ones seldom."""
        where = Surroundings(thread_limit=given if given < asked else None)
        counts = [1] * len(cases)
        with self._staffed(program, cases, asked, where, together=True) as (worker, check):
            check.times.all = _TEAM_SECONDS
            failure, end = worker.start, time.monotonic() + seconds
            for poison in itertools.cycle(POISONS):
                for index, case in enumerate(cases):
                    start = time.monotonic()
                    if failure or not counts[index]:
                        continue
                    failure = check.together(worker, case, poison, counts[index])
                    each = (time.monotonic() - start) / counts[index]
                    counts[index] = min(_COPIES, int(_COMMAND_SECONDS / each))
                if failure or not any(counts) or time.monotonic() > end:
                    break
            return failure

    def _often(self, cases: Sequence[Case]) -> list[Case]:
        """The largest of the cases that are small enough; one that is larger in all its sizes."""
        usual = [case for case in cases if case.aligned and not case.version]
        small = [case for case in usual if self._is_small(case)] or usual[:1]
        further = [case for lot in self._stood.values() for case in lot if not case.alteration]
        larger = [c for c in further if _OFTEN_ELEMENTS < self._elements(c) <= _MODERATE_ELEMENTS]
        by_shape = {shape_text(case.sizes): case for case in small}
        often = sorted(by_shape.values(), key=self._elements)[-_OFTEN:]
        return [*often, *sorted(larger, key=lambda case: min(case.sizes.values()))[-1:]]

    def _elements(self, case: Case) -> int:
        return self._problem.elements(case.sizes)

    def _is_small(self, case: Case) -> bool:
        return self._elements(case) <= _OFTEN_ELEMENTS

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
            with self._staffed(serial, waiting, 1) as (worker, verification):
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
            (s for s in problem.sizes.check if problem.elements(s) <= _OFTEN_ELEMENTS),
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

    @contextmanager
    def _staffed(
        self,
        program: Program,
        cases: Sequence[Case],
        threads: int,
        where: Surroundings | None = None,
        together: bool = False,
    ) -> Iterator[tuple[Worker, Verification]]:
        """A worker with memory for these cases, `together` for several calls of each."""
        layout, rules = Layout(self._problem, alignment(self._problem)), self._rules
        calls = {}
        for text, sizes in {shape_text(case.sizes): case.sizes for case in cases}.items():
            room = _COPIED_BYTES // max(self._problem.nbytes(sizes), 1)
            copies = max(1, min(_COPIES, room)) if together else 1
            calls[text, True] = [layout.call(sizes) for _ in range(copies)]
        shared = layout.build()
        try:
            with Worker(program, shared, rules.defences, rules.limits, threads, where) as worker:
                verification = Verification(
                    *(self._problem, shared, calls, self._references),
                    *(rules.defences, CallTimes(_CALL_SECONDS, rules.limits.calls_seconds)),
                )
                yield worker, verification
        finally:
            shared.close()


def _threads(number: int) -> str:
    return "one thread" if number == 1 else f"{number} threads"
