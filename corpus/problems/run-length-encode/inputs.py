"""Integers in runs: about two long, and in variant 1 about five hundred."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """A new value begins at random places."""
    n = sizes["n"]
    new = rng.integers(0, 1024, n, dtype=np.uint16) < (512 if variant == 0 else 2)
    return {"in": np.cumsum(new, dtype=np.int32) * np.int32(-1640531527)}
