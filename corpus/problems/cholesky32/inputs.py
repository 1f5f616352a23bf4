"""Positive definite matrices.

Noise with a heavy diagonal, or correlations that fall off with distance.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Symmetric 32 x 32 matrices, each with a scale of its own."""
    batch = sizes["batch"]
    scale = rng.uniform(0.5, 2.0, (batch, 1, 1)).astype(np.float32)
    if variant == 1:
        distance = np.abs(np.arange(32)[:, None] - np.arange(32)[None, :])
        base = np.exp(-distance / 3.0).astype(np.float32) + np.eye(32, dtype=np.float32)
        return {"a": scale * base}
    noise = rng.random((batch, 32, 32), dtype=np.float32) - np.float32(0.5)
    a = noise + noise.transpose(0, 2, 1)
    a[:, np.arange(32), np.arange(32)] += np.float32(12.0)
    a *= scale
    return {"a": a}
