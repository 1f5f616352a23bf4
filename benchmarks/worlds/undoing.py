"""World "undoing": the order counts, techniques undo each other, and many answers read the same.

A code is what its six aspects hold. A technique sets one of them and undoes up to two others, so
that it pays to come back to a technique once another one undid it, and to take what undoes much
first. Some need that another aspect was set: without it they fail mostly, or lose. Of two answers
that do the same, most read the same. The graph saw teachers who know the order, on other problems,
and a student's random walks.
"""

from collections import Counter
from dataclasses import dataclass

from benchmarks.worlds.world import (
    START,
    Code,
    World,
    capped,
    chance,
    drawn,
    logit,
    most_seen,
    named,
)
from regraph_kg.models.prompt import element

ASPECTS, VALUES = 6, 4
"""Value 0 is the serial code's."""
TECHNIQUES = named([f"sets-{aspect}-to-{v}" for aspect in range(ASPECTS) for v in range(1, VALUES)])
SETS = {one: (at // (VALUES - 1), at % (VALUES - 1) + 1) for at, one in enumerate(TECHNIQUES)}
TEACHERS, WALKS, STEPS = 30, 3, 8
PROBLEMS, STUDENT_STEPS = 30, 80
Held = tuple[int, ...]


@dataclass
class _Domain:
    """What is common to its problems."""

    name: object
    worth: dict[tuple[int, int], float]
    undoes: dict[str, list[int]]
    needs: dict[str, int]
    fails: dict[str, float]

    @classmethod
    def draw(cls, name: object) -> "_Domain":
        lot = drawn("undoing", name)
        made = cls(name, {}, {}, {}, {})
        for one, (aspect, value) in SETS.items():
            made.worth[aspect, value] = (
                lot.uniform(0.8, 2.0) if aspect == 0 else lot.gauss(0.4, 0.4)
            )
            others = [other for other in range(1, ASPECTS) if other != aspect]
            made.undoes[one] = lot.sample(others, lot.choice((0, 1, 1, 2)))
            if aspect and lot.random() < 0.5:
                free = [other for other in (0, *others) if other not in made.undoes[one]]
                made.needs[one] = lot.choice(free)
            made.fails[one] = min(max(lot.betavariate(2, 3), 0.05), 0.9)
        return made

    def applied(self, held: Held, technique: str) -> Held:
        """What the aspects hold after it."""
        undone = [0 if at in self.undoes[technique] else value for at, value in enumerate(held)]
        aspect, value = SETS[technique]
        undone[aspect] = value
        return tuple(undone)


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    common = _Domain.draw(domain)
    seen: Counter[tuple[str, str]] = Counter()
    for number in range(TEACHERS):
        _teach(common, Undoing(common, ("teacher", number)), seen)
    made = World(most_seen(seen), lambda name: Undoing(common, name))
    if measured:
        made.tallies = made.walked(PROBLEMS, STUDENT_STEPS, domain)
    return made


def _teach(common: _Domain, problem: "Undoing", seen: Counter[tuple[str, str]]) -> None:
    """A teacher takes what looks best two steps ahead, now and then something else."""
    lot = drawn("teacher", problem.about)
    for _ in range(WALKS):
        technique, held = START, (0,) * ASPECTS
        for _ in range(STEPS):
            ahead = {
                one: max(
                    problem.level(common.applied(common.applied(held, one), two))
                    for two in TECHNIQUES
                )
                + lot.gauss(0, 0.3)
                for one in TECHNIQUES
                if problem.able(held, one) and common.applied(held, one) != held
            }
            chosen = max(ahead, key=lambda one: ahead[one])
            chosen = lot.choice(list(ahead)) if lot.random() < 0.15 else chosen
            seen[technique, chosen] += 1
            technique, held = chosen, common.applied(held, chosen)


class Undoing:
    """A problem."""

    def __init__(self, domain: _Domain, name: object) -> None:
        self._domain, self.about = domain, (domain.name, name)
        lot = drawn("problem", *self.about)
        self._cap = lot.uniform(2.5, 5)
        self._worth = {key: worth + lot.gauss(0, 0.3) for key, worth in domain.worth.items()}
        self._pairs = {
            (one, other): lot.gauss(0, 0.2)
            for one in self._worth
            for other in self._worth
            if one[0] < other[0]
        }
        self._fails = {one: logit(fails) + lot.gauss(0, 0.6) for one, fails in domain.fails.items()}

    def serial(self) -> Code:
        held = (0,) * ASPECTS
        return Code(START, (), 0.0, 0.0, (held, 0.0), (held, 0.0))

    def able(self, held: Held, technique: str) -> bool:
        """Whether what it needs is there."""
        needed = self._domain.needs.get(technique)
        return needed is None or held[needed] > 0

    def level(self, held: Held, off: float = 0.0) -> float:
        """Of code that holds this, written `off` worse (negative) than it might be."""
        has = [(aspect, value) for aspect, value in enumerate(held) if value]
        total = sum(self._worth[one] for one in has)
        total += sum(self._pairs[one, other] for one in has for other in has if one[0] < other[0])
        return capped(total + off, self._cap)

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        held, off = code.state
        history = (*code.history, element(technique, sample))
        lot = drawn(*self.about, history, repair)
        is_able = self.able(held, technique)
        fails = self._fails[technique] - (0.4 if repair else 0.0) + (0.0 if is_able else 1.5)
        fails += drawn(*self.about, held, technique).gauss(0, 0.8)
        if lot.random() < chance(fails):
            return None
        after = self._domain.applied(held, technique)
        if after == held:
            return code
        if not is_able or lot.random() < 0.25:
            off = round(off - lot.choice((0.1, 0.2, 0.4)), 1)
        level = self.level(after, off)
        measured = level + drawn("noise", *self.about, after, off).gauss(0, 0.03)
        return Code(technique, history, level, measured, (after, off), (after, off))
