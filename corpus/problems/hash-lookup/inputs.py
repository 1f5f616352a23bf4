"""A table with linear probing and queries.

In variant 0 half of them are in the table, in variant 1 nearly all.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Keys in order of their own slot, each in the first place that is free."""
    slots, keys, n = sizes["slots"], sizes["keys"], sizes["n"]
    key = rng.integers(1, 2**32, keys, dtype=np.uint32)
    home = ((key * np.uint32(2654435761)).astype(np.uint64) * np.uint64(slots)) >> np.uint64(32)
    packed = np.unique((home << np.uint64(32)) | key)
    key, home = packed.astype(np.uint32), (packed >> np.uint64(32)).astype(np.int64)
    rank = np.arange(key.size)
    table = np.zeros(slots + keys + 1, np.uint32)
    table[np.maximum.accumulate(home - rank) + rank] = key
    query = key[rng.integers(0, key.size, n, dtype=np.int32)]
    strange = rng.integers(0, 256, n, dtype=np.uint8) < (128 if variant == 0 else 5)
    query ^= strange * np.uint32(rng.integers(1, 2**32))
    return {"table": table, "query": np.maximum(query, np.uint32(1))}
