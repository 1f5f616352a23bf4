"""Ticks and checksums of the statistics' rows, which tell rows of two writes apart.

Neo4j shows a commit while it is applied, property by property: a reader may meet a half-new NEXT,
or a new one beside an old (:Share). So each write of a NEXT increments its tick, names the changed
problems, and leaves the tick on their Shares; both have a checksum of the figures that a search
reads. Not covered: counts that no search reads (failures by kind).
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
"""Weights of a checksum, with the next three: primes, so that few changes do not cancel out."""
OF_TICK, OF_BEST, OF_OTHER = 15_485_863, 1_299_709, 2_750_159
ALL = 0
"""In the list of a NEXT's last writers: all its Shares, which have the tick of that write."""
UNSOUND = ("checksum", "that of its numbers", "another")
"""A finding: property, expected, actual."""


def key(problem: str) -> int:
    """A problem in the list of a NEXT's last writers; negative: its Share is empty."""
    return zlib.crc32(problem.encode()) + 1


def tick(row: Mapping[str, Any]) -> int:
    """The number of writes of a NEXT up to the one that wrote this row, or this (:Share)."""
    return int((row.get("written") or (0,))[0])


def checksum(row: Mapping[str, Any], ticks: int) -> int:
    """The checksum of the properties of a NEXT or a (:Share)."""
    weighed = sum(weight * (row.get(name) or 0) for name, weight in WEIGHTS.items())
    best = OF_BEST * _fixed(row.get("best_effect")) + OF_OTHER * _fixed(row.get("best_other"))
    return weighed + best + OF_TICK * ticks


def is_sound(row: Mapping[str, Any]) -> bool:
    """Whether all properties of a row are of one write."""
    return bool(row.get("checksum") == checksum(row, tick(row)))


def same_state(row: Mapping[str, Any], share: Mapping[str, Any] | None, problem: str) -> bool:
    """Whether a NEXT contains a problem's (:Share) as it was read; None: there is none."""
    if not is_sound(row) or (share is not None and not is_sound(share)):
        return False
    writers = (row.get("written") or (0,))[1:]
    if key(problem) in writers:
        return share is not None and tick(share) == tick(row)
    if -key(problem) in writers or ALL in writers:
        return share is None or tick(share) == tick(row)
    return share is None or tick(share) <= tick(row)


def _fixed(effect: float | None) -> int:
    return int(1_048_576.0 * min(effect or 0.0, MOST_EFFECT))
