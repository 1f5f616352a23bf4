"""World "lock-in", a toy: of two first techniques one gains 25x, the other 250x; later ones little.

Every technique is followed by all five. An answer fails in 40 %. The graph knows nothing, or, with
`measured`, misleads: elsewhere the first one gained 10x, the other 3x.
"""

import math

from benchmarks.worlds.world import START, Code, Tally, World, drawn, named
from regraph_kg.models.prompt import element

TECHNIQUES = named(["small", "large", "third", "fourth", "fifth"])
FIRST = {TECHNIQUES[0]: math.log(25), TECHNIQUES[1]: math.log(250)}
ELSEWHERE = (math.log(10), math.log(3))
FAILS = 0.4


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph misleads."""
    follows = {START: list(FIRST)} | {one: list(TECHNIQUES) for one in TECHNIQUES}
    made = World(follows, lambda name: LockIn((domain, name)))
    if measured:
        made.tallies = {
            (START, one): Tally(8, 5, 5 * gain) for one, gain in zip(FIRST, ELSEWHERE, strict=True)
        }
    return made


class LockIn:
    """A problem."""

    def __init__(self, about: object) -> None:
        self._about = about
        lot = drawn("lock-in", about)
        self._later = {one: lot.uniform(0, 0.12) for one in TECHNIQUES}

    def serial(self) -> Code:
        return Code(START, (), 0.0, 0.0, (), ())

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        history = (*code.history, element(technique, sample))
        lot = drawn(self._about, history, repair)
        if lot.random() < FAILS:
            return None
        used = code.state
        later = 0.0 if technique in used else self._later[technique]
        level = code.level + (later if code.history else FIRST[technique])
        measured = level + lot.gauss(0, 0.02)
        return Code(technique, history, level, measured, (*used, technique), history)
