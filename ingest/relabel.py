"""Resolves the names that models give techniques: given id, exact name, alias, labeller, else new.

What a label resolves to depends on the label, the vocabulary file, and what the graph knew when
the ingest began; never on the other trajectories of the file, their order or their batch. So a
file ingested twice, or again after a kill, lands on the same techniques.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.base import Target
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.technique import (
    Technique,
    Vocabulary,
    spelling,
    start_id,
    technique_id,
)
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory


class Labeller(Protocol):
    """Recognizes a technique under a name that the vocabulary does not list."""

    def resolve(self, label: str, target: Target) -> Relabelled | None:
        """The technique of `target` that `label` means; None = none, so it is a new one.

        A function of its arguments, so that a label means the same technique every time.
        """


@dataclass(frozen=True, slots=True)
class Labels:
    """A trajectory's labels, resolved, one per step and one per failure, in its order."""

    steps: tuple[Relabelled, ...]
    failures: tuple[Relabelled, ...]


def relabel(trajectory: Trajectory, vocabulary: Vocabulary, labeller: Labeller) -> Labels:
    """Resolve every label within the trajectory's target."""

    def resolve(step: Step | FailedStep) -> Relabelled:
        if step.technique is not None:
            return Relabelled(step.label, step.technique, "given")
        return _resolve(step.label, trajectory.target, vocabulary, labeller)

    return Labels(
        tuple(resolve(step) for step in trajectory.steps),
        tuple(resolve(failure) for failure in trajectory.failures),
    )


def _resolve(label: str, target: Target, vocabulary: Vocabulary, labeller: Labeller) -> Relabelled:
    match = vocabulary.find(label, target)
    if match is not None and match.technique != start_id(target):
        return Relabelled(label, match.technique, match.stage)
    recognized = labeller.resolve(label, target)
    return recognized or Relabelled(label, technique_id(target, label), "new")


LEAST_SCORE = 0.85
LEAST_MARGIN = 0.1


class LexicalLabeller:
    """Recognizes a known name in other words: another order, inflection, filler words.

    Score = cosine of the label's and the name's bags of word stems, weighted by inverse document
    frequency over the target's techniques (a word that no technique has weighs most); of several
    names of a technique the best counts. A label is recognized at `LEAST_SCORE` or more, and
    `LEAST_MARGIN` or more ahead of the runner-up: a wrong merge destroys knowledge, a missed one
    only splits it. Looks at the vocabulary file alone, never at names that ingests have made.
    """

    def __init__(self, techniques: Sequence[Technique]) -> None:
        self._targets = {
            target: _Index([t for t in techniques if t.target == target])
            for target in {t.target for t in techniques}
        }

    def resolve(self, label: str, target: Target) -> Relabelled | None:
        """See `Labeller`."""
        index = self._targets.get(target)
        ranked = index.rank(_stems(label)) if index else []
        if not ranked:
            return None
        (best, score), (second, rival) = (*ranked, ("", 0.0))[:2]
        if score < LEAST_SCORE or score - rival < LEAST_MARGIN:
            return None
        return Relabelled(label, best, "lexical", round(score, 4), second or None)


class _Index:
    """The names of one target's techniques as weighted bags of stems."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        names = {
            technique.id: [_stems(name) for name in (technique.name, *technique.aliases)]
            for technique in techniques
            if technique.id != start_id(technique.target)
        }
        having = Counter(stem for bags in names.values() for stem in set().union(*bags))
        self._rarest = math.log(1 + len(names)) + 1
        self._weight = {
            stem: math.log((1 + len(names)) / (1 + count)) + 1 for stem, count in having.items()
        }
        self._names = {
            technique: [self._unit(bag) for bag in bags if bag] for technique, bags in names.items()
        }

    def rank(self, stems: Counter[str]) -> list[tuple[str, float]]:
        """Techniques that share a stem with `stems`, best first, with their scores in (0, 1]."""
        asked = self._unit(stems)
        scores = (
            (technique, max((_dot(asked, name) for name in names), default=0.0))
            for technique, names in self._names.items()
        )
        return sorted((one for one in scores if one[1] > 0), key=lambda one: (-one[1], one[0]))

    def _unit(self, stems: Counter[str]) -> dict[str, float]:
        weighed = {
            stem: count * self._weight.get(stem, self._rarest) for stem, count in stems.items()
        }
        length = math.hypot(*weighed.values())
        return {stem: weight / length for stem, weight in weighed.items()}


def _dot(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other[stem] for stem, weight in one.items() if stem in other)


def _stems(label: str) -> Counter[str]:
    return Counter(_stem(word) for word in spelling(label).split() if word not in _FILLERS)


def _stem(word: str) -> str:
    """Cut inflection off: tile, tiled and tiling are one stem."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


_SHORTEST_STEM = 3
_ENDINGS = (
    *("ization", "isation", "izing", "ising", "ized", "ised", "ize", "ise"),
    *("ation", "ating", "ated", "ator", "ate", "ance", "ing", "ion", "ed", "er", "e"),
)
_FILLERS = frozenset(
    [
        *("a", "an", "and", "by", "for", "in", "of", "on", "the", "to", "via", "with"),
        *("add", "adding", "apply", "applied", "applying", "based", "code"),
        *("implement", "implementing", "introduce", "introducing", "use", "used", "using"),
        *("optimization", "optimize", "optimized", "optimizing", "strategy", "technique"),
    ]
)
