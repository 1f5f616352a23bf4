"""The stage "lexical": a known name in other words, without a model. Surely the same, or nothing.

A wrong merge destroys knowledge, a missed one only splits it. So a label is merged only where two
signals agree: its words, and its nearness, by which no other technique may come before. Its word
stems must be one name of the technique, or hold one beside words that only say where it is applied
or that the technique's own names, definition and use are made of, or hold a piece of code that is
its name (`__ldg`, proc_bind) and that no other technique makes use of. Nor may it say anything that
turns the meaning: a negation, an opposite, a choice, a number that the name lacks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from regraph_kg.ingest.relabel.names import head_of, without_brackets
from regraph_kg.ingest.relabel.verdict import LabelVerdict, Shortlist, merged
from regraph_kg.ingest.relabel.words import HARMLESS, Speller, addresses, stems, tokens, turns
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, spelling


@dataclass(frozen=True, slots=True)
class _Name:
    """One name of a technique: its words, their stems, the code in it."""

    technique: str
    words: frozenset[str]
    stems: frozenset[str]
    tokens: frozenset[str]

    @classmethod
    def of(cls, technique: Technique, name: str) -> "_Name":
        words = spelling(name)
        return cls(technique.id, frozenset(words.split()), frozenset(stems(words)), tokens(name))


class LexicalRule:
    """The stage "lexical"; see the module.

    A function of its argument, so that a label means the same technique every time.
    """

    def __init__(self, techniques: Sequence[Technique]) -> None:
        by_target: dict[Target, list[Technique]] = defaultdict(list)
        for technique in techniques:
            by_target[technique.target].append(technique)
        self._lexicons = {target: _Lexicon(techniques) for target, techniques in by_target.items()}

    def __call__(self, shortlist: Shortlist) -> LabelVerdict | None:
        """The verdict on a label; None where no technique is certain."""
        lexicon = self._lexicons.get(shortlist.target)
        if lexicon is None or not shortlist.candidates or addresses(shortlist.label):
            return None
        first, *rivals = shortlist.candidates
        if any(rival.score >= first.score for rival in rivals):
            return None
        technique = lexicon.recognize(shortlist.label)
        return merged(shortlist, technique, "lexical") if technique == first.technique.id else None


class _Lexicon:
    """The names of one target's techniques."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        self._names = [
            _Name.of(technique, name)
            for technique in techniques
            for name in (technique.name, *technique.aliases)
        ]
        self._own: dict[str, frozenset[str]] = {}
        """Stems of all texts about a technique."""
        vocabulary: set[str] = set()
        for technique in techniques:
            names = (technique.name, *technique.aliases)
            text = " ".join(map(spelling, (*names, technique.definition, technique.applies)))
            vocabulary.update(text.split())
            self._own[technique.id] = frozenset(stems(text)) | HARMLESS
        told = [(one.definition, one.recipe, *one.steps) for one in techniques]
        uses = Counter(token for texts in told for token in tokens(" ".join(texts)))
        owners = {(token, name.technique) for name in self._names for token in name.tokens}
        named = Counter(token for token, _ in owners)
        self._shared = {token for token, count in uses.items() if count > 1 and named[token] <= 1}
        """Tokens of code that several techniques make use of: they name none. What is a name of two
        stays, so that it decides for neither."""
        self._spell = Speller(vocabulary)

    def recognize(self, label: str) -> str | None:
        """The one technique that `label` surely names: whole, without brackets, or "NAME for X"."""
        ways = dict.fromkeys((label, without_brackets(label), head_of(label)))
        return next(filter(None, map(self._named, filter(None, ways))), None)

    def _named(self, text: str) -> str | None:
        words = self._spell(text)
        techniques = set(self._holding(frozenset(stems(words)), tokens(text)))
        if len(techniques) != 1:
            return None
        (technique,) = techniques
        names = (name.words for name in self._names if name.technique == technique)
        return None if turns(words.split(), [*chain.from_iterable(names)]) else technique

    def _holding(self, label: frozenset[str], code: frozenset[str]) -> Iterator[str]:
        """Techniques one of whose names a label is, or else holds beside harmless words."""
        same = [name.technique for name in self._names if label and name.stems == label]
        yield from same
        for name in self._names if label and not same else ():
            contained = name.stems and name.stems <= label <= name.stems | self._own[name.technique]
            if contained or name.tokens & code - self._shared:
                yield name.technique
