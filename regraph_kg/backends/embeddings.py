"""Writes the vectors of examples: the missing ones, or all of them in another space.

Each example has two: of its text (name and explanation of the step), and of the code that the step
was applied to, as a search has that code when it looks for examples. Only this module writes
vectors; newcomers get theirs after an ingest. Another space takes the place of the old one so:

    clear   (:Meta) names no space, so that nobody writes or asks; then the old vectors go
    fill    (:Meta) names the new space; example by example gets its vectors, and is found from then

A call that was stopped is made again. A graph without a space may hold vectors that a stopped call
has left, and is cleared first. Several processes that embed at once begin at different pairs.
"""

import secrets
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.vectors import PROPERTIES, SCANNED, floats, space_mismatch, space_of
from regraph_kg.errors import StoreError
from regraph_kg.graph import Embed
from regraph_kg.models.graph import EmbeddingProgress, EmbeddingSpace

AT_ONCE = 256
"""Examples embedded and written in one transaction, and at least a pair's."""
CLEARED = 2_000
"""Examples that lose their vectors in one transaction."""
POLL_SECONDS = 0.2


def fill_missing(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Embed examples without a vector; the first ones decide the graph's space."""
    if bolt.read(space_of) is None:
        yield from _clear(bolt)
    bolt.write(partial(_claim, space=space))
    yield from _fill(bolt, space, embed)
    bolt.read(partial(_require, space=space))  # where another process has filled all of it
    _index(bolt, space)


def change(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Clear another space's vectors, then embed in `space`."""
    if bolt.read(space_of) not in (None, space):
        bolt.write(partial(_name_space, space=None))
    yield from fill_missing(bolt, space, embed)


def _claim(ask: Query, space: EmbeddingSpace) -> None:
    """Make `space` the graph's; `BadInput` where it has another one."""
    ask("lock_stamp")
    current = space_of(ask)
    if current is None:
        _name_space(ask, space)
    elif current != space:
        raise space_mismatch(current, space)


def _name_space(ask: Query, space: EmbeddingSpace | None) -> None:
    state = {
        "embedding_model": space and space.model,
        "dimension": space and space.dimension,
        "embedding_prompts": (space and space.prompts) or None,
    }
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
    first = secrets.randbelow(len(pairs)) if pairs else 0
    total = sum(row["examples"] for row in pairs)
    done, rows, most = 0, list[GraphRow](), AT_ONCE
    for pair in pairs[first:] + pairs[:first]:
        rows.append(pair)
        done += pair["examples"]
        if done >= most:
            yield rows, EmbeddingProgress("embedding", done, total)
            rows, most = [], done + AT_ONCE
    if rows:
        yield rows, EmbeddingProgress("embedding", done, total)


def _with_vectors(rows: Sequence[GraphRow], embed: Embed) -> list[GraphRow]:
    """Rows of examples to embed -> rows of pairs with their examples' vectors."""
    texts = [(text_of(row), row["before"]) for row in rows]  # None: not disclosed
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
