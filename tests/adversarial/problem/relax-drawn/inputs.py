"""Normal numbers: what matters is that the judge has to ask for them."""

import numpy as np


def generate(sizes, variant, rng):
    return {"x": rng.standard_normal(sizes["n"], dtype=np.float32)}
