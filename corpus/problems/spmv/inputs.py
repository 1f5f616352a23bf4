"""A sparse matrix in CSR form: rows of any length; variant 1 has half of all in the first row."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def generate(
    sizes: Mapping[str, int], variant: int, rng: np.random.Generator
) -> dict[str, NDArray[np.int32]]:
    """Row starts and column indices; columns of a row lie in any order, some of them twice."""
    rows, nonzeros = sizes["rows"], sizes["nonzeros"]
    first = nonzeros // 2 if variant == 1 and rows > 1 else 0
    cuts = np.sort(rng.integers(first, nonzeros + 1, rows - 1))
    if first:
        cuts[0] = first
    start = np.concatenate([[0], cuts, [nonzeros]]).astype(np.int32)
    column = rng.integers(0, rows, nonzeros, dtype=np.int32)
    return {"start": start, "column": column}
