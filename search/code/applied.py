"""Did a step do what it was asked for? A cheap check on facts of the code, without a model.

A technique says what it leaves (`leaves` in the vocabulary), each thing as a verb and a name:
"new simd", "more loops", "fewer host.in_loop", "other launches.block". The name is a predicate
(predicates.py), or a path of facts (facts.py): `directives.nowait` are the directives in which that
word stands. Techniques that leave nothing to be told by are taken at their word. Not here: the
verdict of a model (propose.py asks for it), and what a wrong code did.
"""

import re
from collections import Counter
from collections.abc import Sequence

from regraph_kg.models.base import Frozen
from regraph_kg.models.run import Deed
from regraph_kg.models.technique import Technique
from regraph_kg.search.code.facts import Facts, facts_of
from regraph_kg.search.code.predicate import Truth
from regraph_kg.search.code.predicates import PREDICATES
from regraph_kg.search.code.tokens import normalized

VERBS = ("new", "more", "fewer", "other")
_SIGNS = str.maketrans("(),:.", "     ")


def deed(technique: Technique | None, before: str, after: str, others: Sequence[Technique]) -> Deed:
    """What the step from `before` to `after` did that was to apply `technique`.

    "nothing": no more than blanks, comments or other names for the code's own variables. "other":
    the technique leaves something, and the step left none of it; which of `others` it was is told
    where it left what is new by exactly one of them. "asked": all else, also where a code cannot be
    read whole. Without a technique, for a name that is none's, "other" is what has that one name.
    """
    old, new = normalized(before), normalized(after)
    if old == new or _renamed(old, new):
        return Deed("nothing")
    step = facts_of(before), facts_of(after)
    if not all(one.read_whole for one in step) or (technique and _may_be(technique, *step)):
        return Deed("asked")
    shown = [one.id for one in others if _is_shown(one, *step)]
    if len(shown) == 1:
        return Deed("other", shown[0])
    return Deed("other" if technique else "asked")


def shows(technique: Technique, code: str) -> bool:
    """Whether a code has what the technique leaves as new."""
    return _is_shown(technique, Facts(), facts_of(code))


def _may_be(technique: Technique, before: Facts, after: Facts) -> bool:
    left = [_left(entry, before, after) for entry in technique.leaves]
    return not left or any(one is not False for one in left)


def _is_shown(technique: Technique, before: Facts, after: Facts) -> bool:
    new = [entry for entry in technique.leaves if entry.startswith("new ")]
    return any(_left(entry, before, after) for entry in new)


def _left(entry: str, before: Facts, after: Facts) -> Truth:
    """Whether a step left one thing; None where that is not known."""
    verb, _, name = entry.partition(" ")
    old, new = found(name, before), found(name, after)
    if old is None or new is None or verb not in VERBS:
        return None
    if verb == "new":
        return bool(new) and not old
    if verb == "other":
        return Counter(map(str, old)) != Counter(map(str, new))
    return len(new) > len(old) if verb == "more" else len(new) < len(old)


def found(name: str, facts: Facts) -> Sequence[object] | None:
    """What a predicate or a path finds, each as often as it is there; None: not known."""
    if name in PREDICATES:
        holds = PREDICATES[name].holds(facts)
        return None if holds is None else [name] * holds
    here: list[object] = [facts]
    for part in name.split("."):
        values = [_values(one, part) for one in here]
        if None in values:
            return None
        here = [one for listed in values if listed is not None for one in listed]
    return here


def _values(one: object, part: str) -> Sequence[object] | None:
    if not isinstance(one, Frozen):
        return [one] * (part in str(one).translate(_SIGNS).split())
    value = getattr(one, part, None)
    if isinstance(value, int):
        return [part] * value
    if isinstance(value, tuple):
        return value
    return None if value is None else [value] * bool(value)


_NAME = re.compile(r"[^\W\d][\w$]*\Z")
_NO_TYPES = frozenset({"return", "else", "do", "goto", "case", "throw", "new", "delete", "sizeof"})


def _renamed(old: str, new: str) -> bool:
    """Whether two normalized codes differ in nothing but names that the code itself declares.

    Each other name must be new and stand wherever, and only where, the old one stood. What is not
    seen to be declared (a library's function) is no name that can be changed without effect.
    """
    before, after = (code.replace("\n", " \n ").split(" ") for code in (old, new))
    if len(before) != len(after):
        return False
    places = set(zip(before, after, strict=True))
    pairs = {(one, two) for one, two in places if one != two}
    kept = {one for one, two in places if one == two}
    olds, news = {one for one, _ in pairs}, {two for _, two in pairs}
    return (
        len(olds) == len(news) == len(pairs)
        and not olds & news
        and not (olds | news) & kept
        and all(_NAME.match(name) for name in olds | news)
        and olds <= _declared(before)
        and news <= _declared(after)
    )


def _declared(tokens: Sequence[str]) -> set[str]:
    """Names that follow a type and are followed by what ends a declarator."""
    found = set()
    for place in range(1, len(tokens) - 1):
        name, previous, following = tokens[place], tokens[place - 1], tokens[place + 1]
        pointer = previous in ("*", "&") and place > 1
        kind = tokens[place - 2] if pointer else previous
        if not _NAME.match(name) or not _NAME.match(kind) or kind in _NO_TYPES:
            continue
        if following in ("=", ";", ",", ")", "[", "{", ":") or (following == "(" and not pointer):
            found.add(name)
    return found
