"""Layers of RGBA in [0, 1].

About a third of the pixels of each layer are opaque, in variant 1 in long runs.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    layers, n = sizes["layers"], sizes["n"]
    noise = np.frombuffer(rng.bytes(layers * n * 4), dtype=np.uint8).reshape(layers, n, 4)
    image = np.divide(noise, 255, dtype=np.float32)
    if variant == 1:
        image[..., 3] = np.repeat(image[:, : n // 64 + 1, 3], 64, axis=1)[:, :n]
    np.minimum(image[..., 3] * np.float32(1.5), np.float32(1), out=image[..., 3])
    return {"image": image}
