"""World "weak": hundreds of techniques, few answers pass, few gain much; many names mean the same.

Forty ideas of six names each. A strong model told the graph of them; the one that is asked passes
in 10 %, in 2 % or so of most ideas, and a repair often is as wrong. Gains have heavy tails: most
ideas do next to nothing for a problem, some up to 50x. An answer takes an idea some quarters of the
way; so a second one, under this name or another, may take it further, or does
nothing. Answers that took as much of the same ideas read the same.
"""

from dataclasses import dataclass

from benchmarks.worlds.world import START, Code, World, capped, chance, drawn, logit, named
from regraph_kg.models.prompt import element

IDEAS, NAMES, QUARTERS = 40, 6, 4
TECHNIQUES = named([f"idea-{idea}-{name}" for idea in range(IDEAS) for name in range(NAMES)])
IDEA = {one: at // NAMES for at, one in enumerate(TECHNIQUES)}
FIRST, LATER = 60, 30
"""Names after the start, and after a technique."""
PROBLEMS, STEPS = 30, 120
HARDER = 2.2
"""Logit by which the model that is asked fails more often than the one that told the graph."""


@dataclass
class _Domain:
    """What is common to its problems."""

    name: object
    gains: list[float]
    fails: list[float]

    @classmethod
    def draw(cls, name: object) -> "_Domain":
        lot = drawn("weak", name)
        gains = [
            lot.expovariate(0.9) if lot.random() < 0.25 else lot.gauss(-0.03, 0.08)
            for _ in range(IDEAS)
        ]
        return cls(name, gains, [min(max(lot.betavariate(2, 2), 0.1), 0.9) for _ in range(IDEAS)])

    def follows(self) -> dict[str, list[str]]:
        """Which names follow which, is as the corpus happened to call them."""
        lot = drawn("follows", self.name)
        found = {START: lot.sample(TECHNIQUES, FIRST)}
        for one in TECHNIQUES:
            found[one] = lot.sample([other for other in TECHNIQUES if other != one], LATER)
        return found


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    common = _Domain.draw(domain)
    made = World(common.follows(), lambda name: Weak(common, name))
    if measured:
        made.tallies = made.walked(PROBLEMS, STEPS, domain)
    return made


class Weak:
    """A problem; those of the graph were answered by a stronger model."""

    def __init__(self, domain: _Domain, name: object) -> None:
        self._about = (domain.name, name)
        lot = drawn("problem", *self._about)
        is_told = isinstance(name, tuple) and name[0] == "walked"
        self._harder = 0.0 if is_told else HARDER
        self._cap = lot.uniform(3, 6)
        self._gains = [
            gain * lot.uniform(0.5, 1.5) if lot.random() < 0.6 else lot.gauss(-0.03, 0.08)
            for gain in domain.gains
        ]
        self._fails = [logit(fails) + lot.gauss(0, 0.7) for fails in domain.fails]

    def serial(self) -> Code:
        return Code(START, (), 0.0, 0.0, (0,) * IDEAS, (0,) * IDEAS)

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        idea, taken = IDEA[technique], code.state
        history = (*code.history, element(technique, sample))
        lot = drawn(*self._about, history, repair)
        fails = self._fails[idea] + self._harder + 0.05 * len(code.history)
        fails += drawn(*self._about, taken, idea).gauss(0, 0.8)
        if lot.random() < chance(fails) or (repair and lot.random() < 0.4):
            return None
        quarters = lot.choice((0, 1, 2, 2, 3, 4, 4))
        if quarters <= taken[idea]:
            return code
        after = (*taken[:idea], quarters, *taken[idea + 1 :])
        level = capped(
            sum(gain * part / QUARTERS for gain, part in zip(self._gains, after, strict=True)),
            self._cap,
        )
        measured = level + drawn("noise", *self._about, after).gauss(0, 0.03)
        return Code(technique, history, level, measured, after, after)
