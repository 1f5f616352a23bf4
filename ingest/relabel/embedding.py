"""Nearness of names by embeddings: the techniques that a name may mean, and names that are alike.

A technique is as near as the nearest of its name, its aliases and its definition. Nearness alone
never merges: it says what a model looks at (model.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from regraph_kg.llm.ngrams import vectors_of
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique

MOST = 10  # candidates of a name, all of which its prompt shows


@dataclass(frozen=True, slots=True)
class TechniqueCandidate:
    """A technique that a label may mean, and how near it is: a cosine of embeddings."""

    technique: Technique
    score: float


class Shortlists:
    """The candidates of every label, within its target."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        self._texts: dict[Target, tuple[list[Technique], np.ndarray]] = {}
        for target in sorted({technique.target for technique in techniques}):
            # One row of vectors for each text; its technique stands at the same place of the list.
            rows = [
                (technique, text)
                for technique in sorted(techniques, key=lambda technique: technique.id)
                for text in (technique.name, *technique.aliases, technique.definition)
                if technique.target == target and text
            ]
            vectors = vectors_of([text for _, text in rows])
            self._texts[target] = [technique for technique, _ in rows], vectors

    def nearest(self, label: str, target: Target) -> tuple[TechniqueCandidate, ...]:
        """The best `MOST`, best first; fewer where fewer have anything in common with `label`."""
        owners, vectors = self._texts.get(target, ([], None))
        best: dict[str, TechniqueCandidate] = {}
        scores = [] if vectors is None else vectors @ vectors_of([label])[0]
        for technique, score in zip(owners, map(float, scores), strict=True):
            if score > max(0.0, best[technique.id].score if technique.id in best else 0.0):
                best[technique.id] = TechniqueCandidate(technique, score)
        # By id among equals, so that machines agree.
        ranked = sorted(best.values(), key=lambda one: (-one.score, one.technique.id))
        return tuple(ranked[:MOST])


def alike_parts(texts: Sequence[str], most: int) -> list[list[int]]:
    """The numbers of `texts` in equal parts of `most` at most: of a chain of nearest ones, cut."""
    chain = list(range(len(texts)))
    if len(texts) > most:
        vectors = vectors_of(texts)
        chain, rest = [0], set(chain[1:])
        while rest:
            # Rounded: a machine's last digit must not change the order. Of equals the first.
            near = (vectors @ vectors[chain[-1]]).round(6)
            chain.append(min(rest, key=lambda number: (-near[number], number)))
            rest.remove(chain[-1])
    count = math.ceil(len(texts) / most)
    bounds = [round(part * len(texts) / count) for part in range(count + 1)] if count else []
    return [sorted(chain[a:b]) for a, b in pairwise(bounds)]
