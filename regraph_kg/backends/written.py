"""Which write a row of the statistics is of, so that rows of two states are not taken for one.

Neo4j shows a commit while it is applied, property by property: a reader may meet a NEXT that is
new by half, or one that is new beside a (:Share) that is not. So each write of a NEXT counts one
on, names the problems that it changed, and leaves that count (its tick) on their Shares; a
checksum of what a search is told goes with both. Not covered: counts that no search is told of
(failures by kind).
"""

import zlib
from collections.abc import Mapping
from typing import Any

MOST_EFFECT = 65_536.0
"""Larger effects all weigh the same, so that nothing overflows."""
WEIGHTS = {
    "examples": 32_452_843,
    "tried": 49_979_687,
    "verified": 67_867_967,
    "declined": 86_028_121,
    "sum_log2_effect": 7,
}
"""Of a checksum, with the next three: primes, so that no few changes cancel out."""
OF_TICK, OF_BEST, OF_OTHER = 15_485_863, 1_299_709, 2_750_159


SOMEBODY = 0
"""In the list of a NEXT's last writers: a problem that has nothing there any more, and may be gone
from the graph. All that are left have the tick of that write."""


UNSOUND = ("checksum", "that of its numbers", "another")
"""A finding: what of a row, expected, found."""


def key(problem: str) -> int:
    """A problem in the list of a NEXT's last writers; negative: it has nothing there any more."""
    return zlib.crc32(problem.encode()) + 1


def tick(row: Mapping[str, Any]) -> int:
    """How often a NEXT had been written when this row of it, or (:Share) in it, was."""
    return int((row.get("written") or (0,))[0])


def checksum(row: Mapping[str, Any], ticks: int) -> int:
    """Of the properties of a NEXT or a (:Share)."""
    weighed = sum(weight * (row.get(name) or 0) for name, weight in WEIGHTS.items())
    best = OF_BEST * _fixed(row.get("best_effect")) + OF_OTHER * _fixed(row.get("best_other"))
    return weighed + best + OF_TICK * ticks


def is_sound(row: Mapping[str, Any]) -> bool:
    """Whether all properties of a row are of one write."""
    return bool(row.get("checksum") == checksum(row, tick(row)))


def same_state(row: Mapping[str, Any], share: Mapping[str, Any] | None, problem: str) -> bool:
    """Whether a NEXT holds a problem's (:Share) just as it was read; None: there is none."""
    if not is_sound(row) or (share is not None and not is_sound(share)):
        return False
    writers = (row.get("written") or (0,))[1:]
    if key(problem) in writers:
        return share is not None and tick(share) == tick(row)
    if -key(problem) in writers or SOMEBODY in writers:
        return share is None or tick(share) == tick(row)
    return share is None or tick(share) <= tick(row)


def _fixed(effect: float | None) -> int:
    return int(1_048_576.0 * min(effect or 0.0, MOST_EFFECT))
