"""Beliefs about a graph's edges: whether a step along one passes, and its gain.

They start from the graph and learn from the run; the symbols are those of method.md 3.2.
Gains are natural logarithms of speedups. Not here: the choice of a step (methods/mcgs.py).
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from regraph_kg.models.graph import EFFECT_SCALE, Successor

# Bonus of a neighbourhood's first edge, half for the second: frequent steps gain more.
RANK_GAIN = 0.1
# Weights of the graph's gain of an edge against its siblings' and against edges to its target.
SIBLINGS_WEIGHT, KIN_WEIGHT = 6.0, 4.0
# Samples that an even chance weighs against how often samples of this run passed.
RATE_WEIGHT = 4.0
# Weight of the settings against the later steps of this run.
LATER_WEIGHT = 4.0
# Large gains are known less well: this share of a gain is added to its spread.
RELATIVE_SPREAD = 0.3
# Share of the variance that stays for a well-known edge: codes differ.
OWN_SPREAD = 0.1


@dataclass(slots=True, eq=False)
class BelievedEdge:
    """A pair of techniques: the graph's counts and this run's."""

    source: str
    target: str
    tried: float
    passed: float
    gains: float  # sum of the graph's log gains
    rank: int  # place in the neighbourhood, from 0
    sampled: int = 0  # samples of this run that passed or failed
    verified: int = 0
    total: float = 0.0  # sum of this run's gains


@dataclass(frozen=True, slots=True)
class Lesson:
    """A passed sample of an edge, so that it can be taken back."""

    edge: BelievedEdge
    gain: float
    deviation: float  # of the gain from what was believed then


@dataclass(slots=True)
class _Mean:
    """Sum and count of deviations."""

    n: int = 0
    total: float = 0.0

    def learn(self, deviation: float) -> None:
        self.n += 1
        self.total += deviation

    def shrunk(self, weight: float) -> float:
        """The mean, drawn to 0 by `weight` zeros."""
        return self.total / (self.n + weight)


@dataclass(frozen=True, slots=True)
class Outlook:
    """The belief in a step: its chance to pass, its gain and the gain's spread."""

    passes: float
    gain: float
    spread: float


@dataclass(slots=True)
class Beliefs:
    """The beliefs of one run. Steps from `start` are apart: they gain far more than later ones."""

    start: str
    tries: float = 8.0  # most tries of the graph that count for an edge
    weight: float = 1.0  # k: largest weight of the graph's gain, in gains of this run
    gain: float = 0.15  # mu0: log gain of an edge of which nothing is known
    spread: float = 0.8  # sigma0: standard deviation of a log gain around what was believed
    other_devices: float = 0.5  # weight of one try on another device of the target
    _siblings: defaultdict[str, _Mean] = field(default_factory=lambda: defaultdict(_Mean))
    """Deviations of gains from beliefs, by source."""
    _kin: defaultdict[str, _Mean] = field(default_factory=lambda: defaultdict(_Mean))  # by target
    _later: _Mean = field(default_factory=_Mean)
    _squares: float = 0.0
    _sampled: int = 0
    _right: int = 0  # samples of this run, and those that passed

    def edge(
        self, source: str, successor: Successor, rank: int, *, free: bool = False
    ) -> BelievedEdge:
        """An edge from the graph's counts, of `tries` tries at most.

        A declined technique counts as a try without gain. `free`: the code before it came of free
        choices, which leave less to be gained than the start's edges gained.
        """
        other = self.other_devices
        share = other if successor.statistics == "other-devices" else 1.0
        tried = share * successor.tried + other * successor.tried_elsewhere + successor.declined
        passed = share * successor.verified + other * successor.verified_elsewhere
        log2 = share * successor.sum_log2_effect + other * successor.sum_log2_elsewhere
        part = min(1.0, self.tries / tried) if tried else 0.0
        gains = part * passed * self.gain if free else part * log2 / EFFECT_SCALE * math.log(2)
        target = successor.technique.id
        return BelievedEdge(source, target, part * tried, part * passed, gains, rank)

    def outlook(self, edge: BelievedEdge) -> Outlook:
        """p_e, m_e and s_e."""
        rate = (RATE_WEIGHT / 2 + self._right) / (RATE_WEIGHT + self._sampled)
        passes = (2 * rate + edge.passed + edge.verified) / (2 + edge.tried + edge.sampled)
        unknown = self.gain + RANK_GAIN / (1 + edge.rank)
        prior = (unknown + edge.gains) / (1 + edge.passed)
        if edge.source in self._siblings:
            prior += self._siblings[edge.source].shrunk(SIBLINGS_WEIGHT)
        if edge.target in self._kin:
            prior += self._kin[edge.target].shrunk(KIN_WEIGHT)
        variance = self.spread**2
        if edge.source != self.start:
            prior += self._later.shrunk(LATER_WEIGHT)
            variance = (LATER_WEIGHT * variance + self._squares) / (LATER_WEIGHT + self._later.n)
        weight = min(1 + edge.passed, self.weight)
        evidence = weight + edge.verified
        gain = (weight * prior + edge.total) / evidence
        spread = math.sqrt(variance) + RELATIVE_SPREAD * abs(gain)
        return Outlook(passes, gain, spread * math.sqrt(1 / evidence + OWN_SPREAD))

    def fail(self, edge: BelievedEdge) -> None:
        """A sample of it failed."""
        self._sampled += 1
        edge.sampled += 1

    def learn(self, edge: BelievedEdge, gain: float) -> Lesson:
        """A sample of it passed with this gain."""
        self._sampled += 1
        self._right += 1
        deviation = gain - self.outlook(edge).gain
        self._siblings[edge.source].learn(deviation)
        self._kin[edge.target].learn(deviation)
        if edge.source != self.start:
            self._later.learn(deviation)
            self._squares += deviation**2
        edge.sampled += 1
        edge.verified += 1
        edge.total += gain
        return Lesson(edge, gain, deviation)

    def unlearn(self, lesson: Lesson) -> None:
        """A sample that seemed to have passed has failed."""
        edge, deviation = lesson.edge, lesson.deviation
        self._right -= 1
        edge.verified -= 1
        edge.total -= lesson.gain
        means = [self._siblings[edge.source], self._kin[edge.target]]
        if edge.source != self.start:
            means.append(self._later)
            self._squares -= deviation**2
        for mean in means:
            mean.n -= 1
            mean.total -= deviation


def expected_improvement(mean: float, spread: float) -> float:
    """E max(0, X) of a normal X (Jones, Schonlau and Welch 1998)."""
    if spread <= 0:
        return max(0.0, mean)
    z = mean / spread
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return mean * (1 + math.erf(z / math.sqrt(2))) / 2 + spread * density
