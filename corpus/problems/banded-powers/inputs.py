"""Offsets of the diagonals, ascending.

Variant 0 next to each other, variant 1 anywhere in the matrix.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    rows, diagonals = sizes["rows"], sizes["diagonals"]
    if variant == 0:
        offset = np.arange(diagonals) - diagonals // 2
    else:
        offset = np.sort(rng.choice(2 * min(rows, 20000) - 1, diagonals, replace=False)) - (
            min(rows, 20000) - 1
        )
    return {"offset": offset.astype(np.int32)}
