"""Compound names: "A + B", "A with B", "A, B and C".

Which of them say several techniques is not told by their words ("divide and conquer", "load/store
vectorization"), but by their parts: each of them must be a technique's name by itself (cascade.py).
The first one is what the step did, as people name first what matters most; the others are what it
did besides, its `also`.
"""

import re

_WORDS = "and|plus|with|then|along with|together with|combined with|followed by"
_BETWEEN = re.compile(rf"(?:\s*[+&;,]\s*|\s)(?:{_WORDS})\s|\s*[+&;,]\s*|\s/\s", re.IGNORECASE)


def parts(label: str) -> tuple[str, ...]:
    """What stands between signs and words that join names; empty where nothing is joined."""
    found = tuple(one.strip() for one in _BETWEEN.split(label) if one.strip())
    return found if len(found) > 1 else ()
