"""Noise of either sign on a slowly growing line; variant 1 has no growth.

So the maximum soon stands.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Random integers, plus half of their place in variant 0."""
    n = sizes["n"]
    x = rng.integers(-1000000000, 1000000, n, dtype=np.int32)
    if variant == 0:
        x += np.arange(n, dtype=np.int32) >> 1
    return {"in": x}
