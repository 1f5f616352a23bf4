"""The words of a label: which of them carry its meaning, and which forbid taking it for another."""

import re
from collections.abc import Iterable, Sequence

from regraph_kg.models.target import NAMES, TARGETS
from regraph_kg.models.technique import spelling

_SHORTEST_TYPO = 5
"""Letters of the shortest word that is mended: in shorter ones, one letter is another word."""


def stems(words: str) -> tuple[str, ...]:
    """The stems of the words that carry meaning, in their order; abbreviations written out."""
    stems: list[str] = []
    for word in re.sub(r"\b(parallel|openmp) for\b", r"\1-for", words).split():
        stems += _LONG_FORM.get(word, () if word in _FILLERS else (_stem(word),))
    return tuple(stems)


def tokens(label: str) -> frozenset[str]:
    """The pieces of code in a label: `__ldg`, cudaMallocHost, proc_bind, cp.async; lower case."""
    pieces = re.findall(r"-{0,2}[A-Za-z_][\w.]*\w|[A-Za-z_]\w*", label)
    return frozenset(piece.lower().strip("-") for piece in pieces if _CODE.search(piece))


def holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the stems `phrase` stand in the stems `asked`, side by side."""
    size = len(phrase)
    if not size or not set(phrase) <= set(words):
        return False
    return any(
        tuple(words[start : start + size]) == tuple(phrase)
        for start in range(len(words) - size + 1)
    )


def turns(label: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a word of `label` that is in none of `names` may turn its meaning over.

    Such are negations, opposites and choices, numbers, and what is said to us rather than named.
    """
    surplus = set(label) - set(names)
    return bool(surplus & _TURNING) or any(word[0].isdigit() for word in surplus)


def tells(text: str) -> bool:
    """Whether `text` beside a name may make it another technique's: by level, number, negation."""
    words = spelling(text).split()
    return turns(words, ()) or not _LEVELS.isdisjoint(words)


def addresses(label: str) -> bool:
    """Whether `label` speaks to its reader, or holds ids: it is data, and may want to steer."""
    plain = label.casefold()
    return _ORDERS.search(plain) is not None or _ID.search(plain) is not None


class Speller:
    """Mends a misspelt word that only one of some known words can be."""

    def __init__(self, words: Iterable[str]) -> None:
        self._known = frozenset(words)
        self._long = sorted(word for word in self._known if len(word) >= _SHORTEST_TYPO)

    def __call__(self, label: str) -> str:
        """`label` spelled, its long unknown words mended."""
        return " ".join(map(self._mend, spelling(label).split()))

    def _mend(self, word: str) -> str:
        if len(word) < _SHORTEST_TYPO or word in self._known or not word.isalpha():
            return word
        near = [known for known in self._long if known[0] == word[0] and _one_slip(word, known)]
        return near[0] if len(set(map(_stem, near))) == 1 else word


def _one_slip(first: str, second: str) -> bool:
    """Whether one letter too many, too few, wrong, or swapped with its neighbour parts them."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    rest, its = first[start:], second[start:]
    return (
        rest[1:] == its[1:]
        or rest[1:] == its
        or rest == its[1:]
        or (rest[:2] == its[:2][::-1] and rest[2:] == its[2:])
    )


def _stem(word: str) -> str:
    """Cut inflection off: tile, tiled and tiling are one stem."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return _undouble(word.removesuffix(ending))
    return word


def _undouble(stem: str) -> str:
    """Swapp(ing) is swap; fill(ing) stays."""
    return stem[:-1] if re.search(r"([bdgmnprt])\1$", stem) and len(stem) > _SHORTEST_STEM else stem


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CODE = re.compile(r"[_.]|[a-z][A-Z]|^cuda.")
_SHORTEST_STEM = 3
_ENDINGS = (
    *("ization", "isation", "izing", "ising", "ized", "ised", "ize", "ise"),
    *("ation", "ating", "ated", "ator", "ate", "ance", "ing", "ion", "ed", "er", "e"),
)
_FILLERS = _listed(
    "a an and at by for from in into it its of on so that the their this through to via with "
    "add adding apply applied applying based code enable enabling exploit exploiting explicit "
    "implement implementing improve improved improving introduce introducing leverage "
    "leveraging perform performing use used using utilize utilizing approach method "
    "optimization optimize optimized optimizing scheme step strategy technique"
)
_LONG_FORM = {
    "smem": ("shar", "memory"),
    "shmem": ("shar", "memory"),
    "gmem": ("global", "memory"),
    "mem": ("memory",),
}
HARMLESS = frozenset(
    _stem(word)
    for word in _listed(
        "aggressive clause cpu directive full fully gpu hot i inner innermost j k main outer"
        " outermost performance pragma qualifier better"
    ).union(TARGETS)
)
"""Stems that say where a technique is applied, not which: a label may have them beside a name."""
PLACES = frozenset(
    _stem(word) for word in _listed("array body computation data iteration kernel loop row")
)
"""The same, if the technique's own definition speaks of them: loops are tiled, data transposed."""

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
