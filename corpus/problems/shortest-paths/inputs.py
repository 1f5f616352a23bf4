"""A directed graph.

Variant 0 has similar degrees, variant 1 a few large ones; vertex 0 has edges.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    rows, count = sizes["vertices"], sizes["edges"]
    weight = rng.random(rows) + 0.25
    if variant == 1:
        weight = np.minimum((weight - 0.25) + 1e-6, 1.0) ** -0.6
    ends = np.cumsum(weight)
    start = np.zeros(rows + 1, np.int32)
    start[1:] = np.rint(ends * (count / ends[-1]))
    target = rng.integers(0, sizes["vertices"], count, dtype=np.int32)
    first = min(count, 8)
    start[1:] = np.maximum(start[1:], first)
    return {"start": start, "target": target}
