"""A polygon's corners.

Variant 0 winds once around the origin with random radii, variant 1 has them anywhere.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Corners within -8192 to 8191."""
    m = sizes["m"]
    if variant == 1:
        x, y = rng.integers(-8192, 8192, m), rng.integers(-8192, 8192, m)
    else:
        angle = np.sort(rng.random(m)) * 2 * np.pi
        radius = 3000 + 5000 * rng.random(m)
        x, y = np.rint(radius * np.cos(angle)), np.rint(radius * np.sin(angle))
    return {"vx": x.astype(np.int32), "vy": y.astype(np.int32)}
