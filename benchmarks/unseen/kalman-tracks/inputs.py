import numpy as np


def generate(sizes, variant, rng):
    """Covariances that are symmetric and positive: variant 0 full, variant 1 nearly diagonal."""
    factor = rng.normal(0, (1.0, 0.05)[variant], (sizes["tracks"], 4, 4))
    return {"covariance": factor @ factor.transpose(0, 2, 1) + np.eye(4)}
