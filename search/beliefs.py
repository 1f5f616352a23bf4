"""What a step promises: foretold by the graph's measured steps, then learned from the run's own.

`regraph next` ranks by `Foretelling`; the `Beliefs` of a search begin with it. Symbols are those of
method.md 3.2, gains natural logarithms. Not here: the choice of a step (methods/mcgs.py).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from regraph_kg.models.graph import EFFECT_SCALE, Successor, Tries

SHRUNK = 7.0  # tries as which a wider mean weighs against a nearer one
UNKNOWN_GAIN = 0.1  # log gain of a step of which nothing is known
ELSEWHERE = 0.5  # weight of one try on another device of the target
TRIES = 8.0  # most tries of the graph that count against samples of this run
RATE_WEIGHT = 4.0  # samples that an even chance weighs against how often samples of this run passed
# Weight of the foretold gain against this run's of the same source, and of the same technique.
SURPRISE_WEIGHT = 5.0
SPREAD = 0.8  # sigma0: standard deviation of a log gain around what was believed
# Large gains are known less well: this share of a gain is added to its spread.
RELATIVE_SPREAD = 0.3
RULED_PASSES = 0.8  # how often what a transform makes is right, before it was replayed
REPLAYED = 2.0  # replays as which what steps tell weighs: the same change is carried out again
OWN_SPREAD = 0.1  # share of the variance that stays for a well-known edge: codes differ


@dataclass(frozen=True, slots=True)
class Foretold:
    """What is believed of a step before a run has tried it."""

    passes: float
    gain: float
    chosen: float = 1.0  # how often it comes next here, beside the step that most often does
    tried: float = 0.0  # the graph's tries that speak for it

    @property
    def promise(self) -> float:
        """What a try gains; what seldom comes next seldom fits."""
        return self.passes * self.gain * (self.chosen if self.gain > 0 else 1.0)

    def drawn_to(self, tally: "_Tally", tries: float) -> "Foretold":
        """Draw it to nearer tries, which are some of `tries`."""
        tried, passed, gains = tally
        return Foretold(
            (SHRUNK * self.passes + passed) / (SHRUNK + tried),
            (SHRUNK * self.gain + gains) / (SHRUNK + passed),
            (SHRUNK * self.chosen + tried) / (SHRUNK + tries),
        )

    def by_transform(self, replays: Sequence[Tries]) -> "Foretold":
        """The same step where a transform makes it, which has its own `replays`, from wide to near.

        That it fires tells that it fits, the more surely the oftener it was right.
        """
        passes, gain, chosen = RULED_PASSES, self.gain, self.chosen
        for one in replays:
            passes = (REPLAYED * passes + one.right) / (REPLAYED + one.tried)
            gain = (REPLAYED * gain + _log(one.sum_log2)) / (REPLAYED + one.right)
            chosen = (REPLAYED * chosen + one.right) / (REPLAYED + one.tried)
        return Foretold(passes, gain, chosen, sum(one.tried for one in replays[:1]))


_Tally = tuple[float, float, float]  # tries, those that passed, the sum of their log gains
_Figures = Mapping[str, tuple[_Tally, _Tally]]  # by technique: all, and those on codes of its kind


class Foretelling:
    """What measured steps tell of those that follow one technique.

    Each mean is drawn to a wider one, from near to wide: from here on codes of the same kind, from
    here, after any technique on such codes, after any, any step from here.
    """

    def __init__(self, pooled: Iterable[Successor], followers: Iterable[Successor]) -> None:
        """`pooled`: all techniques after any other; `followers`: with figures of their edges."""
        pooled, followers = tuple(pooled), tuple(followers)
        self._wide, self._near = _figures(pooled), _figures(followers)
        self._known = {one.technique.id: one for one in (*pooled, *followers)}
        self._all, self._here = (
            (_sum(figures, 0), _sum(figures, 1)) for figures in (self._wide, self._near)
        )
        tried, passed, _ = self._all[0]
        share = 1 / max(1, sum(every[0] > 0 for every, _ in self._wide.values()))
        # a first step on a GPU gains a hundredfold, whichever it is; a fifth step little
        any_step = Foretold(0.5, UNKNOWN_GAIN).drawn_to(self._here[0], 0.0)
        self._any = Foretold((1 + passed) / (2 + tried), any_step.gain, share)
        self._most = max((self._drawn(name).chosen for name in self._near), default=0.0)

    def of(self, technique: str, *, ruled: bool = False) -> Foretold:
        """What is foretold of a step, whether it was seen to follow or not.

        `ruled`: a transform makes it; else the asked model does.
        """
        told, known = self._drawn(technique), self._known.get(technique)
        chosen = min(1.0, told.chosen / self._most) if self._most else 1.0
        told = replace(told, chosen=chosen, tried=self._near.get(technique, _NOTHING)[0][0])
        if ruled:
            return told.by_transform((known.ruled, known.ruled_alike) if known else ())
        if known is not None and known.own.tried:
            passes = SHRUNK * told.passes + known.own.right
            return replace(told, passes=passes / (SHRUNK + known.own.tried))
        return told

    def _drawn(self, technique: str) -> Foretold:
        told = self._any
        for figures, tries in ((self._wide, self._all), (self._near, self._here)):
            for tally, (tried, _, _) in zip(figures.get(technique, _NOTHING), tries, strict=True):
                told = told.drawn_to(tally, tried)
        return told


_NOTHING: tuple[_Tally, _Tally] = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def _figures(successors: Iterable[Successor]) -> _Figures:
    """Tries on this device, and on others as a part."""
    found = dict[str, tuple[_Tally, _Tally]]()
    for one in successors:
        weight = ELSEWHERE if one.statistics == "other-devices" else 1.0
        here, elsewhere, alike = one.here, one.elsewhere, one.alike
        every = (
            weight * here.tried + ELSEWHERE * elsewhere.tried,
            weight * here.right + ELSEWHERE * elsewhere.right,
            _log(weight * here.sum_log2 + ELSEWHERE * elsewhere.sum_log2),
        )
        found[one.technique.id] = every, (alike.tried, alike.right, _log(alike.sum_log2))
    return found


def _log(sum_log2: float) -> float:
    """A sum of log2 effects as one of natural logarithms."""
    return sum_log2 / EFFECT_SCALE * math.log(2)


def _sum(figures: _Figures, place: int) -> _Tally:
    tried, passed, gains = (sum(pair[place][n] for pair in figures.values()) for n in range(3))
    return tried, passed, gains


@dataclass(slots=True, eq=False)
class BelievedEdge:
    """A pair of techniques: what is foretold of it, and this run's counts."""

    source: str
    target: str
    foretold: Foretold
    ruled: bool = False  # whether a transform makes the step
    sampled: int = 0  # samples of this run that passed or failed
    verified: int = 0
    total: float = 0.0  # sum of this run's gains


