"""Which techniques a label may mean: two rankings of the vocabulary, fused by reciprocal rank.

One ranking is by TF-IDF over the character 3- to 5-grams of name, aliases and definition, the other
by embeddings, where something embeds. A technique is as near as the nearest of its texts.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from regraph_kg.ingest.relabel.verdict import Shortlist, TechniqueCandidate
from regraph_kg.llm.embedder import Embedder
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, spelling

MOST = 24
"""Candidates of a shortlist."""
GRAMS = (3, 4, 5)
RANK_OFFSET = 60
"""Of reciprocal rank fusion: a ranking's first counts 1/61, its second 1/62, .. as published."""


class Shortlists:
    """The candidates of every label, within its target."""

    def __init__(self, techniques: Sequence[Technique], embedder: Embedder | None = None) -> None:
        """Rank `techniques`; without an embedder by n-grams alone."""
        targets = {technique.target for technique in techniques}
        self._targets = {
            target: _Ranking([one for one in techniques if one.target == target], embedder)
            for target in sorted(targets)
        }

    def of(self, label: str, target: Target) -> Shortlist:
        """The best `MOST` candidates; fewer where fewer have anything in common with `label`."""
        ranking = self._targets.get(target)
        return Shortlist(label, target, ranking.best(label) if ranking else ())

    def prepare(self, labels: Iterable[tuple[Target, str]]) -> None:
        """Embed many labels at once, which is what embedders are fast at."""
        by_target: dict[Target, list[str]] = defaultdict(list)
        for target, label in labels:
            by_target[target].append(label)
        for target, names in by_target.items():
            if ranking := self._targets.get(target):
                ranking.embed(names)


class _Ranking:
    """The techniques of one target, ranked for a label."""

    def __init__(self, techniques: Sequence[Technique], embedder: Embedder | None) -> None:
        self._techniques = tuple(sorted(techniques, key=lambda one: one.id))
        texts = [
            (row, text)
            for row, one in enumerate(self._techniques)
            for text in (one.name, *one.aliases, one.definition)
            if text
        ]
        self._grams = Grams([spelling(text) for _, text in texts])
        self._rows = np.array([row for row, _ in texts], dtype=np.intp)
        self._embedder = embedder
        self._labels: dict[str, np.ndarray] = {}
        self._vectors = self._embedded([text for _, text in texts]) if embedder else None

    def best(self, label: str) -> tuple[TechniqueCandidate, ...]:
        lexical = self._nearest(self._grams.cosines(spelling(label)))
        fused = _reciprocal_ranks(lexical)
        most = 1 / (RANK_OFFSET + 1)
        embedded = np.zeros(len(self._techniques))
        if self._vectors is not None:
            if label not in self._labels:
                self.embed([label])
            embedded = self._nearest(self._vectors @ self._labels[label])
            fused += _reciprocal_ranks(embedded)
            most *= 2
        order = sorted(range(len(fused)), key=lambda row: (-fused[row], row))
        return tuple(
            TechniqueCandidate(
                self._techniques[row],
                float(fused[row] / most),
                float(lexical[row]),
                float(embedded[row]),
            )
            for row in order[:MOST]
            if fused[row] > 0
        )

    def embed(self, labels: Sequence[str]) -> None:
        if self._embedder is None:
            return
        missing = [label for label in dict.fromkeys(labels) if label not in self._labels]
        self._labels.update(zip(missing, self._embedded(missing), strict=True))

    def _embedded(self, texts: Sequence[str]) -> np.ndarray:
        assert self._embedder is not None
        packed = self._embedder.embed(texts) if texts else []
        dimension = self._embedder.space.dimension
        return np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(packed), dimension)

    def _nearest(self, cosines: np.ndarray) -> np.ndarray:
        """The best of each technique's texts; never below zero."""
        nearest = np.zeros(len(self._techniques))
        np.maximum.at(nearest, self._rows, cosines)
        return nearest


class Grams:
    """Texts as bags of character n-grams, weighted by inverse document frequency."""

    def __init__(self, texts: Sequence[str]) -> None:
        bags = [_grams(text) for text in texts]
        having = Counter(gram for bag in bags for gram in bag)
        self._size = len(texts)
        self._weight = {
            gram: math.log((1 + self._size) / (1 + count)) + 1 for gram, count in having.items()
        }
        self._rarest = math.log(1 + self._size) + 1
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, bag in enumerate(bags):
            for gram, weight in self._unit(bag).items():
                postings[gram].append((number, weight))
        self._postings = {
            gram: (
                np.array([number for number, _ in found], dtype=np.intp),
                np.array([weight for _, weight in found]),
            )
            for gram, found in postings.items()
        }

    def cosines(self, text: str) -> np.ndarray:
        """With each of the texts."""
        found = np.zeros(self._size)
        for gram, weight in self._unit(_grams(text)).items():
            if gram in self._postings:
                numbers, weights = self._postings[gram]
                found[numbers] += weight * weights
        return found

    def _unit(self, bag: Counter[str]) -> dict[str, float]:
        weighed = {
            gram: (1 + math.log(count)) * self._weight.get(gram, self._rarest)
            for gram, count in bag.items()
        }
        length = math.hypot(*weighed.values())
        return {gram: weight / length for gram, weight in weighed.items()}


def _grams(text: str) -> Counter[str]:
    padded = f" {text} "
    return Counter(
        padded[start : start + size]
        for size in GRAMS
        for start in range(len(padded) - size + 1)
        if text
    )


def _reciprocal_ranks(scores: np.ndarray) -> np.ndarray:
    """1 / (offset + rank) of each; 0 where the score is 0. Equal scores: by row."""
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    ranks = np.zeros(len(scores))
    for rank, row in enumerate(order, 1):
        if scores[row] > 0:
            ranks[row] = 1 / (RANK_OFFSET + rank)
    return ranks
