"""Closed columns of each row.

Variant 0 closes one square in every other row, variant 1 one in every row.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_OPEN = 6
"""Smaller boards stay open."""


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Bits of n columns; small boards stay open."""
    n = sizes["n"]
    blocked = np.zeros(n, np.uint32)
    if n >= _OPEN:
        step = 1 if variant == 1 else 2
        rows = np.arange(0, n, step)
        blocked[rows] = np.uint32(1) << rng.integers(0, n, rows.size).astype(np.uint32)
    return {"blocked": blocked}
