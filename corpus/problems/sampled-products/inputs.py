"""A CSR pattern with random columns.

Variant 0 has rows of similar length, variant 1 a few long ones.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    rows, count = sizes["rows"], sizes["nonzeros"]
    weight = rng.random(rows) + 0.25
    if variant == 1:
        weight = np.minimum((weight - 0.25) + 1e-6, 1.0) ** -0.6
    ends = np.cumsum(weight)
    start = np.zeros(rows + 1, np.int32)
    start[1:] = np.rint(ends * (count / ends[-1]))
    column = rng.integers(0, sizes["rows"], count, dtype=np.int32)
    return {"start": start, "column": column}
