"""Runs of code with threads: many of them, and threads that are held up at random (perturb.cpp).

docs/evaluation.md (steps 5 and 6) says why. Code that goes beyond its arrays with the usual number
of threads, too, means it, and is let be. A race without consequence accuses nobody, and neither
does code that takes too long when held up, nor such as does not compile so.

Not covered: arrays whose length is no number of the source, above 129 threads; races in what is
compiled elsewhere (libraries); those that no delay brings to light.
"""

import itertools
import os
import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from regraph_kg.evaluation.problem.declaration import shape_text
from regraph_kg.evaluation.rules import Failure, placed
from regraph_kg.evaluation.slots import CALL_SECONDS, Staffing
from regraph_kg.evaluation.verify.reference import Case
from regraph_kg.evaluation.verify.verify import POISONS
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.models.evaluation import Grade, Outcome

_TEAMS = (17, 33, 65, 129)  # one more than the lengths that people give to arrays of parts
_COUNTED = (Outcome.WRONG_ANSWER, Outcome.NONDETERMINISTIC)
TRAPPING = ("-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
"""Flags of a build that ends itself at an index beyond an array whose length is known."""
_THREADS = re.compile(r"\bomp\b|thread|async|std::execution|__gnu_parallel")
_OFTEN_ELEMENTS, _OFTEN = 2**16, 3
"""Cases that are called again and again: at most so large, and so many."""
_ORDERED = ("ascending", "descending", "skewed")
"""Alterations in which a largest or smallest element is met first, last, or again and again: one
that was lost is not found once more."""
_MODERATE_ELEMENTS = 2**19  # one that is larger is called as well, at most so large
_COPIES, _COMMAND_SECONDS = 8, 0.04  # calls between two stops of a worker, and what they may take
_TEAM_SECONDS = 3.0  # all calls of a team
_RACES_SECONDS: Mapping[Grade, float] = {"glance": 0.0, "screening": 0.3, "full": 3.0}
_LARGE_BYTES: Mapping[Grade, int] = {"glance": 0, "screening": 32 * 2**20, "full": 160 * 2**20}
"""Arrays at most of a case above all these, as code may be parallel there alone."""
_LARGE_SECONDS: Mapping[Grade, float] = {"glance": 0.0, "screening": 0.3, "full": 3.0}
"""What its calls may take together. The serial code's, which is not slowed down, takes a tenth."""


def fixed_lengths(code: str, entry: str) -> frozenset[int]:
    """Lengths of arrays in a source with threads that fewer than the largest team would fill."""
    from regraph_kg.cpp.literals import literals  # noqa: PLC0415 (loads a parser)

    lengths = literals(code, entry).lengths if has_threads(code) else frozenset()
    return frozenset(length for length in lengths if length < max(_TEAMS))


def has_threads(code: str) -> bool:
    """Whether a source may run more than one thread."""
    return _THREADS.search(code) is not None


def with_threads(number: int) -> str:
    return "with one thread" if number == 1 else f"with {number} threads"


@dataclass(frozen=True, slots=True)
class Teams:
    """Runs of a candidate by teams of other sizes than usual. Methods raise `Failure`."""

    staffing: Staffing
    secret: random.Random  # of a screening's large team, another one each time
    team: int  # a secret size of one

    def many(
        self,
        code: str,
        builds: tuple[Program, Program | None],
        cases: tuple[Sequence[Case], Case | None],
        grade: Grade,
    ) -> None:
        """What a team larger than most machines' own gets wrong.

        Of `builds` the second has traps, of `cases` it is large. Few threads run the build with
        traps first. The screening runs one team, the likeliest.
        """
        program, trapping = builds
        small, large = cases
        if program.cuda or not has_threads(code):
            return
        lengths = fixed_lengths(code, program.entry)
        likely = [team for team in _TEAMS if team - 1 in lengths] or _TEAMS
        teams = _TEAMS if grade == "full" else [self.secret.choice(likely)]
        with suppress(Failure):
            if trapping:
                self._of_many(trapping, 2, small)
                program = trapping
        for team in teams:
            self._of_many(program, team, small)
        if grade == "full" and large:
            self._of_many(builds[0], max(_TEAMS), [large])

    def _of_many(self, program: Program, team: int, cases: Sequence[Case]) -> None:
        """A wrong answer, or a signal: without room for its threads a process ends otherwise."""
        with self.staffing.staffed(program, cases, team) as (worker, check):
            try:
                with placed(with_threads(team)):
                    worker.start()
                    check.each(worker, cases, lambda _: len(POISONS))
            except Failure as failure:
                crashed, process = failure.outcome is Outcome.CRASHED, worker.process
                by_signal = crashed and process.is_gone and process.kill() < 0  # as a trap does
                if by_signal or failure.outcome in _COUNTED:
                    raise

    def held_up(
        self, program: Program, cases: Sequence[Case], further: Iterable[Case], grade: Grade
    ) -> None:
        """The first wrong output or crash of a build whose threads are held up at random."""
        # `cases` are those of a verification, `further` ones are beyond them.
        further = list(further)
        often, large = self._often(cases, further), self._large(further, grade)
        teams = [(3, 3), (5, 5), (4, 2), (1, 1)]  # what OpenMP is set to, and what it gives
        if grade == "full":
            others = 2, len(os.sched_getaffinity(0)) + 1, self.team
            teams = list(dict.fromkeys([*teams, *((team, team) for team in others)]))
        seconds, spare = _RACES_SECONDS[grade] / len(teams), _LARGE_SECONDS[grade]
        for team in teams:
            start, cases = time.monotonic(), [*often, *(large if spare > 0 else [])]
            asked, given = team
            fewer = f" (it asked for {asked})" if given < asked else ""
            try:
                with placed(f"{with_threads(given)}, held up at random{fewer}"):
                    self._held_up_team(program, cases, team, seconds, spare)
            except Failure as failure:
                if failure.outcome in (Outcome.NONDETERMINISTIC, Outcome.CRASHED):
                    raise
            spare -= max(0.0, time.monotonic() - start - seconds)

    def _large(self, further: Iterable[Case], grade: Grade) -> list[Case]:
        """The largest plain case that costs little enough, if it is beyond the other ones."""
        problem, references = self.staffing.problem, self.staffing.references
        if references.timed_seconds > _LARGE_SECONDS[grade] / 10:
            return []
        fits = [
            case
            for case in further
            if not case.alteration
            and self._elements(case) > _MODERATE_ELEMENTS
            and problem.nbytes(case.sizes) <= _LARGE_BYTES[grade]
        ]
        return sorted(fits, key=self._elements)[-1:]

    def _held_up_team(
        self,
        program: Program,
        cases: Sequence[Case],
        team: tuple[int, int],
        seconds: float,
        spare: float,
    ) -> None:
        """Run each case again and again for so many seconds, once at least; slow ones seldom."""
        asked, given = team
        where = Surroundings(thread_limit=given if given < asked else None)
        counts = [1] * len(cases)
        with self.staffing.staffed(program, cases, asked, where, _COPIES) as (worker, check):
            check.times.all = _TEAM_SECONDS
            worker.start()
            # one thread has no race: it is asked once
            end = time.monotonic() + (seconds if given > 1 else 0.0)
            for poison in itertools.cycle(POISONS):
                for index, case in enumerate(cases):
                    start = time.monotonic()
                    if not counts[index]:
                        continue
                    is_large = self._elements(case) > _MODERATE_ELEMENTS
                    # A call of a large one may take `spare` seconds.
                    check.times.call = spare if is_large else CALL_SECONDS
                    check.together(worker, case, poison, counts[index])
                    each = (time.monotonic() - start) / counts[index]
                    counts[index] = min(_COPIES, int(_COMMAND_SECONDS / each))
                if not any(counts) or time.monotonic() > end:
                    break

    def _often(self, cases: Sequence[Case], further: Iterable[Case]) -> list[Case]:
        """The largest of the cases that are small enough; one that is larger in all its sizes."""
        usual = [case for case in cases if case.aligned and not case.version]
        small = [case for case in usual if self._elements(case) <= _OFTEN_ELEMENTS] or usual[:1]
        plain = [case for case in further if not case.alteration]
        ordered = [case for case in further if case.alteration in _ORDERED]
        larger = [c for c in plain if _OFTEN_ELEMENTS < self._elements(c) <= _MODERATE_ELEMENTS]
        by_shape = {shape_text(case.sizes): case for case in small}
        often = sorted(by_shape.values(), key=self._elements)[-_OFTEN:]
        ordered = [case for case in ordered if self._elements(case) <= _OFTEN_ELEMENTS]
        return [*often, *ordered, *sorted(larger, key=lambda case: min(case.sizes.values()))[-1:]]

    def _elements(self, case: Case) -> int:
        return self.staffing.problem.elements(case.sizes)
