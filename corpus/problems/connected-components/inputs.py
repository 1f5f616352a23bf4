"""Edges.

Variant 0 between any two vertices, variant 1 within groups of 64, so that there are many
components.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    vertices, edges = sizes["vertices"], sizes["edges"]
    one = rng.integers(0, vertices, edges, dtype=np.int32)
    if variant == 0:
        two = rng.integers(0, vertices, edges, dtype=np.int32)
    else:
        two = one ^ rng.integers(0, 64, edges, dtype=np.int8).astype(np.int32)
        np.minimum(two, vertices - 1, out=two)
    return {"from": one, "to": two}
