"""Vectors of examples in the graph: their state, and the examples nearest to a vector.

(:Meta) names the slot, a property of TRANSITIONs with the vector of the text; another property of
the slot has the vector of the code. There are two slots, so that one serves while the other gets
another model's vectors (`backends/embeddings.py`). On a pair, and in a small graph, all examples
are compared, which is exact; in a large graph an index proposes candidates to compare.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.errors import BadInput
from regraph_kg.models.graph import EmbeddedKind, EmbeddingSpace, Example, Vector
from regraph_kg.models.target import Target

VECTORS = ("embedding", "embedding_2", "code_embedding", "code_embedding_2")
SLOTS = VECTORS[:2]
KINDS: tuple[EmbeddedKind, ...] = ("text", "code")
SCANNED = 2000
"""Examples of the largest graph without an index."""
FEWEST_CANDIDATES = 200
"""Fewest candidates of an index: fewer miss too many of the nearest (docs/embeddings.md)."""
OVERSAMPLED = 10
"""Candidates for each example asked for."""
MOST_CANDIDATES = 20_000
"""Most candidates: where a filter leaves too few of them, all examples are compared."""


@dataclass(frozen=True, slots=True)
class VectorState:
    """The state of the graph's vectors in (:Meta)."""

    space: EmbeddingSpace | None
    slot: str
    following: EmbeddingSpace | None
    """The space of a begun change, in the other slot."""

    @property
    def other_slot(self) -> str:
        """The slot that does not serve."""
        return SLOTS[1 - SLOTS.index(self.slot)]


def place(slot: str, kind: EmbeddedKind) -> str:
    """A slot's property for the vectors of texts, or of codes."""
    return slot if kind == "text" else f"code_{slot}"


def vector_state(ask: Query) -> VectorState:
    """The state of the graph's vectors."""
    (row,) = ask("vectors_state")
    return VectorState(
        space=_space(row["model"], row["dimension"], row["prompts"]),
        slot=row["slot"] or SLOTS[0],
        following=_space(row["next_model"], row["next_dimension"], row["next_prompts"]),
    )


def claimed(space: EmbeddingSpace) -> dict[str, object]:
    """The properties of (:Meta) that name the graph's space."""
    return {
        "embedding_model": space.model,
        "dimension": space.dimension,
        "embedding_prompts": space.prompts or None,
    }


def begun(space: EmbeddingSpace | None) -> dict[str, object]:
    """The properties of (:Meta) that name the space of a begun change; None: of none."""
    return {
        "next_model": space and space.model,
        "next_dimension": space and space.dimension,
        "next_prompts": (space and space.prompts) or None,
    }


def of_pair(ask: Query, vector: Vector | None, **choice: object) -> tuple[Example, ...]:
    """Examples of one transition, nearest to `vector` first, if given; exact."""
    rows = ask(
        "examples",
        slot=_slot(ask, vector) if vector else SLOTS[0],
        vector=floats(vector.packed) if vector else None,
        **choice,
    )
    return _examples(rows)


def nearest(
    ask: Query, vector: Vector, target: Target | None, limit: int, exclude_problem: str | None
) -> tuple[Example, ...]:
    """The nearest of all examples, or of those for `target`."""
    slot = _slot(ask, vector)
    parameters: dict[str, Any] = {
        "slot": slot,
        "vector": floats(vector.packed),
        "language": target,
        "exclude_problem": exclude_problem,
        "limit": limit,
    }
    serving = any(row["slot"] == slot and row["online"] for row in ask("vectors_indexes"))
    candidates = max(FEWEST_CANDIDATES, OVERSAMPLED * limit)
    while serving and candidates <= MOST_CANDIDATES:
        rows = ask("vectors_nearest", candidates=candidates, **parameters)
        if len(rows) == limit:
            return _examples(rows)
        candidates *= 4
    return _examples(ask("vectors_scan", **parameters))


def floats(packed: bytes) -> list[float]:
    """A vector as the stores take it."""
    values: list[float] = np.frombuffer(packed, dtype="<f4").tolist()
    return values


def _slot(ask: Query, vector: Vector) -> str:
    """The property of the vectors that compare with `vector`."""
    state = vector_state(ask)
    if state.space is None:
        raise BadInput("the graph holds no embeddings yet: make them with regraph graph update")
    if state.space != vector.space:
        raise space_mismatch(state.space, vector.space)
    return place(state.slot, vector.kind)


def space_mismatch(graph_space: EmbeddingSpace, other_space: EmbeddingSpace) -> BadInput:
    """The error for a vector of another space than the graph's."""
    return BadInput(
        f"the graph holds embeddings {graph_space.difference(other_space)}: name its embedder"
        " (REGRAPH_EMBEDDER), or change the graph with regraph graph update"
    )


def _examples(rows: Iterable[GraphRow]) -> tuple[Example, ...]:
    return tuple(
        Example.read(
            row["example"]
            | {"source": row["source"], "target": row["target"], "similarity": _similarity(row)}
        )
        for row in rows
        if Example.is_complete(row["example"])
    )


def _similarity(row: GraphRow) -> float | None:
    """The cosine: scores are cosines in one store, (1 + cosine) / 2 in the other."""
    if row["score"] is None:
        return None
    cosine = (row["score"] - row["zero"]) / (1 - row["zero"])
    return float(min(1.0, max(-1.0, cosine)))


def _space(model: str | None, dimension: int | None, prompts: str | None) -> EmbeddingSpace | None:
    if model is None or dimension is None:
        return None
    return EmbeddingSpace(model, dimension, prompts or "")
