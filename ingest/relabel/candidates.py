"""Which techniques a label may mean: those whose texts lie nearest to it among embeddings.

A technique is as near as the nearest of its name, its aliases and its definition.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from regraph_kg.ingest.relabel.verdict import Shortlist, TechniqueCandidate
from regraph_kg.llm.embedder import Embedder
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique

MOST = 24
"""Candidates of a shortlist."""


class Shortlists:
    """The candidates of every label, within its target."""

    def __init__(self, techniques: Sequence[Technique], embedder: Embedder | None = None) -> None:
        """Rank `techniques`; without an embedder by the built-in one."""
        self._embedder = embedder or HashEmbedder()
        self._labels: dict[str, np.ndarray] = {}
        self._techniques: dict[Target, list[Technique]] = {}
        for technique in sorted(techniques, key=lambda technique: technique.id):
            self._techniques.setdefault(technique.target, []).append(technique)
        self._texts = {target: self._read(group) for target, group in self._techniques.items()}

    def of(self, label: str, target: Target) -> Shortlist:
        """The best `MOST` candidates; fewer where fewer have anything in common with `label`."""
        if target not in self._techniques:
            return Shortlist(label, target, ())
        self.prepare([label])
        owners, vectors = self._texts[target]
        nearest = np.zeros(len(self._techniques[target]))
        np.maximum.at(nearest, owners, vectors @ self._labels[label])
        order = np.argsort(-nearest, kind="stable")[:MOST]
        scores = [(self._techniques[target][row], float(nearest[row])) for row in order]
        return Shortlist(
            label, target, tuple(TechniqueCandidate(*pair) for pair in scores if pair[1] > 0)
        )

    def prepare(self, labels: Iterable[str]) -> None:
        """Embed many labels at once, which is what embedders are fast at."""
        missing = [label for label in dict.fromkeys(labels) if label not in self._labels]
        self._labels.update(zip(missing, vectors_of(missing, self._embedder), strict=True))

    def _read(self, techniques: Sequence[Technique]) -> tuple[np.ndarray, np.ndarray]:
        """The owner of each text, and the texts' vectors."""
        texts = [
            (row, text)
            for row, technique in enumerate(techniques)
            for text in (technique.name, *technique.aliases, technique.definition)
            if text
        ]
        owners = np.array([row for row, _ in texts], dtype=np.intp)
        return owners, vectors_of([text for _, text in texts], self._embedder)


def vectors_of(texts: Sequence[str], embedder: Embedder) -> np.ndarray:
    """The texts' unit vectors, one a row."""
    packed = embedder.embed(texts) if texts else []
    shape = (len(texts), embedder.space.dimension)
    return np.frombuffer(b"".join(packed), dtype="<f4").reshape(shape)
