"""World "bottlenecks", our own: a kernel's time is a sum of parts, and only what is large pays.

Traffic and arithmetic overlap (the larger counts), latency, launches and transfers do not. Each of
20 techniques shrinks a part or two, and may make another one larger; how much, is the domain's and
the problem's. Where it is applied again, little of its effect is left. So a gain hangs on what was
done before: less traffic gains nothing while arithmetic takes longer.
"""

import math
from collections import Counter
from dataclasses import dataclass

from benchmarks.worlds.world import START, Code, World, chance, drawn, logit, most_seen, named
from regraph_kg.models.prompt import element

PARTS = ("traffic", "arithmetic", "latency", "launches", "transfers")
TECHNIQUES = named([f"technique-{number}" for number in range(20)])
FIRST = TECHNIQUES[:4]
"""Make the code parallel: one of them comes first, a second one gains little."""
PROBLEMS, STEPS = 30, 80
"""Whose random steps the graph was told."""
AGAIN = 0.15
"""Share of an effect (log) that a technique has the second time."""


@dataclass
class _Domain:
    """What is common to its problems."""

    name: object
    effects: dict[str, dict[str, float]]
    """Technique -> part -> log of what it leaves of it."""
    fails: dict[str, float]

    @classmethod
    def draw(cls, name: object) -> "_Domain":
        lot = drawn("bottlenecks", name)
        made = cls(name, {}, {})
        for one in TECHNIQUES:
            made.fails[one] = lot.betavariate(2, 3.5)
            if one in FIRST:
                made.effects[one] = {part: -lot.uniform(0.7, 2.2) for part in PARTS[:3]}
                continue
            shrunk = lot.sample(PARTS, lot.choice((1, 1, 2)))
            made.effects[one] = {part: -lot.uniform(0.1, 1.4) for part in shrunk}
            if lot.random() < 0.4:
                other = lot.choice([part for part in PARTS if part not in shrunk])
                made.effects[one][other] = lot.uniform(0.05, 0.5)
        return made

    def follows(self) -> dict[str, list[str]]:
        """A graph in which some pairs are seen more often than others."""
        lot = drawn("follows", self.name)
        rest = [one for one in TECHNIQUES if one not in FIRST]
        seen = Counter({(START, one): lot.randint(5, 20) for one in FIRST})
        seen.update({(START, one): lot.randint(1, 4) for one in lot.sample(rest, 4)})
        for one in TECHNIQUES:
            others = [other for other in rest if other != one]
            seen.update({(one, other): lot.randint(1, 9) for other in lot.sample(others, 9)})
        return most_seen(seen)


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    common = _Domain.draw(domain)
    made = World(common.follows(), lambda name: Bottlenecks(common, name))
    if measured:
        made.tallies = made.walked(PROBLEMS, STEPS, domain)
    return made


class Bottlenecks:
    """A problem."""

    def __init__(self, domain: _Domain, name: object) -> None:
        self._about = (domain.name, name)
        lot = drawn("problem", *self._about)
        sizes = [lot.gammavariate(0.7, 1.0) + 0.02 for _ in PARTS]
        self._serial = tuple(math.log(size / sum(sizes)) for size in sizes)
        self._effects = {
            one: {part: effect * lot.uniform(0.4, 1.4) for part, effect in effects.items()}
            for one, effects in domain.effects.items()
        }
        self._fails = {one: logit(fails) + lot.gauss(0, 0.8) for one, fails in domain.fails.items()}

    def serial(self) -> Code:
        return Code(START, (), 0.0, 0.0, (self._serial, frozenset(), 0.0), ())

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        parts, used, lost = code.state
        history = (*code.history, element(technique, sample))
        lot = drawn(*self._about, history, repair)
        fails = self._fails[technique] + 0.08 * len(code.history) - (0.4 if repair else 0.0)
        fails += drawn(*self._about, sorted(used), technique).gauss(0, 1.0)
        if lot.random() < chance(fails):
            return None
        done = technique in used or (technique in FIRST and not used.isdisjoint(FIRST))
        share = (AGAIN if done else 1.0) * (1.0 if lot.random() < 0.7 else lot.random())
        effects = self._effects[technique]
        parts = tuple(
            size + share * effects.get(part, 0.0) for part, size in zip(PARTS, parts, strict=True)
        )
        lost += lot.expovariate(5) if lot.random() < 0.2 else 0.0
        level = self._level(parts) - lost
        state = (parts, used | {technique}, lost)
        return Code(technique, history, level, level + lot.gauss(0, 0.03), state, (history, repair))

    def _level(self, parts: tuple[float, ...]) -> float:
        return _log_seconds(self._serial) - _log_seconds(parts)


def _log_seconds(parts: tuple[float, ...]) -> float:
    traffic, arithmetic, *others = (math.exp(part) for part in parts)
    return math.log(max(traffic, arithmetic) + sum(others))
