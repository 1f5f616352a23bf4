"""The parts of a name: brackets, "NAME for X", several names joined.

A name stands for several techniques where each of its parts is a technique's name by itself
(cascade.py); "divide and conquer" and "load/store vectorization" do not. The first part is the
step's technique, as people name first what matters most; the others are its `also`.
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
    """The parts of a joined name; empty where nothing is joined."""
    names = tuple(part.strip() for part in _BETWEEN.split(label) if part.strip())
    return names if len(names) > 1 else ()


def without_brackets(name: str) -> str:
    """`name` without brackets that hold nothing but a parameter, or another name for the same."""
    bare = _BRACKET.sub(lambda bracket: bracket[0] if _matters(bracket[1]) else " ", name).strip()
    return bare if stems(spelling(bare)) else name


def head_of(name: str) -> str:
    """The part before "for X", unless X makes it another technique; "" where there is none."""
    match = _TAIL.match(without_brackets(name))
    if match is None or tells(match[2]) or len(stems(spelling(match[1]))) < LEAST_HEAD:
        return ""
    return match[1]


def _matters(inside: str) -> bool:
    parameter = re.sub(r"\w+\s*=\s*\w+", " ", inside)
    return tells(parameter)
