"""Which new names stand together: surely one without a model, or alike enough to ask of together.

Names are surely one where they are the same words, written otherwise: brackets that only hold a
parameter go, word stems take spelling and inflection off, and a name may begin anywhere ("unroll
loops", "loop unrolling", "unrolling of loops"). "NAME for X" is NAME where NAME is a name by
itself. Negations, opposites, numbers, dimensions and levels are words like others: they keep names
apart. Groups and blocks depend on the set of names alone.
Not here: names that mean the same in other words (sorting.py asks a model).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from regraph_kg.ingest.relabel.candidates import vectors_of
from regraph_kg.ingest.relabel.names import head_of, without_brackets
from regraph_kg.ingest.relabel.usage import NameUse
from regraph_kg.ingest.relabel.words import addresses, stems
from regraph_kg.llm.embedder import Embedder
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.technique import spelling

NameKey = tuple[str, ...]
Described = tuple[str, NameUse]
"""A name and its use."""

_DIRECTED = re.compile(
    r"\b(to|from|into|than|before|after|over|between|versus|vs|instead|then|and|or)\b|->|=>|/|\+"
)
_TURNED = re.compile(r"\b(?:of|in|on|with|via|by|using|for)\b")


def groups(names: Iterable[str]) -> list[tuple[str, ...]]:
    """`names` of one target in groups that are surely one technique; all sorted."""
    keys = {name: key_of(name) or (name,) for name in sorted(set(names))}
    known = set(keys.values())
    members: defaultdict[NameKey, list[str]] = defaultdict(list)
    for name, key in keys.items():
        head = key_of(head_of(name)) if not addresses(name) else ()
        members[head if head in known else key].append(name)
    return sorted(tuple(group) for group in members.values())


def key_of(name: str) -> NameKey:
    """The common key of a name's spellings; a name that addresses its reader is its own key."""
    if addresses(name):
        return (name,)
    plain = without_brackets(name)
    words = spelling(plain)
    if _DIRECTED.search(plain.casefold()):
        return tuple(words.split())
    parts = [stems(part) for part in reversed(_TURNED.split(words))]
    key = tuple(stem for part in parts for stem in part)
    return min((key[turn:] + key[:turn] for turn in range(len(key))), default=())


def blocks(
    names: Sequence[Described], most: int, embedder: Embedder | None = None
) -> list[list[int]]:
    """The numbers of `names` in parts of `most` at most, those of a part alike.

    Names are chained, each with what is nearest to it of those that are left, by the embedding of
    the name, of why and what was done, and of the change of the code. The chain is cut in equal
    parts.
    """
    if not names:
        return []
    chain = list(range(len(names)))
    if len(names) > most:
        texts = [f"{name}. {use.reasoning} {use.detail} {use.diff}" for name, use in names]
        chain = _chain(vectors_of(texts, embedder or HashEmbedder()))
    parts = math.ceil(len(chain) / most)
    bounds = [round(part * len(chain) / parts) for part in range(parts + 1)]
    return [sorted(chain[a:b]) for a, b in pairwise(bounds)]


def _chain(vectors: np.ndarray) -> list[int]:
    unchained = np.ones(len(vectors), dtype=bool)
    chain = [0]
    unchained[0] = False
    while unchained.any():
        near = np.where(unchained, (vectors @ vectors[chain[-1]]).round(6), -np.inf)
        chain.append(int(near.argmax()))  # of equals the first
        unchained[chain[-1]] = False
    return chain
