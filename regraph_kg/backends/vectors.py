"""Vectors of examples in the graph: their space, the nearest to a vector, and how they are written.

A TRANSITION has two: of its text (name and explanation of the step), and of the code that the step
was applied to, as a search has that code when it looks for examples; (:Meta) names their space. On
a pair, and in a small graph, all examples are compared, which is exact; in a large graph the
store's own index proposes candidates to compare.

Newcomers get theirs after an ingest. Another space takes the place of the old one so:

    clear   (:Meta) names no space, so that nobody writes or asks; then the old vectors go
    fill    (:Meta) names the new space; example by example gets its vectors, and is found from then

A call that was stopped is made again. A graph without a space may hold vectors that a stopped call
has left, and is cleared first.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.graph import (
    Embed,
    EmbeddedKind,
    EmbeddingProgress,
    EmbeddingSpace,
    Example,
    Vector,
)
from regraph_kg.models.target import Target

PROPERTIES: dict[EmbeddedKind, str] = {"text": "embedding", "code": "code_embedding"}
"""The property of a TRANSITION with the vector of its text, or of its code."""
SCANNED = 2000  # examples of the largest graph without an index
FEWEST_CANDIDATES = 200  # fewer candidates miss many of the nearest (docs/embeddings.md)
OVERSAMPLED = 10  # candidates for each example asked for
MOST_CANDIDATES = 20_000  # where a filter leaves too few of them, all examples are compared
EMBEDDED_AT_ONCE = 256  # examples embedded and written in one transaction, and at least a pair's
CLEARED = 2_000  # examples that lose their vectors in one transaction
POLL_SECONDS = 0.2


def space_of(ask: Query) -> EmbeddingSpace | None:
    """The space of the graph's vectors; None where it has none, or they are being cleared."""
    (row,) = ask("vectors_state")
    if row["model"] is None or row["dimension"] is None:
        return None
    return EmbeddingSpace(row["model"], row["dimension"])


def nearest(ask: Query, vector: Vector, target: Target | None, limit: int) -> tuple[Example, ...]:
    """The nearest of all examples, or of those for `target`."""
    name = property_of(ask, vector)
    parameters: dict[str, Any] = {
        "property": name,
        "vector": floats(vector.packed),
        "language": target,
        "limit": limit,
    }
    serving = any(row["property"] == name and row["online"] for row in ask("vectors_indexes"))
    candidates = max(FEWEST_CANDIDATES, OVERSAMPLED * limit)
    # An index knows no filter: where too few candidates pass it, more are asked for.
    while serving and candidates <= MOST_CANDIDATES:
        rows = ask("vectors_nearest", candidates=candidates, **parameters)
        if len(rows) == limit:
            return read_examples(rows)
        candidates *= 4
    return read_examples(ask("vectors_scan", **parameters))


def floats(packed: bytes) -> list[float]:
    """A vector as the stores take it."""
    values: list[float] = np.frombuffer(packed, dtype="<f4").tolist()
    return values


def space_mismatch(own: EmbeddingSpace, other: EmbeddingSpace) -> BadInput:
    """The error for a vector of another space than the graph's."""
    text = f"the graph holds embeddings {own.difference(other)}"
    return BadInput(f"{text}: make them anew with regraph graph embed")


def property_of(ask: Query, vector: Vector) -> str:
    """The property of the vectors that compare with `vector`."""
    space = space_of(ask)
    if space is None:
        raise BadInput("the graph holds no embeddings yet: make them with regraph graph embed")
    if space != vector.space:
        raise space_mismatch(space, vector.space)
    return PROPERTIES[vector.kind]


def read_examples(rows: Iterable[GraphRow]) -> tuple[Example, ...]:
    """The examples of rows with score; those that are being written or deleted are left out."""
    found = []
    for row in rows:
        similarity = None
        if row["score"] is not None:
            # Scores are cosines in one store, (1 + cosine) / 2 in the other.
            cosine = (row["score"] - row["zero"]) / (1 - row["zero"])
            similarity = float(min(1.0, max(-1.0, cosine)))
        if Example.is_complete(row["example"]):
            ends = {"source": row["source"], "target": row["target"]}
            found.append(Example.read(row["example"] | ends | {"similarity": similarity}))
    return tuple(found)


