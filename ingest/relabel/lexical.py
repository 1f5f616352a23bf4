"""The stage "lexical": a known name in other words, without a model. Surely the same, or nothing.

A wrong merge destroys knowledge, a missed one only splits it. So a label is merged only where its
word stems are a name of one technique, or hold one beside words that only say where it is applied
or that the technique's own names, definition and use are made of, or hold a piece of code that is
its name (`__ldg`, proc_bind) and that no other technique makes use of. Nor may it say anything that
turns the meaning: a negation, an opposite, a choice, a number that the name lacks.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import snowballstemmer
from rapidfuzz.distance import OSA

from regraph_kg.models.target import NAMES, TARGETS, Target
from regraph_kg.models.technique import Technique, spelling


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


SHORTEST_TYPO = 5  # letters of the shortest word that is mended: others become new words
LEAST_HEAD = 2  # stems of a name that may stand before "for X"
_SNOWBALL = snowballstemmer.stemmer("english")
_TAIL = re.compile(r"^(.+?)\s+(?:for|of|with)\s+(.+)$", re.IGNORECASE)
_BRACKET = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")
_CODE = re.compile(r"[_.]|[a-z][A-Z]|^cuda.")
_FILLERS = _listed(
    "a an and at by for from in into it its of on so that the their this through to via with "
    "add adding apply applied applying based code enable enabling exploit exploiting explicit "
    "implement implementing improve improved improving introduce introducing leverage "
    "leveraging perform performing use used using utilize utilizing approach method "
    "optimization optimize optimized optimizing scheme step strategy technique"
)
_HARMLESS = (
    "aggressive clause cpu directive full fully gpu hot i inner innermost j k main outer"
    f" outermost performance pragma qualifier better {' '.join(TARGETS)}"
)
"""Words that say where a technique is applied, not which: a label may have them beside a name."""
_TURNING = _listed(
    "against anti avoid avoiding back before convert de disable disabled disabling drop "
    "dropping eliminate eliminating except fake fewer instead lazy less like merge nested "
    "never no non not off only or partial partially place pseudo rather re reduce reducing "
    "removal remove removed removing rename replace replaced replacing reverse reversed "
    "revert skip skipping split stop than turn un undo undoing unlike versus vs without"
)
_LEVELS = _listed(
    "thread warp block grid device host register shared global constant texture cache row "
    "column inner outer loop kernel task team cluster core lane static dynamic read write "
    "load store input output single double half forward backward"
)
_ORDERS = re.compile(
    r"\b(ignor\w*|disregard|forget|answer\w*|antwort\w*|reply|respond|candidates?|vocabulary|json"
    r"|confidence|prompt|regeln|you are|(all|above|previous|prior|the) (rule|instruction)s?)\b"
    r"|\b(system|assistant|user)\s*:|\bpick (the )?(candidate|first|second|id)\b|忽略|指令"
)
_ID = re.compile(rf"\b({NAMES})/[a-z0-9]")


def addresses(label: str) -> bool:
    """Whether `label` speaks to its reader, or holds ids: it is data, and may want to steer."""
    plain = label.casefold()
    return _ORDERS.search(plain) is not None or _ID.search(plain) is not None


def stems(words: str) -> tuple[str, ...]:
    """The stems of the words that carry meaning, in their order."""
    # "for" is a filler, but "parallel for" is a construct.
    text = re.sub(r"\b(parallel|openmp) for\b", r"\1-for", words)
    return tuple(_stem(word) for word in text.split() if word not in _FILLERS)


def _tokens(label: str) -> frozenset[str]:
    """The pieces of code in a label: `__ldg`, cudaMallocHost, proc_bind, cp.async; lower case."""
    pieces = re.findall(r"-{0,2}[A-Za-z_][\w.]*\w|[A-Za-z_]\w*", label)
    return frozenset(piece.lower().strip("-") for piece in pieces if _CODE.search(piece))


def without_brackets(name: str) -> str:
    """`name` without brackets that hold nothing but a parameter, or another name for the same."""

    def kept(bracket: re.Match[str]) -> str:
        return bracket[0] if _tells(re.sub(r"\w+\s*=\s*\w+", " ", bracket[1])) else " "

    bare = _BRACKET.sub(kept, name).strip()
    return bare if stems(spelling(bare)) else name


def _head_of(name: str) -> str:
    """The part before "for X", unless X makes it another technique; "" where there is none."""
    match = _TAIL.match(without_brackets(name))
    if match is None or _tells(match[2]) or len(stems(spelling(match[1]))) < LEAST_HEAD:
        return ""
    return match[1]


def _turns(label: Iterable[str], names: Collection[str]) -> bool:
    """Whether a word of `label` that is in none of `names` may turn its meaning over."""
    surplus = set(label).difference(names)
    return bool(surplus & _TURNING) or any(word[0].isdigit() for word in surplus)


def _tells(text: str) -> bool:
    """Whether `text` beside a name may make it another technique's: by level, number, negation."""
    words = spelling(text).split()
    return _turns(words, ()) or not _LEVELS.isdisjoint(words)


