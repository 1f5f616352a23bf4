"""Vectors of examples in the graph: their space, and the examples nearest to a vector.

A TRANSITION has two: of its text, and of the code that its step was applied to; (:Meta) names their
space. On a pair, and in a small graph, all examples are compared, which is exact; in a large graph
the store's own index proposes candidates to compare. Not here: writing them (embeddings.py).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from regraph_kg.backends.bolt import GraphRow, Query
from regraph_kg.errors import BadInput
from regraph_kg.models.graph import EmbeddedKind, EmbeddingSpace, Example, Vector
from regraph_kg.models.target import Target

PROPERTIES: dict[EmbeddedKind, str] = {"text": "embedding", "code": "code_embedding"}
"""The property of a TRANSITION with the vector of its text, or of its code."""
SCANNED = 2000
"""Examples of the largest graph without an index."""
FEWEST_CANDIDATES = 200
"""Fewest candidates of an index: fewer miss too many of the nearest (docs/embeddings.md)."""
OVERSAMPLED = 10
"""Candidates for each example asked for."""
MOST_CANDIDATES = 20_000
"""Most candidates: where a filter leaves too few of them, all examples are compared."""


def space_of(ask: Query) -> EmbeddingSpace | None:
    """The space of the graph's vectors; None where it has none, or they are being cleared."""
    (row,) = ask("vectors_state")
    if row["model"] is None or row["dimension"] is None:
        return None
    return EmbeddingSpace(row["model"], row["dimension"], row["prompts"] or "")


def of_pair(ask: Query, vector: Vector | None, **choice: object) -> tuple[Example, ...]:
    """Examples of one transition, nearest to `vector` first, if given; exact."""
    rows = ask(
        "examples",
        property=_property(ask, vector) if vector else PROPERTIES["text"],
        vector=floats(vector.packed) if vector else None,
        **choice,
    )
    return _examples(rows)


def nearest(
    ask: Query, vector: Vector, target: Target | None, limit: int, exclude_problem: str | None
) -> tuple[Example, ...]:
    """The nearest of all examples, or of those for `target`."""
    name = _property(ask, vector)
    parameters: dict[str, Any] = {
        "property": name,
        "vector": floats(vector.packed),
        "language": target,
        "exclude_problem": exclude_problem,
        "limit": limit,
    }
    serving = any(row["property"] == name and row["online"] for row in ask("vectors_indexes"))
    candidates = max(FEWEST_CANDIDATES, OVERSAMPLED * limit)
    # An index knows no filter: where too few candidates pass it, more are asked for.
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


def space_mismatch(graph_space: EmbeddingSpace, other_space: EmbeddingSpace) -> BadInput:
    """The error for a vector of another space than the graph's."""
    return BadInput(
        f"the graph holds embeddings {graph_space.difference(other_space)}: name its embedder"
        " (REGRAPH_EMBEDDER), or change the graph with regraph graph embed"
    )


def _property(ask: Query, vector: Vector) -> str:
    """The property of the vectors that compare with `vector`."""
    space = space_of(ask)
    if space is None:
        raise BadInput("the graph holds no embeddings yet: make them with regraph graph embed")
    if space != vector.space:
        raise space_mismatch(space, vector.space)
    return PROPERTIES[vector.kind]


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