def embed_examples(
    bolt: Bolt, space: EmbeddingSpace, embed: Embed, *, change: bool
) -> Iterator[EmbeddingProgress]:
    if change and bolt.read(space_of) not in (None, space):
        bolt.write(partial(_name_space, space=None))
    if bolt.read(space_of) is None:
        yield from _clear(bolt)

    def claim(ask: Query) -> None:
        ask("lock_stamp")
        current = space_of(ask)
        if current is None:
            _name_space(ask, space)
        elif current != space:
            raise space_mismatch(current, space)

    bolt.write(claim)
    yield from _fill(bolt, space, embed)
    bolt.read(partial(_require, space=space))  # where another process has filled all of it
    _index(bolt, space)


def _name_space(ask: Query, space: EmbeddingSpace | None) -> None:
    state = {"embedding_model": space and space.model, "dimension": space and space.dimension}
    ask("set_meta", state=state)


def _clear(bolt: Bolt) -> Iterator[EmbeddingProgress]:
    """Empty a graph without a space of vectors, their indexes first."""
    if bolt.rows("vectors_indexes"):  # of a graph that was in the database before, or of a change
        bolt.define_all("vectors_unindex")
    done = 0
    while cleared := bolt.write(_clear_some):
        done += cleared
        yield EmbeddingProgress("clearing", done, done)


def _clear_some(ask: Query) -> int:
    # The lock keeps a claim and its first vectors from coming between the look and the deletion.
    ask("lock_stamp")
    if space_of(ask) is not None:
        return 0
    (row,) = ask("vectors_clear", limit=CLEARED)
    return int(row["cleared"])


def _fill(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Embed examples without a vector, a few pairs at a time."""
    for pairs, progress in _portions(bolt):
        rows = bolt.rows("vectors_missing", rows=pairs)
        if rows:  # else another process has embedded them meanwhile
            bolt.write(partial(_write, rows=_with_vectors(rows, embed), space=space))
        yield progress


def _write(ask: Query, rows: Sequence[GraphRow], space: EmbeddingSpace) -> None:
    # The lock keeps vectors of two spaces apart: a change of the space waits for it.
    ask("lock_stamp")
    _require(ask, space)
    ask("vectors_write", rows=rows)


def _require(ask: Query, space: EmbeddingSpace) -> None:
    if space_of(ask) != space:
        raise StoreError(
            "somebody else changes the graph's embeddings at the same time: run the same command"
            " again"
        )


def _index(bolt: Bolt, space: EmbeddingSpace) -> None:
    """Index the vectors where there are so many that it pays, and wait until it serves."""
    if len(bolt.rows("vectors_indexes")) < len(PROPERTIES):
        (row,) = bolt.rows("count_examples")
        if row["examples"] <= SCANNED:
            return
        for number in range(len(PROPERTIES)):
            bolt.define("vectors_index", number, dimension=space.dimension)
    while not all(row["online"] for row in bolt.rows("vectors_indexes")):
        time.sleep(POLL_SECONDS)


def _portions(bolt: Bolt) -> Iterator[tuple[list[GraphRow], EmbeddingProgress]]:
    """Pairs to work on, a few at a time, and the progress after them."""
    pairs = bolt.rows("vectors_pairs")
    total = sum(row["examples"] for row in pairs)
    done, rows, most = 0, list[GraphRow](), EMBEDDED_AT_ONCE
    for pair in pairs:
        rows.append(pair)
        done += pair["examples"]
        if done >= most:
            yield rows, EmbeddingProgress("embedding", done, total)
            rows, most = [], done + EMBEDDED_AT_ONCE
    if rows:
        yield rows, EmbeddingProgress("embedding", done, total)


def _with_vectors(rows: Sequence[GraphRow], embed: Embed) -> list[GraphRow]:
    """Rows of examples to embed -> rows of pairs with their examples' vectors."""
    texts = [(text_of(row), row["before"]) for row in rows]  # None: being made
    distinct = list(dict.fromkeys(filter(None, chain.from_iterable(texts))))  # codes recur
    by_text = dict(zip(distinct, map(floats, embed(distinct)), strict=True))
    pairs: dict[Pair, dict[str, GraphRow]] = {}
    for row, both in zip(rows, texts, strict=True):
        named = zip(PROPERTIES.values(), both, strict=True)
        vectors = {name: by_text[text] for name, text in named if text is not None}
        pairs.setdefault(Pair.of(row), {})[row["id"]] = vectors
    return [{**pair._asdict(), "vectors": vectors} for pair, vectors in pairs.items()]


def text_of(row: GraphRow) -> str:
    """An example's own text, with its technique's name and definition."""
    parts = (row[name] for name in ("name", "definition", "label", "reasoning", "detail"))
    return "\n".join(filter(None, parts))
