"""Embedders that need no model, and a small graph for them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regraph_kg.backends.store import GraphStore
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.graph import (
    EmbeddedKind,
    EmbeddingProgress,
    EmbeddingSpace,
    MergePlan,
    Vector,
)
from regraph_kg.models.trajectory import Step
from tests.contract.plans import measured, plan

Floats = NDArray[np.float32]

TINY = EmbeddingSpace("tiny", 4)
OTHER = EmbeddingSpace("other", 3)


class Table:
    """An embedder of texts that are known beforehand; the rest are drawn by lot, for ever."""

    def __init__(self, space: EmbeddingSpace, known: dict[str, Sequence[float]] | None = None):
        self.space = space
        self.known = known or {}
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """By their last line: of an example's text that is its reasoning."""
        last = [text.split("\n")[-1] for text in texts]
        self.asked += last
        return [self.vector(text).packed for text in last]

    def vector(self, text: str, kind: EmbeddedKind = "text") -> Vector:
        lot = np.random.default_rng(list(text.encode()))
        values = self.known.get(text) or lot.normal(size=self.space.dimension)
        unit = np.asarray(values) / np.linalg.norm(values)
        return Vector(self.space, unit.astype("<f4").tobytes(), kind)


def floats(packed: bytes) -> Floats:
    return np.frombuffer(packed, dtype="<f4")


def reasoned(path: str, reasonings: Sequence[str], **fields: object) -> MergePlan:
    """A plan whose steps have these reasonings."""
    given = fields.pop("measurements", ())
    code = fields.pop("code", "")
    steps = tuple(
        Step(
            label=f"Label {name}", reasoning=why, code=f"{code} {why} {number}", measurements=given
        )
        for number, (name, why) in enumerate(zip(path, reasonings, strict=True))
    )
    return plan(path, steps=steps, **fields)  # type: ignore[arg-type]


def embed(store: GraphStore, embedder: "Table | HashEmbedder") -> list[EmbeddingProgress]:
    return list(store.embed(embedder.space, embedder.embed))


def small_graph(store: GraphStore) -> Table:
    """A graph with four examples of one transition and one of another, and their embedder."""
    known: dict[str, Sequence[float]] = {
        "north": (1, 0, 0, 0),
        "north-east": (1, 1, 0, 0),
        "east": (0, 1, 0, 0),
        "south": (-1, 0, 0, 0),
    }
    store.merge(
        [
            reasoned("a", ["north"], problem="saxpy"),
            reasoned("ab", ["east", "north"], problem="scan"),
            reasoned("a", ["south"], problem="scan", measurements=[measured()]),
            reasoned("a", ["north-east"], problem="sort"),
        ]
    )
    return Table(TINY, known)
