import numpy as np


def generate(sizes, variant, rng):
    """Starts of groups: variant 0 of any length, many short; 1 has most peaks in one group."""
    peaks, groups = sizes["peaks"], sizes["groups"]
    weight = rng.exponential(1.0, groups) ** 2
    if variant == 1:
        weight[groups // 3] += 2 * weight.sum()
    ends = np.floor(np.cumsum(weight) / weight.sum() * peaks)
    start = np.concatenate([[0], ends]).clip(0, peaks)
    start[-1] = peaks
    return {"start": start.astype(np.int32)}
