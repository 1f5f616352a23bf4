"""Columns of an ELL matrix.

Variant 0 anywhere, empty slots too, variant 1 near the diagonal with its last slots empty.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    rows, width = sizes["rows"], sizes["width"]
    column = np.empty((rows, width), np.int32)
    height = min(rows, 8192)
    if variant == 1:
        length = rng.integers(width // 2, width + 1, (height, 1), dtype=np.int32)
        empty = -(np.arange(width, dtype=np.int32)[None, :] >= length).astype(np.int32)
    else:
        empty = -(rng.integers(0, 4, (height, width), dtype=np.int8) == 0).astype(np.int32)
    for first in range(0, rows, height):
        part = column[first : first + height]
        if variant == 1:
            part[:] = rng.integers(-500, 501, part.shape, dtype=np.int16)
            part += np.arange(first, first + len(part), dtype=np.int32)[:, None]
            np.clip(part, 0, rows - 1, out=part)
        else:
            part[:] = rng.integers(0, rows, part.shape, dtype=np.int32)
        part |= empty[: len(part)]
    return {"column": column}
