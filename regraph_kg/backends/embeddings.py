"""Writes the vectors of reasonings: those that are missing, and all of them in another space.

Only here are vectors written. Newcomers have none; they get it after an ingest, if they are among
the examples that a pair keeps. Another space goes through the slot that does not serve:

    clear     that slot, and note in (:Meta) which space it is for
    fill      it, while the old vectors serve, and new examples get vectors in the old slot
    flip      (:Meta) names it: one transaction; what came meanwhile is filled in
    clear     the old slot

Whoever dies on the way is followed by whoever runs it again.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.edges import pair_id
from regraph_kg.backends.statistics import Pair
from regraph_kg.backends.vectors import SCANNED, VectorState, floats, holding, mixed
from regraph_kg.errors import StoreError
from regraph_kg.graph import Embed
from regraph_kg.models.graph import EmbeddingProgress, EmbeddingSpace

AT_ONCE = 256
"""Examples embedded and written in one transaction, and at least a pair's."""
POLL_SECONDS = 0.2


def fill_missing(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Embed what has no vector; the first ones decide the graph's space."""
    if bolt.read(holding).space is None:
        for slot in _indexes(bolt):  # of a graph that was here before
            bolt.define(f"vectors_unindex_{slot}")
    held = bolt.write(partial(_claim, space=space))
    yield from _fill(bolt, held.slot, space, embed)
    _index(bolt, held.slot, space)


def change(bolt: Bolt, space: EmbeddingSpace, embed: Embed) -> Iterator[EmbeddingProgress]:
    """Make `space` the graph's, or finish what was begun, and embed what has no vector in it."""
    held = bolt.read(holding)
    if held.space not in (None, space):
        yield from _replace(bolt, held, space, embed)
    elif held.following is not None:  # somebody has thought better of it
        bolt.write(partial(_note, held=held, following=None))
    yield from fill_missing(bolt, space, embed)
    yield from _clear(bolt, bolt.read(holding).other_slot)


def _replace(
    bolt: Bolt, held: VectorState, space: EmbeddingSpace, embed: Embed
) -> Iterator[EmbeddingProgress]:
    """Everything up to the flip."""
    slot = held.other_slot
    if held.following != space:
        bolt.write(partial(_note, held=held, following=None))
        yield from _clear(bolt, slot)
        held = bolt.write(partial(_note, held=held, following=space))
    yield from _fill(bolt, slot, space, embed)
    _index(bolt, slot, space)
    yield from _fill(bolt, slot, space, embed)  # what came meanwhile
    bolt.write(partial(_flip, held=held))


def _claim(ask: Query, space: EmbeddingSpace) -> VectorState:
    ask("vectors_lock")
    held = holding(ask)
    if held.space is None:
        state = {"embedding_model": space.model, "dimension": space.dimension}
        ask("vectors_set_state", state=state)
        return holding(ask)
    if held.space != space:
        raise mixed(held.space, space)
    return held


def _note(ask: Query, held: VectorState, following: EmbeddingSpace | None) -> VectorState:
    """Say in (:Meta) what the other slot is for."""
    ask("vectors_lock")
    now = holding(ask)
    if (now.space, now.slot) != (held.space, held.slot):
        raise _disturbed()
    state = {
        "next_model": following and following.model,
        "next_dimension": following and following.dimension,
    }
    ask("vectors_set_state", state=state)
    return holding(ask)


def _flip(ask: Query, held: VectorState) -> None:
    """From now on the other slot serves."""
    ask("vectors_lock")
    if holding(ask) != held or held.following is None:
        raise _disturbed()
    state = {
        "embedding_model": held.following.model,
        "dimension": held.following.dimension,
        "embedding_slot": held.other_slot,
        "next_model": None,
        "next_dimension": None,
    }
    ask("vectors_set_state", state=state)


def _fill(
    bolt: Bolt, slot: str, space: EmbeddingSpace, embed: Embed
) -> Iterator[EmbeddingProgress]:
    """Embed what has no vector in `slot`, which is for `space`."""
    for pairs, progress in _portions(bolt, "embedding", slot):
        rows = bolt.read(partial(_reasonings, pairs=pairs, slot=slot))
        written = _with_vectors(rows, embed, slot)
        bolt.write(partial(_write, rows=written, slot=slot, space=space))
        yield progress


def _reasonings(ask: Query, pairs: Sequence[GraphRow], slot: str) -> list[GraphRow]:
    return ask("vectors_reasonings", rows=pairs, slot=slot)


def _write(ask: Query, rows: Sequence[GraphRow], slot: str, space: EmbeddingSpace) -> None:
    """Only while the slot is for this space."""
    held = holding(ask)
    if space != (held.space if slot == held.slot else held.following):
        raise _disturbed()
    ask("vectors_write", rows=rows)


def _clear(bolt: Bolt, slot: str) -> Iterator[EmbeddingProgress]:
    """Empty a slot that does not serve, its index first."""
    if slot in _indexes(bolt):
        bolt.define(f"vectors_unindex_{slot}")
    for pairs, progress in _portions(bolt, "clearing", slot):
        bolt.write(partial(_empty, pairs=pairs, slot=slot))
        yield progress


def _empty(ask: Query, pairs: Sequence[GraphRow], slot: str) -> None:
    held = holding(ask)
    if slot == held.slot or held.following is not None:
        raise _disturbed()
    ask("vectors_clear", rows=pairs, slot=slot, nothing={slot: None})


def _index(bolt: Bolt, slot: str, space: EmbeddingSpace) -> None:
    """Index a slot that holds so many vectors that it pays, and wait until it serves."""
    online = _indexes(bolt)
    if slot not in online and bolt.read(lambda ask: ask("vectors_count"))[0]["examples"] > SCANNED:
        bolt.define(f"vectors_index_{slot}", dimension=space.dimension)
        online = _indexes(bolt)
    while not online.get(slot, True):
        time.sleep(POLL_SECONDS)
        online = _indexes(bolt)


def _indexes(bolt: Bolt) -> dict[str, bool]:
    """Slots with an index, and whether it serves already."""
    rows = bolt.read(lambda ask: ask("vectors_indexes"))
    return {row["slot"]: row["online"] for row in rows}


def _portions(
    bolt: Bolt, step: Literal["embedding", "clearing"], slot: str
) -> Iterator[tuple[list[GraphRow], EmbeddingProgress]]:
    """Pairs to work on, a few at a time, and how far it will be done then."""
    filled = step == "clearing"
    pairs = bolt.read(lambda ask: ask("vectors_pairs", slot=slot, filled=filled))
    total = sum(row["examples"] for row in pairs)
    done, rows, most = 0, list[GraphRow](), AT_ONCE
    for pair in pairs:
        rows.append(pair | {"pair": pair_id(Pair(pair["source"], pair["target"]))})
        done += pair["examples"]
        if done >= most:
            yield rows, EmbeddingProgress(step, done, total)
            rows, most = [], done + AT_ONCE
    if rows:
        yield rows, EmbeddingProgress(step, done, total)


def _with_vectors(rows: Sequence[GraphRow], embed: Embed, slot: str) -> list[GraphRow]:
    """Rows of examples to embed -> rows of pairs with their examples' vectors."""
    packed = embed([row["reasoning"] or "" for row in rows])
    pairs: dict[Pair, dict[str, GraphRow]] = {}
    for row, vector in zip(rows, packed, strict=True):
        pair = Pair(row["source"], row["target"])
        pairs.setdefault(pair, {})[row["id"]] = {slot: floats(vector)}
    return [
        {"source": pair.source, "target": pair.target, "pair": pair_id(pair), "vectors": vectors}
        for pair, vectors in pairs.items()
    ]


def _disturbed() -> StoreError:
    return StoreError(
        "somebody else changes the graph's embeddings at the same time: run the same command again"
    )
