"""Runs with many threads, at a small shape: code that has room for 16 or 64 threads shows here.

At the full grade also at a large one, where a product of thread and size may leave 32 bits.
An index beyond an array often does no harm that shows: the array's neighbour is written, or
nothing. So code with arrays of a fixed length is compiled once more, with traps at such an index.
Code that goes beyond them with the usual number of threads, too, means it, and is let be.

Not covered: arrays whose length is no number of the source, above 129 threads.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from regraph_kg.evaluation.races import has_threads, with_threads
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.staffed import Staffing
from regraph_kg.evaluation.verify.reference import Case
from regraph_kg.evaluation.verify.verify import POISONS
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import Grade, Outcome

_TEAMS = (17, 33, 65, 129)  # one more than the lengths that people give to arrays of parts
_COUNTED = (Outcome.WRONG_ANSWER, Outcome.NONDETERMINISTIC)
TRAPPING = ("-fsanitize=bounds", "-fsanitize-undefined-trap-on-error")
"""Flags of a build that ends itself at an index beyond an array whose length is known."""


def fixed_lengths(code: str, entry: str) -> frozenset[int]:
    """Lengths of arrays in a source with threads that fewer than the largest team would fill."""
    from regraph_kg.cpp.literals import literals  # noqa: PLC0415 (loads a parser)

    lengths = literals(code, entry).lengths if has_threads(code) else frozenset()
    return frozenset(length for length in lengths if length < max(_TEAMS))


@dataclass(frozen=True, slots=True)
class ManyThreads:
    """Teams that are larger than most machines' own."""

    staffing: Staffing
    secret: random.Random  # of a screening's team, another one each time

    def fault(
        self,
        code: str,
        builds: tuple[Program, Program | None],
        cases: tuple[Sequence[Case], Case | None],
        grade: Grade,
    ) -> Failure | None:
        """What a team gets wrong; of `builds` the second has traps, of `cases` it is large.

        Few threads run the build with traps first. The screening runs one team, the likeliest.
        """
        program, trapping = builds
        small, large = cases
        if program.cuda or not has_threads(code):
            return None
        lengths = fixed_lengths(code, program.entry)
        likely = [team for team in _TEAMS if team - 1 in lengths] or _TEAMS
        teams = _TEAMS if grade == "full" else [self.secret.choice(likely)]
        if trapping and self._in_team(trapping, 2, small) is None:
            program = trapping
        failures = (self._in_team(program, team, small) for team in teams)
        failure = next(filter(None, failures), None)
        if failure or grade != "full" or not large:
            return failure
        return self._in_team(builds[0], max(_TEAMS), [large])

    def _in_team(self, program: Program, team: int, cases: Sequence[Case]) -> Failure | None:
        """A wrong answer, or a signal: without room for its threads a process ends otherwise."""
        with self.staffing.staffed(program, cases, team) as (worker, check):
            failure = worker.start or check.each(worker, cases, lambda _: len(POISONS))
            counts = failure and (
                failure.outcome in _COUNTED
                or (failure.outcome is Outcome.CRASHED and worker.was_killed)
            )
        if not (failure and counts):
            return None
        return replace(failure, diagnosis=f"{with_threads(team)}: {failure.diagnosis}")
