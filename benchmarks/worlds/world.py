"""What a world is: its problems, their codes, and what its graph was told."""

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from regraph_kg.models.graph import EFFECT_SCALE, Neighbourhood, Successor
from regraph_kg.models.technique import Technique

START = "openmp/start"
DEPTH = 8
"""Steps of the walks that teach a graph."""


def drawn(*about: object) -> random.Random:
    """Randomness that depends on `about` alone."""
    return random.Random(hashlib.blake2b(repr(about).encode(), digest_size=16).digest())


def named(names: Sequence[str]) -> tuple[str, ...]:
    """Ids of techniques."""
    return tuple(f"openmp/{name}" for name in names)


@dataclass(frozen=True, slots=True)
class Code:
    """Right code: the technique that led to it, what is true of it, and what was measured."""

    technique: str
    history: tuple[str, ...]
    level: float
    """Log of its true speedup over the serial code."""
    measured: float
    """The same, as the judge timed it."""
    state: Hashable
    """What the world knows of it."""
    text: Hashable
    """Equal for codes that read the same."""


class Problem(Protocol):
    """A problem of a world."""

    def serial(self) -> Code:
        """Where every search begins."""

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        """What an answer is: None, if it is wrong; `code` itself where it did nothing."""


@dataclass
class Tally:
    """What a graph was told of an edge: tries, passes, sum of log gains."""

    tried: int = 0
    passed: int = 0
    gains: float = 0.0


@dataclass
class World:
    """A domain."""

    follows: Mapping[str, Sequence[str]]
    """Technique -> those that follow it, most seen first."""
    problem: Callable[[object], Problem]
    """By any name."""
    tallies: Mapping[tuple[str, str], Tally] = field(default_factory=dict)

    def neighbours(self, technique: str) -> Neighbourhood:
        """What a search is told."""
        following = self.follows.get(technique, ())
        return Neighbourhood(technique, tuple(self._told(technique, one) for one in following))

    def _told(self, source: str, target: str) -> Successor:
        tally = self.tallies.get((source, target), Tally())
        return Successor(
            technique=Technique(id=target, name=target, target="openmp"),
            examples=1,
            tried=tally.tried,
            verified=tally.passed,
            sum_log2_effect=round(EFFECT_SCALE * tally.gains / math.log(2)),
            best_effect=None,
            statistics="device" if tally.tried else "none",
        )

    def walked(self, problems: int, steps: int, seed: object) -> dict[tuple[str, str], Tally]:
        """What random walks on other problems of the domain tell."""
        told: dict[tuple[str, str], Tally] = {}
        for number in range(problems):
            self._walk(self.problem(("walked", seed, number)), steps, drawn(seed, number), told)
        return told

    def _walk(
        self,
        problem: Problem,
        steps: int,
        lot: random.Random,
        told: dict[tuple[str, str], Tally],
    ) -> None:
        code = problem.serial()
        for sample in range(steps):
            following = self.follows.get(code.technique, ())
            if not following or len(code.history) >= DEPTH:
                code = problem.serial()
                continue
            chosen = lot.choice(list(following))
            found = problem.step(code, chosen, sample, 0) or problem.step(code, chosen, sample, 1)
            tally = told.setdefault((code.technique, chosen), Tally())
            tally.tried += 1
            if found is None:
                code = problem.serial()
                continue
            tally.passed += 1
            tally.gains += found.measured - code.measured
            code = found


def capped(level: float, cap: float) -> float:
    """`level` where it is small, never above `cap` by much: machines have roofs."""
    return -math.log(math.exp(-level) + math.exp(-cap)) + math.log(1 + math.exp(-cap))


def chance(logit: float) -> float:
    """The probability of a logit."""
    return 1 / (1 + math.exp(-logit))


def logit(probability: float) -> float:
    """And back."""
    return math.log(probability / (1 - probability))


def most_seen(seen: Counter[tuple[str, str]]) -> dict[str, list[str]]:
    """Technique -> those that follow it, from counts of pairs."""
    found: dict[str, list[str]] = {}
    for (source, target), _ in seen.most_common():
        found.setdefault(source, []).append(target)
    return found
