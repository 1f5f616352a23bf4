"""Offsets of segments.

Any lengths, some of them empty; in variant 1 the first has half of all.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Cut 0..n at random places."""
    n, segments = sizes["n"], sizes["segments"]
    first = n // 2 if variant == 1 and segments > 1 else 0
    cuts = np.sort(rng.integers(first, n + 1, segments - 1, dtype=np.int32))
    if first:
        cuts[0] = first
    return {"offsets": np.concatenate([[0], cuts, [n]]).astype(np.int32)}
