"""World "pairs": what a step gains, and how often it fails, hangs on the technique before it.

Twelve techniques with five successors each; the graph was told eight tries of each pair on a
similar problem, which has 80 % in common with every other. A technique gains nothing the second
time.
"""

import math

from benchmarks.worlds.world import START, Code, Tally, World, drawn, named
from regraph_kg.models.prompt import element

TECHNIQUES = named([f"technique-{number}" for number in range(12)])
SUCCESSORS, TRIES = 5, 8
COMMON = 0.8


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    follows = {
        source: drawn("pairs", domain, source).sample(TECHNIQUES, SUCCESSORS)
        for source in (START, *TECHNIQUES)
    }
    made = World(follows, lambda name: Pairs(domain, name))
    if measured:
        known = Pairs(domain, "known")
        edges = [(source, target) for source in follows for target in follows[source]]
        made.tallies = {edge: known.tally(*edge) for edge in edges}
    return made


class Pairs:
    """A problem."""

    def __init__(self, domain: object, name: object) -> None:
        self._domain, self._name = domain, name
        self._known: dict[tuple[str, str], tuple[float, float]] = {}

    def serial(self) -> Code:
        return Code(START, (), 0.0, 0.0, (), ())

    def edge(self, source: str, target: str) -> tuple[float, float]:
        """Log gain, and chance that an answer is wrong."""
        if (source, target) not in self._known:
            about = (self._domain, source, target)
            both, own = drawn(*about).gauss(0, 1), drawn(*about, self._name).gauss(0, 1)
            gain = 0.1 + 0.35 * (math.sqrt(COMMON) * both + math.sqrt(1 - COMMON) * own)
            shared = drawn("shared", *about, self._name).random() < COMMON
            fails = drawn("fails", *about, *(() if shared else (self._name,))).uniform(0.1, 0.8)
            self._known[source, target] = gain, fails
        return self._known[source, target]

    def tally(self, source: str, target: str) -> Tally:
        """What a graph is told of this problem: an answer that fails is mended once."""
        gain, fails = self.edge(source, target)
        lot = drawn("tally", self._domain, source, target)
        passed = sum(lot.random() >= fails**2 for _ in range(TRIES))
        return Tally(TRIES, passed, passed * gain)

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        gain, fails = self.edge(code.technique, technique)
        history = (*code.history, element(technique, sample))
        if drawn(self._domain, self._name, history, repair).random() < fails:
            return None
        used = code.state
        assert isinstance(used, tuple)
        level = code.level + (0.0 if technique in used else gain)
        measured = level + drawn("noise", self._domain, self._name, history).gauss(0, 0.05)
        return Code(technique, history, level, measured, (*used, technique), history)
