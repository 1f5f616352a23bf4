"""Starts of groups, none of them empty: variant 1 has half of the points in the first group."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Ascending starts from 0 to n: each group has a point of its own, the rest falls anywhere."""
    n, groups = sizes["n"], sizes["groups"]
    spare = n - groups
    first = spare // 2 if variant == 1 else 0
    cuts = np.sort(rng.integers(first, spare + 1, groups - 1))
    start = np.concatenate([[0], cuts, [spare]]) + np.arange(groups + 1)
    start[-1] = n
    return {"start": start.astype(np.int32)}
