import numpy as np


def generate(sizes, variant, rng):
    """Noise with quakes that die away: variant 0 has many small ones, 1 a few large ones."""
    n, brief = sizes["n"], sizes["brief"]
    trace = rng.standard_normal(n, dtype=np.float32) * 60
    length = 20 * brief
    quakes = max(1, n // (50 * length) if variant else n // (5 * length))
    decay = np.exp(-np.arange(length, dtype=np.float32) / (6 * brief))
    for start in rng.integers(0, n, quakes):
        height = rng.uniform(300, 1500) if variant else rng.uniform(60, 400)
        end = min(n, start + length)
        shape = rng.standard_normal(end - start, dtype=np.float32)
        trace[start:end] += height * decay[: end - start] * shape
    return {"trace": np.rint(trace).clip(-8000, 8000).astype(np.int16)}
