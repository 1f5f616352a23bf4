"""Which names stand together in a prompt: those that may mean the same technique.

Names are chained, each with what is nearest to it of those that are left, by character n-grams of
the name, of what was done and why, of the change of the code (near-equal changes are near), and by
embeddings, where something embeds. The chain is cut in equal parts. It depends on the set of names
alone, and decides nothing.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from regraph_kg.ingest.relabel.candidates import Grams
from regraph_kg.ingest.relabel.usage import NameUse
from regraph_kg.llm.embedder import Embedder
from regraph_kg.models.technique import spelling

Described = tuple[str, NameUse]
"""What something is called, and how it is used."""


def blocks(
    names: Sequence[Described], most: int, embedder: Embedder | None = None
) -> list[list[int]]:
    """The numbers of `names` in parts of `most` at most, those of a part alike."""
    if not names:
        return []
    chain = list(range(len(names))) if len(names) <= most else _chain(_Nearness(names, embedder))
    parts = math.ceil(len(chain) / most)
    bounds = [round(part * len(chain) / parts) for part in range(parts + 1)]
    return [sorted(chain[a:b]) for a, b in pairwise(bounds)]


class _Nearness:
    """How near each of some names is to the others."""

    def __init__(self, names: Sequence[Described], embedder: Embedder | None) -> None:
        self.size = len(names)
        texts = [
            [spelling(name) for name, _ in names],
            [spelling(f"{use.reasoning} {use.detail}") for _, use in names],
            [" ".join(use.diff.split()) for _, use in names],
        ]
        self._views = [(texts_, Grams(texts_)) for texts_ in texts]
        self._vectors: np.ndarray | None = None
        if embedder is not None:
            packed = embedder.embed([f"{name}. {use.reasoning}" for name, use in names])
            self._vectors = np.frombuffer(b"".join(packed), dtype="<f4").reshape(self.size, -1)

    def of(self, number: int) -> np.ndarray:
        """To each of the names."""
        near = sum(
            (grams.cosines(texts[number]) for texts, grams in self._views), np.zeros(self.size)
        )
        return near if self._vectors is None else near + self._vectors @ self._vectors[number]


def _chain(nearness: _Nearness) -> list[int]:
    left = np.ones(nearness.size, dtype=bool)
    chain = [0]
    left[0] = False
    while left.any():
        near = np.where(left, nearness.of(chain[-1]).round(6), -np.inf)
        chain.append(int(near.argmax()))  # of equals the first
        left[chain[-1]] = False
    return chain