@dataclass(frozen=True, slots=True)
class Outlook:
    """The belief in a step: its chance to pass, its gain and the gain's spread."""

    passes: float
    gain: float
    spread: float


@dataclass(slots=True)
class Beliefs:
    # by the source and by the target of edges: how many gains, and how far they were from beliefs
    _learned: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _surprise: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    # samples of this run, and those that passed: of transforms (True), and of the model
    _sampled: Counter[bool] = field(default_factory=Counter)
    _right: Counter[bool] = field(default_factory=Counter)

    def outlook(self, edge: BelievedEdge) -> Outlook:
        """p_e, m_e and s_e."""
        told = edge.foretold
        begun = told.passes if edge.ruled else 0.5
        sampled, right = self._sampled[edge.ruled], self._right[edge.ruled]
        rate = (RATE_WEIGHT * begun + right) / (RATE_WEIGHT + sampled)
        tried = min(TRIES, told.tried)
        passes = (2 * rate + tried * told.passes + edge.verified) / (2 + tried + edge.sampled)
        prior = told.gain
        for end in (f"{edge.source} ", edge.target):
            prior += self._surprise[end] / (self._learned[end] + SURPRISE_WEIGHT)
        evidence = 1 + edge.verified
        gain = (prior + edge.total) / evidence
        spread = SPREAD + RELATIVE_SPREAD * abs(gain)
        return Outlook(passes, gain, spread * math.sqrt(1 / evidence + OWN_SPREAD))

    def fail(self, edge: BelievedEdge) -> None:
        """A sample of it failed."""
        self._sampled[edge.ruled] += 1
        edge.sampled += 1

    def learn(self, edge: BelievedEdge, gain: float) -> None:
        """A sample of it passed with this gain."""
        self._sampled[edge.ruled] += 1
        self._right[edge.ruled] += 1
        deviation = gain - self.outlook(edge).gain
        for end in (f"{edge.source} ", edge.target):
            self._learned[end] += 1
            self._surprise[end] += deviation
        edge.sampled += 1
        edge.verified += 1
        edge.total += gain


def expected_improvement(mean: float, spread: float) -> float:
    """E max(0, X) of a normal X (Jones, Schonlau and Welch 1998)."""
    z = mean / spread
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return mean * (1 + math.erf(z / math.sqrt(2))) / 2 + spread * density
