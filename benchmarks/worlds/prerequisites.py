"""World "prerequisites": techniques that need another one first, and some that conflict.

Of 24 techniques three make the code parallel, and gain most; of the others some gain a little, some
gain once another one was applied, many lose. A problem is one for which about half of them work. A
success keeps its whole gain in 70 %, part of it else.
"""

import random
from dataclasses import dataclass

from benchmarks.worlds.world import START, Code, World, capped, chance, drawn, logit, named
from regraph_kg.models.prompt import element

TECHNIQUES = named([f"technique-{number}" for number in range(24)])
PARALLEL = frozenset(TECHNIQUES[:3])
PROBLEMS, STEPS = 30, 100
"""Whose random steps the graph was told."""


@dataclass
class _Domain:
    """What is common to its problems."""

    name: object
    gains: dict[str, float]
    needs: dict[str, str]
    conflicts: dict[str, str]
    fails: dict[str, float]

    @classmethod
    def draw(cls, name: object) -> "_Domain":
        lot = drawn("prerequisites", name)
        made = cls(name, {}, {}, {}, {})
        for one in TECHNIQUES:
            made.fails[one] = min(max(lot.betavariate(2, 3), 0.05), 0.9)
            kind = lot.random()
            if one in PARALLEL:
                made.gains[one] = lot.uniform(1.8, 2.8)
            elif kind < 0.35:
                made.gains[one] = lot.uniform(0.1, 0.5)
            elif kind < 0.6:
                made.gains[one] = lot.uniform(0.4, 1)
                made.needs[one] = _other(one, lot)
            else:
                made.gains[one] = lot.uniform(-0.6, 0.05)
        for one in TECHNIQUES:
            if lot.random() < 0.3:
                made.conflicts[one] = _other(one, lot)
        return made

    def follows(self) -> dict[str, list[str]]:
        """A random graph that has most of the pairs in which one needs the other."""
        lot = drawn("follows", self.name)
        rest = [one for one in TECHNIQUES if one not in PARALLEL]
        found = {START: [*sorted(PARALLEL), *lot.sample(rest, 5)]}
        for one in TECHNIQUES:
            after = set(lot.sample(TECHNIQUES, lot.randint(6, 12)))
            needing = [other for other in TECHNIQUES if self.needs.get(other) == one]
            after |= {other for other in needing if lot.random() < 0.8}
            if one in PARALLEL:
                after |= set(lot.sample(TECHNIQUES, 4))
            found[one] = sorted(after - {one})
        return found


def _other(one: str, lot: random.Random) -> str:
    return lot.choice([other for other in TECHNIQUES if other != one])


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    common = _Domain.draw(domain)
    made = World(common.follows(), lambda name: Prerequisites(common, name))
    if measured:
        made.tallies = made.walked(PROBLEMS, STEPS, domain)
    return made


class Prerequisites:
    """A problem."""

    def __init__(self, domain: _Domain, name: object) -> None:
        self._domain, self._about = domain, (domain.name, name)
        lot = drawn("problem", *self._about)
        self._cap = lot.uniform(2.5, 5)
        self._gains: dict[str, float] = {}
        self._fails: dict[str, float] = {}
        for one in TECHNIQUES:
            works = lot.random() < (0.8 if one in PARALLEL else 0.55)
            share, loss = lot.uniform(0.5, 1.5), lot.gauss(-0.05, 0.1)
            self._gains[one] = domain.gains[one] * share if works else loss
            self._fails[one] = logit(domain.fails[one]) + lot.gauss(0, 0.8)

    def serial(self) -> Code:
        return Code(START, (), 0.0, 0.0, (frozenset(), 0.0), ())

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        used, raw = code.state
        history = (*code.history, element(technique, sample))
        lot = drawn(*self._about, history, repair)
        needed = self._domain.needs.get(technique)
        unmet = needed is not None and needed not in used
        fails = self._fails[technique] + 0.1 * len(code.history) - (0.3 if repair else 0.0)
        fails += drawn(*self._about, sorted(used), technique).gauss(0, 0.9) + unmet
        if lot.random() < chance(fails):
            return None
        gain = self._gains[technique]
        gain = min(gain, -0.05) if unmet else gain
        gain *= 0.3 if self._domain.conflicts.get(technique) in used else 1.0
        gain *= 1.0 if lot.random() < 0.7 else lot.random()
        raw += (0.0 if technique in used else gain) + lot.gauss(0, 0.03)
        used = used | {technique}
        level = capped(raw if used & PARALLEL else raw - 1.5, self._cap)
        measured = level + lot.gauss(0, 0.03)
        return Code(technique, history, level, measured, (used, raw), (history, repair))
