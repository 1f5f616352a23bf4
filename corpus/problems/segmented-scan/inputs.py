"""Flags at random places; variant 1 has dense flags in its first half and hardly any in the second.

Lags at random places; variant 1 has dense flags in its first half and hardly any in the second.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """One flag in about 10 places, or in 3 and then in 30,000."""
    n = sizes["n"]
    draw = rng.integers(0, 60000, n, dtype=np.uint16)
    limit = np.full(n, 6000, dtype=np.uint16)
    if variant == 1:
        limit[: n // 2] = 20000
        limit[n // 2 :] = 2
    return {"flags": (draw < limit).astype(np.uint8)}
