"""Edges by their target.

Variant 0 has similar in-degrees, variant 1 a few large ones; degree counts each vertex as a
source.
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
    source = rng.integers(0, sizes["vertices"], count, dtype=np.int32)
    degree = np.maximum(np.bincount(source, minlength=rows), 1).astype(np.int32)
    return {"start": start, "source": source, "degree": degree}
