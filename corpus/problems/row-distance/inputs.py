"""A mask of zeros and ones: variant 0 has few ones, variant 1 many, and none in some rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    rows, cols = sizes["rows"], sizes["cols"]
    noise = np.frombuffer(rng.bytes(rows * cols), dtype=np.uint8).reshape(rows, cols)
    mask = (noise < (4 if variant == 0 else 60)).view(np.uint8)
    if variant == 1:
        mask[rng.integers(0, 4, rows) == 0] = 0
    return {"mask": mask}
