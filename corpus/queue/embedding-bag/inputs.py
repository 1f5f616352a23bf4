"""Bags of any length.

Some of them empty; variant 1 has an eighth of all elements in the first bag.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """The start of each bag."""
    bags, total = sizes["bags"], sizes["total"]
    first = total // 8 if variant == 1 and bags > 1 else 0
    cuts = np.sort(rng.integers(first, total + 1, bags - 1))
    if first:
        cuts[0] = first
    return {"start": np.concatenate([[0], cuts, [total]]).astype(np.int32)}
