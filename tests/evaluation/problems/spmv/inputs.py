"""A sparse matrix in CSR form: variant 0 has rows of any length, variant 1 all in the first row."""

import numpy as np


def generate(sizes, variant, rng):
    rows, nonzeros = sizes["rows"], sizes["nonzeros"]
    cuts = np.sort(rng.integers(0, nonzeros + 1, rows - 1))
    if variant == 1:
        cuts[:] = nonzeros
    start = np.concatenate([[0], cuts, [nonzeros]]).astype(np.int32)
    column = rng.integers(0, rows, nonzeros, dtype=np.int32)
    return {"start": start, "column": column}
