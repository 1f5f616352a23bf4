"""Writes the vectors of examples: the missing ones, or all of them in another space.

Each example has two: of its text (name and explanation of the step), and of the code that the
step was applied to, as a search has that code when it looks for examples. Only this module writes
vectors. Newcomers get theirs after an ingest, if their pair keeps them. Another space goes through
the spare slot:

    clear     the spare slot, and note in (:Meta) which space it is for
    fill      it, while the old vectors serve, and new examples get vectors in the old slot
    flip      (:Meta) names it: one transaction; examples that came meanwhile are filled in
    clear     the old slot

Several processes that embed at once begin at different pairs; their doubled work is the same.
Another run resumes after one that died.
"""

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Literal

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.vectors import (
    KINDS,
    SCANNED,
    VECTORS,
    VectorState,
    begun,
    claimed,
    floats,
    place,
    space_mismatch,
    vector_state,
)
from regraph_kg.errors import StoreError
from regraph_kg.graph import Embed
from regraph_kg.models.graph import EmbeddingProgress, EmbeddingSpace

AT_ONCE = 256
"""Examples embedded and written in one transaction, and at least a pair's."""
POLL_SECONDS = 0.2


def fill_missing(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Embed examples without a vector; the first ones decide the graph's space."""
    if bolt.read(vector_state).space is None:
        unindex(bolt, VECTORS)
    state = bolt.write(partial(_claim, space=space))
    yield from _fill(bolt, state.slot, space, embed)
    _index(bolt, state.slot, space)


def change(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Make `space` the graph's, or finish a begun change, and embed examples without a vector."""
    state = bolt.read(vector_state)
    if state.space not in (None, space):
        yield from _replace(bolt, state, space, embed)
    elif state.following is not None:  # a begun change is called off
        bolt.write(partial(_note, state=state, following=None))
    yield from fill_missing(bolt, space, embed)
    yield from _clear(bolt, bolt.read(vector_state).other_slot)


def _replace(
    bolt: Bolt, state: VectorState, space: EmbeddingSpace, embed: Embed
) -> Iterator[EmbeddingProgress]:
    """Fill the spare slot, then flip."""
    slot = state.other_slot
    if state.following != space:
        bolt.write(partial(_note, state=state, following=None))
        yield from _clear(bolt, slot)
        state = bolt.write(partial(_note, state=state, following=space))
    yield from _fill(bolt, slot, space, embed)
    _index(bolt, slot, space)
    yield from _fill(bolt, slot, space, embed)  # what came meanwhile
    bolt.write(partial(_flip, state=state))


def _claim(ask: Query, space: EmbeddingSpace) -> VectorState:
    ask("lock_stamp")
    state = vector_state(ask)
    if state.space is None:
        ask("set_meta", state=claimed(space))
        return vector_state(ask)
    if state.space != space:
        raise space_mismatch(state.space, space)
    return state


def _note(ask: Query, state: VectorState, following: EmbeddingSpace | None) -> VectorState:
    """Note in (:Meta) the spare slot's space."""
    ask("lock_stamp")
    current = vector_state(ask)
    if (current.space, current.slot) != (state.space, state.slot):
        raise _concurrent_change()
    ask("set_meta", state=begun(following))
    return vector_state(ask)


def _flip(ask: Query, state: VectorState) -> None:
    """Make the spare slot serve."""
    ask("lock_stamp")
    if vector_state(ask) != state or state.following is None:
        raise _concurrent_change()
    slot = {"embedding_slot": state.other_slot}
    ask("set_meta", state=claimed(state.following) | slot | begun(None))


def _fill(
    bolt: Bolt, slot: str, space: EmbeddingSpace, embed: Embed
) -> Iterator[EmbeddingProgress]:
    """Embed examples without a vector in `slot`, which is for `space`."""
    for pairs, progress in _portions(bolt, "embedding", slot):
        rows = bolt.rows("vectors_missing", rows=pairs, slot=slot)
        if rows:  # else another process has embedded them meanwhile
            written = _with_vectors(rows, embed, slot)
            bolt.write(partial(_write, rows=written, slot=slot, space=space))
        yield progress


def _write(ask: Query, rows: Sequence[GraphRow], slot: str, space: EmbeddingSpace) -> None:
    """Write vectors, if the slot is still for this space."""
    state = vector_state(ask)
    if space != (state.space if slot == state.slot else state.following):
        raise _concurrent_change()
    ask("vectors_write", rows=rows)


def _clear(bolt: Bolt, slot: str) -> Iterator[EmbeddingProgress]:
    """Empty the spare slot, its index first."""
    unindex(bolt, _names(slot))
    for pairs, progress in _portions(bolt, "clearing", slot):
        bolt.write(partial(_empty, pairs=pairs, slot=slot))
        yield progress


def _empty(ask: Query, pairs: Sequence[GraphRow], slot: str) -> None:
    state = vector_state(ask)
    if state.space is not None and (slot == state.slot or state.following is not None):
        raise _concurrent_change()
    ask("vectors_clear", rows=pairs, slot=slot, nothing=dict.fromkeys(_names(slot)))


def _index(bolt: Bolt, slot: str, space: EmbeddingSpace) -> None:
    """Index a slot that holds so many vectors that it pays, and wait until it serves."""
    online = _indexes(bolt)
    absent = [name for name in _names(slot) if name not in online]
    counts = bolt.rows("count_examples") if absent else []
    if sum(row["examples"] for row in counts) > SCANNED:
        for name in absent:
            bolt.define("vectors_index", VECTORS.index(name), dimension=space.dimension)
        online = _indexes(bolt)
    while not all(online.get(name, True) for name in _names(slot)):
        time.sleep(POLL_SECONDS)
        online = _indexes(bolt)


def unindex(bolt: Bolt, names: Iterable[str]) -> None:
    """Drop indexes over vectors, also those of a graph that was in the database before."""
    for name in _indexes(bolt).keys() & set(names):
        bolt.define("vectors_unindex", VECTORS.index(name))


def _names(slot: str) -> list[str]:
    """The properties of a slot."""
    return [place(slot, kind) for kind in KINDS]


def _indexes(bolt: Bolt) -> dict[str, bool]:
    """Properties with an index, and whether it serves already."""
    return {row["slot"]: row["online"] for row in bolt.rows("vectors_indexes")}


def _portions(
    bolt: Bolt, step: Literal["embedding", "clearing"], slot: str
) -> Iterator[tuple[list[GraphRow], EmbeddingProgress]]:
    """Pairs to work on, a few at a time, and the progress after them."""
    filled = step == "clearing"
    pairs = bolt.rows("vectors_pairs", slot=slot, filled=filled)
    first = secrets.randbelow(len(pairs)) if pairs else 0
    pairs = pairs[first:] + pairs[:first]
    total = sum(row["examples"] for row in pairs)
    done, rows, most = 0, list[GraphRow](), AT_ONCE
    for pair in pairs:
        rows.append(pair | {"pair": Pair.of(pair).id})
        done += pair["examples"]
        if done >= most:
            yield rows, EmbeddingProgress(step, done, total)
            rows, most = [], done + AT_ONCE
    if rows:
        yield rows, EmbeddingProgress(step, done, total)


def _with_vectors(rows: Sequence[GraphRow], embed: Embed, slot: str) -> list[GraphRow]:
    """Rows of examples to embed -> rows of pairs with their examples' vectors."""
    texts = [(text_of(row), row["before"]) for row in rows]  # None: not disclosed
    distinct = list(dict.fromkeys(filter(None, chain.from_iterable(texts))))  # codes recur
    by_text = dict(zip(distinct, map(floats, embed(distinct)), strict=True))
    pairs: dict[Pair, dict[str, GraphRow]] = {}
    for row, both in zip(rows, texts, strict=True):
        pair = Pair.of(row)
        kinds = zip(KINDS, both, strict=True)
        vectors = {place(slot, kind): by_text[text] for kind, text in kinds if text is not None}
        pairs.setdefault(pair, {})[row["id"]] = vectors
    return [
        {**pair._asdict(), "pair": pair.id, "vectors": vectors} for pair, vectors in pairs.items()
    ]


def text_of(row: GraphRow) -> str:
    """An example's own text, with its technique's name and definition."""
    parts = (row[name] for name in ("name", "definition", "label", "reasoning", "detail"))
    return "\n".join(filter(None, parts))


def _concurrent_change() -> StoreError:
    return StoreError(
        "somebody else changes the graph's embeddings at the same time: run the same command again"
    )