@cache
def _stem(word: str) -> str:
    """Tile, tiled and tiling are one stem."""
    stem: str = _SNOWBALL.stemWord(word)
    return stem


@dataclass(frozen=True, slots=True)
class _Name:
    """One name of a technique: its words, their stems, the code in it."""

    technique: str
    words: frozenset[str]
    stems: frozenset[str]
    tokens: frozenset[str]


class LexicalRule:
    """The stage "lexical"; see the module. A label means the same technique every time."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        by_target: defaultdict[Target, list[Technique]] = defaultdict(list)
        for technique in techniques:
            by_target[technique.target].append(technique)
        self._lexicons = {target: _Lexicon(group) for target, group in by_target.items()}

    def __call__(self, label: str, target: Target) -> str | None:
        """The technique that a label surely means; None where none is certain."""
        lexicon = self._lexicons.get(target)
        if lexicon is None or addresses(label):
            return None
        # Whole, without brackets, or "NAME for X".
        ways = filter(None, dict.fromkeys((label, without_brackets(label), _head_of(label))))
        return next(filter(None, map(lexicon.named, ways)), None)


class _Lexicon:
    """The names of one target's techniques."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        self._names: list[_Name] = []
        self._own: dict[str, frozenset[str]] = {}  # stems of all texts about a technique
        known: set[str] = set()
        uses: Counter[str] = Counter()
        for one in techniques:
            names = (one.name, *one.aliases)
            for name in names:
                words = frozenset(spelling(name).split())
                stemmed = frozenset(stems(spelling(name)))
                self._names.append(_Name(one.id, words, stemmed, _tokens(name)))
            text = " ".join(map(spelling, (*names, one.definition, one.applies)))
            known.update(text.split())
            self._own[one.id] = frozenset((*stems(text), *stems(_HARMLESS)))
            uses.update(_tokens(" ".join((one.definition, one.recipe, *one.steps))))
        owners = {(token, name.technique) for name in self._names for token in name.tokens}
        named = Counter(token for token, _ in owners)
        self._shared = {token for token, count in uses.items() if count > 1 and named[token] <= 1}
        """Tokens of code that several techniques make use of: they name none. What is a name of two
        stays, so that it decides for neither."""
        self._known = known
        self._long = sorted(word for word in known if len(word) >= SHORTEST_TYPO)

    def named(self, text: str) -> str | None:
        """The one technique that a text surely names."""
        words = [self._mended(word) for word in spelling(text).split()]
        found = set(self._holding(frozenset(stems(" ".join(words))), _tokens(text)))
        if len(found) != 1:
            return None
        (technique,) = found
        names = (name.words for name in self._names if name.technique == technique)
        # The words of all names of the technique: "no alias" may be one of them.
        return None if _turns(words, frozenset[str]().union(*names)) else technique

    def _holding(self, label: frozenset[str], code: frozenset[str]) -> Iterator[str]:
        """Techniques one of whose names a label is, or else holds beside harmless words."""
        # A name that is met exactly wins over one that is only held.
        same = [name.technique for name in self._names if label and name.stems == label]
        yield from same
        for name in self._names if label and not same else ():
            contained = name.stems and name.stems <= label <= name.stems | self._own[name.technique]
            if contained or name.tokens & code - self._shared:
                yield name.technique

    def _mended(self, word: str) -> str:
        """The known word that a misspelt one must be: one slip from it, and from no other."""
        if len(word) < SHORTEST_TYPO or word in self._known or not word.isalpha():
            return word
        near = [
            known
            for known in self._long
            # The first letter is seldom wrong; a swap of neighbours is one slip.
            if known[0] == word[0] and OSA.distance(word, known, score_cutoff=1) <= 1
        ]
        return near[0] if len(set(map(_stem, near))) == 1 else word
