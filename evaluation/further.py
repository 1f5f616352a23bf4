"""Checks beyond the cases of every verification, for candidates that have passed all others.

docs/evaluation.md (step 5) lists them: secret shapes (cases.py), altered values (alterations.py),
extents around the numbers that a candidate spells out (literals.py), distributions at the timing
shape, teams of several sizes (large and held-up ones: teams.py).

They come after the timing, each in a worker of its own. Trusted programs are asked first: the
serial code, and honest variants of it, such as add in another order or trap where a number
overflows. A case that one of them does not stand is dropped: the function was not made for it, or
other right code may round more there. Answers and truths stay for the next candidate.
"""

import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.alterations import TWICE, fitting
from regraph_kg.evaluation.problem.declaration import Sizes, shape_text
from regraph_kg.evaluation.problem.inputs import factors, variant_of
from regraph_kg.evaluation.problem.types import bits
from regraph_kg.evaluation.rules import Failure, placed
from regraph_kg.evaluation.slots import Staffing
from regraph_kg.evaluation.teams import with_threads
from regraph_kg.evaluation.verify.cases import MODERATE, around, nearly
from regraph_kg.evaluation.verify.reference import Case
from regraph_kg.evaluation.verify.verify import POISONS, Verification
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Grade, Outcome

_TRUTH_SECONDS = 4.0  # what the truth of a large case may take
_TRUTHS_SECONDS: Mapping[Grade, float] = {"glance": 0.0, "screening": 0.7, "full": 3.0}
"""What new truths may take of one candidate: of large cases, and of all others."""
_NEAR_TIMED, _NEAR_ALTERED = 2, 1  # distributions and alterations at the shape near the timing one
_ALWAYS_NEAR = ("equal", "uneven", "whole")  # long paths contend, and may save precision
_TIMED_BYTES = 160 * 2**20  # arrays at most of cases at the timing shape
_SCREENED_LARGE, _SCREENED_LONG, _SCREENED_AROUND = 2, 3, 3  # cases of each that a screening runs
_ALONE = 1  # large cases that one thread runs
_BEYOND_ALTERED = 4  # alterations at a literal's shape that is larger than every long one
_MOST_AROUND = 40  # shapes around literals, even at the full grade: some sources are tables
_STOOD_ALTERED, _STOOD = 1 / 4, 1 / 2
"""Shares of the tolerance that trusted programs may use up: usual ones take a tenth."""
_SMALL_ELEMENTS = 2**16  # of the shape at which every alteration is tried
_FEW_ELEMENTS = 2**12
_FIRST_SEED = 1000
_TEAMS = (3, 5, 6, 7, 9, 10, 12)  # one of them is tried throughout a session

if TYPE_CHECKING:
    from regraph_kg.cpp.literals import Literals

_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True)
class PlannedCases:
    """Further cases of a problem, whatever the candidate is."""

    usual: Case  # drawn values at the shape that is altered
    shapes: list[Case]
    small: list[Case]  # altered values
    long: list[Case]  # altered values where codes take their long paths
    large: list[Case]  # close to the timing shape, and at it


