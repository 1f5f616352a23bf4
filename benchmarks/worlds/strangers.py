"""World "strangers": the graph was told of other kinds of problems, and misleads on this one.

Five techniques make the code parallel (4x to 150x), 19 others follow. What a technique gains hangs
on the kind of a problem: the graph knows three kinds, all searches are of a fourth, on which gains
may go the other way (correlation -0.7 to 0.3, drawn for each domain). Pass rates are the model's,
and hold for all kinds but by noise. The second time a technique has what the first one left.
"""

import math
from dataclasses import dataclass

from benchmarks.worlds.world import START, Code, World, capped, chance, drawn, logit, named
from regraph_kg.models.prompt import element

TECHNIQUES = named([f"technique-{number}" for number in range(24)])
PARALLEL = TECHNIQUES[:5]
KINDS = 3
"""Kinds the graph was told of."""
PROBLEMS, STEPS = 30, 80
HERE = "here"


@dataclass
class _Domain:
    """What is common to its problems."""

    name: object
    gains: dict[tuple[object, str], float]
    """By kind and technique."""
    fails: dict[str, float]

    @classmethod
    def draw(cls, name: object) -> "_Domain":
        lot = drawn("strangers", name)
        made = cls(name, {}, {})
        alike = lot.uniform(-0.7, 0.3)
        for one in TECHNIQUES:
            made.fails[one] = min(max(lot.betavariate(2, 3), 0.05), 0.9)
            common = lot.gauss(0, 1)
            deviations: dict[object, float] = {
                kind: 0.8 * common + 0.6 * lot.gauss(0, 1) for kind in range(KINDS)
            }
            deviations[HERE] = alike * common + math.sqrt(1 - alike**2) * lot.gauss(0, 1)
            mean, spread = (3.2, 0.9) if one in PARALLEL else (0.1, 0.4)
            for kind, deviation in deviations.items():
                made.gains[kind, one] = min(max(mean + spread * deviation, -1.0), 5.0)
        return made

    def follows(self) -> dict[str, list[str]]:
        """A random graph that has all first steps."""
        lot = drawn("follows", self.name)
        rest = [one for one in TECHNIQUES if one not in PARALLEL]
        found = {START: [*lot.sample(PARALLEL, len(PARALLEL)), *lot.sample(rest, 4)]}
        for one in TECHNIQUES:
            found[one] = lot.sample([other for other in rest if other != one], 10)
        return found


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    common = _Domain.draw(domain)
    made = World(common.follows(), lambda name: Strangers(common, name))
    if measured:
        made.tallies = made.walked(PROBLEMS, STEPS, domain)
    return made


class Strangers:
    """A problem; one that random walks told the graph of is of a kind it knows."""

    def __init__(self, domain: _Domain, name: object) -> None:
        self._about = (domain.name, name)
        lot = drawn("problem", *self._about)
        is_told = isinstance(name, tuple) and name[0] == "walked"
        kind = lot.randrange(KINDS) if is_told else HERE
        self._cap = lot.uniform(4, 6.5)
        self._gains = {one: domain.gains[kind, one] + lot.gauss(0, 0.15) for one in TECHNIQUES}
        self._fails = {one: logit(fails) + lot.gauss(0, 0.6) for one, fails in domain.fails.items()}

    def serial(self) -> Code:
        return Code(START, (), 0.0, 0.0, ((), 0.0), ())

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        done, raw = code.state
        history = (*code.history, element(technique, sample))
        lot = drawn(*self._about, history, repair)
        fails = self._fails[technique] + 0.08 * len(code.history) - (0.3 if repair else 0.0)
        fails += drawn(*self._about, sorted(done), technique).gauss(0, 0.8)
        if lot.random() < chance(fails):
            return None
        group = "parallel" if technique in PARALLEL else technique
        left = 0.2 ** done.count(group)
        share = 1.0 if lot.random() < 0.6 else lot.random()
        raw += left * share * self._gains[technique] + lot.gauss(0, 0.02)
        level = capped(raw, self._cap)
        measured = level + lot.gauss(0, 0.03)
        return Code(technique, history, level, measured, ((*done, group), raw), (history, repair))
