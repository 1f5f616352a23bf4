"""Whether a step applied its technique: a cheap check on facts of the code, without a model.

A technique lists its effects in `leaves` (vocabulary). An effect is a verb and a name, or several
joined by "and": "new simd", "more loops", "new schedule and same parallel_region". The name is a
predicate (predicates.py) or a path of facts (facts.py): `directives.nowait` are directives with
that word. An effect with "new" or "gone" proves the technique; others only accompany it.
Not here: wrong code.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.syntax import live
from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.run import Deed
from regraph_kg.models.technique import Technique
from regraph_kg.search.fit.predicate import Truth, all_of, at_path
from regraph_kg.search.fit.predicates import PREDICATES

_PROOFS = ("new ", "gone ")
_SMALL_SHARE, _SMALL_TOKENS = 0.08, 40
"""Seen of 1,542 steps without their names: 280 so small were called right and 6 wrong; of larger
ones 172 would be called right and 172 wrong."""
VERBS = ("new", "gone", "more", "fewer", "other", "same")


def deed(technique: Technique | None, before: str, after: str, rivals: Sequence[Technique]) -> Deed:
    """The deed of a step from `before` to `after` that was to apply `technique`.

    "nothing": only blanks, comments or names changed. "other": the step has no effect of the
    technique; the deed names the technique among `rivals` if the step proves exactly one, and is
    small. "asked": all else, also where a code cannot be read whole, or the technique lists no
    effects. Without a technique, for an unknown name, only a proof counts.
    """
    lives = (live(code.encode(errors="replace")) for code in (before, after))
    old, new = (normalized(text.decode(errors="replace")) for text in lives)
    if old == new or _renamed(old, new):
        return Deed("nothing")
    step = facts_of(before), facts_of(after)
    effects = [_shows_entry(entry, *step) for entry in technique.leaves] if technique else [False]
    may_be = not effects or any(answer is not False for answer in effects)
    if not all(facts.read_whole for facts in step) or may_be:
        return Deed("asked")
    shown = [
        candidate.id
        for candidate in rivals
        if any(_shows_entry(e, *step) for e in candidate.leaves if e.startswith(_PROOFS))
    ]
    named = shown[0] if len(shown) == 1 and _is_small(old, new) else None
    return Deed("asked") if technique is None and named is None else Deed("other", named)


def _is_small(old: str, new: str) -> bool:
    """Whether most of a code is left: what a larger step proves may be a side effect."""
    before, after = Counter(old.split()), Counter(new.split())
    changed = (after - before).total() + (before - after).total()
    return changed <= max(_SMALL_TOKENS, _SMALL_SHARE * before.total())


def shows(technique: Technique, code: str) -> bool:
    """Whether a code shows what the technique lists as new; asks as `kind_of`, for the cache."""
    signs = [entry.partition(" and ")[0] for entry in technique.leaves]
    new = [sign for sign in signs if sign.startswith("new ")]
    return any(_shows_entry(sign, Facts(), facts_of(code, "")) for sign in new)


def _shows_entry(entry: str, before: Facts, after: Facts) -> Truth:
    """Whether a step has the effect of an entry; None where that is unknown."""
    return all_of(_shows_part(part, before, after) for part in entry.split(" and "))


def _shows_part(part: str, before: Facts, after: Facts) -> Truth:
    verb, _, name = part.partition(" ")
    old, new = matches(name, before), matches(name, after)
    if old is None or new is None or verb not in VERBS:
        return None
    if verb in ("same", "other"):
        return (Counter(map(str, old)) == Counter(map(str, new))) == (verb == "same")
    more = len(new) > len(old) if verb in ("new", "more") else len(new) < len(old)
    return more and not (verb == "new" and old) and not (verb == "gone" and new)


def matches(name: str, facts: Facts) -> Sequence[object] | None:
    """All matches of a predicate or a path; None where they are unknown."""
    if name in PREDICATES:
        holds = PREDICATES[name].holds(facts)
        return None if holds is None else [name] * holds
    return at_path(name, facts)


_NAME = re.compile(r"[^\W\d][\w$]*\Z")
_NO_TYPES = frozenset({"return", "else", "do", "goto", "case", "throw", "new", "delete", "sizeof"})


def _renamed(old: str, new: str) -> bool:
    """Whether two normalized codes differ in nothing but names that the code itself declares.

    Each new name must stand wherever, and only where, the old one stood. A name without a visible
    declaration (a library's function) cannot be changed without effect.
    """
    before, after = (code.replace("\n", " \n ").split(" ") for code in (old, new))
    if len(before) != len(after):
        return False
    places = set(zip(before, after, strict=True))
    pairs = {(first, second) for first, second in places if first != second}
    unchanged = {first for first, second in places if first == second}
    olds, news = {first for first, _ in pairs}, {second for _, second in pairs}
    return (
        len(olds) == len(news) == len(pairs)
        and not olds & news
        and not (olds | news) & unchanged
        and all(_NAME.match(name) for name in olds | news)
        and olds <= _declared(before)
        and news <= _declared(after)
    )


def _declared(tokens: Sequence[str]) -> set[str]:
    """Names of macros, and those that follow a type and are followed by what ends a declarator."""
    names = {name for word, name in pairwise(tokens) if word == "#define"}
    for place in range(1, len(tokens) - 1):
        name, previous, following = tokens[place], tokens[place - 1], tokens[place + 1]
        pointer = previous in ("*", "&") and place > 1
        kind = tokens[place - 2] if pointer else previous
        if not _NAME.match(name) or not _NAME.match(kind) or kind in _NO_TYPES:
            continue
        if following in ("=", ";", ",", ")", "[", "{", ":") or (following == "(" and not pointer):
            names.add(name)
    return names
