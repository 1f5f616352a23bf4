"""What a name is made of: brackets, "NAME for X", several names joined.

Which names say several techniques is not told by their words ("divide and conquer", "load/store
vectorization"), but by their parts: each of them must be a technique's name by itself (cascade.py).
The first one is what the step did, as people name first what matters most; the others are what it
did besides, its `also`.
"""

import re

from regraph_kg.ingest.relabel.words import stems, tells
from regraph_kg.models.technique import spelling

LEAST_HEAD = 2
"""Stems of a name that may stand before "for X"."""
_WORDS = "and|plus|with|then|along with|together with|combined with|followed by"
_BETWEEN = re.compile(rf"(?:\s*[+&;,]\s*|\s)(?:{_WORDS})\s|\s*[+&;,]\s*|\s/\s", re.IGNORECASE)
_TAIL = re.compile(r"^(.+?)\s+(?:for|of|with)\s+(.+)$", re.IGNORECASE)
_BRACKET = re.compile(r"[(\[{]([^()\[\]{}]*)[)\]}]")


def parts(label: str) -> tuple[str, ...]:
    """What stands between signs and words that join names; empty where nothing is joined."""
    found = tuple(one.strip() for one in _BETWEEN.split(label) if one.strip())
    return found if len(found) > 1 else ()


def without_brackets(name: str) -> str:
    """`name` without brackets that hold nothing but a parameter, or another name for the same."""
    kept = _BRACKET.sub(lambda found: found[0] if _matters(found[1]) else " ", name).strip()
    return kept if stems(spelling(kept)) else name


def head_of(name: str) -> str:
    """What stands before "for X", unless X makes it another technique; "" where there is none."""
    found = _TAIL.match(without_brackets(name))
    if found is None or tells(found[2]) or len(stems(spelling(found[1]))) < LEAST_HEAD:
        return ""
    return found[1]


def _matters(inside: str) -> bool:
    parameter = re.sub(r"\w+\s*=\s*\w+", " ", inside)
    return tells(parameter)
