import numpy as np


def generate(sizes, variant, rng):
    """Variant 0: branches between any buses; 1: neighbours, and a tenth of all at one bus."""
    buses, branches = sizes["buses"], sizes["branches"]
    start = rng.integers(0, buses, branches)
    end = rng.integers(0, buses, branches)
    if variant == 1:
        end = np.minimum(start + rng.integers(1, 30, branches), buses - 1)
        start[rng.random(branches) < 0.1] = buses // 2
    return {"from": start.astype(np.int32), "to": end.astype(np.int32)}
