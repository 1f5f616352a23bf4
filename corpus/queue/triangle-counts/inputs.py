"""Ascending lists of larger neighbours.

Variant 0 close to the vertex, variant 1 further away and with lists of any length.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    vertices, degree = sizes["vertices"], sizes["degree"]
    steps = rng.integers(1, 4 if variant == 0 else 9, (vertices, degree), dtype=np.int8)
    near = np.cumsum(steps, axis=1, dtype=np.int32)
    near += np.arange(vertices, dtype=np.int32)[:, None]
    if variant == 1:
        length = rng.integers(0, degree + 1, (vertices, 1), dtype=np.int32)
        near[np.arange(degree, dtype=np.int32)[None, :] >= length] = vertices
    np.minimum(near, vertices, out=near)
    return {"near": near}
