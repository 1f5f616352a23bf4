"""New names that are surely one, without a model: the same words, written otherwise.

Brackets that only hold a parameter go, word stems take spelling and inflection off, what stands
before "of", "in", "with" goes behind what it is of, and a name may begin anywhere ("unroll loops",
"loop unrolling"). "NAME for X" is NAME where NAME is a name by itself. Negations, opposites,
numbers, dimensions and levels are words like others: they keep names apart. A misspelt word is
mended where only one other word that more names have can be meant. Groups depend on the set of
names alone. Not here: names that mean the same in other words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from regraph_kg.ingest.relabel.verdict import LabelVerdict, Shortlist, merged
from regraph_kg.ingest.relabel.words import SHORTEST_TYPO, addresses, one_slip, stems, tells
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, spelling

NameKey = tuple[str, ...]

LEAST_HEAD = 2
"""Stems of a name that may stand before "for X"."""
_DIRECTED = re.compile(
    r"\b(to|from|into|than|before|after|over|between|versus|vs|instead|then|and|or)\b|->|=>|/|\+"
)
_TURNED = re.compile(r"\b(?:of|in|on|with|via|by|using|for)\b")
_COMPOUND = re.compile(r"\s+\+\s+|\s+&\s+|\s+and\s+")
_TAIL = re.compile(r"^(.+?)\s+(?:for|of|with)\s+(.+)$", re.IGNORECASE)
_BRACKET = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")


class SameWords:
    """A known technique under one of its names written otherwise, or under "NAME for X".

    Of "NAME and NAME" it is the first, where both are names of techniques. See `Stage`.
    """

    def __init__(self, techniques: Iterable[Technique]) -> None:
        self._ids: defaultdict[tuple[Target, NameKey], set[str]] = defaultdict(set)
        for one in techniques:
            for name in (one.name, *one.aliases):
                self._ids[one.target, key_of(name)].add(one.id)

    def __call__(self, asked: Shortlist) -> LabelVerdict | None:
        """See `Stage`."""
        if addresses(asked.label):
            return None
        technique = self._meant(asked.label, asked.target)
        chosen = next((c for c in asked.candidates if c.technique.id == technique), None)
        if chosen is None or any(one.lexical > chosen.lexical for one in asked.candidates):
            return None
        return merged(asked, chosen, "lexical", "lexical")

    def _meant(self, label: str, target: Target) -> str | None:
        parts = _COMPOUND.split(without_brackets(label))
        if len(parts) > 1:
            named = [self._one(target, key_of(part)) for part in parts]
            return named[0] if all(named) else None
        head = _head(label)
        own = self._one(target, key_of(label))
        return own or (self._one(target, head) if head and len(head) >= LEAST_HEAD else None)

    def _one(self, target: Target, key: NameKey) -> str | None:
        found = self._ids.get((target, key), set())
        return next(iter(found)) if key and len(found) == 1 else None


def groups(names: Iterable[str]) -> list[tuple[str, ...]]:
    """`names` of one target in groups that are surely one technique; all sorted."""
    ordered = sorted(set(names))
    mended = _mended(ordered)
    keys = {name: key_of(mended[name]) for name in ordered}
    plain = {key for key in keys.values() if len(key) >= LEAST_HEAD}
    found: defaultdict[NameKey, list[str]] = defaultdict(list)
    for name in ordered:
        head = None if addresses(name) else _head(mended[name])
        own = keys[name] or (name,)
        found[head if head in plain else own].append(name)
    return sorted(tuple(one) for one in found.values())


def key_of(name: str) -> NameKey:
    """What spellings of one name have in common; of a name that speaks to its reader its words."""
    if addresses(name):
        return (name,)
    plain = without_brackets(name)
    words = spelling(plain)
    if _DIRECTED.search(plain.casefold()):
        return tuple(words.split())
    parts = [stems(part) for part in reversed(_TURNED.split(words))]
    key = tuple(stem for part in parts for stem in part)
    return min((key[turn:] + key[:turn] for turn in range(len(key))), default=())


def without_brackets(name: str) -> str:
    """`name` without brackets that hold nothing but a parameter, or another name for the same."""
    kept = _BRACKET.sub(lambda found: found[0] if _matters(found[1]) else " ", name).strip()
    return kept if stems(spelling(kept)) else name


def _matters(inside: str) -> bool:
    parameter = re.sub(r"\w+\s*=\s*\w+", " ", inside)
    return tells(parameter)


def _head(name: str) -> NameKey | None:
    """The key of what stands before "for X", unless X makes it another technique."""
    found = _TAIL.match(without_brackets(name))
    return key_of(found[1]) if found and not tells(found[2]) else None


def _mended(names: Sequence[str]) -> Mapping[str, str]:
    """Each name, its misspelt words written as more names write them."""
    words = {name: spelling(name).split() for name in names}
    having = Counter(word for found in words.values() for word in set(found))
    known = sorted(word for word, times in having.items() if times > 1)
    right: dict[str, str] = {}
    for word, times in having.items():
        if times == 1 and len(word) >= SHORTEST_TYPO and word.isalpha():
            near = [one for one in known if one[0] == word[0] and one_slip(word, one)]
            if len(near) == 1:
                right[word] = near[0]
    return {
        name: re.sub(r"[^\W\d_]+", lambda found: right.get(found[0].casefold(), found[0]), name)
        for name in names
    }
