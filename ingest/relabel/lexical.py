"""The stage "lexical": a known name in other words, without a model. Surely the same, or nothing.

A wrong merge destroys knowledge, a missed one only splits it. So a label is merged only where two
signals agree. By its word stems it must be one name of the technique, or hold it beside words that
only say where it is applied, or hold a piece of code that is its name (`__ldg`, proc_bind), and so
of no other technique. And by character n-grams no other technique may be as near. Nor may it say
anything that turns the meaning: a negation, an opposite, a choice, a number that the name lacks.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from regraph_kg.ingest.relabel.verdict import LabelVerdict, Shortlist, TechniqueCandidate, merged
from regraph_kg.ingest.relabel.words import (
    HARMLESS,
    PLACES,
    Speller,
    addresses,
    holds,
    stems,
    tokens,
    turns,
)
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, spelling


@dataclass(frozen=True, slots=True)
class _Name:
    """One name of a technique: its words, their stems in order, the code in it."""

    technique: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    tokens: frozenset[str]


class LexicalRule:
    """The stage "lexical"; see the module."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        by_target: dict[Target, list[Technique]] = defaultdict(list)
        for technique in techniques:
            by_target[technique.target].append(technique)
        self._lexicons = {target: _Lexicon(found) for target, found in by_target.items()}

    def __call__(self, asked: Shortlist) -> LabelVerdict | None:
        """See `Stage`."""
        lexicon = self._lexicons.get(asked.target)
        technique = lexicon.recognize(asked.label) if lexicon else None
        chosen = next((c for c in asked.candidates if c.technique.id == technique), None)
        if chosen is None or not _nearest(chosen, asked.candidates):
            return None
        return merged(asked, chosen, "lexical", "lexical")


def _nearest(chosen: TechniqueCandidate, candidates: Sequence[TechniqueCandidate]) -> bool:
    return all(one is chosen or one.lexical < chosen.lexical for one in candidates)


class _Lexicon:
    """The names of one target's techniques."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        self._spell = Speller(techniques)
        self._names = [
            _Name(one.id, tuple(spelling(name).split()), stems(spelling(name)), tokens(name))
            for one in techniques
            for name in (one.name, *one.aliases)
        ]
        self._places = {
            one.id: PLACES.intersection(stems(spelling(f"{one.definition} {one.applies}")))
            for one in techniques
        }

    def recognize(self, label: str) -> str | None:
        """The one technique that `label` surely names."""
        words = self._spell(label)
        found = self._named(stems(words), tokens(label))
        if len(found) != 1 or addresses(label):
            return None
        (technique,) = found
        own = (word for name in self._names if name.technique == technique for word in name.words)
        return None if turns(words.split(), tuple(own)) else technique

    def _named(self, asked: Sequence[str], code: frozenset[str]) -> set[str]:
        """Techniques one of whose names the label is, or else holds beside harmless words."""
        if not asked:
            return set()
        same = {name.technique for name in self._names if set(name.stems) == set(asked)}
        return same or {
            name.technique
            for name in self._names
            if name.tokens & code
            or (holds(asked, name.stems) and self._beside(name, asked) <= HARMLESS)
        }

    def _beside(self, name: _Name, asked: Sequence[str]) -> frozenset[str]:
        """What the label says beside the name, but for places that the technique speaks of."""
        return frozenset(asked) - frozenset(name.stems) - self._places[name.technique]
