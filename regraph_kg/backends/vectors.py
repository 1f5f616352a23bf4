"""Vectors of examples in the graph: the nearest to a text or a code, and how they are written.

A TRANSITION has two: of its text (name and explanation of the step), and of the code that the step
was applied to. On a pair all examples are compared, which is exact; among all examples the store's
own index proposes candidates to compare. (:Meta) names the space of the vectors.

Newcomers get theirs after an ingest. A graph of another space gets all of them anew; until it has,
(:Meta) names the space as unfinished, and nobody compares. A call that was stopped is made again.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.evidence import Pair
from regraph_kg.errors import BadInput
from regraph_kg.llm.ngrams import DIMENSION, SPACE, vectors_of
from regraph_kg.models.graph import Example, Likeness
from regraph_kg.models.target import Target

PROPERTIES = {"words": "embedding", "code": "code_embedding"}
"""The property of a TRANSITION with the vector of its text, or of its code."""
FEWEST_CANDIDATES = 200  # fewer candidates miss many of the nearest (docs/embeddings.md)
OVERSAMPLED = 10  # candidates for each example asked for
PAIRS_AT_ONCE = 16  # pairs whose examples are embedded and written in one transaction
UNFINISHED = f"{SPACE}, unfinished"
OURS = (SPACE, UNFINISHED)


def examples(ask: Query, asked: GraphRow, near: Likeness | None) -> tuple[Example, ...]:
    """The examples that `asked` names, the most like `near` first."""
    compared = near if near and _model(ask) == SPACE else None
    return _read(ask("examples", **asked, **_place(compared)))


def nearest(ask: Query, near: Likeness, target: Target | None, limit: int) -> tuple[Example, ...]:
    """The nearest of all examples, or of those for `target`."""
    if _model(ask) != SPACE:
        raise BadInput("the graph holds no embeddings yet: make them with regraph graph embed")
    asked = {**_place(near), "language": target, "limit": limit}
    candidates = max(FEWEST_CANDIDATES, OVERSAMPLED * limit)
    if any(
        row["property"] == asked["property"] and row["online"] for row in ask("vectors_indexes")
    ):
        rows = ask("vectors_nearest", candidates=candidates, **asked)
        if len(rows) == limit:  # an index knows no filter: too few candidates may pass it
            return _read(rows)
    return _read(ask("vectors_scan", **asked))


def _model(ask: Query, *, of_others: bool = False) -> str:
    """The space of the graph's vectors, "" for none; `BadInput` for another version's."""
    (row,) = ask("vectors_state")
    model: str = row["model"] or ""
    if model not in ("", *OURS) and not of_others:
        text = f"the graph holds embeddings of {model}, not of {SPACE}"
        raise BadInput(f"{text}: make them anew with regraph graph embed")
    return model


def _place(near: Likeness | None) -> dict[str, Any]:
    """What a statement asks for: vectors like that of `near`, or any."""
    if near is None:
        return {"property": PROPERTIES["words"], "vector": None}
    return {"property": PROPERTIES[near.kind], "vector": vectors_of([near.text])[0].tolist()}


def _read(rows: Iterable[GraphRow]) -> tuple[Example, ...]:
    """The examples of rows; those that are being written or deleted are left out."""
    whole = (row for row in rows if Example.is_complete(row["example"]))
    return tuple(Example.read(row.pop("example") | row) for row in whole)


def embed_examples(bolt: Bolt, *, change: bool) -> Iterator[tuple[int, int]]:
    """Fill and index; yields how many examples are done, and of how many."""
    model = bolt.read(partial(_model, of_others=change))
    if model not in ("", *OURS):
        bolt.define_all("vectors_unindex")  # theirs may have other dimensions
    if anew := model != SPACE:
        bolt.write(
            partial(_run, name="vectors_stamp", before=model, model=UNFINISHED, dimension=DIMENSION)
        )
    pairs = bolt.rows("vectors_pairs", anew=anew)
    done, total = 0, sum(row["examples"] for row in pairs)
    for first in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[first : first + PAIRS_AT_ONCE]
        rows = _with_vectors(bolt.rows("vectors_missing", rows=some, anew=anew))
        # nothing is written where another version has come between
        bolt.write(partial(_run, name="vectors_write", rows=rows, ours=list(OURS)))
        done += sum(row["examples"] for row in some)
        yield done, total
    bolt.write(
        partial(_run, name="vectors_stamp", before=UNFINISHED, model=SPACE, dimension=DIMENSION)
    )
    for number in range(len(PROPERTIES)):
        bolt.define("vectors_index", number, dimension=DIMENSION)


def _run(ask: Query, name: str, **asked: object) -> None:
    ask(name, **asked)


def _with_vectors(rows: Sequence[GraphRow]) -> list[GraphRow]:
    """Rows of examples to embed -> rows of pairs with their examples' vectors."""
    texts = [(text_of(row), row["before"]) for row in rows]  # None: being made
    distinct = list(dict.fromkeys(filter(None, chain.from_iterable(texts))))  # codes recur
    by_text = dict(zip(distinct, vectors_of(distinct).tolist(), strict=True))
    pairs: dict[Pair, dict[str, GraphRow]] = {}
    for row, both in zip(rows, texts, strict=True):
        named = zip(PROPERTIES.values(), both, strict=True)
        vectors = {name: by_text[text] for name, text in named if text}
        pairs.setdefault(Pair.of(row), {})[row["id"]] = vectors
    return [{**pair._asdict(), "vectors": vectors} for pair, vectors in pairs.items()]


def text_of(row: GraphRow) -> str:
    """An example's own text, with its technique's name and definition."""
    parts = (row[name] for name in ("name", "definition", "label", "reasoning", "detail"))
    return "\n".join(filter(None, parts))
