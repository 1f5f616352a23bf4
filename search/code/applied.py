"""Did a step apply the technique it was asked for? A cheap check on tokens, without a model.

Markers (markers.toml) are what a technique leaves in the code where it leaves anything that can be
told from other changes; many leave nothing of the kind, and are taken at their word. Not here: the
verdict of a model (propose.py asks for it), and what a wrong code did.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from regraph_kg.models.base import Frozen
from regraph_kg.models.run import Applied
from regraph_kg.search.code.tokens import normalized

_FILE = Path(__file__).parent / "markers.toml"


class Markers(Frozen):
    """Regular expressions of one technique over normalized code: tokens with one blank between.

    A step shows the technique where one of `telltale` or `more` is found more often after it, one
    of `fewer` less often, the texts that one of `changed` finds are others than before, or those of
    `order` come in another order; with `repeats`, also where more statements have one form.
    """

    telltale: tuple[str, ...] = ()
    """What nothing else leaves: where it is new, the step is called by this technique's name."""
    more: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    repeats: bool = False
    certain: bool = True
    """Whether the technique always shows; else its telltales only help to name what was done."""

    def shown(self, before: str, after: str) -> bool:
        """Whether the step from `before` to `after`, both normalized, shows the technique."""
        return (
            any(_count(one, after) > _count(one, before) for one in (*self.telltale, *self.more))
            or any(_count(one, after) < _count(one, before) for one in self.fewer)
            or any(
                sorted(_found(one, after)) != sorted(_found(one, before)) for one in self.changed
            )
            or any(_found(one, after) != _found(one, before) for one in self.order)
            or (self.repeats and _repeats(after) > _repeats(before))
        )

    def told(self, before: str, after: str) -> bool:
        """Whether a telltale stands in `after` that did not stand in `before`, both normalized."""
        return any(_found(one, after) and not _found(one, before) for one in self.telltale)


@dataclass(frozen=True, slots=True)
class Deed:
    """What a step did; `technique` is the id of what an "other" one applied, None: not known."""

    applied: Applied
    technique: str | None = None


def deed(technique: str, before: str, after: str, others: Sequence[str]) -> Deed:
    """What the step from `before` to `after`, asked to apply `technique`, did by its markers.

    `others` are the ids of what it may have applied instead.
    """
    found = applied(technique, before, after)
    return Deed(found, technique_of(before, after, others) if found == "other" else None)


def applied(technique: str, before: str, after: str) -> Applied:
    """What the step from `before` to `after`, asked to apply `technique` (an id), did.

    "nothing": no more than blanks, comments or other names for the code's own variables. "other":
    the technique has certain markers, and none shows. "asked": all else.
    """
    old, new = normalized(before), normalized(after)
    if old == new or _renamed(old, new):
        return "nothing"
    known = markers().get(technique)
    if known is None or not known.certain or known.shown(old, new):
        return "asked"
    return "other"


def technique_of(before: str, after: str, candidates: Sequence[str]) -> str | None:
    """The one of `candidates` (technique ids) whose telltales are new; None: none, or several."""
    old, new = normalized(before), normalized(after)
    told = [one for one in candidates if one in markers() and markers()[one].told(old, new)]
    return told[0] if len(told) == 1 else None


@cache
def markers() -> Mapping[str, Markers]:
    """Technique id -> its markers, of the techniques that have any."""
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, Markers]).validate_python(table)


def _found(pattern: str, text: str) -> list[str]:
    return [found[0] for found in re.finditer(pattern, text, re.MULTILINE)]


def _count(pattern: str, text: str) -> int:
    return len(_found(pattern, text))


def _repeats(text: str) -> int:
    """How many statements of normalized code have the form of another one, numbers aside."""
    forms = Counter(
        re.sub(r" \+ 0\b", "", re.sub(r"\d+", "0", statement)).replace("0", "").strip()
        for statement in re.split("[;{}\n]", text)
    )
    return sum(count - 1 for form, count in forms.items() if "=" in form)


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