class FurtherChecks:
    """Further cases of one problem; `trusted` is the serial code, then its honest variants."""

    def __init__(
        self, staffing: Staffing, shapes: Sequence[Sizes], trusted: Sequence[Program]
    ) -> None:
        self.staffing, self._shapes, self._trusted = staffing, shapes, trusted
        self._problem, self._references = staffing.problem, staffing.references
        self._rules = staffing.rules
        self.secret = random.Random(self._rules.seed)
        self.team = self.secret.choice(_TEAMS)
        self._answers: dict[tuple[object, ...], Case | None] = {}
        """Cases that trusted programs were asked about: None where one does not stand it."""
        self._plan: PlannedCases | None = None

    @property
    def stood(self) -> list[Case]:
        """Cases that the trusted programs stand, so far."""
        return [case for case in self._answers.values() if case]

    @property
    def few(self) -> list[Case]:
        """Cases with few elements, those around a source's numbers among them."""
        size = self._problem.elements
        return [c for c in self.stood if not c.alteration and size(c.sizes) <= _FEW_ELEMENTS]

    @property
    def large(self) -> Case | None:
        """A large case with drawn values that they stand, if there is one."""
        found = (case for case in self.stood if case in self.plan.large and not case.alteration)
        return next(found, None)

    def examine(
        self, code: str, program: Program, threads: int, call_seconds: float, grade: Grade
    ) -> None:
        """Raise `Failure` for the first case that a candidate gets wrong."""
        # On a CPU most are run by some secret number of threads, the first large one by one, too.
        # Another number of threads than usual may well take too long.
        for team, cases in self._rounds(code, program, threads, grade):
            staffed = self.staffing.staffed(program, cases, team, self._rules.surroundings)
            try:
                with (
                    placed(with_threads(team) if team != threads else ""),
                    staffed as (worker, check),
                ):
                    check.times.call = call_seconds
                    worker.start()
                    check.each(worker, cases, self._runs)
            except Failure as failure:
                if team == threads or failure.outcome is not Outcome.TIMED_OUT:
                    raise

    def _rounds(
        self, code: str, program: Program, threads: int, grade: Grade
    ) -> list[tuple[int, list[Case]]]:
        """Numbers of threads, and the cases that so many run."""
        from regraph_kg.cpp.literals import literals  # noqa: PLC0415 (loads a parser)

        plan, full = self.plan, grade == "full"
        spelled = literals(code, self._problem.entry)
        long = plan.long if full else self._some(plan.long, _SCREENED_LONG)
        around = self._around(spelled, full=full)
        cases = self._standing([*plan.shapes, *around, *long, *plan.small], grade)
        large = self._standing(plan.large if full else plan.large[:_SCREENED_LARGE], grade)
        if program.cuda:
            return [(threads, [*cases, *large])]
        rounds = [(threads, cases), (self.team, [*cases, *large]), (1, large[:_ALONE])]
        return [(team, cases) for team, cases in rounds if cases]

    @property
    def plan(self) -> PlannedCases:
        """Cases of every candidate: made when first asked for, as inputs.py may take seconds."""
        if self._plan is None:
            self._plan = self._planned()
            serial, *variants = self._trusted
            # who is right as usual may say what others must stand
            asked = {v: self._asked(v, [self._plan.usual], float("inf")) for v in variants}
            self._trusted = [serial, *(v for v, said in asked.items() if any(s for _, s in said))]
        return self._plan

    def _some(self, choice: Sequence[_Kind], count: int) -> list[_Kind]:
        """Another secret few each time, so that all are met in the course of a session."""
        return self.secret.sample(choice, min(count, len(choice)))

    def _standing(self, cases: Sequence[Case], grade: Grade) -> list[Case]:
        """Those that trusted programs stand; as many as time allows are asked about."""
        asked = [case for case in cases if case.key not in self._answers]
        end = time.monotonic() + _TRUTHS_SECONDS[grade]
        # Each program has one worker at a time: its arrays may be large.
        for program in self._trusted:
            answers = list(self._asked(program, asked, end))
            self._answers.update({case.key: case if stood else None for case, stood in answers})
            asked, end = [case for case, stood in answers if stood], float("inf")
        return [case for case in cases if self._answers.get(case.key)]

    def _asked(
        self, program: Program, cases: Sequence[Case], end: float
    ) -> Iterator[tuple[Case, bool]]:
        """Cases until `end`, and whether a trusted program stands each."""
        waiting = list(cases)
        with suppress(Failure):
            while waiting and time.monotonic() < end:
                with self.staffing.staffed(program, waiting, 1) as (worker, verification):
                    worker.start()
                    while waiting and time.monotonic() < end and not worker.process.is_gone:
                        case = waiting.pop(0)
                        yield case, self._stands(worker, verification, case)

    def _stands(self, worker: Worker, verification: Verification, case: Case) -> bool:
        """Whether a trusted program is right with room to spare; near the timing shape, right."""
        # There timed calls ask the same of everybody.
        share = _STOOD_ALTERED if case.alteration else 1.0 if case in self.plan.large else _STOOD
        share = 0.0 if case.alteration == "whole" else share  # a case of what rounds nowhere
        with suppress(BadInput, Failure):
            # one run without a truth first: the reference would be waited for much longer
            if not self._references.knows(case):
                verification.repeat(worker, case, 1)
            # a sentinel may be infinite itself
            if case.alteration not in (None, "sentinels") and not self._is_finite(case):
                return False
            replace(verification, share=share).each(worker, [case], self._runs)
            return True
        return False

    def _is_finite(self, case: Case) -> bool:
        """Whether outputs of altered inputs are numbers, where those of drawn ones are."""
        usual, truths = (self._references.truths(each) for each in (self.plan.usual, case))
        return all(
            bool(np.all(np.isfinite(truth.values)) or not np.all(np.isfinite(usual[name].values)))
            for name, truth in truths.items()
        )

    def _runs(self, case: Case) -> int:
        """Two where that takes little: outputs that nobody wrote show in the first, too."""
        is_small = self._problem.elements(case.sizes) <= _SMALL_ELEMENTS
        return len(POISONS) if is_small or case.sizes in self._shapes else 1

    def _alters(self, case: Case) -> bool:
        """Whether a case's alteration changes some input."""
        plain = self._references.given(replace(case, alteration=None))
        inputs = self._references.given(case)
        return any(not np.array_equal(bits(plain[n]), bits(inputs[n])) for n in plain)

    def _planned(self) -> PlannedCases:
        """All further cases but those around literals."""
        problem, seed = self._problem, self._rules.seed + _FIRST_SEED
        rng, counts = random.Random(seed), factors(problem)
        shape = max(
            (s for s in problem.sizes.check if problem.elements(s) <= _SMALL_ELEMENTS),
            key=problem.elements,
            default=min(problem.sizes.check, key=problem.elements),
        )
        # an even and an odd seed: of two sizes of huge values a function may stand one
        altered = [
            Case(shape, 0, each, alteration=kind)
            for kind in fitting(problem)
            for each in (seed, seed + 1)[: 2 if kind in TWICE else 1]
        ]
        altered = [case for case in altered if self._alters(case)]
        shapes = [
            Case(sizes, variant_of(problem, [rng.randrange(count) for count in counts]), seed)
            for sizes in self._shapes
        ]
        smallest = min(problem.sizes.check, key=problem.elements)
        shapes.append(Case(smallest, 0, seed))  # what a longer call left behind would show
        low, high = MODERATE
        long = [s for s in self._shapes if low <= problem.elements(s) <= high]
        placed = [replace(case, sizes=rng.choice(long)) for case in altered if long]
        large = [*self._near_timed(rng, seed, altered)]
        return PlannedCases(Case(shape, 0, seed), shapes, altered, placed, large)

    def _near_timed(self, rng: random.Random, seed: int, altered: Sequence[Case]) -> Iterator[Case]:
        """Cases close to the timing shape, and at it; the first two are those of the screening."""
        problem, seconds = self._problem, self._references.timed_seconds
        timed, variants = problem.sizes.time, self._variants
        near = nearly(problem, rng, min(1.0, _TRUTH_SECONDS / max(seconds, 1e-9)))
        if near:
            first, *others = rng.sample(variants, min(len(variants), _NEAR_TIMED))
            yield Case(near, first, seed)
            chosen = [case for case in altered if case.alteration in _ALWAYS_NEAR]
            more = [case for case in altered if case not in chosen]
            chosen += rng.sample(more, min(_NEAR_ALTERED, len(more)))
            yield from (replace(case, sizes=near) for case in chosen)
            yield from (Case(near, variant, seed) for variant in others)
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

    def _around(self, spelled: "Literals", *, full: bool) -> list[Case]:
        """Cases just beside the numbers of a source, the likeliest first."""
        cases, timed = dict[str, Case](), self._problem.sizes.time
        by_name = {
            parameter: [name for name in timed if name in re.findall(r"\w+", arg.size or "")]
            for parameter, arg in zip(spelled.parameters, self._problem.args, strict=False)
        }
        for literal in spelled.numbers:
            compared = {name for each in literal.names for name in by_name.get(each, [])}
            extents = sorted(timed, key=lambda name: -timed[name])
            # a number that is compared with no size may bound any of them
            for names in [sorted(compared)] if compared else [[name] for name in extents]:
                # the same shapes for each candidate with this number: their truths are kept
                rng = random.Random(f"{self._rules.seed} {literal.value} {names}")
                for sizes in around(self._problem, literal.value, names, rng):
                    variant = rng.choice(self._variants)
                    case = Case(sizes, variant, self._rules.seed + _FIRST_SEED)
                    cases.setdefault(shape_text(sizes), case)
            if len(cases) > _MOST_AROUND:
                break
        chosen = list(cases.values())
        if not full:
            return chosen[:_SCREENED_AROUND]
        # At the full grade those beyond every long shape come with altered values, too.
        size = self._problem.elements
        longest = max((size(case.sizes) for case in self.plan.long), default=0)
        beyond = [case.sizes for case in chosen if size(case.sizes) > longest]
        altered = self._some(self.plan.small, _BEYOND_ALTERED if beyond else 0)
        return [*chosen, *(replace(case, sizes=beyond[0]) for case in altered)]
